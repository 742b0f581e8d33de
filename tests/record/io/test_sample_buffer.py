"""Samples in memory are copies, and a sample counts once it is complete."""

import numpy as np
import pytest

from saltus.record.io.sample_buffer import SampleBuffer
from saltus.record.table.columns import row_shapes


def test_samples_are_copies():
    buffer, q = SampleBuffer(row_shapes(nq=2, nv=1), 3), np.array([1.0, 2.0])
    buffer.append(0.5, q, [3.0])
    buffer.end(qpos=q)
    q[:] = 7.0
    np.testing.assert_array_equal(buffer._columns["qpos"][0], [1.0, 2.0])
    np.testing.assert_array_equal(buffer._end["qpos"], [1.0, 2.0])


def test_a_sample_that_is_cut_short_does_not_count():
    class Interrupting:
        def __array__(self, *_, **__):
            raise KeyboardInterrupt

    buffer = SampleBuffer(row_shapes(nq=1, nv=1), 2)
    buffer.append(0.0, [1.0], [2.0])
    with pytest.raises(KeyboardInterrupt):
        buffer.append(0.1, [3.0], Interrupting())
    assert len(buffer) == 1
    buffer.append(0.1, [4.0], [5.0])
    assert len(buffer) == 2 and buffer._columns["qpos"][1, 0] == 4.0
    with pytest.raises(NotImplementedError):  # whoever derives from it makes room
        buffer.append(0.2, [4.0], [5.0])
