"""The benchmark of piles: both sides have the same boxes at the same places, and what it says of them is so.

No physics here but what any pile at rest shows: under the hard law boxes touch, under the soft one they sink in.
"""

import json

import mujoco
import pytest

from saltus.bench.worlds import pile


def test_boxes_lie_in_layers_between_walls():
    m = mujoco.MjModel.from_xml_string(pile.pile(40))
    assert m.nbody == 41 and m.ngeom == 45 and m.opt.timestep == pile.STEP
    assert abs(m.body_pos[1:, :2]).max() < pile.SIDE and m.body_pos[1:, 2].max() > 0.6
    assert pile.pile(40) == pile.pile(40)


@pytest.mark.slow
def test_both_sides_are_measured_from_the_same_start(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(pile, "LIE", 0.5)
    rows = pile.measure_pile(3, repeats=5, steps=4)
    assert [row.start for row in rows] == ["falling", "settled"]
    for row in rows:
        assert row.hard > 0 and row.soft > 0 and 0 <= row.unconverged <= 1
        assert row.ratio == pytest.approx(row.hard / row.soft, rel=0.9)
    settled = rows[1]
    assert min(settled.contacts) >= 3 * 3 and settled.unconverged == 0
    assert settled.depth[0] < 3e-5 < 1e-4 < settled.depth[1]
    monkeypatch.setattr(pile, "measure_pile", lambda *_, **__: rows)
    pile.bench_pile(quick=True, json_path=tmp_path / "pile.json")
    found = json.loads((tmp_path / "pile.json").read_text())
    assert [row["ratio"] for row in found["rows"]] == [row.ratio for row in rows]
    shown = capsys.readouterr().out
    assert "settled" in shown and f"{settled.ratio:.2f} x" in shown
