"""States from measurements: filters and smoothers."""
