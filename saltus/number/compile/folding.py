"""Conditions on types become constants before Numba looks for branches that are never taken."""

from saltus.number.conditions import CONDITIONS
from saltus.number.internals import FunctionPass, definitions, find_const, get_definition, guard, register_pass
from saltus.number.internals import numba_ir as ir


@register_pass(mutates_CFG=False, analysis_only=False)
class FoldConditions(FunctionPass):
    """Puts its value in the place of each call of `has` and the like."""

    _name = "fold_conditions"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state):
        code = state.func_ir
        assignments = [x for block in code.blocks.values() for x in block.find_insts(ir.Assign)]
        named = [x for x in assignments if _is_condition(x.value)]
        if not named:
            return False
        for assignment in assignments:
            call = assignment.value
            if isinstance(call, ir.Expr) and call.op == "call":
                condition = guard(get_definition, code, call.func)
                if any(condition is x.value for x in named):
                    struct, *words = call.args
                    argument = get_definition(code, struct)
                    value = condition.value(state.args[argument.index], *[find_const(code, word) for word in words])
                    _replace(code, assignment, value)
        for assignment in named:
            _replace(code, assignment, None)  # nothing calls it any more
        return True


def _is_condition(value):
    return isinstance(value, ir.Global | ir.FreeVar) and any(value.value is condition for condition in CONDITIONS)


def _replace(code, assignment, value):
    constant = ir.Const(value, assignment.loc)
    known = definitions(code, assignment.target.name)
    known[known.index(assignment.value)] = constant
    assignment.value = constant
