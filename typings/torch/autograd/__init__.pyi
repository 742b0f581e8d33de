from typing import Any

Function: Any
