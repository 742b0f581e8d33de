"""A policy is what its description says, and a file holds all of it.

Reference: the formula written out with NumPy, and torch where it is installed. Between torch and NumPy float32 sums of
at most 64 products differ by rounding: 64 * 2^-24 relative to the sum of magnitudes, below 1e-5 for numbers near one,
through three layers that stretch by less than two; float64 by 2^-29 of that.
"""

import json
import random
import sys
from itertools import pairwise

import numpy as np
import pytest
from helpers.damage import KINDS, STRANGE, damage, make_strange, no_waiting
from helpers.swinging import Swinging

import saltus.env
from saltus.env import Policy
from saltus.errors import OptionError, RecordError, SaltusWarning
from saltus.record.files import limits

ACTIVATIONS = ["tanh", "elu", "relu", "silu"]


def layers(*sizes, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    weights = [rng.normal(0.0, b**-0.5, (a, b)).astype(dtype) for b, a in pairwise(sizes)]
    return weights, [rng.normal(0.0, 0.3, len(w)).astype(dtype) for w in weights]


def small(**given):
    return Policy(*layers(5, 8, 8, 2), **given)


def test_it_is_the_formula():
    (w0, w1, w2), (b0, b1, b2) = layers(5, 8, 8, 2)
    mean, scale = np.arange(5.0), np.linspace(0.5, 2.0, 5)
    policy = small(mean=mean, scale=scale, clip=1.5, low=[-0.3, -2.0], high=[0.4, 1.0])
    seen = np.random.default_rng(1).normal(0.0, 3.0, (40, 5))
    x = np.clip((seen - mean) / scale, -1.5, 1.5)
    x = np.tanh(np.tanh(x @ w0.T + b0) @ w1.T + b1) @ w2.T + b2
    np.testing.assert_allclose(policy(seen), np.clip(x, [-0.3, -2.0], [0.4, 1.0]), rtol=1e-14, atol=1e-14)
    squashed = small(mean=mean, scale=scale, clip=1.5, low=[-0.3, -2.0], high=[0.4, 1.0], squash=True)
    expected = np.array([0.05, -0.5]) + np.array([0.35, 1.5]) * np.tanh(x)
    np.testing.assert_allclose(squashed(seen), expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(policy(seen[3]), policy(seen)[3], rtol=1e-14)
    assert policy(seen[3]).shape == (2,) and policy.dtype == np.float64


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations(activation):
    x = np.array([-800.0, -2.0, -1e-3, 0.0, 0.7, 800.0])
    formulas = {
        "tanh": np.tanh(x),
        "elu": [-1.0, np.expm1(-2.0), np.expm1(-1e-3), 0.0, 0.7, 800.0],
        "relu": [0.0, 0.0, 0.0, 0.0, 0.7, 800.0],
        "silu": [0.0, -2.0 / (1 + np.exp(2.0)), -1e-3 / (1 + np.exp(1e-3)), 0.0, 0.7 / (1 + np.exp(-0.7)), 800.0],
    }
    one = Policy([[[1.0]], [[1.0]]], [[0.0], [0.0]], activation)
    with np.errstate(all="raise", under="ignore"):
        np.testing.assert_allclose(one(x[:, None])[:, 0], formulas[activation], rtol=1e-14, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_file_gives_the_same_bits(tmp_path, dtype):
    made = Policy(
        *layers(5, 8, 2, dtype=dtype),
        "silu",
        mean=np.linspace(-1.0, 1.0, 5) / 3.0,
        scale=np.linspace(1.0, 2.0, 5) / 3.0,
        clip=7.0,
        low=-1.0,
        high=[1.0, 2.0],
        squash=True,
        environment="somewhere:Walk",
        parameters={"wind": 0.1, "vary": ("body_mass",), "gains": np.array([1.0, 2.0])},
    )
    made.save(tmp_path / "walk.policy")
    read = Policy.load(tmp_path / "walk.policy")
    assert read.dtype == dtype and read.parameters == {"wind": 0.1, "vary": ["body_mass"], "gains": [1.0, 2.0]}
    for name in ("weights", "biases", "mean", "scale", "low", "high"):
        for one, other in zip(getattr(made, name), getattr(read, name), strict=True):
            np.testing.assert_array_equal(one, other, strict=True)
    for name in ("activation", "clip", "squash", "environment", "nobservation", "naction"):
        assert getattr(made, name) == getattr(read, name)
    seen = np.random.default_rng(0).normal(size=(16, 5)).astype(np.float32)
    np.testing.assert_array_equal(made(seen), read(seen), strict=True)
    assert made(seen).dtype == dtype
    read.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "walk.policy").read_bytes()


def test_a_file_is_read_without_pickles(tmp_path):
    small(environment="a:B", parameters={"wind": 2}).save(tmp_path / "p.npz")
    with np.load(tmp_path / "p.npz", allow_pickle=False) as file:
        assert file["weight_2"].shape == (2, 8) and file["bias_0"].shape == (8,)
        assert str(file["environment"]) == "a:B" and json.loads(str(file["parameters"])) == {"wind": 2}


def test_files_that_are_no_policies(tmp_path):
    path = tmp_path / "p.npz"
    with pytest.raises(RecordError, match=r"cannot read policy .*no such file"):
        Policy.load(path)
    small().save(path)
    whole = path.read_bytes()
    for end in (0, 1, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:end])
        with pytest.raises(RecordError, match="not a policy"):
            Policy.load(path)
    at = whole.index(b"weight_0.npy") + 200  # within its numbers
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    with pytest.raises(RecordError, match="damaged"):
        Policy.load(path)
    np.save(tmp_path / "array.npy", np.zeros(3))
    np.savez(tmp_path / "others.npz", weight_0=np.zeros((2, 3)))
    for name in ("array.npy", "others.npz"):
        with pytest.raises(RecordError, match="not a policy"):
            Policy.load(tmp_path / name)


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes in folders, no links without rights")
@pytest.mark.parametrize("kind", [*KINDS, *STRANGE])
def test_a_damaged_file_is_refused_or_the_same_policy(tmp_path, kind):
    """Drawn with seeds; links to other policies are read as what they lead to."""
    whole, rng, found = tmp_path / "whole.npz", random.Random(kind), set()
    other, seen = tmp_path / "other.npz", np.linspace(-1.0, 1.0, 5)
    small().save(whole)
    expected = small()(seen)
    for _ in range(40):
        small(high=0.1).save(other)
        target = tmp_path / "damaged.npz"
        if kind in KINDS:
            damage(whole, target, kind, rng)
        else:
            target.write_bytes(whole.read_bytes())
            make_strange(target, [other], kind, rng)
        try:
            with no_waiting(20):
                given = Policy.load(target)
            expected = small(high=0.1)(seen) if kind in ("swap", "link") else expected
            assert given(seen).tobytes() == expected.tobytes()
            found.add("right")
        except RecordError:
            found.add("refused")
        target.unlink(missing_ok=True)
    assert "refused" in found or kind in ("swap", "link")


def test_a_small_file_that_unpacks_to_much_is_refused(tmp_path, monkeypatch):
    """Zeros in a thousandth of their size: eight times what is allowed here."""
    monkeypatch.setattr(limits, "LEAST", 2**20)
    np.savez_compressed(tmp_path / "p.npz", weight_0=np.zeros((1024, 1024)))
    with pytest.raises(RecordError, match=r"not a policy, or a damaged one.*would decompress to 8 MiB"):
        Policy.load(tmp_path / "p.npz")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "written by a newer Saltus"),
        ({"bias_1": None}, "bias_1 is missing"),
        ({"weight_1": np.zeros((8, 7))}, "takes 7 numbers, the previous layer gives 8"),
        ({"weight_0": np.full((8, 5), np.nan)}, "not finite"),
        ({"scale": np.zeros(5)}, "scale positive"),
        ({"mean": np.zeros(4)}, "mean must have 5 numbers"),
        ({"activation": "gauss"}, "unknown activation 'gauss'"),
        ({"parameters": "{"}, "damaged policy"),
        ({"parameters": "3"}, "parameters must be a dictionary, got 3"),
        ({"squash": True}, "squash needs finite"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path, changes, message):
    small().save(tmp_path / "p.npz")
    with np.load(tmp_path / "p.npz") as file:
        arrays = {**{name: file[name] for name in file.files}, **changes}
    np.savez(tmp_path / "p.npz", **{name: value for name, value in arrays.items() if value is not None})
    with pytest.raises(RecordError, match=message):
        Policy.load(tmp_path / "p.npz")


