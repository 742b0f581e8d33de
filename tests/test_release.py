"""What a release consists of: one version everywhere, packages with all they need, forms and workflows that are valid.

`.ci/package.py` builds the packages and uses them; here are its judgement of their contents, and the files that GitHub,
PyPI and those who cite the project read. Issue forms follow GitHub's "Syntax for GitHub's form schema"; `CITATION.cff`
the Citation File Format 1.2.0.
"""

import importlib.metadata
import re
import runpy
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.version import Version

import saltus

ROOT = Path(__file__).resolve().parents[1]
if not (ROOT / "pyproject.toml").exists():
    pytest.skip("an installation without its sources", allow_module_level=True)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = sorted(path for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")


def read_yaml(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def canonical(requirement):
    """The name of a requirement as indexes write it."""
    name = re.match(r"[\w.-]+", requirement)
    assert name is not None, requirement
    return re.sub(r"[-_.]+", "-", name[0]).lower()


# ----- the version


def test_the_changelog_begins_with_the_version():
    """Below what is not released yet stands the latest release, with its date: this version, or one before it."""
    headings = re.findall(r"^## \[([^\]]+)\](?: - (\d{4}-\d\d-\d\d))?$", CHANGELOG, re.M)
    assert len(headings) == CHANGELOG.count("\n## ")
    assert headings[0] == ("Unreleased", "") and all(date for _, date in headings[1:])
    released, version = Version(headings[1][0]), Version(saltus.__version__)
    assert (version.is_devrelease and released < version) or released == version


def test_the_citation_names_the_latest_release_and_its_date():
    citation = read_yaml(ROOT / "CITATION.cff")
    assert citation["cff-version"] == "1.2.0" and citation["type"] == "software"
    assert {"message", "title", "authors"} <= set(citation)  # what the format asks for
    latest = re.search(r"^## \[(\d[^\]]*)\] - (\S+)$", CHANGELOG, re.M)
    assert latest is not None and (citation["version"], citation["date-released"]) == latest.groups()
    assert citation["authors"] == PROJECT["authors"]
    assert citation["license"] == PROJECT["license"].split(" AND ")[0]


# ----- the packages


@pytest.fixture(scope="module")
def package():
    return runpy.run_path(str(ROOT / ".ci/package.py"))


WORKER = "saltus/lab/page/src/worker/w.js"  # the part of the page's sources that runs under Node
TRACKED = {"README.md", ".gitattributes", "saltus/a.py", "saltus/lab/page.html", "saltus/lab/page/x.js", WORKER}
WHEEL = [
    "saltus/a.py",
    "saltus/lab/page.html",
    WORKER,
    *(f"saltus-1.dist-info/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")),
    "saltus-1.dist-info/licenses/LICENSE",
]


def test_an_sdist_holds_what_git_tracks(package):
    differences = package["sdist_differences"]
    good = TRACKED - {".gitattributes"} | {"PKG-INFO"}
    assert differences(good, TRACKED) == []
    assert differences(good - {"README.md"}, TRACKED) == ["README.md: missing"]
    stray = "saltus/lab/page/node_modules/y.js"
    assert differences(good | {stray}, TRACKED) == [f"{stray}: does not belong there"]


def test_a_wheel_holds_the_package_its_metadata_and_licences(package):
    def differences(names):
        return package["wheel_differences"](names, TRACKED, ["LICENSE"])

    assert differences(WHEEL) == []
    assert differences([*WHEEL, "saltus/number/cache/archived/kernels-0a1b.zip"]) == []
    for name in WHEEL:
        if name != "saltus-1.dist-info/METADATA":
            assert differences([n for n in WHEEL if n != name]) == [f"{name}: missing"]
    for stray in ("saltus/lab/page/x.js", "saltus/__pycache__/a.cpython-311.pyc", "saltus/a.nbi"):
        assert differences([*WHEEL, stray]) == [f"{stray}: does not belong there"]
    assert len(differences([*WHEEL, "tests/test_a.py"])) == 1
    assert len(differences(["saltus/a.py"])) == 1


def test_all_licences_are_named_and_there():
    """Files with other licences than ours lie beside what they are for, and each licence is in the expression."""
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in PROJECT["license-files"]]
    assert PROJECT["license"].split(" AND ") == ["Apache-2.0", "MIT", "OFL-1.1"]
    for text, words in zip(texts, ("Apache License", "The MIT License", "SIL OPEN FONT LICENSE"), strict=True):
        assert words in text
    tracked = subprocess.run(["git", "ls-files", "saltus"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode:
        pytest.skip("no clone of the repository")
    licences = {name for name in tracked.stdout.split() if re.search(r"LICEN[CS]E|OFL|COPYING", name)}
    assert licences == set(PROJECT["license-files"]) - {"LICENSE"}


def test_extras_name_extras_that_there_are():
    extras = PROJECT["optional-dependencies"]
    for names in re.findall(r"saltus\[([\w,]+)\]", str(extras)):
        assert set(names.split(",")) < set(extras)
    assert extras["web"] == []
    metadata = importlib.metadata.metadata("saltus")
    if metadata["Version"] == saltus.__version__:  # an editable installation may be of another version
        assert set(metadata.get_all("Provides-Extra") or ()) <= set(extras)


# ----- the lock


def test_the_lock_has_every_dependency():
    """`uv lock` writes what pyproject.toml asks for as it stands there, and each package of it."""
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    (own,) = (entry for entry in lock["package"] if entry["name"] == "saltus")
    assert lock["requires-python"] == PROJECT["requires-python"]
    extras = PROJECT["optional-dependencies"]
    wanted = {canonical(r) for r in [*PROJECT["dependencies"], *(r for extra in extras.values() for r in extra)]} - {
        "saltus"
    }
    assert wanted <= {entry["name"] for entry in lock["package"]}
    asked = own["metadata"]["requires-dist"]
    assert wanted == {entry["name"] for entry in asked} - {"saltus"}
    assert set(own["metadata"]["provides-extras"]) == set(extras)
    for requirement in PROJECT["dependencies"]:
        name, _, bounds = requirement.partition(">=")
        (found,) = (e for e in asked if e["name"] == canonical(name) and "extra" not in e.get("marker", ""))
        assert found["specifier"] == f">={bounds}"


def test_the_lock_takes_all_from_pypi():
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    for entry in lock["package"]:
        if entry["name"] != "saltus":
            assert entry["source"] == {"registry": "https://pypi.org/simple"}
            files = [*entry.get("wheels", []), *([entry["sdist"]] if "sdist" in entry else [])]
            assert files
            for file in files:
                assert file["url"].startswith("https://files.pythonhosted.org/packages/")
                assert re.fullmatch(r"sha256:[0-9a-f]{64}", file["hash"])


# ----- what GitHub reads


FIELDS = {"markdown", "textarea", "input", "dropdown", "checkboxes"}


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_issue_forms_follow_githubs_schema(path):
    form = read_yaml(path)
    assert set(form) <= {"name", "description", "title", "labels", "assignees", "projects", "type", "body"}
    assert form["name"] and form["description"]
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    identifiers = [field["id"] for field in fields]
    assert fields and len(set(identifiers)) == len(identifiers)
    labels = [field["attributes"]["label"] for field in fields]
    assert len(set(labels)) == len(labels)
    for field in form["body"]:
        assert field["type"] in FIELDS and set(field) <= {"type", "id", "attributes", "validations"}
        if field["type"] == "markdown":
            assert set(field["attributes"]) == {"value"}
        if field["type"] == "dropdown":
            options = field["attributes"]["options"]
            assert all(isinstance(option, str) for option in options) and len(set(options)) == len(options) > 1


def test_issue_forms_name_functions_and_commands_that_exist(saltus_command):
    assert [path.stem for path in FORMS] == ["bug_report", "feature_request", "physics_difference"]
    text = "".join(path.read_text(encoding="utf-8") for path in FORMS)
    (one_line,) = re.findall(r'python -c "(import [^"]*)"', " ".join(text.split()))
    compile(one_line, "versions", "exec")
    assert "certify=True" in text and "certify" in saltus.Simulation.run.__annotations__
    assert saltus_command("check", "--help")[0] == 0
    assert read_yaml(ROOT / ".github/ISSUE_TEMPLATE/config.yml") == {"blank_issues_enabled": True}


def steps(path):
    return [step for job in read_yaml(path)["jobs"].values() for step in job.get("steps", [])]


def test_workflows_name_files_and_extras_that_exist():
    assert [path.name for path in WORKFLOWS] == ["ci.yml", "release.yml"]
    files, extras = set(), set()
    for path in WORKFLOWS:
        for step in steps(path):
            assert ("run" in step) != ("uses" in step)
            command = step.get("run", "")
            files |= set(re.findall(r"(?<![\w/])(?:\./|docs/|\.ci/)[\w./]+", command))
            extras |= set(re.findall(r"\.\[([\w,]+)\]", command))
            assert re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v1)", step.get("uses", "a/b@v1"))
    assert files == {".ci/run", ".ci/package.py", "./check", "./ship", "docs/build"}
    for file in files:
        assert (ROOT / file).is_file()
    assert extras == {"test", "docs", "dev"} and extras < set(PROJECT["optional-dependencies"])


def test_workflows_run_on_the_versions_of_python_that_are_named():
    """The oldest runs everything, the others of the classifiers the quick checks."""
    ci = read_yaml(ROOT / ".github/workflows/ci.yml")["jobs"]
    (oldest,) = (step["with"]["python-version"] for step in ci["all"]["steps"] if "with" in step)
    others = ci["quick"]["strategy"]["matrix"]["python"]
    named = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)]
    assert [oldest, *others] == named and PROJECT["requires-python"] == f">={oldest}"


def test_only_publishing_may_sign_and_it_waits_for_all_checks():
    release = read_yaml(ROOT / ".github/workflows/release.yml")
    jobs = release["jobs"]
    assert release["permissions"] == {"contents": "read"}
    assert {name for name, job in jobs.items() if "permissions" in job} == {"publish", "deploy"}
    assert set(jobs["publish"]["needs"]) == {"checks", "packages", "site"} and jobs["deploy"]["needs"] == ["publish"]
    assert jobs["checks"]["uses"] == "./.github/workflows/ci.yml"
    # `on` is a truth value in YAML 1.1, which the parser follows
    assert release[True]["push"]["tags"] == ["v*"] and "workflow_call" in read_yaml(WORKFLOWS[0])[True]


@pytest.mark.parametrize(
    "name", ["SECURITY.md", "CODE_OF_CONDUCT.md", ".github/PULL_REQUEST_TEMPLATE.md", "CHANGELOG.md"]
)
def test_links_lead_somewhere(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / name).parent.joinpath(link).exists(), link


def test_security_names_what_there_is(saltus_command):
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert "SALTUS_CACHE_DIR" in text and "apart=True" in text
    assert saltus_command("lab", "--help")[1].count("--no-browser") == 1
