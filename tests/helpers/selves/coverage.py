"""Kernels that are compared with themselves, and reasons why others are not."""

import importlib
import inspect
import pkgutil

from saltus.number.features import Choice
from saltus.number.internals import Dispatcher

from .table import FILES

ROOMS = ("number", "spatial", "dynamics", "contact", "solve", "integrate", "sense")

WHOLE = "whole models are compared, see `helpers.selves.whole`"
OWN = "the room's tests compare it with references of another kind"
AREA = "works on an area of memory of floats: whole pairs of shapes are compared with MuJoCo's in tests/contact/convex"
CONE = "works on a problem of contacts: the laws of its solutions are tested in tests/solve"
WHOLE_NUMBER = "of whole numbers or of one lane, and exact"

#: Kernels on Model and Data, by room and folder.
ON_STRUCTS = {
    "number": OWN,
    "spatial": WHOLE,
    "dynamics": WHOLE,
    "contact": WHOLE,
    "solve": WHOLE,
    "integrate": "orders of convergence, duals beside differences, lanes beside floats: tests/integrate",
    "sense": "values are compared with MuJoCo's, duals and lanes with floats, in tests/sense",
}
#: Other kernels, by file or folder, or by name.
EXEMPT = {
    "spatial.fields": WHOLE,
    "number.intrinsics.memory": OWN,
    "number.jets": OWN,
    "number.permutation": WHOLE_NUMBER,
    "number.python": "exact, and compared with NumPy's in tests/number/python",
    "number.threads": WHOLE_NUMBER,
    "number.trigonometry": "compared with mpmath in tests/number/test_trigonometry.py",
    "dynamics.flex.tangent.packed": WHOLE_NUMBER,
    "dynamics.history.same_time": "a tolerance that depends on the kind of number",
    "dynamics.balance": "energy and momenta are conserved to rounding in its tests, in lanes too; it has no duals",
    "dynamics.flex.dihedrals": WHOLE,
    "dynamics.flex.mean_dihedrals": WHOLE,
    "dynamics.flex.rods": WHOLE,
    "dynamics.flex.twist": WHOLE,
    "dynamics.flex.twist_frames": WHOLE,
    "dynamics.tendon.wrap.half_plane_winding": "lengths are compared with MuJoCo 3.17's in tests/model/semantics",
    "dynamics.tendon.wrap.wrap_by_half_plane": "lengths are compared with MuJoCo 3.17's in tests/model/semantics",
    "dynamics.tendon.wrap._cross_each_other": "part of `half_plane_winding`",
    "dynamics.tendon.wrap._towards": "part of `half_plane_winding`",
    "dynamics.tendon.wrap.projected": "part of `wrap`",
    "dynamics.tendon.wrap.wound": "part of `wrap`",
    "dynamics.tendon.wrap._tangent": "part of `taut`",
    "dynamics.tendon.wrap._reflection": "part of `taut`",
    "dynamics.tendon.wrap._sum_of_angles": "part of `taut`",
    "dynamics.controllers.operational_space": "forces are compared with Khatib's formula in its test",
    "dynamics.tree.particles.axis_of": WHOLE,
    "dynamics.tree.regressor.write_row": "writes a row; forces are compared with MuJoCo's in its test",
    "integrate.fixed.euler_adjoint.motions": "floats and duals together; gradients are compared with forward mode",
    "integrate.fixed.euler_adjoint.frames": "on arrays of floats; compared with forward mode and MuJoCo's steps",
    "integrate.fixed.euler_adjoint.parameters": "floats and duals together; compared with forward mode, MuJoCo's runs",
    "dynamics.tree.inverse_derivative": "on arrays of floats; compared with differences of MuJoCo's in its test",
    "integrate.fixed.euler_jacobian": "on arrays of floats; compared with differences of steps, and with duals",
    "integrate.fixed.euler_adjoint.state": "floats and duals together; compared with forward mode and MuJoCo's runs",
    "solve.soft.force_derivative": "floats and duals together; compared with differences of steps",
    "solve.soft.ground_derivative": "on arrays of floats; compared with differences of steps",
    "contact.broad.grid": WHOLE_NUMBER,
    "contact.rows.coupling": "compared with MuJoCo's polynomials, by duals and in lanes, in its test",
    "contact.contact_list.negligible": "a tolerance that depends on the kind of number",
    "contact.contact_tangents.with_tangents": "moves tangents alone",
    "contact.convex": AREA,
    "contact.event.field_points": AREA,
    "contact.flex.narrow_phase.faces_of": WHOLE_NUMBER,
    "contact.flex.narrow_phase.is_among": WHOLE_NUMBER,
    "contact.flex.self_collision.cell_along": WHOLE_NUMBER,
    "contact.flex.tetrahedron.shortest_way": "made of `over_edge` and faces; tested in tests/contact/flex",
    "contact.lane_turns": WHOLE_NUMBER,
    "contact.rigid.box.nearest_edge": "goes over `edge_to_axis`; contacts are compared with MuJoCo's",
    "contact.rigid.box.side": WHOLE_NUMBER,
    "contact.rigid.box.from_corner": "a choice of the second contact; contacts are compared with MuJoCo's",
    "contact.rigid.box.from_edge": "a choice of the second contact; contacts are compared with MuJoCo's",
    "contact.rigid.ellipsoid.farthest": "an iteration that ends by the precision; distances are compared with MuJoCo's",
    "contact.rigid.ellipsoid.best_start": "part of `farthest`",
    "contact.rigid.ellipsoid.axis_of": "part of `start`",
    "contact.rigid.ellipsoid.values3": "leaves tangents out",
    "contact.rigid.ellipsoid.values6": "leaves tangents out",
    "contact.rigid.ellipsoid.values9": "leaves tangents out",
    "contact.rigid.lane_choice.by_precision": "a constant that depends on the kind of number",
    "contact.rigid.support_ascent.climb": "an iteration that ends by the precision; part of `farthest`",
    "contact.seams": "of one lane; tested in tests/contact/test_seams.py",
    "solve.cone": CONE,
    "solve.impact": CONE,
    "solve.disjoint_sets": WHOLE_NUMBER,
    "solve.event.constrained_acceleration": "moves numbers alone",
    "solve.soft.dual": OWN,
    "solve.soft.hessian_pattern": WHOLE_NUMBER,
    "solve.soft.trees": OWN,
    "integrate.adaptive.samples": "moves numbers alone",
    "integrate.adaptive.step_bounds": "takes breaks of times as an array; tested in tests/integrate/adaptive",
    "integrate.event.user_events": "of one lane, on users' functions; tested in tests/integrate/event",
    "integrate.radau": "on fields; compared with SciPy's Radau in tests/integrate/radau, lanes in simulate/batches",
    "integrate.passing": "of one lane; tested in tests/integrate/test_passing.py",
    "sense.ray.has_ray": WHOLE_NUMBER,
}


