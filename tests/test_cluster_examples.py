"""The files of examples/cluster: what they name exists, and the batch script runs as it stands.

References: the options that `dask scheduler` and `dask worker` themselves declare; the fields of a compose file by the
Compose Specification, of manifests by Kubernetes and the schema of dask-kubernetes' DaskCluster, as far as they are
used.
"""

import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")
pytest.importorskip("distributed")

ROOT = Path(__file__).resolve().parents[1]
FILES = ROOT / "examples" / "cluster"
GUIDE = (ROOT / "docs" / "howto" / "cluster.md").read_text(encoding="utf-8")


def require_dask(words):
    """A command line of Dask's whose options there are, with values of their types."""
    import click
    from distributed.cli.dask_scheduler import main as scheduler
    from distributed.cli.dask_spec import main as spec
    from distributed.cli.dask_ssh import main as ssh
    from distributed.cli.dask_worker import main as worker

    program, name, *rest = map(str, words)
    assert program == "dask"
    command = {"scheduler": scheduler, "worker": worker, "ssh": ssh, "spec": spec}[name]
    with command.make_context(name, rest) as context:  # raises where an option is unknown or has a wrong value
        assert isinstance(context, click.Context)
        return context.params


def commands_in(text):
    """Command lines `dask ...`, continued lines joined."""
    lines = text.replace("\\\n", " ").splitlines()
    found = (re.match(r"\s*(?:srun |\$ )?(dask (?:scheduler|worker|ssh) .*?)( &)?$", line) for line in lines)
    return [shlex.split(match[1], comments=True) for match in found if match]


def test_the_image_is_of_this_project():
    lines = (FILES / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    assert {word for word, _ in steps} <= {"FROM", "RUN", "USER", "ENV", "WORKDIR"}
    assert steps[0][0] == "FROM" and steps[0][1].startswith("python:3.")
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lowest = re.search(r'requires-python = ">=3\.(\d+)"', project)[1]
    assert int(re.match(r"python:3\.(\d+)", steps[0][1])[1]) >= int(lowest)
    assert re.search(r"^cluster = \[", project, re.M) and any('"saltus[cluster]"' in rest for _, rest in steps)
    names = [word for word, _ in steps]
    # compiled by the user who runs it, into the folder that the volume covers
    warm = next(k for k, (word, rest) in enumerate(steps) if word == "RUN" and rest.startswith("saltus warm"))
    assert names.index("USER") < warm and ["ENV", "SALTUS_CACHE_DIR=/compiled"] in steps[:warm]
    assert "--owner=saltus /results /compiled" in str(steps[: names.index("USER")])


def test_compose():
    content = yaml.safe_load((FILES / "compose.yaml").read_text(encoding="utf-8"))
    assert set(content) == {"name", "x-saltus", "services", "volumes"}
    services = content["services"]
    assert set(services) == {"scheduler", "worker", "client"}
    for service in services.values():
        assert service["image"] == content["name"] and (FILES / service["build"] / "Dockerfile").is_file()
        mounted = dict(volume.split(":") for volume in service["volumes"])
        assert mounted == {"results": "/results", "compiled": "/compiled"} and set(mounted) == set(content["volumes"])
        assert set(service.get("depends_on", [])) <= set(services)
    scheduler = require_dask(shlex.split(services["scheduler"]["command"]))
    worker = require_dask(shlex.split(services["worker"]["command"]))
    assert worker["nthreads"] == 1 and worker["n_workers"] == "1" and services["worker"]["deploy"]["replicas"] == 2
    assert worker["scheduler"] == f"tcp://scheduler:{scheduler['port']}"
    published = {port.rsplit(":", 1)[1]: port.rsplit(":", 2)[0] for port in services["scheduler"]["ports"]}
    dashboard = scheduler["dashboard_address"].rsplit(":", 1)[1]
    assert published == {str(scheduler["port"]): "127.0.0.1", dashboard: "127.0.0.1"}
    assert "command" not in services["client"] and services["client"]["profiles"] == ["client"]


def test_kubernetes():
    claim, cluster = yaml.safe_load_all((FILES / "kubernetes.yaml").read_text(encoding="utf-8"))
    assert (claim["kind"], cluster["kind"]) == ("PersistentVolumeClaim", "DaskCluster")
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]
    assert cluster["apiVersion"] == "kubernetes.dask.org/v1" and set(cluster["spec"]) == {"worker", "scheduler"}
    (worker,) = cluster["spec"]["worker"]["spec"]["containers"]
    (scheduler,) = cluster["spec"]["scheduler"]["spec"]["containers"]
    assert worker["image"] == scheduler["image"]
    assert require_dask(worker["args"])["nthreads"] == 1 and require_dask(scheduler["args"])["host"] == "0.0.0.0"
    assert worker["resources"]["requests"] == worker["resources"]["limits"]
    (volume,) = cluster["spec"]["worker"]["spec"]["volumes"]
    assert worker["volumeMounts"] == [{"name": volume["name"], "mountPath": "/results"}]
    assert volume["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
    service = cluster["spec"]["scheduler"]["service"]
    assert service["selector"]["dask.org/cluster-name"] == cluster["metadata"]["name"]
    ports = {port["name"]: port["containerPort"] for port in scheduler["ports"]}
    assert {port["targetPort"]: port["port"] for port in service["ports"]} == ports
    assert {scheduler[probe]["httpGet"]["port"] for probe in ("readinessProbe", "livenessProbe")} <= set(ports)


def test_commands_of_the_guide_exist():
    found = commands_in(GUIDE) + commands_in((ROOT / "docs" / "howto" / "sweep.md").read_text(encoding="utf-8"))
    found += commands_in((FILES / "sweep.slurm").read_text(encoding="utf-8"))
    assert len(found) >= 5
    for words in found:
        given = require_dask(word for word in words if word != "$")
        # with "auto", Dask chooses the threads itself, whatever is asked for
        assert given.get("n_workers") != "auto" and given.get("nthreads", 1) == 1, words


def test_the_guide_shows_every_file():
    shown = set(re.findall(r"\{literalinclude\} \.\./\.\./examples/cluster/(\S+)", GUIDE))
    assert shown == {path.name for path in FILES.iterdir()}


def test_the_batch_script_asks_for_what_it_starts():
    text = (FILES / "sweep.slurm").read_text(encoding="utf-8")
    subprocess.run(["bash", "-n", str(FILES / "sweep.slurm")], check=True)
    directives = dict(re.findall(r"^#SBATCH --([\w-]+)=(\S+)", text, re.M))
    assert {"job-name", "nodes", "ntasks-per-node", "cpus-per-task", "mem-per-cpu", "time", "output"} == set(directives)
    assert directives["cpus-per-task"] == "1" and text.startswith("#!/bin/bash\n")
    first = next(k for k, line in enumerate(text.splitlines()) if line and not line.startswith("#"))
    assert "#SBATCH" not in "\n".join(text.splitlines()[first:]), "Slurm reads none after the first command"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None or sys.platform == "win32", reason="a script for bash")
