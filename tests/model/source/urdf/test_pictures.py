"""Pictures that MuJoCo's compiler refuses. Reference: the file without them, compiled by itself."""

import warnings

import numpy as np
import pytest

import saltus
from saltus.model.source.urdf.pictures import pictures, without_faulty

INERTIAL = '<inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>'
GOOD = '<visual><geometry><box size="1 2 3"/></geometry></visual>'
FAULTY = (
    "<visual/>",
    "<visual ></visual >",
    '<visual name="/"/>',
    "<visual><geometry/></visual>",
    "<visual><geometry><plane/></geometry></visual>",
    '<visual><geometry><box size="1 1"/></geometry></visual>',
    '<visual><geometry><sphere radius="0"/></geometry></visual>',
    '<visual><geometry><sphere radius="nan"/></geometry></visual>',
    "<visual><geometry><mesh/></geometry></visual>",
    '<visual><origin xyz="1 2 x"/><geometry><sphere radius="1"/></geometry></visual>',
    '<visual><geometry><sphere radius="1"/></geometry><material name="m"><color rgba="1 1"/></material></visual>',
)


def robot(of_base, of_arm, more=""):
    return f"""<robot name="r"><link name="base">{of_base}</link>
      <link name="arm">{INERTIAL}{of_arm}</link>{more}
      <joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""


@pytest.mark.parametrize("faulty", FAULTY)
@pytest.mark.parametrize("apart", [False, True])
def test_only_that_one_is_lost_and_named(faulty, apart):
    with pytest.warns(saltus.SaltusWarning, match=r"picture \('arm'\): not drawn: ") as caught:
        model = saltus.load(robot(GOOD, GOOD + faulty + GOOD), actuators="none", apart=apart)
    expected = saltus.load(robot(GOOD, GOOD + GOOD), actuators="none")
    assert str(caught[-1].message).count("not drawn") == 1
    for field in ("geom_size", "geom_bodyid", "body_mass", "body_inertia"):
        np.testing.assert_array_equal(getattr(model, field), getattr(expected, field))


def test_other_faults_are_errors_with_their_lines():
    """Of a shape that is touched, with or without a faulty picture beside it."""
    shape = '\n<collision><geometry><box size="1 1"/></geometry></collision>'
    for picture in ("", GOOD, "\n<visual/>"):
        with pytest.raises(saltus.ModelError, match="'size' does not have enough data") as error:
            saltus.load(robot(picture, shape))
        assert error.value.line == 3 + picture.count("\n")


def test_where_pictures_begin_and_end():
    content = robot("<visual/>", GOOD + "<visual name='>' />").encode()
    found = [(picture.link, content[picture.begin : picture.end].decode()) for picture in pictures(content)]
    assert found == [("base", "<visual/>"), ("arm", GOOD), ("arm", "<visual name='>' />")]


@pytest.mark.parametrize("bad", [{7}, {0, 31}, {3, 4, 5}, set(range(32))])
def test_few_trials_find_the_faulty_ones(bad):
    """At most 2 log2 n for each of k, 1 for all, 1 for none, 1 at the end."""
    text = robot("".join(f'<visual name="v{k}x"/>' for k in range(32)), "")
    trials = []

    def fault(tried):
        trials.append(tried)
        return "bad" if any(f"v{k}x" in tried for k in bad) else None

    left, remarks = without_faulty(text, fault)
    assert {k for k in range(32) if f"v{k}x" not in left} == bad and len(left) == len(text)
    assert len(remarks) == len(bad) and len(trials) <= 3 + 2 * 5 * len(bad)


def test_pictures_that_are_taken_alone_only():
    text = robot('<visual name="v0x"/><visual name="v1x"/>', "")
    left, (remark,) = without_faulty(text, lambda tried: "two" if tried.count("x") == text.count("x") else None)
    assert "<visual" not in left and remark.kind == "pictures of links"


def test_a_file_without_faults_is_compiled_once(monkeypatch):
    monkeypatch.setattr("saltus.model.source.urdf.build.without_faulty", lambda *_: pytest.fail("searched"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert saltus.load(robot(GOOD, GOOD), actuators="none").ngeom == 2