def test_it_knows_its_environment(tmp_path):
    envs = saltus.env.make_vec("PendulumSwingUp", 2, threads=1, largest_torque=8.0, max_episode_steps=50)
    policy = Policy(*layers(3, 4, 1), environment=envs)
    assert policy.environment == "saltus/PendulumSwingUp-v0"
    assert policy.parameters == {"largest_torque": 8.0, "max_episode_steps": 50}
    assert (policy.low, policy.high) == (-1.0, 1.0)
    seen, _ = envs.reset(seed=0)
    assert policy(seen).shape == (2, 1)
    policy.save(tmp_path / "p.npz")
    Policy.load(tmp_path / "p.npz").check(envs)
    with pytest.raises(OptionError, match=r"PendulumSwingUp-v0 has observations of 3 numbers, the policy of 5"):
        small().check(envs)
    with pytest.raises(OptionError, match="has actions of 1 numbers, the policy of 2"):
        Policy(*layers(3, 2), environment=envs)
    own = saltus.env.make(Swinging)
    assert Policy(*layers(6, 1), environment=own).environment == "helpers.swinging:Swinging"
    with pytest.raises(OptionError, match="expected an environment"):
        Policy(*layers(6, 1), environment=np)


def test_parameters_that_no_file_can_hold(tmp_path):
    path = tmp_path / "pendulum.xml"
    path.write_text(saltus.load("pendulum").xml)
    made = saltus.env.make("PendulumSwingUp", model=path)
    assert Policy(*layers(3, 1), environment=made).parameters == {"model": str(path)}
    made = saltus.env.make("PendulumSwingUp", model=saltus.load("pendulum"), frame_skip=2)
    with pytest.warns(SaltusWarning, match="does not keep model = "):
        assert Policy(*layers(3, 1), environment=made).parameters == {"frame_skip": 2}
    with pytest.raises(OptionError, match="text and numbers of its environment, not wind = nan"):
        small(parameters={"wind": np.nan})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (dict(weights=[], biases=[]), "at least one"),
        (dict(weights=[[1.0, 2.0]], biases=[[0.0]]), r"weights\[0\] must be \[outputs, inputs\]"),
        (dict(weights=[[[1.0]]], biases=[[0.0]], low=1.0, high=0.0), "low must not be above high"),
        (dict(weights=[[[1.0]]], biases=[[0.0]], clip=0.0), "clip must be positive"),
        (dict(weights=[[[1.0]]], biases=[[0.0]], mean=[np.inf]), "mean must be finite"),
    ],
)
def test_what_is_no_policy(given, message):
    with pytest.raises(OptionError, match=message):
        Policy(**given)
    with pytest.raises(OptionError, match="observations of 5 numbers, got shape"):
        small()(np.zeros((3, 4)))


