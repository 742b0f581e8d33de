"""Text that is handed to MuJoCo is what was looked at; what names a file is refused with element, name and file."""

import mujoco
import pytest

from saltus.errors import ModelError
from saltus.model.load import BUNDLED, models
from saltus.model.source.self_contained import self_contained


@pytest.mark.parametrize("name", models())
def test_bundled_models_are_the_same_again(name):
    text = (BUNDLED / f"{name}.xml").read_text(encoding="utf-8")
    first, second = (mujoco.MjSpec.from_string(t).to_xml() for t in (text, self_contained(text)))
    assert first == second


@pytest.mark.parametrize("attribute", ["file", "File", "fileback", "filename", "file_of_the_future"])
def test_files(attribute):
    text = f"<mujoco><asset><mesh name='wheel' {attribute}='/etc/passwd'/></asset></mujoco>"
    with pytest.raises(ModelError, match=r"mesh 'wheel': .* refers to a file \('/etc/passwd'\)"):
        self_contained(text)


def test_what_another_reader_would_not_see():
    """What this reader takes for a comment or an entity is not in the result, whatever MuJoCo's takes it for."""
    hidden = "<!DOCTYPE mujoco [<!ENTITY e '><mujoco><include file=\"/etc/passwd\"/></mujoco>'>]>"
    assert "include" not in self_contained(hidden + "<mujoco><!-- <include file='/etc/passwd'/> --></mujoco>")


@pytest.mark.parametrize("text", ["", "<mujoco>", "no XML", "<mujoco>\0</mujoco>"])
def test_no_xml(text):
    with pytest.raises(ModelError, match="not XML"):
        self_contained(text)


def test_elements_deeper_than_functions_go():
    with pytest.raises(ModelError, match="nested too deeply"):
        self_contained("<mujoco>" + "<body>" * 3000 + "</body>" * 3000 + "</mujoco>")
