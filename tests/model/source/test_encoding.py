"""Text that is not UTF-8 is told by its place. Reference: the place where the byte was put."""

import pytest

from saltus.errors import ModelError
from saltus.model.source.encoding import check_utf8


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"<mujoco>\n <body\n  name='a' pos='1 \xe9'/>", ["pos contains the byte 0xe9", "line 3", "body"]),
        (b'<mujoco>\n<!-- caf\xe9 -->\n<body name="a"/>', ["a comment contains", "line 2"]),
        (b'<mujoco>\n<body name="\xff"/>', ["name contains the byte 0xff", "line 2", "body"]),
        (b"<mujoco>\n\n\xfe</mujoco>", ["this line contains the byte 0xfe", "line 3"]),
    ],
)
def test_the_place_is_named(text, said):
    with pytest.raises(ModelError) as error:
        check_utf8(text, "model.xml")
    assert all(part in str(error.value) for part in ["model.xml", "save the file as UTF-8", *said])
    check_utf8(text.decode("latin1").encode())
