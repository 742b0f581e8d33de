"""Trains half-cheetahs for the documentation and draws docs/img/train-half-cheetah.png. Needs the extra `train`.

    python docs/train_pictures.py FOLDER

On one thread, and timed by the processor's time: other programs on the machine slow neither run. What a folder holds
from an earlier call is not trained again.
"""

import csv
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
STEPS = {"saltus": 2_000_000, "gymnasium": 500_000}
LABELS = {"saltus": "Saltus", "gymnasium": "Gymnasium's SyncVectorEnv"}
TRAIN = "import sys, time; time.perf_counter = time.process_time; sys.path.insert(0, sys.argv.pop(1)); "
TRAIN += "import train_ppo; train_ppo.main()"


def trained(folder, backend):
    """The learning curve with a backend: arrays by column."""
    if not (folder / "curve.csv").exists():
        options = ["--backend", backend, "--threads", "1", "--steps", str(STEPS[backend]), "--out", str(folder)]
        command = [sys.executable, "-c", TRAIN, str(DOCS.parent / "examples"), "HalfCheetah", *options]
        subprocess.run(command, check=True)
    with open(folder / "curve.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [float(row[name]) for row in rows] for name in rows[0]}


def main(folder):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8, 3), sharey=True, layout="constrained")
    for backend, label in LABELS.items():
        curve = trained(folder / backend, backend)
        axes[0].plot([1e-6 * x for x in curve["steps"]], curve["evaluated"], ".-", label=label)
        axes[1].plot(curve["minutes"], curve["evaluated"], ".-", label=label)
    axes[0].set(xlabel="million steps", ylabel="return", ylim=(0, None))
    axes[1].set(xlabel="minutes of processor time")
    axes[1].legend(frameon=False, loc="lower right")
    figure.savefig(DOCS / "img" / "train-half-cheetah.png", dpi=120)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
