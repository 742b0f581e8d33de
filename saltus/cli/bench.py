"""`saltus bench`: commands for benchmarks."""

from pathlib import Path
from typing import Annotated

import typer

from saltus.cli.shared.options import A_MODEL, Json, Plot, Quick, Threads

AlsoModels = Annotated[
    list[str] | None, typer.Option("--model", metavar="MODEL", help="Also benchmark this model; repeatable.")
]

bench_app = typer.Typer(help="Benchmark Saltus against its peers.", no_args_is_help=True)


@bench_app.command()
def smooth(
    quick: Quick = False,
    threads: Threads = None,
    json: Json = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model", metavar="MODEL", help="Also benchmark this model, without its constraints; repeatable."
        ),
    ] = None,
) -> None:
    """Unconstrained motion: single runs, batches and derivatives, against MuJoCo in the same process."""
    from saltus.bench.smooth import bench_smooth

    bench_smooth(quick=quick, threads=threads, json_path=json, extra=model or [])


@bench_app.command()
def contact(
    quick: Quick = False,
    threads: Threads = None,
    json: Json = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model", metavar="MODEL", help="Also benchmark this model, from 3 s into its motion; repeatable."
        ),
    ] = None,
) -> None:
    """Contacts and other constraints: single runs and batches, against MuJoCo in the same process."""
    from saltus.bench.contact import bench_contact

    bench_contact(quick=quick, threads=threads, json_path=json, extra=model or [])


@bench_app.command()
def env(
    quick: Quick = False,
    threads: Threads = None,
    json: Json = None,
    task: Annotated[
        list[str] | None,
        typer.Option("--task", metavar="NAME", help="Measure this environment instead of all; repeatable."),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="MODEL",
            help="Measure this robot instead, with different values in each simulation, on one thread; repeatable.",
        ),
    ] = None,
    n: Annotated[
        int | None,
        typer.Option("--n", metavar="N", help="Number of simulations (default: 1024; robots: 4096).", min=1),
    ] = None,
    repeats: Annotated[int | None, typer.Option(metavar="N", help="Number of repeats (default: 7).", min=1)] = None,
) -> None:
    """Environments for reinforcement learning: steps per second, against Gymnasium, EnvPool and MuJoCo's batches."""
    from saltus.bench.environments.command import bench_env

    options = {"tasks": task or [], "models": model or [], "n": n, "repeats": repeats}
    bench_env(quick=quick, threads=threads, json_path=json, **options)


@bench_app.command()
def film(
    quick: Quick = False,
    json: Json = None,
    model: Annotated[
        list[str] | None, typer.Option("--model", metavar="MODEL", help="Also film this model; repeatable.")
    ] = None,
) -> None:
    """Rendering, against MuJoCo's renderer where OpenGL works."""
    from saltus.bench.film import bench_film

    bench_film(quick=quick, json_path=json, extra=model or [])


@bench_app.command()
def flex(
    quick: Quick = False,
    threads: Threads = None,
    json: Json = None,
    model: AlsoModels = None,
) -> None:
    """Deformable bodies: single runs and batches against MuJoCo in the same process, and sheets of growing size."""
    from saltus.bench.flex.command import bench_flex

    bench_flex(quick=quick, threads=threads, json_path=json, extra=model or [])


@bench_app.command()
def gradient(
    quick: Quick = False,
    threads: Threads = None,
    json: Json = None,
    model: AlsoModels = None,
) -> None:
    """Derivatives of steps with contacts, single and in batches, against MuJoCo; of free motion, against Pinocchio."""
    from saltus.bench.gradient import bench_gradient

    bench_gradient(quick=quick, threads=threads, json_path=json, extra=model or [])


@bench_app.command()
def hybrid(quick: Quick = False, threads: Threads = None, json: Json = None) -> None:
    """Hard contact with impacts, sticking and slipping, against an implementation in SciPy; batches against a loop."""
    from saltus.bench.hybrid.command import bench_hybrid

    bench_hybrid(quick=quick, threads=threads, json_path=json)


