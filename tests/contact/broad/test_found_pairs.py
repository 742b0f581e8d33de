"""Pairs that are found at run time, against those of the list, to the last bit, and against MuJoCo's."""

import re

import mujoco
import numpy as np
import pytest
from helpers.constraints import tight
from helpers.plain_python import plain_python

import saltus
from saltus.contact.broad.found_pairs import find_pairs
from saltus.contact.counts import NCON, NFOUND, NLOST
from saltus.contact.mujoco.collision import attach
from saltus.contact.pairs import contact_pairs
from saltus.dynamics.smooth import position_stage
from saltus.model.compile.constraints import broad
from saltus.model.layout import DATA, data_sizes
from saltus.number.kernels import entry
from saltus.number.structs import Struct
from saltus.solve.constrain import detect_contacts

GEOMS = (
    '<geom type="sphere" size=".05"/>',
    '<geom type="box" size=".06 .04 .05"/>',
    '<geom type="capsule" size=".03 .05" margin=".004" gap=".003"/>',
    '<geom type="ellipsoid" size=".06 .05 .04" friction=".3"/>',
    '<geom type="cylinder" size=".05 .03" solref=".01 1"/>',
    '<geom type="sphere" size=".02" contype="2" conaffinity="3"/>',
    '<geom type="mesh" mesh="tetra" condim="4"/>',
    '<geom type="sphere" size=".3" contype="0" conaffinity="2"/>',
)
STATIC = (
    '<geom name="floor" type="plane" size="3 3 1"/><geom name="ramp" type="plane" size="3 3 1" zaxis=".3 0 1"/>'
    '<geom name="step" type="box" size="1 .3 .05" pos="0 .4 .05"/><geom type="hfield" hfield="hills" pos="0 -1 0"/>'
    '<body name="post"><geom type="cylinder" size=".1 .4" pos=".5 .5 .4"/></body>'
)
ASSETS = (
    '<asset><mesh name="tetra" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/>'
    '<hfield name="hills" nrow="3" ncol="3" elevation="0 1 0 1 0 1 0 1 0" size="1 .5 .1 .1"/></asset>'
)
RULES = (
    '<contact><exclude body1="b0" body2="b1"/><exclude body1="b4" body2="b3"/><exclude body1="post" body2="b9"/>'
    '<pair geom1="g0" geom2="floor" friction=".1 .1 .01 .01 .01" margin=".01"/><pair geom1="g5" geom2="g6" gap=".1"/>'
    '<pair geom1="g2" geom2="floor" condim="1"/><pair geom1="floor" geom2="g0" condim="4" margin=".03"/></contact>'
)


CHILD = '<body pos=".05 0 0"><joint/><geom type="capsule" size=".02 .03" pos=".03 0 0"/></body>'


