"""A model as a module: where fields are, what the timestep bounds, what is refused.

References: the structs of this machine, field by field; the engine's own quantities of the same state.
"""

import numpy as np
import pytest
from helpers.node import PageProcess, contents

import saltus
from saltus.errors import OptionError
from saltus.lab.scene.choose import find_scene
from saltus.lab.standalone.page import page_html
from saltus.model.compile.constraints import broad
from saltus.target.web.program import program

LEGS = """
<mujoco>
  <option timestep="0.004"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" solref="0.003 1" solimp="0.9 0.95 0.001"/>
    <body pos="0 0 0.5">
      <freejoint/>
      <geom name="hull" type="box" size="0.1 0.15 0.05" solref="0.02 0.8"/>
      <site name="imu" pos="0.01 0.02 0.03"/>
      <body pos="0.1 0 0">
        <joint name="hip" axis="0 1 0" range="-60 60" stiffness="2" damping="0.1"/>
        <geom name="foot" type="capsule" fromto="0 0 0 0.1 0 -0.3" size="0.03"/>
      </body>
    </body>
  </worldbody>
  <actuator><position name="servo" joint="hip" kp="20"/></actuator>
  <sensor><accelerometer site="imu"/><touch site="imu"/><jointpos joint="hip"/></sensor>
</mujoco>
"""

FIELDS = ("qacc", "actuator_force", "geom_xpos", "subtree_com", "qfrc_constraint")


@pytest.fixture(scope="module")
def sim():
    return saltus.Simulation(saltus.load(LEGS), "euler")


@pytest.fixture(scope="module")
def html():
    return page_html(find_scene(LEGS, {"integrator": "euler"}, []), {}, ["euler"], ["soft"])


@pytest.mark.slow
def test_fields_are_where_this_machine_has_them(sim, html):
    about, _, image = contents(html)
    (law,), (loop,) = about["program"]["laws"], about["program"]["loops"]
    for struct, what in ((sim.model.struct(timestep=0.0, laws=sim.engine.laws), law), (sim.engine.d, loop)):
        real = np.frombuffer(image, float, what["reals"]["count"], what["reals"]["at"])
        ints = np.frombuffer(image, np.int64, what["ints"]["count"], what["ints"]["at"])
        assert np.array_equal(real, struct.real) and np.array_equal(ints, struct.ints)
        for name, (integer, at, count) in what["fields"].items():
            view = np.ravel(struct.views[name]) if name in struct.views else [getattr(struct, name)]
            assert np.array_equal((ints if integer else real)[at : at + count], view), name
    assert {"qpos", "qvel", "ctrl", "xpos"} <= set(loop["fields"])


@pytest.mark.slow
def test_the_timestep_bounds_time_constants_as_on_this_machine(sim, html):
    """A time constant of 3 ms cannot be kept with steps of 4 ms: MuJoCo's guard makes it 8 ms."""
    law = contents(html)[0]["program"]["laws"][0]
    authored = sim.model.struct(timestep=0.0, laws=sim.engine.laws)
    for h in (0.001, 0.004, 0.02):
        bounded = authored.real.copy()
        for place, constant, power in law["bounded"]:
            bounded[int(place)] *= (constant / max(constant, 2 * h)) ** power
        there = sim.model.struct(timestep=h, laws=sim.engine.laws).real
        assert np.allclose(bounded, there, rtol=1e-14, atol=0), h
    assert len(law["bounded"]) > 0


@pytest.mark.slow
def test_what_a_page_shows_is_what_this_machine_computes(sim, html):
    """After a second the box and its leg lie on the floor: places, accelerations, readings, contact forces.

    Digits: both round each operation but for fused multiply-adds; the solver's tolerance is 1e-8 relative.
    """
    with PageProcess(html) as page:
        page.start("euler", "soft")
        there = page.step(250)
        shown = page.look([*FIELDS, "sensordata"])
    here = saltus.Simulation(sim.model, "euler")
    here.step(250)
    here.qpos[:], here.qvel[:] = there["qpos"], there["qvel"]
    here.forward()
    assert there["status"] == "OK" and len(here.data.contact) > 0
    for name in (*FIELDS, "sensordata"):
        value = np.ravel(here.sensordata if name == "sensordata" else getattr(here.data, name))
        assert np.allclose(shown[name][: len(value)], value, rtol=1e-6, atol=1e-6 * np.abs(value).max()), name
    contacts = np.array(shown["contacts"])
    assert np.allclose(contacts[:, :3], here.data.contact["pos"], atol=1e-12)
    assert np.allclose(contacts[:, 6], here.data.contact["dist"], atol=1e-12)
    # forces of contacts are all that constraints do to the translation of the whole
    assert np.allclose(contacts[:, 3:6].sum(axis=0), shown["qfrc_constraint"][:3], rtol=1e-10, atol=1e-10)


