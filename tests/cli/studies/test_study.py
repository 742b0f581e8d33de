"""`saltus study`: the table, the files, and what is said of studies that there are not.

Charter. The study here is of a pendulum with other masses, whose swings do not depend on them; the numbers are those
of `saltus.study.studies`, which has tests of its own.
"""

import numpy as np

from saltus.study import studies
from saltus.study.studies import Study


def test_a_study_prints_and_writes(saltus_command, tmp_path, monkeypatch):
    plan = Study(
        model="pendulum",
        changes={"heavy": {"body_mass[pendulum]": 4.0}, "small": {"qpos[theta]": 0.01}},
        measures={"swing": "qpos[theta].range"},
        duration=5.0,
        about="what a mass does",
        apart=("small",),
        resting={"hangs": "qpos[theta].final"},
        at_rest={"qpos[theta]": 0.0},
    )
    monkeypatch.setitem(studies.STUDIES, "pendulum", plan)
    files = {name: tmp_path / name for name in ("s.json", "s.csv", "s.png")}
    options = ["--save", files["s.json"], "--csv", files["s.csv"], "--plot", files["s.png"], "--workers", 1]
    code, out, _ = saltus_command("study", "pendulum", *options)
    assert code == 0 and "what a mass does" in out and all(f"wrote {path}" in out for path in files.values())
    rows = {line.split(",")[0]: line.split(",") for line in files["s.csv"].read_text().splitlines()}
    assert list(rows) == ["case", "as it is", "heavy", "small", "all together"]
    columns = rows["case"]
    swing = {case: float(row[columns.index("swing")]) for case, row in rows.items() if case != "case"}
    # the mass counts for nothing: all that happens is what gravity does
    np.testing.assert_allclose([swing["heavy"], swing["all together"]], swing["as it is"], rtol=1e-9)
    assert swing["small"] < 0.021
    assert all(abs(float(row[columns.index("hangs")])) < 1e-12 for case, row in rows.items() if case != "case")


def test_a_study_that_there_is_not(saltus_command):
    code, _, err = saltus_command("study", "trampolines")
    assert code == 1 and "did you mean 'trampoline'" in err
