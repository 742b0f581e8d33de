"""The benchmark of constrained motion: both sides do the same from the same starts, and the work is counted right.

The law: at a state, soft constraints have one solution, to the tolerance that the model asks of both solvers. Costs of
kernels are counted by running them on numbers that count; these counts are exact, so formulas must match them.
"""

import itertools
import json
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest

from saltus.bench import contact
from saltus.bench.harness import peers, solver_work
from saltus.contact.counts import NBLOCK, NITER
from saltus.contact.rows.blocks import add_transpose_block, times_block
from saltus.dynamics.tree.factor import multiply
from saltus.number.kernels import interpret
from saltus.solve.soft.hessian import add_one_row, add_rows, add_three_rows, factor_hessian, solve_hessian

MUCH = """<mujoco><option density="1" viscosity="1" noslip_iterations="3"><flag diagexact="enable"/></option><worldbody>
  <geom type="plane" size="1 1 1"/>
  <body pos="0 0 0.2"><joint name="a" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" adhesion="1"/>
  <site name="c" pos=".3 0 0"/></body>
  <site name="s" pos="0 .2 0" zaxis="1 0 0"/>
</worldbody><tendon><fixed name="t" stiffness="2"><joint joint="a" coef="1"/></fixed></tendon>
<actuator><position cranksite="c" slidersite="s" cranklength="0.5" kp="10"/></actuator></mujoco>"""


# ------------------------------------------------------------ starts


