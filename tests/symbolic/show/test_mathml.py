"""LaTeX as MathML: well-formed, with the structure that the formula has; and as text for a terminal."""

import xml.etree.ElementTree as ET

import pytest

from saltus.symbolic import derive
from saltus.symbolic.show.mathml import mathml
from saltus.symbolic.show.steps import steps

SPACE = "{http://www.w3.org/1998/Math/MathML}"


def outline(latex):
    """The element as nested text: tag(children), leaves by their text."""

    def written(element):
        tag = element.tag.removeprefix(SPACE)
        if len(element) == 0:
            return element.text or tag
        return f"{tag}({' '.join(map(written, element))})"

    (body,) = ET.fromstring(mathml(latex))
    return written(body)


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (r"\dot{\theta}_{1}^{2}", "msubsup(mover(θ ˙) 1 2)"),
        (r"\frac{a}{b}", "mfrac(a b)"),
        (r"m_{\mathrm{upper\ arm}}", "msub(m upper\xa0arm)"),
        (r"a - b", "mrow(a − b)"),
        (r"12.5 x", "mrow(12.5 x)"),
        (r"l \sin \alpha", "mrow(l mspace sin mspace α)"),
        (r"\sin(x)", "mrow(sin ( x ))"),
        (r"\sqrt{x}", "msqrt(x)"),
        (r"\left(x\right)^{2}", "msup(mrow(( x )) 2)"),
        (r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}", "mrow(( mtable(mtr(mtd(a) mtd(b)) mtr(mtd(c) mtd(d))) ))"),
        (r"J^{\mathsf{T}}", "msup(J T)"),
    ],
)
def test_structure(latex, expected):
    assert outline(latex) == expected


def test_signs_of_terms_are_prefixes():
    """A minus between two terms is spaced, one in front of a term is not."""
    signs = [mo.get("form") for mo in ET.fromstring(mathml(r"-a - b = -c, -d")).iter(f"{SPACE}mo") if mo.text == "−"]
    assert signs == ["prefix", None, "prefix", "prefix"]


@pytest.mark.parametrize(
    "latex", [r"\unknown", "a}", "{a", r"\left(a", r"\begin{pmatrix} a", r"\begin{pmatrix} a \end{cases}", "a_", "%"]
)
def test_what_is_not_known_is_refused(latex):
    with pytest.raises(ValueError):
        mathml(latex)


def test_text_is_escaped():
    assert "&lt;b&gt;" in mathml(r"\text{<b>}")


@pytest.mark.parametrize("orientation", ["relative", "maximal"])
@pytest.mark.parametrize("model", ["double_pendulum", "cart_pole", "arm", "top", "free_body"])
def test_every_formula_of_a_derivation_is_known(model, orientation):
    for step in steps(derive(model, orientation, "symbols")):
        if step.results:
            root = ET.fromstring(mathml(step.latex(), display=True))
            assert len(list(root.iter(f"{SPACE}mtr"))) >= len(step.results)