def test_the_batch_script_runs(tmp_path):
    """On this computer, with an `srun` that starts two tasks here, as Slurm would on the nodes of the job."""
    from saltus.record.io.sweep_zarr import open_dataset

    tools, home = tmp_path / "bin", tmp_path / "home"
    (home / "saltus-env" / "bin").mkdir(parents=True)
    (home / "saltus-env" / "bin" / "activate").write_text(f'export PATH="{tools}:$PATH"\n')
    tools.mkdir()
    write_tool(tools / "srun", 'for task in $(seq "$SLURM_NTASKS"); do "$@" & done; wait')
    for name, module in (("python", ""), ("dask", "-m dask"), ("saltus", "-m saltus")):
        write_tool(tools / name, f'exec "{sys.executable}" {module} "$@"')
    compiled = os.environ.get("SALTUS_CACHE_DIR")
    if compiled is not None:
        (home / "saltus-compiled").symlink_to(compiled)
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    slurm = {"SLURM_JOB_ID": str(os.getpid()), "SLURM_NTASKS": "2", "HOME": str(home), "TMPDIR": str(tmp_path)}
    values = ["pendulum", "--set", "qpos[theta]=linspace(0.1,1,200)", "--measure", "qpos[theta].max"]
    script = ["bash", str(FILES / "sweep.slurm"), *values, "--duration", "1", "--save", "swings.zarr"]
    own = {**os.environ, **slurm, "PYTHONPATH": paths}
    result = subprocess.run(script, cwd=tmp_path, env=own, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr[-3000:]
    with open_dataset(tmp_path / "swings.zarr") as data:
        assert set(data.status.values) == {"done"} and data.sizes["run"] == 200
        # from rest it swings no higher than it began, and begins there
        assert (abs(data["qpos[theta].max"] - data["qpos[theta]"]) < 1e-12).all()
    assert not alive(slurm["SLURM_JOB_ID"]), "the script ends what it started"


def write_tool(path, line):
    path.write_text(f"#!/bin/bash\n{line}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def alive(job):
    """Processes of Dask that listen to this job's scheduler."""
    import psutil

    port = str(20000 + int(job) % 10000)
    return [p.pid for p in psutil.process_iter(["cmdline"]) if any(port in word for word in p.info["cmdline"] or [])]