def test_starts_differ_and_are_those_of_both():
    setup = peers.Constrained(contact.CART_POLE, 5, spread=1.0, settle=0.5)
    starts = setup.starts(5)
    assert len({row.tobytes() for row in starts.qpos}) == 5
    assert not (setup.mujoco.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data, sim = setup.data(), setup.simulation()
    for state in (data, sim):
        np.testing.assert_array_equal(state.qpos, starts.qpos[0])
        np.testing.assert_array_equal(state.qvel, starts.qvel[0])


def test_a_fall_of_mujoco_is_repeated():
    """The starts are where MuJoCo's own simulation ends, with the forces that were pushing it."""
    setup = peers.Constrained(contact.CART_POLE, 3, spread=1.0, settle=0.5, push=0.2)
    assert abs(setup.start.force).min() > 0
    rng = np.random.default_rng(peers.SEED)
    data = mujoco.MjData(setup.mujoco)
    data.qvel[:] = rng.normal(size=(3, 2))[0]
    data.qfrc_applied[:] = setup.start.force
    mujoco.mj_step(setup.mujoco, data, 100)
    np.testing.assert_array_equal(data.qpos, setup.start.qpos)


def test_what_is_not_simulated_is_off_for_both():
    """All forces that Saltus may lack are gone from the MuJoCo model, so that none is one side's alone."""
    m = mujoco.MjModel.from_xml_string(MUCH)
    kinds = ["actuator", "tendon", "fluid", "noslip", "diagexact", "speculative", "adhesion"]
    peers.switch_off(m, kinds)
    data = mujoco.MjData(m)
    data.ctrl[:], data.qpos[:], data.qvel[:] = 1.0, 0.3, 1.0
    mujoco.mj_forward(m, data)
    assert not (data.qfrc_actuator.any() or data.qfrc_spring.any() or data.qfrc_fluid.any())
    assert m.opt.noslip_iterations == 0 and m.opt.enableflags == 0 and not m.geom_adhesion.any()
    assert peers.unsupported(m) == []


def test_cases_name_what_is_missing(monkeypatch):
    for models in ("SLIDER_CRANKS", "HOPPERS", "CHEETAHS", "HUMANOIDS"):
        monkeypatch.setattr(contact.found_models, models, ())
    cases, notes = contact._cases(quick=False, extra=["some/robot.xml"])
    assert [c.name for c in cases] == ["cart-pole", "sticks", "robot"]
    assert len(notes) == 4 and all("not measured" in note for note in notes)


# ------------------------------------------------------------ counting


class Counted:
    """A number that counts the operations on it, but for products with a zero, which only make one."""

    operations = 0

    def _operation(self, other):
        Counted.operations += not (isinstance(other, float) and other == 0.0)
        return Counted()

    def __lt__(self, other):
        return False

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _operation


class Matrix(dict):
    """A field with any index, of counted numbers."""

    def __missing__(self, index):
        return Counted()


def operations(function, *arguments):
    """How many operations on counted numbers a kernel does."""
    Counted.operations = 0
    interpret(function)(*arguments)
    return Counted.operations


def views_of(blocks, below, iterations):
    """What `newton_flops` reads: blocks as (dim, n), entries below the diagonal of each row of the Hessian."""
    count = np.zeros(9, int)
    count[NBLOCK], count[NITER] = len(blocks), iterations
    dim, n = np.array(blocks, int).reshape(-1, 2).T
    entries = sum(below) + len(below)
    m = SimpleNamespace(views={"M_colind": np.zeros(entries)}, opt_cone=0)
    return m, SimpleNamespace(views=dict(count=count, block_dim=dim, block_num=n, hessian_num=np.array(below)))


def counted_structs(blocks, below):
    """The same as kernels see it."""
    dim, n = zip(*blocks, strict=True)
    nv = len(below)
    M_rowadr = [0, *itertools.accumulate(c + 1 for c in below)][:nv]
    columns = [[*range(i - c, i)] for i, c in enumerate(below)]
    m = SimpleNamespace(
        nv=nv,
        layout=SimpleNamespace(features=frozenset()),
        chain_adr=[0] * len(blocks),
        chain_dof=list(range(nv)),
        M_rownnz=[c + 1 for c in below],
        M_rowadr=M_rowadr,
        ncoupled=sum(c > 0 for c in below),
        M_coupled=[i for i, c in enumerate(below) if c > 0],
        M_colind=[j for i, row in enumerate(columns) for j in [*row, i]],
    )
    col = {i * (i + 1) // 2 + k: j for i, row in enumerate(columns) for k, j in enumerate(row)}
    fields = dict.fromkeys(("block_row", "block_J", "block_dofs"), [0] * len(blocks))
    numbers = {f: Matrix() for f in ("row_J", "hessian", "block_weight", "M", "x", "y", "solve_edge", "solve_least")}
    return m, SimpleNamespace(
        time=Counted(), block_dim=dim, block_num=n, hessian_num=below, hessian_col=col, **fields, **numbers
    )


@pytest.mark.parametrize("below", [[0, 1, 2, 3], [0, 1, 1, 2, 0]])
@pytest.mark.parametrize("dim", [1, 3, 4])
def test_operations_are_counted_right(below, dim):
    """One block that moves with all degrees of freedom; for four rows the kernel begins its sums with a zero."""
    nv = len(below)
    blocks = [(dim, nv)]
    m, d = counted_structs(blocks, below)
    product = operations(times_block, m, d, 0, d.x, d.y)
    assert product == operations(add_transpose_block, m, d, 0, d.y, d.x)
    inertia = operations(multiply, m, d, d.x, d.y)
    add = {1: add_one_row, 3: add_three_rows}.get(dim)
    hessian = operations(add, m, d, 0) if add else operations(add_rows, m, d, 0, dim) - nv * dim
    # without divisions, and the two products of each row that bound its rounding
    factor, solve = operations(factor_hessian, m, d) - 3 * nv, operations(solve_hessian, m, d, d.x)
    for iterations in (0, 1, 3):
        expected = (iterations + 1) * (2 * product + inertia) + min(iterations, 1) * (hessian + factor)
        assert solver_work.newton_flops(*views_of(blocks, below, iterations)) == expected + iterations * solve


def test_without_rows_there_is_no_work():
    assert solver_work.newton_flops(*views_of([], [0, 1], 1)) == 0


@pytest.mark.slow
def test_the_peak_doubles_with_narrower_numbers():
    """Twice as many float32 fit in a register; other work on the machine disturbs, hence the wide bounds."""
    for _ in range(5):
        solver_work.peak.cache_clear()
        wide, narrow = solver_work.peak("float64"), solver_work.peak("float32")
        if 1.6 < narrow / wide < 2.5:
            break
    assert 1.6 < narrow / wide < 2.5
    assert wide > 1e9


# ------------------------------------------------------------ all of it


@pytest.mark.slow
def test_quick_benchmark(tmp_path, capsys):
    path = tmp_path / "b.json"
    contact.bench_contact(quick=True, threads=1, json_path=path, extra=[])
    out = capsys.readouterr().out
    assert "cart-pole" in out and "sticks" in out and "of the peak" in out and "1 thread;" in out
    content = json.loads(path.read_text())
    rows = {(r["model"], r["what"]): r for r in content["rows"]}
    assert set(rows) == set(itertools.product(("cart-pole", "sticks"), ("step", "batch float64", "batch float32")))
    for (_, what), r in rows.items():
        assert 0 < r["saltus"] < 1e-3 and 0 < r["peer"] < 1e-3
        # a solver may stop where the cost is 1e-8 · mean inertia · nv from its least, which for the smallest inertia
        # (0.002 kg m² about a stick's axis) is √(2e-8 · 18 / 0.002) = 0.013 rad/s²; in float32 a position of 1 m is
        # known to 6e-8 m, which a contact's stiffness of 2800 /s² makes 2e-5 of g, and a stick's slenderness more
        assert r["difference"] < (1e-3 if what == "batch float32" else 0.02)
    for detail in content["details"]:
        work = {w["who"]: w for w in detail["work"]}
        assert work["mujoco"]["rows"] > 0 and work["saltus"]["rows"] > 0
        assert work["saltus float64"]["rows"] >= work["saltus"]["rows"]
        assert all(0 < detail["speed"][p] < detail["peak"][p] for p in peers.PRECISIONS)
