"""Functions of higher rooms that objects of lower rooms offer, as `saltus.offered` registers them."""

from collections.abc import Callable
from typing import Any

from saltus.offered import offer


@offer
def make_page() -> Callable[..., Any]:
    """Maker of the pages of models and simulations."""
    from saltus.notebook.page import make_page

    return make_page


@offer
def declare_semantics() -> Callable[..., Any]:
    """Loader of models that declare a release of MuJoCo in their file."""
    from saltus.model.xml_overrides import declare_semantics

    return declare_semantics


@offer
def html_of() -> Callable[..., Any]:
    """Maker of the displays of objects in notebooks."""
    from saltus.notebook.displays import html_of

    return html_of


@offer
def batch() -> Callable[..., Any]:
    """Class of many simulations, on which `saltus.compat.mujoco_batch` stands."""
    from saltus.simulate.batch import Batch

    return Batch
