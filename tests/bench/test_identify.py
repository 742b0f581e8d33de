"""The benchmark of identification: both sides fit the same motion, and what is missing is named.

The law: least squares have one solution, so that both find the same values, to a tenth of the noise's own error.
"""

import json

import pytest

from saltus.bench import identify


def test_what_is_missing_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(identify, "has_sysid", lambda: False)
    path = tmp_path / "figures.json"
    identify.bench_identify(quick=True, json_path=path)
    out = capsys.readouterr().out
    assert "MuJoCo's sysid: not measured, it is not installed; pip install 'mujoco[sysid]'" in out
    (own,) = json.loads(path.read_text())["figures"]
    assert own["name"] == "saltus" and own["error"] < 0.05 and 1 < own["rollouts"] < 20


@pytest.mark.slow
def test_both_find_the_same_values():
    if not identify.has_sysid():
        pytest.skip("MuJoCo's sysid is not installed: pip install 'mujoco[sysid]'")
    log = identify.recorded(2, 1.0)
    own, peer = (side(2, log)[0] for side in (identify.by_saltus, identify.by_sysid))
    assert own == pytest.approx(peer, rel=1e-2)


@pytest.mark.slow
def test_a_tenth_of_the_rollouts_of_sysid():
    """Derivatives run along, where finite differences take a rollout for each of eight parameters and one more."""
    if not identify.has_sysid():
        pytest.skip("MuJoCo's sysid is not installed: pip install 'mujoco[sysid]'")
    log = identify.recorded(4, 4.0)
    own, peer = (side(4, log)[1] for side in (identify.by_saltus, identify.by_sysid))
    assert own <= 0.1 * peer
