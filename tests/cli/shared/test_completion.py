"""What shells are offered, from a real command line. Reference: the registry of integrators, and the models' names."""

import os
import subprocess
import sys

import pytest

import saltus
from saltus.cli.shared import completion
from saltus.simulate.setup import Setup
from saltus.study.settings import Start


def offered(line, folder=None):
    """What bash is offered at the end of a command line."""
    words = line.split(" ")
    asked = {"_SALTUS_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    command = [sys.executable, "-c", "from saltus.cli import main; main()"]
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **asked}, cwd=folder)
    assert not result.stderr, result.stderr
    return result.stdout.split()


def test_the_integrators_are_all_there_are():
    assert set(completion.INTEGRATORS) == set(saltus.integrators())


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("saltus run pendulum --integrator velo", ["velocity_verlet"]),
        ("saltus compare pendulum --integrators rk4,expl", ["rk4,explicit_euler"]),
        ("saltus run pendulum --contact h", ["hard"]),
        ("saltus run cart_pole --key h", ["hanging"]),
        ("saltus run cart_pole --set qv", ["qvel=", "qvel[theta]=", "qvel[x]="]),
        ("saltus run cart_pole --set ctrl", ["ctrl[force]="]),
        ("saltus sweep cart_pole --set body_mass", ["body_mass[cart]=", "body_mass[pole]="]),
        ("saltus lab cart_pole --key rel", ["release"]),
        ("saltus run nothing.xml --key h", []),
        ("saltus mod", ["models"]),
    ],
)
def test_completion(line, found):
    assert offered(line) == found


def test_names_of_files_and_of_urdf(tmp_path):
    (tmp_path / "a.urdf").write_text('<robot name="a"><link name="hand"/><joint name="wrist" type="fixed"/></robot>')
    assert offered("saltus run a.urdf --set qpos[", tmp_path) == ["qpos[wrist]="]
    assert completion.named_elements(str(tmp_path)) == [] and completion.named_elements(None) == []


@pytest.mark.parametrize("name", ["cart_pole", "humanoid"])
def test_paths_that_are_offered_can_be_set(name):
    """Of every kind, one path, by the code of `saltus run`."""
    kinds = dict(completion.named_elements(name))
    for kind, forms in completion.FIELDS.items():
        for form in forms:
            path = form.format(kinds[kind]).rstrip("=")
            size = [0.3, 0.2, 0.1] if "/size" in path else [1.0, 0.1, 0.1] if "friction" in path else 1.0
            size = [1.0] * 6 if path.startswith("xfrc") else size
            size = size if name == "cart_pole" or not path.startswith("qpos") else 0.1
            Start(Setup(name)).simulation({path: size})
