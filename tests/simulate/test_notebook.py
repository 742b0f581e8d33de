"""What notebooks show of models, simulations, batches, events, laws, integrators and steps of derivations.

Reference: MuJoCo's compiler for bodies and joints, `Simulation.picture` for pixels, Python's HTML parser for what a
browser makes of it; names are the user's and must stay text.
"""

import base64
import io
from html.parser import HTMLParser

import mujoco
import numpy as np
import pytest
from PIL import Image

import saltus
from saltus.record.table.events import EVENT_DTYPE, event_table
from saltus.simulate.notebook import HEIGHT, WIDTH
from saltus.terminal.display import SHOWN, count

ODD = """<mujoco model="&lt;b&gt;odd"><worldbody>
  <body name="&lt;script&gt;alert(1)&lt;/script&gt;" pos="0 0 1"><joint name="a&amp;b" axis="0 1 0" range="-30 30"
    limited="true" damping="0.5"/><geom size="0.1" mass="2"/>
    <body pos="0 0 0.5"><joint type="slide" axis="0 0 1"/><geom size="0.1" mass="3"/></body></body>
</worldbody></mujoco>"""
NAME = "<script>alert(1)</script>"


class Page(HTMLParser):
    """Elements, rows of cells and pictures of a piece of HTML."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.rows, self.pictures = set(), [], []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
        elif tag == "img":
            data = dict(attrs)["src"].partition("base64,")[2]
            self.pictures.append(np.asarray(Image.open(io.BytesIO(base64.b64decode(data)))))

    def handle_data(self, data):
        self.text += data
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data

    def row(self, first):
        (found,) = (row for row in self.rows if row[0] == first)
        return found


@pytest.mark.parametrize(
    ("number", "thing", "words"),
    [(1, "body", "1 body"), (2, "body", "2 bodies"), (0, "joint", "0 joints"), (1, "joint", "1 joint")],
)
def test_plurals(number, thing, words):
    assert count(number, thing) == words


def test_texts_have_their_plurals():
    assert repr(saltus.load("pendulum")) == "Model('pendulum': 1 body, 1 joint, nq 1, nv 1, nu 1)"
    assert "2 bodies, 2 joints" in repr(saltus.load("double_pendulum"))
    assert ", 1 thread, " in repr(saltus.Batch("pendulum", 2, threads=1))


def test_a_model_shows_its_bodies_and_joints():
    model, reference = saltus.load(ODD), mujoco.MjModel.from_xml_string(ODD)
    page = Page(model._repr_html_())
    assert "script" not in page.tags and "b" not in page.tags
    assert "<b>odd" in page.text
    assert [float(page.row(name)[2]) for name in (NAME, "body 2")] == list(reference.body_mass[1:])
    assert page.row("body 2")[1] == NAME
    hinge, slide = page.row("a&b"), page.row("joint 1")
    assert hinge[1:3] == ["hinge", NAME] and slide[1:3] == ["slide", "body 2"]
    low, high = (float(word) for word in hinge[4].split()[:3:2])
    np.testing.assert_allclose([low, high], reference.jnt_range[0], rtol=1e-3)
    assert float(hinge[6]) == reference.dof_damping[0]


def test_a_simulation_shows_where_it_is():
    sim = saltus.Simulation(ODD)
    sim.qpos[:] = 0.4, -0.3
    page = Page(sim._repr_html_())
    (shown,) = page.pictures
    np.testing.assert_array_equal(shown, np.asarray(sim.picture(width=WIDTH, height=HEIGHT)))
    (start,) = Page(sim.model._repr_html_()).pictures
    assert (shown != start).any()
    assert [row[1] for row in page.rows if row[0] == "a&b"] == ["0.4 rad", "0 rad/s"]
    assert sim.integrator.name in page.row("integrator")[1]


def test_nothing_to_draw_is_no_picture():
    bare = ODD.replace('<geom size="0.1" mass="2"/>', '<inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>')
    bare = bare.replace('<geom size="0.1" mass="3"/>', '<inertial pos="0 0 0" mass="3" diaginertia="1 1 1"/>')
    page = Page(saltus.load(bare)._repr_html_())
    assert not page.pictures and page.row(NAME)[2] == "2"
    sim = saltus.Simulation(ODD)
    sim.qpos[0] = np.nan
    page = Page(sim._repr_html_())
    assert ["a&b", "nan rad"] in page.rows


def test_a_batch():
    page = Page(saltus.Batch(ODD, 3, threads=1)._repr_html_())
    assert page.row("size")[1] == "3 simulations, float64, 1 thread"
    assert "<b>odd: 2 bodies, 2 joints" in page.row("model")[1]


def test_events_are_a_table():
    events = np.zeros(SHOWN + 3, EVENT_DTYPE)
    events["kind"], events["name"], events["time"] = "impact", NAME, np.arange(len(events))
    table = event_table(events)
    page = Page(table._repr_html_())
    assert "script" not in page.tags and f"{len(events)} events: {len(events)} impact" in page.text
    assert page.rows[-1] == ["and 3 more"] and len(page.rows) == 1 + SHOWN + 1
    assert type(table["time"]) is np.ndarray and table["time"].dtype == float
    assert "1 event: 1 impact" in Page(table[:1]._repr_html_()).text
    assert Page(np.concatenate([table, events])._repr_html_()).rows[-1] == [f"and {len(events) + 3} more"]
    assert hasattr(saltus.Trajectory([0.0], [[0.0]], [[0.0]], events=events).events, "_repr_html_")
    assert hasattr(saltus.Simulation("pendulum").events, "_repr_html_")


def test_contact_laws():
    law = saltus.contact_law((0.01, 1.0), mass=2.0)
    page = Page(law._repr_html_())
    assert page.row("  penetration")[1] == f"{law.rest_penetration:.4g} m"
    page = Page(saltus.Hard(0.5, pairs={(NAME, "floor"): 0.25})._repr_html_())
    assert page.row("restitution")[1] == "0.5" and page.row("pairs")[1] == f"{NAME} and floor: 0.25"
    assert "script" not in page.tags
    assert "soft" in Page(saltus.Soft()._repr_html_()).text


def test_integrators():
    found = saltus.integrators()
    page = Page(found._repr_html_())
    assert [row[0] for row in page.rows[1:]] == list(found)
    assert Page(found["rk4"]._repr_html_()).row("order")[1] == "4"


def test_steps_of_a_derivation():
    steps = saltus.derive("pendulum").steps
    shown = steps._repr_html_()
    assert shown.count("<h3>") == len(steps) > 3
    assert "math" in Page(shown).tags