class TestTorch:
    """torch's own result on the same numbers."""

    def module(self, torch, activation, *, end=()):
        torch.manual_seed(0)
        kinds = {"tanh": torch.nn.Tanh, "elu": torch.nn.ELU, "relu": torch.nn.ReLU, "silu": torch.nn.SiLU}
        nn, act = torch.nn, kinds[activation]
        return nn.Sequential(nn.Sequential(nn.Linear(12, 64), act()), nn.Linear(64, 64, bias=False), act(),
                             nn.Identity(), nn.Linear(64, 3), *end)  # fmt: skip

    @pytest.mark.parametrize("activation", ACTIVATIONS)
    @pytest.mark.parametrize(("precision", "tolerance"), [("float32", 1e-5), ("float64", 1e-13)])
    def test_equal_actions(self, activation, precision, tolerance):
        torch = pytest.importorskip("torch")
        module = self.module(torch, activation).to(getattr(torch, precision))
        mean, scale = torch.linspace(-1.0, 1.0, 12), torch.linspace(0.5, 2.0, 12)
        policy = Policy.from_torch(module, mean, scale)
        assert policy.dtype == precision and policy.activation == activation
        seen = torch.randn(50, 12, dtype=module[1].weight.dtype)
        with torch.no_grad():
            expected = module((seen - mean) / scale).numpy()
        np.testing.assert_allclose(policy(seen.numpy()), expected, rtol=tolerance, atol=tolerance)

    def test_a_tanh_at_the_end_squashes(self):
        torch = pytest.importorskip("torch")
        module = self.module(torch, "elu", end=[torch.nn.Tanh()])
        policy = Policy.from_torch(module, low=-2.0, high=2.0)
        seen = torch.randn(50, 12)
        with torch.no_grad():
            expected = 2.0 * module(seen).numpy()
        np.testing.assert_allclose(policy(seen.numpy()), expected, rtol=1e-5, atol=1e-5)

    def test_it_holds_copies(self):
        torch = pytest.importorskip("torch")
        module = self.module(torch, "tanh")
        policy = Policy.from_torch(module)
        seen = np.ones(12)
        before = policy(seen)
        with torch.no_grad():
            module[1].weight.zero_()
        np.testing.assert_array_equal(policy(seen), before)

    def test_what_has_no_place(self):
        nn = pytest.importorskip("torch").nn
        with pytest.raises(OptionError, match="LayerNorm"):
            Policy.from_torch(nn.Sequential(nn.Linear(2, 3), nn.LayerNorm(3), nn.Linear(3, 1)))
        with pytest.raises(OptionError, match="alpha"):
            Policy.from_torch(nn.Sequential(nn.Linear(2, 3), nn.ELU(0.5), nn.Linear(3, 1)))
        with pytest.raises(OptionError, match="Linear"):
            Policy.from_torch(nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1)))
        with pytest.raises(OptionError, match="must be the same, got relu, tanh"):
            Policy.from_torch(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1)))
        with pytest.raises(OptionError, match="only Tanh"):
            Policy.from_torch(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
        with pytest.raises(OptionError, match=r"expected a torch\.nn\.Sequential"):
            Policy.from_torch(nn.Sequential())
