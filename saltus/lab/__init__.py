"""The lab: live simulation in the browser, with everything adjustable while it runs.

from saltus import lab
lab.open("pendularm")        # a scene, a model, a Simulation or a Trajectory; opens the browser
"""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saltus.arguments import words
from saltus.errors import OptionError
from saltus.lab.messages.ear import Ear
from saltus.lab.view.drawings import Drawing, arrow, line, sphere, text

if TYPE_CHECKING:
    from saltus.integrate.registry import IntegratorChoice
    from saltus.lab.base_session import Session
    from saltus.lab.controls.extras import Extras, UserSlider
    from saltus.lab.data.recording import Downloads
    from saltus.lab.messages.outside import Outside
    from saltus.lab.planning.pilot import ControlFunction
    from saltus.lab.scene.scenes import Scene
    from saltus.model.load import ModelSource
    from saltus.record.trajectory import Trajectory
    from saltus.simulate.laws.contact import ContactChoice
    from saltus.simulate.laws.control import Controller
    from saltus.simulate.simulation import Simulation

__all__ = ["FIRST", "Drawing", "Lab", "arrow", "line", "open", "sphere", "text"]

FIRST = "pendularm"  # the default scene


class Lab:
    """An open lab; `url` is the address of its page, which only browsers on this machine can reach.

    The lab runs in background threads until `close` or the end of the process; as a context manager, until the end of
    the block. A notebook displays it as an embedded page.

    `slider`, `button`, `plot`, `draw` and `before_step` extend the lab at any time; all pages show the additions while
    they show the scene that the lab was opened with. The functions passed to them are called in the lab's thread
    between two steps, with the running `saltus.Simulation`. Do not keep a reference to it: another one replaces it when
    an integrator, a time step, a contact law or a value of the model is chosen. Each function should take a few
    milliseconds at most. If one raises an error, the page shows the error and the function is not called again.
    """

    def __init__(self, first: Scene, options: Mapping[str, object], port: int = 0):
        """Open a scene and start the server; use `open` instead."""
        from saltus.lab.controls.extras import Extras
        from saltus.lab.scene.choose import model_scene, name_of
        from saltus.lab.scene.scenes import scenes
        from saltus.lab.serve.server import Server
        from saltus.lab.serve.stage import Stage
        from saltus.lab.session import LiveSession

        known = {first.name: first} | {name: scene for name, scene in scenes().items() if name != first.name}

        self._extras = Extras()
        self._takes_extras = False

        def open_scene(name: str, downloads: Downloads) -> Session:
            session = known[name].open(downloads, options if known[name] is first else {})
            if known[name] is first and isinstance(session, LiveSession):
                session.add(self._extras)
                self._takes_extras = True
            return session

        def take_in(brought: Outside) -> dict[str, str]:
            model = brought.model()
            name = name_of(Path(brought.name), model.name)
            scene = model_scene(name if name not in scenes() else f"{name} (yours)", model)
            known[scene.name] = scene
            return scene.entry()

        self._stage = Stage(open_scene, [scene.entry() for scene in known.values()], take_in)
        self._server = Server(self._stage, port)
        self._server.start()
        try:
            self._stage.start(first.name)
        except BaseException:
            self.close()
            raise

    @property
    def url(self) -> str:
        """The address of the page, including the access token that every request needs."""
        return self._server.url

    def open_page(self) -> None:
        """Show the page in the browser."""
        threading.Thread(target=webbrowser.open, args=(self.url,), daemon=True).start()

    # ------------------------------------------------------------ additions of the user

    @property
    def _own(self) -> Extras:
        if not self._takes_extras:
            raise OptionError("a recording cannot have sliders, buttons, plots or drawings")
        return self._extras

    def slider(
        self,
        name: str,
        low: float,
        high: float,
        *,
        value: float | None = None,
        unit: str = "",
        on_change: Callable[[Simulation, float], object] | None = None,
    ) -> UserSlider:
        """Add a slider from `low` to `high`, initially at `value` (None: at `low`).

        `on_change(sim, value)` is called with the initial value, whenever the slider is moved, and after every reset,
        before the next step. Returns the slider, whose `value` can be read and set.

        OptionError: the range is empty, the value is outside it, or a slider of this name exists.
        """
        return self._own.slider(name, low, high, low if value is None else value, unit, on_change)

    def button(self, name: str, on_press: Callable[[Simulation], object]) -> None:
        """Add a button; each press calls `on_press(sim)` once. OptionError: a button of this name exists."""
        self._own.button(name, on_press)

    def plot(self, name: str, read: Callable[[Simulation], float] | None = None, *, unit: str = "") -> None:
        """Plot the number `read(sim)` over time; without `read`, the simulation's own signal `name`, as `qpos[hinge]`.

        `read` is called at every following sample of the plots; `unit` labels the axis. OptionError: a plot of this
        name exists, or there is no such signal.
        """
        self._own.plot(name, read, unit)

    def draw(self, draw: Callable[[Simulation], Iterable[Drawing]]) -> None:
        """Add the drawings that `draw(sim)` returns to each frame: `lab.arrow`, `sphere`, `line`, `text`, ... .

        `sim` has the state at the end of the displayed step. For a drawing that moves as smoothly as a body, give its
        coordinates in the frame of the body: lab.arrow(..., body="bob").
        """
        self._own.draw(draw)

    def before_step(self, act: Callable[[Simulation], object]) -> None:
        """Call `act(sim)` before every step, for instance to set `sim.qfrc_applied` or `sim.ctrl`."""
        self._own.before_step(act)

    def wait(self) -> None:
        """Wait until the lab is closed, or until Ctrl-C."""
        while not self._stage.closed.wait(0.5):
            pass

    def warn(self, text: str) -> None:
        """Show a warning in the page."""
        self._stage.say("warning", text)

    def close(self) -> None:
        """Close the lab; open pages show that it has ended."""
        self._server.close()
        self._stage.close()

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Lab at {self.url}>"

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.url}" width="100%" height="640" style="border:0" allow="fullscreen"></iframe>'