def kernels():
    """All kernels of the rooms of physics, by their names without the package's."""
    found = {}
    for room in ROOMS:
        package = importlib.import_module(f"saltus.{room}")
        names = [package.__name__, *(x.name for x in pkgutil.walk_packages(package.__path__, f"{package.__name__}."))]
        for module in map(importlib.import_module, names):
            for name, value in vars(module).items():
                own = value.kernel if isinstance(value, Choice) else value
                if isinstance(own, Dispatcher) and own.py_func.__module__ == module.__name__:
                    found[f"{module.__name__.removeprefix('saltus.')}.{name}"] = value
    return found


def reason(name, kernel):
    """Why a kernel is not compared by itself; None where nobody has said."""
    own = kernel.kernel if isinstance(kernel, Choice) else kernel
    first = next(iter(inspect.signature(own.py_func).parameters), "")
    if first in ("m", "d"):
        return ON_STRUCTS.get(name.partition(".")[0])
    parts = name.split(".")
    return next((EXEMPT[key] for k in range(len(parts), 0, -1) if (key := ".".join(parts[:k])) in EXEMPT), None)


def compared():
    """Names of the kernels in the table."""
    return {f"{file}.{name}" for file, rows in FILES.items() for name in rows}


def forgotten():
    """Names of kernels that are neither compared nor left out for a reason."""
    known = compared()
    return sorted(name for name, kernel in kernels().items() if name not in known and reason(name, kernel) is None)
