"""The derivation as a page and as a document: whole, by itself, readable; nothing that it shows is left to chance."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from saltus.errors import OptionError, RecordError
from saltus.symbolic import derive
from saltus.symbolic.show.letters import LETTERS
from saltus.symbolic.show.mathml import mathml
from saltus.symbolic.show.notation import Notation
from saltus.symbolic.show.page.drawing import drawing
from saltus.symbolic.show.page.latex import latex_document, write_latex
from saltus.symbolic.show.page.motion import motion
from saltus.symbolic.show.page.sheet import Sheet, page, write_page


@pytest.fixture(scope="module")
def sheet():
    return Sheet(derive("double_pendulum", "absolute", LETTERS["double_pendulum"]), duration=2.0)


@pytest.fixture(scope="module")
def text(sheet):
    return page(sheet)


def test_the_page_holds_all_that_it_shows(text):
    """No script, and no address that a browser would fetch; the policy says so too."""
    assert "<script" not in text and "default-src 'none'" in text
    addresses = set(re.findall(r"https?://[^\"' <)]+", text))
    assert addresses <= {
        "http://www.w3.org/1998/Math/MathML",
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert all(source.startswith("data:") for source in re.findall(r'src="([^"]*)', text))


def test_the_page_goes_from_energies_to_equations_to_plots(text, sheet):
    headings = re.findall(r"<h2>(.*?)</h2>", text)
    expected = ["The result", "The mechanism", "Positions and velocities", "Energies", "Lagrange's equation"]
    expected += ["Forces", "Equations of motion", "Motion", "Check against the numeric engine", "Code"]
    assert [h.replace("&#x27;", "'") for h in headings] == expected
    assert len(re.findall(r"<h3>Term \d", text)) == 4
    assert text.count("<figure>") == 3 and text.count("<svg") == 4
    for formula in re.findall(r"<math.*?</math>", text, re.S):
        ET.fromstring(formula)
    # a formula that was not understood would stand there as code
    assert "<code>" not in text.split("<h2>Code</h2>")[0]
    assert sheet.twin.agrees() and "both agree" in text


def test_a_browser_shows_it_without_asking_for_anything(tmp_path, text, browser):
    """In Chromium: no request, no complaint, the font is there, formulas are drawn, nothing is too wide."""
    path = tmp_path / "page.html"
    path.write_text(text, encoding="utf-8")
    tab = browser.new_page(viewport={"width": 420, "height": 800})
    requests, complaints = [], []
    tab.on("request", lambda request: requests.append(request.url))
    tab.on("console", lambda message: complaints.append(message.text))
    tab.goto(path.as_uri())
    assert [r for r in requests if not r.startswith("data:")] == [path.as_uri()] and not complaints
    assert tab.evaluate("document.fonts.ready.then(() => document.fonts.check('16px \"Saltus Math\"'))")
    sizes = tab.evaluate("[...document.querySelectorAll('.formula math')].map(m => m.getBoundingClientRect().height)")
    assert len(sizes) > 10 and min(sizes) > 10
    assert tab.evaluate("document.documentElement.scrollWidth") <= 420
    tab.close()


def test_motion_keeps_its_energy_and_ends_where_the_engine_does():
    """The pendulum's period at 90 degrees is 4 K(1/2) √(l/g); a quarter later it hangs."""
    from scipy.special import ellipk

    quarter = ellipk(0.5) * np.sqrt(2 / 9.81)
    m = motion(derive("pendulum"), 4 * quarter)
    assert m.drift < 1e-6
    k = np.argmin(np.abs(m.time - quarter))
    assert abs(m.q[k, 0]) < abs(m.v[k, 0]) / 60 + 1e-6
    assert m.kinetic[k] == pytest.approx(39.24, rel=1e-2)
    for orientation in ("absolute", "maximal"):
        e, reference = derive("double_pendulum", orientation), motion(derive("double_pendulum"), 1.0)
        other = motion(e, 1.0)
        ends = e.to_joint(other.q[-1], other.v[-1])
        assert ends[0] == pytest.approx(reference.q[-1], abs=1e-5)
    with pytest.raises(OptionError, match="duration must be positive"):
        motion(e, 0)


def test_sketches_are_of_what_can_be_drawn():
    for model, orientation in (("pendulum", "relative"), ("cart_pole", "relative"), ("arm", "absolute")):
        e = derive(model, orientation, "symbols")
        root = ET.fromstring(drawing(e, Notation(e)))
        assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) > 10
    for model, orientation in (("top", "relative"), ("free_body", "relative"), ("double_pendulum", "maximal")):
        e = derive(model, orientation)
        assert drawing(e, Notation(e)) is None