def heap(number, seed=0, geoms=GEOMS, option="", spacing=0.09, rules=RULES, static=STATIC, child=CHILD):
    """Bodies of several shapes, sizes, masks and margins in a loose grid over a floor; every fifth has a child."""
    r, side, bodies = np.random.default_rng(seed), int(np.ceil(number ** (1 / 3))), []
    for i in range(number):
        pos = spacing * (np.array([i % side, i // side % side, i // side**2]) + 0.3 * r.random(3)) + [0, 0, 0.08]
        geom = geoms[i % len(geoms)].replace("<geom", f'<geom name="g{i}"')
        own = f"<freejoint/>{geom}{child if i % 5 == 4 else ''}"
        bodies.append(f'<body name="b{i}" pos="{pos[0]} {pos[1]} {pos[2]}" euler="{i} {2 * i} 0">{own}</body>')
    world = f"<worldbody>{static}{''.join(bodies)}</worldbody>"
    return f"<mujoco><option {option}/>{ASSETS}{world}{rules}</mujoco>"


@pytest.fixture
def always(monkeypatch):
    """Models are loaded with pairs that are found, whatever their number."""
    monkeypatch.setattr(broad, "MOST_LISTED", 0)


@entry
def look(m, d):
    position_stage(m, d, 1)
    detect_contacts(m, d)


def data_of(model, m, qpos):
    """A Data with the contacts at some positions."""
    d = Struct(DATA, data_sizes(m.sizes))
    attach(model, d)
    d.views["qpos"][...] = qpos
    look(m, d)
    return d


def shaken(model, seed):
    """Positions at which bodies are moved and turned at random."""
    r, qpos = np.random.default_rng(seed), model.qpos0.copy()
    velocity = r.normal(size=model.nv) * 0.05
    mujoco.mj_integratePos(model.mj_model, qpos, velocity, 1.0)
    return qpos


def test_many_pairs_are_found_and_few_are_listed(monkeypatch):
    monkeypatch.setattr(broad, "MOST_LISTED", 2000)
    few, many = saltus.load(heap(20)), saltus.load(heap(80))
    assert "broad" not in few.struct().layout.features
    assert "broad" in many.struct().layout.features
    assert "broad" not in many.struct(listed="this test").layout.features
    assert many.struct().sizes["ncollision"] == 0


@pytest.mark.parametrize("seed", range(6))
def test_contacts_are_those_of_the_list_to_the_last_bit(always, seed):
    model = saltus.load(heap(60, spacing=0.05 + 0.02 * seed))
    qpos = shaken(model, seed)
    found, listed = (data_of(model, model.struct(listed=why), qpos) for why in ("", "this test"))
    n = found.count[NCON]
    assert n == listed.count[NCON] > 20 and found.count[NLOST] == 0
    sides, others = contact_pairs(model.struct(), found), contact_pairs(model.struct(listed="this test"), listed)
    for name in ("geom1", "geom2", "flex"):
        np.testing.assert_array_equal(getattr(sides, name), getattr(others, name))
    for name in ("contact_dist", "contact_pos", "contact_frame"):
        np.testing.assert_array_equal(found.views[name][:n], listed.views[name][:n])


@pytest.mark.parametrize("most", [0, 2000], ids=["found", "listed"])
def test_pairs_that_the_file_names_twice(monkeypatch, most):
    """They have a contact for each name, with the numbers of each, as in MuJoCo 4.0; accelerations to rounding."""
    monkeypatch.setattr(broad, "MOST_LISTED", most)
    xml = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
        <body pos="0 0 .101"><freejoint/><geom name="a" size=".1"/></body>
        <body pos=".05 0 .285"><freejoint/><geom name="b" size=".1"/></body></worldbody><contact>
        <pair geom1="floor" geom2="a" condim="1" solref=".05 1"/><pair geom1="a" geom2="b" margin=".01"/>
        <pair geom1="a" geom2="floor" margin=".002" friction=".3 .3 .1 .1 .1"/><pair geom1="b" geom2="a"/>
        </contact></mujoco>"""
    model = saltus.load(tight(mujoco.MjModel.from_xml_string(xml)))
    assert ("broad" in model.struct().layout.features) == (most == 0)
    sim, data = saltus.Simulation(model), mujoco.MjData(model.mj_model)
    mujoco.mj_forward(model.mj_model, data)
    ours = sorted((c["geom1"], c["geom2"], c["dim"], *c["friction"]) for c in sim.data.contact)
    assert ours == sorted((*c.geom, c.dim, *c.friction) for c in data.contact) and len(ours) == 3
    assert sim.data.qacc == pytest.approx(data.qacc, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    "option",
    [
        "",
        '><flag override="enable"/></option><option o_margin=".02"',
        '><flag filterparent="disable"/></option><option',
    ],
)
def test_pairs_in_contact_are_mujocos(always, option):
    model = saltus.load(heap(60, option=option, geoms=GEOMS[:6]))
    qpos = shaken(model, 3)
    data = mujoco.MjData(model.mj_model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model.mj_model, data)
    mujoco.mj_collision(model.mj_model, data)
    m = model.struct()
    sides = contact_pairs(m, data_of(model, m, qpos))
    ours = {tuple(sorted(pair)) for pair in zip(sides.geom1.tolist(), sides.geom2.tolist(), strict=True)}
    assert ours == {tuple(sorted(pair)) for pair in data.contact.geom.tolist()}
    assert len(ours) > 20


@pytest.mark.parametrize("case", ["", 'cone="elliptic" impratio="3"', 'solver="CG"', "sticky"])
def test_steps_are_those_of_the_list_to_the_last_bit(monkeypatch, case):
    text = heap(40, option=case if case != "sticky" else "", geoms=GEOMS[:6])
    if case == "sticky":
        text = text.replace('friction=".3"', 'friction=".3" adhesion=".5" gap=".01"')
    listed = saltus.Simulation(saltus.load(text))
    monkeypatch.setattr(broad, "MOST_LISTED", 0)
    found = saltus.Simulation(saltus.load(text))
    assert "broad" in found.engine.m.layout.features and "broad" not in listed.engine.m.layout.features
    touched = 0
    for _ in range(100):
        found.step()
        listed.step()
        touched = max(touched, len(found.data.contact))
        np.testing.assert_array_equal(found.engine.state, listed.engine.state)
    assert touched > 30
    for name in ("geom1", "geom2", "dist", "frame", "friction", "efc_address"):
        np.testing.assert_array_equal(found.data.contact[name], listed.data.contact[name])
    assert found.data.qfrc_adhesion.any() == (case == "sticky")
    for name in ("efc_J", "efc_force", "efc_type", "efc_id"):
        np.testing.assert_array_equal(getattr(found.data, name), getattr(listed.data, name))


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_lanes_are_those_of_the_list_to_the_last_bit(monkeypatch, precision):
    """In single precision bodies are alike: then inverse inertias of two of them are added without rounding."""
    options = {} if precision == "float64" else {"child": "", "rules": ""}
    text, n = heap(30, geoms=GEOMS[: 1 if options else 6], **options), 5
    listed = saltus.Batch(saltus.load(text), n, precision=precision)
    monkeypatch.setattr(broad, "MOST_LISTED", 0)
    found = saltus.Batch(saltus.load(text), n, precision=precision)
    velocity = np.random.default_rng(1).normal(size=found.qvel.shape)
    for batch in (listed, found):
        batch.qvel = velocity
        batch.step(60)
    np.testing.assert_array_equal(found.qpos, listed.qpos)
    ours, theirs = found.contacts(), listed.contacts()
    assert len(ours) > 30
    for name in ("simulation", "geom1", "geom2", "flex", "force"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


def test_lanes_do_not_depend_on_their_neighbours(always):
    model, n = saltus.load(heap(30, geoms=GEOMS[:6])), 3
    batch, alone = saltus.Batch(model, n), [saltus.Batch(model, 1) for _ in range(n)]
    velocity = np.random.default_rng(2).normal(size=batch.qvel.shape)
    batch.qvel = velocity
    batch.step(60)
    for i, one in enumerate(alone):
        one.qvel = velocity[i : i + 1]
        one.step(60)
        np.testing.assert_array_equal(one.qpos[0], batch.qpos[i])


@pytest.mark.parametrize("shape", ["flat", "tall"])
def test_the_number_of_found_pairs_does_not_depend_on_how_they_lie(always, shape):
    """Spheres in a row touch two others, however long the row."""
    found = []
    for number in (40, 80):
        axis = 0 if shape == "flat" else 2
        places = [np.eye(3)[axis] * 0.099 * i + [0, 0, 1] for i in range(number)]
        bodies = "".join(f'<body pos="{x} {y} {z}"><freejoint/><geom size=".05"/></body>' for x, y, z in places)
        model = saltus.load(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
        d = data_of(model, model.struct(), model.qpos0)
        found.append(int(d.count[NFOUND]))
    assert found == [39, 79]


def test_memory_grows_with_the_number_of_bodies(monkeypatch):
    monkeypatch.setattr(broad, "MOST_LISTED", 2000)
    sizes = []
    for number in (100, 200, 400):
        m = saltus.load(heap(number)).struct()
        sizes.append(m.ints.nbytes + m.real.nbytes)
    first, second = np.diff(sizes)
    assert second == pytest.approx(2 * first, rel=0.05)


def test_more_pairs_than_there_is_room_for_are_an_error(always, monkeypatch):
    monkeypatch.setattr(broad, "FOUND_PER_GEOM", 0)
    monkeypatch.setattr(broad, "FOUND_AT_LEAST", 5)
    sim = saltus.Simulation(saltus.load(heap(30, geoms=GEOMS[:6])))
    with pytest.raises(saltus.ModelError, match=re.escape("9 pairs of geoms near each other")):
        sim.step(200)


def test_what_needs_a_list_has_one_or_says_that_there_are_too_many(monkeypatch):
    monkeypatch.setattr(broad, "MOST_LISTED", 2000)
    text = heap(80, geoms=GEOMS[:1], rules="", static='<geom name="floor" type="plane" size="3 3 1"/>')
    model = saltus.load(text)
    assert "broad" in model.struct().layout.features
    assert saltus.Simulation(model, contact="hard", integrator="moreau_jean").engine.m.sizes["ncollision"] > 2000
    pgs = saltus.load(text.replace("<option ", '<option solver="PGS" '))
    assert pgs.struct().sizes["ncollision"] > 2000
    monkeypatch.setattr(broad, "MOST_LISTABLE", 2500)
    again = saltus.load(text)
    with pytest.raises(saltus.ModelError, match="4640 pairs of geoms may touch, and hard contact would need a list"):
        saltus.Simulation(again, contact="hard", integrator="moreau_jean")
    with pytest.raises(saltus.ModelError, match="the solver PGS, or noslip iterations, would need a list"):
        saltus.load(text.replace("<option ", '<option solver="PGS" ')).struct()


def test_forces_on_bodies_under_a_law_that_needs_a_list(monkeypatch):
    """They are read by a Model that is made for them, which must have the list, too."""
    found = []
    for most in (10**6, 0):
        monkeypatch.setattr(broad, "MOST_LISTED", most)
        model = saltus.load(heap(6, geoms=GEOMS[:2], rules="", child=""))
        sim = saltus.Simulation(model, contact="hard", integrator="moreau_jean")
        sim.step(100)
        found.append((sim.qpos.copy(), sim.data.cfrc_ext.copy()))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_sensors_read_found_contacts(monkeypatch):
    sensors = (
        '<sensor><contact geom1="floor" num="3" data="found force dist pos"/><contact body1="b0" data="found force"/>'
        '<framelinacc objtype="body" objname="b3"/><force site="s"/></sensor>'
        '<actuator><adhesion body="b0" ctrlrange="0 1" gain="5"/></actuator>'
    )
    text = heap(12, geoms=GEOMS[:2], rules="", child="").replace("</mujoco>", f"{sensors}</mujoco>")
    text = text.replace('<geom name="g3"', '<site name="s"/><geom name="g3"')
    found = []
    for most in (10**6, 0):
        monkeypatch.setattr(broad, "MOST_LISTED", most)
        sim = saltus.Simulation(saltus.load(text))
        batch = saltus.Batch(sim.model, 2)
        sim.ctrl[:], batch.ctrl = 0.5, np.full((2, 1), 0.5)
        sim.step(100)
        batch.step(100)
        found.append((sim.sensordata.copy(), sim.data.cfrc_ext.copy(), batch.read("sensordata")))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    assert found[0][0][0] > 0  # contacts of the floor


def test_derivatives_are_those_of_the_list(monkeypatch):
    found = []
    for most in (10**6, 0):
        monkeypatch.setattr(broad, "MOST_LISTED", most)
        sim = saltus.Simulation(saltus.load(heap(6, geoms=GEOMS[:2], rules="", child="")))
        sim.step(100)
        assert len(sim.data.contact) > 5
        found.append(sim.linearize())
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_recording_says_which_geoms_touch(always):
    sim = saltus.Simulation(saltus.load(heap(20, geoms=GEOMS[:2], rules="")))
    t = sim.run(0.3, sample=0.01)
    assert set(t.names["contact"]) >= {"g0", "floor"}
    sides = sim.data.contact[sim.data.contact["dist"] < sim.data.contact["includemargin"]]
    names = sim.model.names("geom")
    touching = {names[g] for g in [*sides["geom1"], *sides["geom2"]]}
    assert touching == {name for name, on in zip(t.names["contact"], t.contact_state[-1], strict=True) if on}
    assert touching
    with pytest.raises(saltus.OptionError, match="found at run time"):
        assert t.LAMBDA


@entry
def find(m, d):
    find_pairs(m, d)


@pytest.mark.parametrize("seed", range(4))
def test_all_pairs_whose_bounds_meet_are_found(always, seed):
    """Of those that the list has, in its order; bounds by NumPy: boxes about origins, no larger than spheres.

    Places on both sides of all cells' borders, in plain Python.
    """
    model = saltus.load(heap(24, seed, rules="", child="" if seed % 2 else CHILD))
    m, listed, rng = model.struct(), model.struct(listed="this test"), np.random.default_rng(seed)
    d, data = Struct(DATA, data_sizes(m.sizes)), mujoco.MjData(model.mj_model)
    mj, seen = model.mj_model, 0
    for spread in (0.05, 0.2, 0.6):
        data.qpos[:] = model.qpos0
        for b in np.flatnonzero(mj.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
            at = mj.jnt_qposadr[b]
            data.qpos[at : at + 7] = [*rng.uniform(-spread, spread, 3), *rng.normal(size=4)]
        mujoco.mj_kinematics(mj, data)
        d.views["geom_xpos"][...], d.views["geom_xmat"][...] = data.geom_xpos, data.geom_xmat
        with plain_python():
            find(m, d)
        n = d.count[NFOUND]
        found = list(zip(d.views["found_geom1"][:n].tolist(), d.views["found_geom2"][:n].tolist(), strict=True))
        pairs = zip(listed.views["collision_geom1"].tolist(), listed.views["collision_geom2"].tolist(), strict=True)
        wide = mj.geom_margin + mj.geom_gap + broad.SLACK * mj.geom_rbound
        mat, box = data.geom_xmat.reshape(-1, 3, 3), mj.geom_aabb
        half = np.abs(np.einsum("gij,gj->gi", mat, box[:, :3])) + np.einsum("gij,gj->gi", np.abs(mat), box[:, 3:])
        half = np.minimum(half, mj.geom_rbound[:, None])

        def meet(one, other, d=data, half=half, mat=mat, wide=wide):
            apart = d.geom_xpos[other] - d.geom_xpos[one]
            if mj.geom_type[one] == mujoco.mjtGeom.mjGEOM_PLANE:
                return apart @ mat[one, :, 2] <= mj.geom_rbound[other] + wide[one] + wide[other]
            return bool(np.all(np.abs(apart) <= half[one] + half[other] + wide[one] + wide[other]))

        assert found == [pair for pair in pairs if meet(*pair)]
        seen += n
    assert seen > 100 and d.count[NLOST] == 0