@bench_app.command()
def identify(quick: Quick = False, json: Json = None) -> None:
    """Identification from the same noisy motion: values, rollouts and CPU time, against MuJoCo's sysid."""
    from saltus.bench.identify import bench_identify

    bench_identify(quick=quick, json_path=json)


@bench_app.command("identify-arm")
def identify_arm(
    duration: Annotated[float, typer.Option(help="Length of the recording of the whole arm, in seconds.")] = 60.0,
    repeats: Annotated[int, typer.Option(help="Short recordings whose intervals are counted.")] = 200,
    json: Json = None,
) -> None:
    """Identification of an arm of seven joints: deviations from the true values, and how often intervals hold them."""
    from saltus.bench.identify_arm.command import bench_identify_arm

    bench_identify_arm(duration=duration, repeats=repeats, json_path=json)


@bench_app.command()
def ik(
    quick: Quick = False,
    json: Json = None,
    model: AlsoModels = None,
) -> None:
    """Inverse kinematics of random reachable targets, one by one and in a batch, against mink in the same process."""
    from saltus.bench.ik import bench_ik

    bench_ik(quick=quick, json_path=json, extra=model or [])


@bench_app.command()
def ilqr(quick: Quick = False, json: Json = None) -> None:
    """Trajectories of an arm that cost least: CPU time, iterations and cost, against Crocoddyl in the same process."""
    from saltus.bench.ilqr import bench_ilqr

    bench_ilqr(quick=quick, json_path=json)


@bench_app.command()
def pile(quick: Quick = False, json: Json = None) -> None:
    """A pile of boxes: Moreau-Jean time stepping with hard contact, against soft contact."""
    from saltus.bench.worlds.pile import bench_pile

    bench_pile(quick=quick, json_path=json)


@bench_app.command()
def page(
    quick: Quick = False,
    json: Json = None,
    scene: Annotated[
        list[str] | None,
        typer.Option("--scene", metavar="NAME", help="Measure this scene or model instead of all; repeatable."),
    ] = None,
    browser: Annotated[
        bool,
        typer.Option("--browser", help="Also count pictures per second in a headless Chromium (needs Playwright)."),
    ] = False,
) -> None:
    """Standalone pages: a step as WebAssembly under Node, against the same step in native code."""
    from saltus.bench.page import bench_page

    bench_page(quick=quick, json_path=json, chosen=scene or [], browser=browser)


@bench_app.command()
def lanes(
    models: Annotated[list[str], typer.Argument(**A_MODEL)],
    quick: Quick = False,
    json: Json = None,
    n: Annotated[
        int | None, typer.Option("--n", metavar="N", help="Number of simulations (default: 128).", min=16)
    ] = None,
    steps: Annotated[
        int | None, typer.Option(metavar="N", help="Steps after which a step is taken apart (default: 200).", min=0)
    ] = None,
) -> None:
    """A batch's step taken apart: time by stage, how long lanes wait for each other, and the least time possible."""
    from saltus.bench.lanes.command import bench_lanes

    bench_lanes(models=models, quick=quick, n=n, steps=steps, json_path=json)


@bench_app.command()
def radau(quick: Quick = False, json: Json = None) -> None:
    """Error and time of radau on stiff motions by tolerance, beside dopri5 and SciPy's Radau."""
    from saltus.bench.radau import bench_radau

    bench_radau(quick=quick, json_path=json)


@bench_app.command()
def rollout(
    quick: Quick = False,
    threads: Threads = None,
    json: Json = None,
    model: AlsoModels = None,
) -> None:
    """Rollouts under given controls, and plans by sampling made of them, against mujoco.rollout in the same process."""
    from saltus.bench.rollout import bench_rollout

    bench_rollout(quick=quick, threads=threads, json_path=json, extra=model or [])


