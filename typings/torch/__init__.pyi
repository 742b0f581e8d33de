"""PyTorch, as far as the package names its types; it is an extra, which may not be installed."""

from typing import Any

class Tensor:
    def __getattr__(self, name: str) -> Any: ...

def __getattr__(name: str) -> Any: ...
