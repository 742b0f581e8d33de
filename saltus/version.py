"""The version of Saltus."""

__version__ = "0.1.0"
