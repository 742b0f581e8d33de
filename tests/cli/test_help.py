"""Examples in the help texts of the command line, which must work as they stand.

Reference: the command line itself, and a model in which the names of the examples are those of its parts.
"""

import re

import saltus
from saltus.cli.derive import chosen_parameters
from saltus.cli.run import parse_values
from saltus.lab.controls.parameters import marked
from saltus.simulate.setup import Setup
from saltus.study.measures.measure import parse, unit_of
from saltus.study.settings import Start

MODEL = """
<mujoco>
  <worldbody>
    <body name="bob" pos="0 0 1">
      <joint name="hinge" axis="0 1 0"/>
      <geom name="ball" type="sphere" size=".1" mass="1" pos=".3 0 0"/>
    </body>
    <body name="ball" pos="1 0 1"><freejoint name="ball"/><geom type="sphere" size=".1"/></body>
  </worldbody>
  <actuator><motor name="motor" joint="hinge"/></actuator>
</mujoco>
"""
NUMBERS = {"geom[ball]/size": "0.2", "opt.gravity": "0 0 -1.62"}  # values of examples that name none
EXAMPLE = re.compile(r"""e\.g\. ['"]([^'"]+)['"](?: or ['"]([^'"]+)['"])?""")


def shown(saltus_command, command, monkeypatch):
    """The help text of a command as a terminal shows it, in one line."""
    monkeypatch.setenv("COLUMNS", "400")
    code, out, _ = saltus_command(command, "--help")
    assert code == 0
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", out).split())


def examples(text, option):
    """The examples that the help text of an option gives."""
    found = EXAMPLE.search(text, text.index(f"{option} "))
    return [example for example in found.groups() if example]


def begin(values):
    """A simulation with these values at its start."""
    return Start(Setup(MODEL)).simulation(values)


def test_values_of_run(saltus_command, monkeypatch):
    found = examples(shown(saltus_command, "run", monkeypatch), "--set")
    assert found == ["opt.gravity=0,0,-1.62", "qvel[hinge]=2"]
    sim = begin(parse_values(found))
    assert sim.qvel[0] == 2 and sim.model.opt.gravity[2] == -1.62


def test_paths_that_run_explains(saltus_command, monkeypatch):
    text = shown(saltus_command, "run", monkeypatch)
    paths = re.findall(r"[a-z_]+(?:\[[a-z.]+\](?:/\w+)?|\.gravity)", text[text.index("PATH is") : text.index("Ctrl-C")])
    assert {"body_mass[bob]", "geom[ball]/size", "qvel[ball.vz]", "ctrl[motor]", "qfrc_applied[hinge]"} <= {*paths}
    for path in paths:
        begin(parse_values([f"{path}={NUMBERS.get(path, '0.5').replace(' ', ',')}"]))


def test_values_and_measures_of_sweep(saltus_command, monkeypatch):
    text = shown(saltus_command, "sweep", monkeypatch)
    (values,), (measure,) = examples(text, "--set"), examples(text, "--measure")
    path, _, numbers = values.partition("=")
    for number in numbers.split(","):
        assert begin({path: float(number)}).model.body_mass[1] == float(number)
    assert unit_of(parse(measure), saltus.load(MODEL)).strip() == "m"


def test_sliders_of_lab(saltus_command, monkeypatch):
    (slider,) = examples(shown(saltus_command, "lab", monkeypatch), "--parameter")
    (found,) = marked(saltus.load(MODEL), (slider,))
    assert (found.key, found.low, found.high) == ("body_mass[bob]", 0.1, 10.0)


def test_letters_of_derive(saltus_command, monkeypatch):
    (letter,) = examples(shown(saltus_command, "derive", monkeypatch), "--let")
    ((key, symbol),) = chosen_parameters("pendulum", "numbers", [letter]).items()
    assert symbol == "m" and saltus.load(MODEL).changed({key: 3.0}).body_mass[1] == 3.0
