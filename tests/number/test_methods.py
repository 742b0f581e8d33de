"""A method as a plain function does what the method does. Reference: the method, called by Python."""

import numpy as np
import pytest

from saltus.errors import OptionError
from saltus.number.methods import plain_function


class Spring:
    def __init__(self):
        self.gain, self.ends = 3.0, np.array([1.0, -2.0])

    def force(self, x, *, scale=2.0):
        return scale * self.shaped(x) + self.ends[1] - x

    def shaped(self, x):
        return self.gain * x * x

    def counts(self, x):
        self.gain = x
        return x

    def whole(self, x):
        return repr(self)

    def lacks(self, x):
        return self.nowhere * x


def made(method):
    return plain_function(method, made)


def test_it_does_what_the_method_does():
    spring = Spring()
    function = made(spring.force)
    for x in (-1.5, 0.0, 2.25):
        assert function(x) == spring.force(x) and function(x, scale=-1.0) == spring.force(x, scale=-1.0)
    before, spring.gain = function(2.0), 5.0  # the function keeps what was read
    assert function(2.0) == before != spring.force(2.0)


@pytest.mark.parametrize(
    ("name", "said"), [("counts", "changes self.gain"), ("whole", "self as a whole"), ("lacks", "nowhere")]
)
def test_what_compiled_code_cannot_do_is_said(name, said):
    with pytest.raises(OptionError, match=said):
        made(getattr(Spring(), name))


def test_a_file_that_has_changed_since_it_was_imported_is_refused(tmp_path):
    """Python runs the method that it has read; the file holds another one."""
    file = tmp_path / "laws.py"
    text = "class Law:\n    gain = 2.0\n    def law(self, x):\n        return self.gain * x\n"
    file.write_text(text)
    names = {}
    exec(compile(text, str(file), "exec"), names)
    assert plain_function(names["Law"]().law, None)(1.5) == 3.0
    file.write_text(text.replace("gain * x", "gain + x"))
    with pytest.raises(OptionError, match=r"Law.law is not at hand, or its file has changed .*; import it again"):
        plain_function(names["Law"]().law, None)