@bench_app.command()
def start(quick: Quick = False, json: Json = None) -> None:
    """Start-up time until the first motion, with an empty cache of compiled code and a warm one."""
    from saltus.bench.start.command import bench_start

    bench_start(quick=quick, json_path=json)


@bench_app.command()
def sweep(
    quick: Quick = False,
    json: Json = None,
    n: Annotated[
        int | None,
        typer.Option("--n", metavar="N", help="Number of runs on the cluster (default: 131072).", min=256),
    ] = None,
) -> None:
    """Sweeps of short runs: in batches against one by one, on a cluster, their stores and their memory."""
    from saltus.bench.sweep.command import bench_sweep

    bench_sweep(quick=quick, n=n, json_path=json)


@bench_app.command()
def orientations(
    links: Annotated[
        int | None, typer.Option(metavar="N", help="Largest number of links (default: 10; with --quick: 2).", min=1)
    ] = None,
    steps: Annotated[
        int | None, typer.Option(metavar="N", help="Number of steps of 0.01 s (default: 100; with --quick: 20).", min=1)
    ] = None,
    option: Annotated[
        str, typer.Option(metavar="A|B", help="Input. A: a force on the tip; B: a torque between the last two links.")
    ] = "A",
    naive_links: Annotated[
        int | None,
        typer.Option(
            metavar="K", help="Largest number of links for the naive method (default: as many as finish).", min=0
        ),
    ] = None,
    limit: Annotated[float, typer.Option(metavar="S", help="Time limit of one measurement in s.")] = 120.0,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the random order.")] = 0,
    json: Json = None,
    plot: Plot = None,
    quick: Quick = False,
) -> None:
    """n-link pendulum in relative, absolute and maximal coordinates: modelling and simulation time."""
    from saltus.bench.orientations.command import bench_orientations, planned

    bench_orientations(planned(links, steps, option, naive_links, limit, seed, quick), json, plot)


@bench_app.command()
def worlds(
    world: Annotated[
        list[str] | None,
        typer.Option(
            "--world",
            metavar="NAME",
            help="Measure heap, wall, dominoes, humanoids, curtain or wrecking_ball instead of all; repeatable.",
        ),
    ] = None,
    sizes: Annotated[
        str | None, typer.Option(metavar="N,N,...", help="Numbers of bodies of heaps (default: 30,100,300,1000).")
    ] = None,
    limit: Annotated[float, typer.Option(metavar="S", help="Time limit for one world in s.")] = 600.0,
    threads: Annotated[
        int, typer.Option(min=1, metavar="N", help="Also measure N threads in worlds that can use them.")
    ] = 1,
    quick: Quick = False,
    json: Json = None,
    plot: Plot = None,
) -> None:
    """Large worlds against MuJoCo: time per step by number of bodies, loading time and memory."""
    from saltus.bench.worlds.command import bench_worlds, sizes_of

    bench_worlds(
        worlds=world or [],
        sizes=sizes_of(sizes) if sizes else [],
        quick=quick,
        limit=limit,
        threads=threads,
        json_path=json,
        plot_path=plot,
    )


@bench_app.command()
def zoo(
    places: Annotated[list[Path], typer.Argument(metavar="DIR_OR_FILE", help="Folders of MJCF files, or files.")],
    match: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Only files whose name or path matches, as '*hand*'; repeatable."),
    ] = None,
    limit: Annotated[
        float, typer.Option(metavar="S", help="Time limit for one model in s, compilation included.")
    ] = 600.0,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller batches and shorter timings.")] = False,
    json: Json = None,
    markdown: Annotated[Path | None, typer.Option(metavar="F", help="Also write the tables as Markdown.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the JSON file, skipping the models in it.")
    ] = False,
) -> None:
    """All models of a folder against MuJoCo: single runs and batches on one thread, each in a separate process."""
    from saltus.bench.zoo.command import bench_zoo

    bench_zoo(
        places,
        patterns=match or [],
        quick=quick,
        limit=limit,
        json_path=json,
        markdown_path=markdown,
        resume=resume,
    )
