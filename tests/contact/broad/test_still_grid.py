"""Contacts of what is awake, found with a grid that keeps what is not.

Reference: all contacts at the same positions if everything is awake; those of which somebody awake is part stay.
"""

import mujoco
import numpy as np
import pytest

import saltus
from saltus.contact.counts import NCON, NFOUND, NLOST
from saltus.contact.mujoco.collision import attach
from saltus.contact.pairs import contact_pairs
from saltus.dynamics.awake.counts import WHOLE
from saltus.model.compile.kernel_model import NO_LAWS
from saltus.model.layout import DATA, data_sizes
from saltus.number.kernels import entry
from saltus.number.structs import Struct
from saltus.solve.constrain import detect_contacts
from saltus.solve.sleep.calls import begin_sleeping, see_everything

from .test_found_pairs import heap


@entry
def look(m, d):
    see_everything(m, d)
    detect_contacts(m, d)


@entry
def look_awake(m, d):
    begin_sleeping(m, d)
    detect_contacts(m, d)


def contacts(m, d):
    """Geoms, distance and place of all contacts, in order."""
    assert d.views["count"][NLOST] == 0
    sides, n = contact_pairs(m, d), int(d.views["count"][NCON])
    return sides.geom1, sides.geom2, d.views["contact_dist"][:n].copy(), d.views["contact_pos"][:n].copy()


@pytest.mark.parametrize("number", [30, 120])
def test_contacts_of_what_is_awake_are_those_of_everything(number):
    """For several choices of who sleeps, one after the other, to the last bit and in the same order."""
    text = heap(number, spacing=0.07).replace("<option />", '<option><flag sleep="enable"/></option>')
    model = saltus.load(text)
    m = model.struct(laws=NO_LAWS._replace(sleeps=True))
    d = Struct(DATA, data_sizes(m.sizes))
    attach(model, d)
    r, tree = np.random.default_rng(number), m.views["body_treeid"]
    views = d.views
    for share in (0.0, 0.5, 0.9, 0.97, 0.3, 1.0):
        views["qpos"][...] = model.qpos0
        asleep = r.random(model.ntree) < share
        # each of them in a cycle of its own
        views["tree_asleep"][...] = np.where(asleep, np.arange(model.ntree), -11.0)
        views["qpos_asleep"][...] = model.qpos0
        look_awake(m, d)
        found = contacts(m, d)
        assert share < 1.0 or views["count"][NFOUND] == 0
        if share > 0.0:
            assert not views["awake_count"][WHOLE]
        look(m, d)
        geom1, geom2, dist, pos = contacts(m, d)
        bodies = model.geom_bodyid
        awake = np.append(~asleep, False)  # the last one for what stands still
        stays = awake[tree[bodies[geom1]]] | awake[tree[bodies[geom2]]]
        for one, all_of_them in zip(found, (geom1, geom2, dist, pos), strict=True):
            np.testing.assert_array_equal(one, all_of_them[stays])
        assert share in (0.0, 1.0) or 0 < stays.sum() < len(stays)


def test_mujoco_finds_as_many():
    """Where all are awake."""
    text = heap(40).replace("<option />", '<option><flag sleep="enable"/></option>')
    sim, m = saltus.Simulation(saltus.load(text)), mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    assert len(sim.data.contact) == d.ncon > 20
