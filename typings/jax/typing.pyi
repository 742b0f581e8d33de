from typing import TypeAlias

from jax import Array
from numpy.typing import ArrayLike as _ArrayLike

ArrayLike: TypeAlias = Array | _ArrayLike