def open(
    what: ModelSource | Simulation | Trajectory | list[Trajectory] | tuple[Trajectory, ...] = FIRST,
    *,
    control: Controller | ControlFunction | None = None,
    plan: Sequence[str] | None = None,
    integrator: IntegratorChoice = None,
    contact: ContactChoice = None,
    restitution: float | None = None,
    friction: float | None = None,
    timestep: float | None = None,
    key: int | str | None = None,
    ignore: Iterable[str] = (),
    parameters: Sequence[str] = (),
    speed: float = 1.0,
    playing: bool = True,
    port: int = 0,
    browser: bool = True,
) -> Lab:
    """Open the lab and return at once.

    Args:
        what: the name of a scene (see `saltus.lab.scene.scenes.scenes`), anything that `saltus.load` takes, a
            `saltus.Simulation`, whose present state the lab starts from, or a `saltus.Trajectory`, which it plays;
            several in a list play on one timeline, those after the first as ghosts.
        control: a function f(sim) -> ctrl, as for `Simulation.run`, such as a planner of `saltus.mppi`: it is called
            before each step, beside the page, and the simulation waits for it; or a controller in the time loop. A name
            in `what` is then that of a bundled model.
        plan: names of sites and bodies whose planned paths are drawn; None: the ends of the chains.
        integrator, contact, timestep: see `saltus.Simulation`; key: the keyframe to start from.
        restitution, friction: coefficients of hard contact that replace the scene's; see `saltus.Hard`.
        ignore: features of the model to leave out, see `saltus.load`.
        parameters: values of the model that get sliders, "body_mass[bob]=0.1:10"; see `saltus.lab.controls.parameters`.
        speed: simulated seconds per second of wall time. playing: whether time runs from the start.
        port: port to listen on at 127.0.0.1; 0: any free one.
        browser: whether to open the page.

    Raises:
        ModelError, OptionError: `what` cannot be shown, or not with these options; or the port is in use.
    """
    given = {"integrator": integrator, "contact": contact, "timestep": timestep, "key": key}
    given |= {"restitution": restitution, "friction": friction}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    options |= {} if speed == 1.0 else {"speed": speed_of(speed)}
    options |= {} if playing else {"playing": False}
    options |= {"parameters": tuple(parameters)} if parameters else {}
    from saltus.lab.scene.choose import find_scene

    warned: list[str] = []
    with Ear(warned.append):
        scene = find_scene(
            what, options, words("ignore", ignore), control, None if plan is None else words("plan", plan)
        )
    lab = Lab(scene, options, port)
    for warning in warned:
        lab.warn(warning)
    if browser:
        lab.open_page()
    return lab


def speed_of(speed: float) -> float:
    """Return the speed (simulated seconds per second) as a float. OptionError: it is not between 0.01 and 100."""
    if not 0.01 <= speed <= 100:
        raise OptionError(f"speed must be between 0.01 and 100, got {speed}")
    return float(speed)