def test_what_mujoco_collides_is_refused_by_name():
    """The message says which model and what of it."""
    ball = '<asset><mesh name="ball" builtin="sphere" params="1"/></asset>'
    text = LEGS.replace("<worldbody>", f"{ball}<worldbody>")
    text = text.replace('type="box" size="0.1 0.15 0.05"', 'type="sdf" mesh="ball"')
    with pytest.raises(
        OptionError, match="cannot run in a browser: it needs MuJoCo's functions for collisions of signed"
    ):
        program([saltus.Simulation(saltus.load(text), "euler")])


ROCKS = """
<mujoco>
  <asset>
    <hfield name="hills" nrow="3" ncol="3" size=".3 .3 .1 .1" elevation="0 0 0 0 1 0 0 0 0"/>
    <mesh name="rock" vertex="-.1 -.1 -.1  .1 -.1 -.1  .1 .1 -.1  -.1 .1 -.1  -.05 -.05 .1  .05 0 .1"/>
  </asset>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <geom type="cylinder" size=".2 .05" pos="0 0 .05"/>
    <body pos="0 0 0.22"><freejoint/><geom type="mesh" mesh="rock"/></body>
    <body pos="0.05 0 0.45"><freejoint/><geom type="mesh" mesh="rock"/></body>
    <geom type="hfield" hfield="hills" pos="-.8 0 0" contype="2" conaffinity="2"/>
    <body pos="-.8 0.02 0.19"><freejoint/><geom size=".1" contype="2" conaffinity="2"/></body>
    <body pos="0.6 0 0.12"><freejoint/><geom type="mesh" mesh="rock"/></body>
  </worldbody>
</mujoco>
"""


@pytest.mark.slow
def test_a_page_collides_meshes():
    """Meshes on a plane, a cylinder and each other, a ball on a hill: contacts of this machine's, to roundings."""
    with PageProcess(page_html(find_scene(ROCKS, {"integrator": "euler"}, []), {}, ["euler"], ["soft"])) as page:
        page.start("euler", "soft")
        there = page.step(100)
        contacts = np.array(page.look(["qacc"])["contacts"])
    here = saltus.Simulation(saltus.load(ROCKS), "euler")
    here.qpos[:], here.qvel[:] = there["qpos"], there["qvel"]
    here.forward()
    assert there["status"] == "OK" and len(contacts) == len(here.data.contact) >= 6
    assert np.allclose(contacts[:, :3], here.data.contact["pos"], atol=1e-9)
    assert np.allclose(contacts[:, 6], here.data.contact["dist"], atol=1e-9)


@pytest.mark.slow
def test_a_page_finds_the_pairs_of_a_world_with_too_many_to_list(monkeypatch):
    """Its contacts after half a second are those that this machine finds in the same state."""
    monkeypatch.setattr(broad, "MOST_LISTED", 0)
    bodies = "".join(f'<body pos="0 0 {0.1 + 0.11 * k}"><freejoint/><geom size=".05"/></body>' for k in range(6))
    text = f'<mujoco><worldbody><geom type="plane" size="1 1 1"/>{bodies}</worldbody></mujoco>'
    with PageProcess(page_html(find_scene(text, {"integrator": "euler"}, []), {}, ["euler"], ["soft"])) as page:
        page.start("euler", "soft")
        there = page.step(250)
        contacts = np.array(page.look(["qacc"])["contacts"])
    here = saltus.Simulation(saltus.load(text), "euler")
    here.qpos[:], here.qvel[:] = there["qpos"], there["qvel"]
    here.forward()
    assert "broad" in here.engine.m.layout.features
    assert there["status"] == "OK" and len(contacts) == len(here.data.contact) >= 5
    assert np.allclose(contacts[:, :3], here.data.contact["pos"], atol=1e-12)