def test_code_is_an_excerpt_and_escaped(text):
    code = re.findall(r"<pre><code>(.*?)</code></pre>", text, re.S)
    assert len(code) == 2 and all(len(part.splitlines()) <= 61 for part in code)
    assert "#include &lt;math.h&gt;" in code[1]


@pytest.mark.slow
def test_long_formulas_are_left_out_by_name():
    """A spatial chain's equations have thousands of letters; the page says so instead of printing them."""
    e = derive("chain")
    rows = Sheet(e).steps[-2].rows()
    assert all(len(row) == 1 and "see the code" in row[0] for row in rows[:3])


# ------------------------------------------------------------ LaTeX


def balanced(text):
    """Whether braces and environments close as they open."""
    depth = 0
    for token in re.findall(r"\\.|[{}]", text):
        depth += {"{": 1, "}": -1}.get(token, 0)
        if depth < 0:
            return False
    stack = []
    for kind, name in re.findall(r"\\(begin|end)\{([a-z]+\*?)\}", text):
        if kind == "begin":
            stack.append(name)
        elif not stack or stack.pop() != name:
            return False
    return depth == 0 and not stack


@pytest.mark.parametrize(
    ("model", "orientation"),
    [("pendulum", "relative"), ("double_pendulum", "maximal"), ("cart_pole", "relative"), ("top", "relative")],
)
def test_the_document_is_sound(model, orientation):
    """Balanced; every formula is one that MathML has too; all else is ASCII that pdflatex takes."""
    found = latex_document(Sheet(derive(model, orientation, "symbols"), duration=0.5))
    assert balanced(found) and found.isascii()
    body = found[found.index(r"\begin{document}") :]
    displays = re.findall(r"\\begin\{align\*\}(.*?)\\end\{align\*\}", body, re.S)
    assert len(displays) >= 9
    for rows in displays:
        mathml(rf"\begin{{aligned}}{rows}\end{{aligned}}")
    rest = re.sub(r"\\begin\{align\*\}.*?\\end\{align\*\}|\\\[.*?\\\]", "", body, flags=re.S)
    inline = re.findall(r"(?<!\\)\$(.+?)(?<!\\)\$", rest)
    for formula in inline:
        mathml(formula)
    words = re.sub(r"(?<!\\)\$.+?(?<!\\)\$", "", rest)
    assert not re.search(r"(?<!\\)[_^$#%]", words)
    for line in re.findall(r"\\begin\{tabular\}\{@\{\}(.*?)@\{\}\}\n(.*?)\\end\{tabular\}", rest, re.S):
        columns = re.sub(r"p\{.*?\}", "p", line[0])
        for row in line[1].strip().splitlines():
            assert len(re.findall(r"(?<!\\)&", row)) == len(columns) - 1


def test_page_and_document_have_the_same_steps(sheet, text):
    document = latex_document(sheet)
    for chapter, steps in sheet.chapters():
        assert rf"\section*{{{chapter}}}" in document
        for step in steps:
            for rows in step.rows():
                assert all(row in document for row in rows)


# ------------------------------------------------------------ files


def test_the_document_has_the_plots():
    """Four panels with the page's curves; their points lie in the motion that both show."""
    sheet = Sheet(derive("double_pendulum", "absolute"), duration=0.5)
    found = latex_document(sheet)
    assert found.count(r"\begin{axis}") == found.count(r"\end{axis}") == 4
    curves = [re.findall(r"\(([^,]+),([^)]+)\)", line) for line in found.splitlines() if line.startswith(r"\addplot")]
    assert len(curves) == 2 + 2 + 3
    np.testing.assert_allclose(np.array(curves[1], float)[:, 1], sheet.motion.q[:, 1], rtol=1e-4, atol=1e-12)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex")
@pytest.mark.parametrize("model", ["pendulum", "cart_pole"])
def test_pdflatex_takes_the_document(tmp_path, model):
    write_latex(derive(model, parameters="symbols"), tmp_path / "d.tex", duration=1.0)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "d.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "d.pdf").stat().st_size > 20_000


def test_files(tmp_path):
    e = derive("pendulum")
    e.page(tmp_path / "p.html", duration=0.5)
    assert (tmp_path / "p.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert e.latex(tmp_path / "p.tex").startswith(r"\begin{aligned}")
    assert (tmp_path / "p.tex").read_text().startswith(r"\documentclass")
    with pytest.raises(OptionError, match=r"must be \.html, got 'p\.pdf'"):
        write_page(e, "p.pdf")
    with pytest.raises(OptionError, match=r"must be \.tex"):
        write_latex(e, "p.html")
    with pytest.raises(RecordError, match="does not exist"):
        write_latex(e, tmp_path / "none" / "p.tex")
