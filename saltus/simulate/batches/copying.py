"""Copies between the states of a batch, which lie in lanes, and plain arrays.

Tables and rows are those of `saltus.simulate.batches.memory`.
"""

# pyright: reportCallIssue=false
# (in kernels, calls of intrinsics leave out the first argument of their definition)

from saltus.number.intrinsics.memory import get_number, put_number
from saltus.number.kernels import entry, kernel
from saltus.simulate.batches.memory import (
    ADDRESS,
    EACH,
    FIRST,
    MANY,
    SINGLE,
    STRIDE,
    STRIDE_EACH,
    STRIDE_MANY,
)


@kernel
def store_group(source, group, width, n, table, places):
    """Arrays of a table ← rows `places` of the numbers [rows, width] of a group; lanes beyond n are skipped."""
    for f in range(len(table)):
        first, many, each, address = table[f, FIRST], table[f, MANY], table[f, EACH], table[f, ADDRESS]
        stride, stride_many, stride_each = table[f, STRIDE], table[f, STRIDE_MANY], table[f, STRIDE_EACH]
        single = table[f, SINGLE]
        for lane in range(min(width, n - group * width)):
            start = address + (group * width + lane) * stride
            for i in range(many):
                for j in range(each):
                    value = source[places[first + i * each + j], lane]
                    put_number(start + i * stride_many + j * stride_each, single, value)


@entry(structs=())
def gather(states, first, last, width, n, table, places):
    """Arrays of a table ← the rows `places` of the states [groups, rows, width] of the groups from first to last."""
    for group in range(first, last):
        store_group(states[group], group, width, n, table, places)


@entry(structs=())
def scatter(states, simulations, first, last, width, table, places, forgotten):
    """Rows `places` of the states ← arrays of a table, row k for simulation k of the list, k from first to last.

    The rows `forgotten` become zero. Returns whether any number written is not zero.
    """
    anything = False
    for k in range(first, last):
        group, lane = simulations[k] // width, simulations[k] % width
        for f in range(len(table)):
            begin, many, each = table[f, FIRST], table[f, MANY], table[f, EACH]
            start, single = table[f, ADDRESS] + k * table[f, STRIDE], table[f, SINGLE]
            for i in range(many):
                for j in range(each):
                    value = get_number(start + i * table[f, STRIDE_MANY] + j * table[f, STRIDE_EACH], single)
                    states[group, places[begin + i * each + j], lane] = value
                    anything = anything or value != 0.0
        for row in forgotten:
            states[group, row, lane] = 0.0
    return anything
