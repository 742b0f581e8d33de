"""A notebook with all displays, executed as a whole, exported, and opened in a browser that is cut off from every net.

Reference: the browser, which loads pictures and films, says what it misses, and computes colours.
"""

import pytest

pytestmark = pytest.mark.slow

CELLS = {
    "model": "import saltus\nmodel = saltus.load('pendulum')\nmodel",
    "simulation": "sim = saltus.Simulation(model, 'explicit_euler')\nsim",
    "trajectory": "run = sim.run(1.0)\nrun",
    "certified": "saltus.Simulation(model, 'rk4').run(0.5, certify=True).certificate",
    "batch": "batch = saltus.Batch(model, 20, threads=1)\nbatch.qpos = [[0.1 * k] for k in range(20)]\nbatch",
    "events": "saltus.Simulation('bouncing_ball', 'dopri5', contact='hard').run(0.5).events",
    "equations": "saltus.derive('double_pendulum', parameters='symbols')",
    "law": "saltus.contact_law()",
    "comparison": "saltus.compare(model, ['rk4', 'explicit_euler'], duration=0.5)",
    "sweep": "saltus.sweep(model, {'body_mass[pendulum]': [1.0, 2.0]}, duration=0.2, workers=1)",
    "integrators": "saltus.integrators()",
    "page": "sim.page(integrators=['explicit_euler'], height=480)",
}


@pytest.fixture(scope="module")
def executed():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    return notebook


def test_each_cell_has_its_display_and_nothing_else(executed):
    """No bar, no line of a compiler, no warning, though many kernels may have been compiled."""
    for name, cell in zip(CELLS, executed.cells, strict=True):
        assert [output.output_type for output in cell.outputs] == ["execute_result"], (name, cell.outputs)
        data = cell.outputs[0]["data"]
        assert "text/plain" in data and "display failed" not in data["text/html"], name
        assert len(data["text/html"]) < (3_000_000 if name == "page" else 1_000_000), name


@pytest.fixture(scope="module", params=["light", "dark"])
def opened(executed, tmp_path_factory, request, browser):
    exporter = pytest.importorskip("nbconvert").HTMLExporter(theme=request.param)
    exporter.mathjax_url = exporter.require_js_url = exporter.jquery_url = ""  # which would be fetched
    path = tmp_path_factory.mktemp("notebook") / "notebook.html"
    path.write_text(exporter.from_notebook_node(executed)[0])
    tab = browser.new_context(viewport={"width": 1100, "height": 900}, offline=True).new_page()
    tab.requests, tab.complaints = [], []
    tab.on("request", lambda asked: tab.requests.append(asked.url))
    tab.on("pageerror", lambda error: tab.complaints.append(str(error)))
    tab.on("console", lambda said: tab.complaints.append(said.text) if said.type == "error" else None)
    tab.goto(path.as_uri())
    tab.wait_for_timeout(1000)
    yield tab
    tab.context.close()


def test_it_is_complete_without_a_network(opened):
    assert opened.complaints == []
    assert all(url.startswith(("file:", "data:", "blob:")) for url in opened.requests), opened.requests
    assert opened.evaluate("[...document.images].filter(image => !image.naturalWidth).length") == 0
    assert opened.evaluate("document.images.length") >= 5
    assert opened.evaluate("[...document.querySelectorAll('video')].map(video => video.error)") == [None]


def test_text_has_the_colour_of_the_page(opened):
    colours = opened.evaluate(
        """() => [...document.querySelectorAll('.saltus-display')].map(display => {
            const around = getComputedStyle(display.parentElement).color;
            const parts = [...display.querySelectorAll('td, th, p, summary, .title')];
            return parts.every(part => getComputedStyle(part).color === around
                && ['rgba(0, 0, 0, 0)'].includes(getComputedStyle(part).backgroundColor));
        })"""
    )
    assert len(colours) == len(CELLS) - 1 and all(colours)
    wide = "[...document.querySelectorAll('.saltus-display')].filter(d => d.getBoundingClientRect().right > innerWidth)"
    assert opened.evaluate(f"{wide}.length") == 0


def test_the_page_in_its_frame_runs_and_hears_keys(opened):
    element = opened.locator("iframe")
    element.scroll_into_view_if_needed()
    frame = element.element_handle().content_frame()

    def get(expression):
        return frame.evaluate(f"(() => {{ const lab = window.saltusLab; return {expression} }})()")

    def until(expression):
        for _ in range(600):
            if get(expression):
                return
            opened.wait_for_timeout(50)
        raise AssertionError(expression)

    until("!!(lab && lab.ready && lab.status.playing)")
    began = get("lab.status.time")
    until(f"lab.status.time > {began} + 0.2")
    box, scrolled = element.bounding_box(), opened.evaluate("scrollY")
    opened.mouse.click(box["x"] + 0.3 * box["width"], box["y"] + 0.6 * box["height"])
    opened.keyboard.press("Space")
    until("!lab.status.playing")
    stopped = get("lab.status.time")
    opened.keyboard.press("Space")
    until(f"lab.status.playing && lab.status.time > {stopped}")
    assert opened.evaluate("scrollY") == scrolled  # the key was the frame's, not the notebook's
    assert get("lab.error") is None and opened.complaints == []
