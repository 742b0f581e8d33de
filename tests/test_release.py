"""What a release consists of: one version everywhere, packages with all they need, forms and workflows that are valid.

`.ci/package.py` builds the packages and uses them; here are its judgement of their contents, and the files that GitHub,
PyPI and those who cite the project read. Issue forms follow GitHub's "Syntax for GitHub's form schema"; `CITATION.cff`
the Citation File Format 1.2.0.
"""

import importlib.metadata
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from packaging.tags import Tag
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


PURE, LINUX = "saltus-1-py3-none-any.whl", "saltus-1-cp311-none-manylinux_2_28_x86_64.whl"


def test_a_wheel_with_kernels_is_for_one_system_and_no_other_is(package):
    differences, kernels = package["tag_differences"], ["saltus/number/cache/archived/kernels-0a1b.zip"]
    assert differences(PURE, WHEEL) == differences(LINUX, [*WHEEL, *kernels]) == []
    assert differences(PURE, [*WHEEL, *kernels]) == ["compiled kernels in a wheel for all systems"]
    assert differences(LINUX, WHEEL) == ["for one system, without compiled kernels"]


@pytest.mark.parametrize(
    ("interpreter", "platform", "found"),
    [
        ("cp311", "manylinux_2_28_x86_64", LINUX),
        ("cp312", "manylinux_2_28_x86_64", PURE),  # compiled by another Python
        ("cp311", "manylinux_2_28_aarch64", PURE),
    ],
)
def test_the_wheel_that_fits_is_used(package, interpreter, platform, found):
    """Of one version pip takes the most specific wheel (PEP 425), by the order of the interpreter's tags."""
    tags = [Tag(interpreter, "none", platform), Tag("py3", "none", "any")]
    for wheels in ([PURE, LINUX], [LINUX, PURE]):
        assert package["fitting"](map(Path, wheels), tags) == Path(found)
    assert package["fitting"]([Path(LINUX)], tags[1:]) is None


@pytest.fixture(scope="module")
def build_hook():
    """The hook that sets the tag; hatchling is only there where a wheel is built."""
    names = ["hatchling", "builders", "hooks", "plugin", "interface"]
    stubs = {".".join(names[: k + 1]): ModuleType(".".join(names[: k + 1])) for k in range(len(names))}
    vars(stubs[".".join(names)])["BuildHookInterface"] = type(
        "Interface", (), {"__class_getitem__": lambda cls, kind: object}
    )
    with pytest.MonkeyPatch.context() as patch:
        for name, stub in stubs.items():
            patch.setitem(sys.modules, name, stub)
        yield runpy.run_path(str(ROOT / ".ci/build_hook.py"))


@pytest.mark.parametrize(
    ("platform", "tag"),
    [
        ("linux-x86_64", "cp311-none-manylinux_2_28_x86_64"),
        ("linux-aarch64", "cp311-none-manylinux_2_28_aarch64"),
        ("macosx-11.0-arm64", "cp311-none-macosx_12_0_arm64"),
        ("win-amd64", "cp311-none-win_amd64"),
    ],
)
def test_kernels_are_tagged_for_their_system(build_hook, platform, tag):
    """As `sysconfig.get_platform` names systems and PEP 425, 600 and 656 their tags: which pip knows there."""
    assert build_hook["tag"](platform, (3, 11)) == tag
    assert tag.rpartition("-")[2] in MACHINES.values()


@pytest.mark.parametrize("platform", ["macosx-10.9-universal2", "freebsd-14.1-release-amd64", "cygwin"])
def test_kernels_for_no_single_known_system_are_an_error(build_hook, platform):
    with pytest.raises(ValueError, match=f"not for {platform}"):
        build_hook["tag"](platform, (3, 11))


def test_only_wheels_with_kernels_are_for_one_system(build_hook, tmp_path):
    hook, data = build_hook["KernelsTag"](), {}
    hook.root = str(tmp_path)
    hook.initialize("standard", data)
    assert data == {}
    place = tmp_path / build_hook["KERNELS"]
    place.mkdir(parents=True)
    (place / "kernels-0a1b.zip").touch()
    hook.initialize("standard", data)
    assert data["pure_python"] is False and data["tag"].startswith("cp3")
    assert ROOT / build_hook["KERNELS"] == ROOT / "saltus/number/cache/archived"


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
            extras |= set(re.findall(r"\.\[([\w,]+)\]", command)) | (
                {step["with"]["extra"]} if "extra" in step.get("with", {}) else set()
            )
    assert files == {".ci/run", ".ci/package.py", ".ci/emulated.py", "./check", "./ship", "docs/build"}
    for file in files:
        assert (ROOT / file).is_file()
    assert extras == {"test", "docs", "dev"} and extras < set(PROJECT["optional-dependencies"])


ACTION = ROOT / ".github/actions/locked/action.yml"


@pytest.mark.parametrize("path", [*WORKFLOWS, ACTION], ids=lambda path: path.parent.name + "/" + path.name)
def test_actions_are_named_by_commits(path):
    """A tag can be moved; what it was stands beside, one for each commit."""
    used = re.findall(r"uses: (\S+)(.*)", path.read_text(encoding="utf-8"))
    assert used
    for action, tag in used:
        if action.startswith("./"):
            assert (ROOT / action).exists(), action
        else:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action), action
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", tag), action
    everywhere = [re.findall(r"uses: (\S+)@(\S+) # (\S+)", p.read_text(encoding="utf-8")) for p in (*WORKFLOWS, ACTION)]
    assert len({name for found in everywhere for name, _, _ in found}) == len(
        {one for found in everywhere for one in found}
    )


