"""Arguments of a batch by their places: as those of a simulation, or threads and precision first."""

from typing import Any

from saltus.errors import OptionError

#: Names of arguments by place: an integrator comes first, as for a simulation, or else a number of threads.
AS_SIMULATION = ("integrator", "contact", "timestep")
THREADS_FIRST = ("threads", "precision", "integrator", "timestep")


def by_name(given: tuple[Any, ...], named: dict[str, tuple[Any, Any]]) -> list[Any]:
    """Values of named arguments after those given by place; OptionError for too many, or for one given twice.

    `named`: for each name its value and its default.
    """
    threads_first = not given or given[0] is None or isinstance(given[0], int)
    places = THREADS_FIRST if threads_first else AS_SIMULATION
    if len(given) > len(places):
        raise OptionError(f"a batch takes {', '.join(places)} by place after model and n; name the others")
    placed: dict[str, Any] = dict(zip(places, given, strict=False))
    for name in placed:
        value, default = named[name]
        if value is not default and value != default:
            raise OptionError(f"{name} is given twice, by place and by name")
    return [placed.get(name, value) for name, (value, _) in named.items()]
