"""JAX, as far as the package names its types; it is an extra, which may not be installed."""

from typing import Any

class Array: ...

def __getattr__(name: str) -> Any: ...