def test_what_is_published_is_built_with_the_locked_versions():
    """No step of a release asks an index for whatever it has; what builds packages is in the lock, too."""
    jobs = read_yaml(ROOT / ".github/workflows/release.yml")["jobs"]
    for name in ("packages", "kernels", "site"):
        used = [step.get("uses", "") for step in jobs[name]["steps"]]
        assert "./.github/actions/locked" in used and not any(
            "pip install" in step.get("run", "") for step in jobs[name]["steps"]
        )
    commands = "\n".join(step.get("run", "") for step in read_yaml(ACTION)["runs"]["steps"])
    assert "uv sync --frozen" in commands and "uv export --quiet --frozen" in commands and "PIP_CONSTRAINT" in commands
    assert re.findall(r"pip install (\S+)", commands) == [re.findall(r"uv==[\d.]+", commands)[0]]
    locked = {package["name"] for package in tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))["package"]}
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    assert {canonical(requirement) for requirement in build} <= locked


def test_workflows_run_on_the_versions_of_python_that_are_named():
    """The oldest runs everything, the others of the classifiers the quick checks."""
    ci = read_yaml(ROOT / ".github/workflows/ci.yml")["jobs"]
    (oldest,) = (step["with"]["python-version"] for step in ci["all"]["steps"] if "with" in step)
    others = ci["quick"]["strategy"]["matrix"]["python"]
    named = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)]
    assert [oldest, *others] == named and PROJECT["requires-python"] == f">={oldest}"


#: What GitHub calls its machines, and the tag of wheels that run there.
MACHINES = {
    "ubuntu-latest": "manylinux_2_28_x86_64",
    "ubuntu-24.04-arm": "manylinux_2_28_aarch64",
    "macos-15": "macosx_12_0_arm64",
    "windows-latest": "win_amd64",
}
LEFT_OUT = {"macos-15-intel": "macosx_12_0_x86_64", "windows-11-arm": "win_arm64"}


def lacking(platform, python):
    """Compiled packages that Saltus needs and that have no wheel for a platform and a Python, by uv.lock."""
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    system, machine = re.fullmatch(r"([a-z]+).*?_?(x86_64|aarch64|arm64|amd64)", platform).groups()
    found = set()
    for entry in lock["package"]:
        if entry["name"] in ("numba", "llvmlite", "mujoco-core", "symengine"):
            tags = [wheel["url"].removesuffix(".whl").rsplit("-", 3)[1:] for wheel in entry["wheels"]]
            fits = [t for p, abi, t in tags if p == python or abi == "abi3"]
            if not any(t.startswith(system) and t.endswith((machine, "universal2")) for t in fits):
                found.add(entry["name"])
    return found


def test_machines_are_those_that_dependencies_have_wheels_for():
    """Linux, macOS and Windows on both processors, but for those that no wheel of a dependency is for."""
    ci, release = (read_yaml(path)["jobs"] for path in WORKFLOWS)
    tested = ["ubuntu-latest", *ci["machines"]["strategy"]["matrix"]["system"]]
    assert tested == [*MACHINES]
    matrix = release["kernels"]["strategy"]["matrix"]
    assert matrix["system"] == tested and all(f":: {v}" in str(PROJECT["classifiers"]) for v in matrix["python"])
    pythons = [f"cp{version.replace('.', '')}" for version in matrix["python"]]
    for machine, platform in MACHINES.items():
        assert [lacking(platform, python) for python in pythons] == [set()] * len(pythons), machine
    text = WORKFLOWS[0].read_text(encoding="utf-8")
    for machine, platform in LEFT_OUT.items():
        assert f"# - {machine}:" in text
        for python in pythons:
            assert lacking(platform, python), f"{machine} could be tested: all wheels are there"


def test_systems_are_named_that_are_tested():
    systems = {c.split(" :: ")[-1] for c in PROJECT["classifiers"] if c.startswith("Operating System")}
    assert systems == {"Linux", "MacOS", "Windows"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_scripts_run_under_bash_also_on_windows(path):
    for name, job in read_yaml(path)["jobs"].items():
        if "windows" in str(job.get("strategy", {})):
            assert job["defaults"] == {"run": {"shell": "bash"}}, name


def test_kernels_are_published_with_the_rest():
    """Each machine gives its wheel another name; one download takes all."""
    jobs = read_yaml(WORKFLOWS[1])["jobs"]
    given = [
        step["with"]["name"]
        for job in jobs.values()
        for step in job.get("steps", [])
        if "upload-artifact" in step.get("uses", "")
    ]
    assert given == ["packages", "packages-${{ matrix.system }}-${{ matrix.python }}"]
    (taken,) = (step["with"] for step in jobs["publish"]["steps"] if "download-artifact" in step.get("uses", ""))
    assert taken == {"pattern": "packages*", "merge-multiple": True, "path": "dist/"}


def test_what_is_emulated_is_there():
    emulated = runpy.run_path(str(ROOT / ".ci/emulated.py"))
    assert all((ROOT / path).exists() for path in emulated["TESTS"])
    asked = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]]
    assert {*emulated["NEEDED"], *emulated["TESTING"]} <= {canonical(requirement) for requirement in asked}
    assert f">={emulated['PYTHON']}" == PROJECT["requires-python"]


def test_only_publishing_may_sign_and_it_waits_for_all_checks():
    release = read_yaml(ROOT / ".github/workflows/release.yml")
    jobs = release["jobs"]
    assert release["permissions"] == {"contents": "read"}
    assert {name for name, job in jobs.items() if "permissions" in job} == {"publish", "deploy"}
    assert set(jobs["publish"]["needs"]) == {"checks", "packages", "kernels", "site"}
    assert jobs["deploy"]["needs"] == ["publish"]
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
