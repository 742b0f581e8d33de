"""Models with something changed at random, and what becomes of loading and stepping them.

    python tests/helpers/mutation.py 10000
    python tests/helpers/mutation.py 10000 0 odd

counts, over that many changed copies of the bundled models, how they end: refused by name, stepped, or otherwise.
A copy is stepped where it needs no other compiled code than its original. "odd" ones hold numbers that are none, or
beyond all measure, in any attribute that MuJoCo knows, and bytes that are no UTF-8.
"""

import collections
import copy
import functools
import multiprocessing
import random
import re
import sys
import tempfile
import time
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np

import saltus
from saltus.errors import SaltusError
from saltus.model.source.mjcf import schema

try:
    from helpers import everything
except ImportError:  # run as a script, beside it
    import everything

BUNDLED = Path(saltus.__file__).parent / "model" / "source" / "bundled"
VALUES = ("nan", "inf", "-inf", "0", "-1", "1e-300", "1e300", "-1e10", "1e16", "3", "0.5", "", "x", "%n", "1 2 3")
ODD = ("nan", "inf", "-inf", "1e300", "-1e300", "1e308", "1e-320", "4e9", "-4e9", "2147483647", "1e17")
WORDS = ("true", "false", "auto", "sphere", "mesh", "hinge", "free", "nobody", "world", "é")
PART = 500  # models of a process; one that dies takes its part with it, and is counted
PATIENCE = 600.0  # s
COMPILING = 10.0  # s, for MuJoCo's compiler, which never ends with some


def mutant(name, rng):
    """The text of a bundled model with one to three things changed."""
    root = ET.parse(BUNDLED / f"{name}.xml").getroot()
    for _ in range(rng.randint(1, 3)):
        rng.choice((set_number, set_number, set_number, set_word, drop, remove, double, move))(root, rng)
    return ET.tostring(root, encoding="unicode")


def odd_mutant(name, rng):
    """The bytes of a model, bundled or with every element, with one or two odd values; some are no UTF-8."""
    root = ET.fromstring(everything.xml()) if rng.random() < 0.5 else ET.parse(BUNDLED / f"{name}.xml").getroot()
    for _ in range(rng.randint(1, 2)):
        rng.choice((set_odd, set_odd, add_odd))(root, rng)
    content = ET.tostring(root, encoding="unicode").encode()
    return rng.choice((damaged, *[lambda content, rng: content] * 4))(content, rng)


def set_odd(root, rng):
    """One number of an attribute, or all, become odd."""
    numbers = [(e, key) for e in elements(root, 1) for key, value in e.attrib.items() if re.search(r"\d", value)]
    element, key = rng.choice(numbers)
    parts = element.get(key).split()
    for place in [rng.randrange(len(parts))] if rng.random() < 0.7 else range(len(parts)):
        parts[place] = rng.choice(ODD)
    element.set(key, " ".join(parts))


def add_odd(root, rng):
    """An element gets an attribute that it may have, with odd numbers."""
    element = rng.choice([e for e in root.iter() if attributes_of(e.tag)])
    number = rng.choice((1, 1, 2, 3, 3, 4, 5, 6))
    element.set(rng.choice(attributes_of(element.tag)), " ".join(rng.choice((*ODD, "0", "1")) for _ in range(number)))


@functools.cache
def attributes_of(tag):
    """Attributes that MuJoCo's schema has for elements of a kind, wherever they stand."""
    return sorted({name for path, names in schema().items() if path.split("/")[-1] == tag for name in names})


def damaged(content, rng):
    """Latin-1 in a name or a comment, another encoding or one that is declared and is not there, a byte, a zero."""
    names = [found.start(1) for found in re.finditer(rb'name="([^"]*)"', content)]
    place = rng.choice(names) if names else len(content) - 20
    return rng.choice(
        (
            lambda: content[:place] + b"\xe9\xff" + content[place:],
            lambda: content[: content.index(b">") + 1] + b"<!-- caf\xe9 -->" + content[content.index(b">") + 1 :],
            lambda: b'<?xml version="1.0" encoding="latin-1"?>' + content,
            lambda: b'<?xml version="1.0" encoding="utf-16"?>' + content,
            lambda: b'<?xml version="1.0" encoding="nonsense"?>' + content,
            lambda: content.decode().encode("utf-16"),
            lambda: b"\xef\xbb\xbf" + content,
            lambda: content[:place] + b"\x00" + content[place:],
            lambda: content[:place] + b"\xed\xa0\x80" + content[place:],
        )
    )()


def elements(root, least=0):
    return [element for element in root.iter() if len(element.attrib) >= least]


def set_number(root, rng):
    """One number of an attribute becomes another."""
    element = rng.choice(elements(root, 1))
    key = rng.choice(sorted(element.attrib))
    parts = element.get(key).split() or [""]
    place = rng.randrange(len(parts))
    try:
        parts[place] = rng.choice((*VALUES, str(float(parts[place]) * 10 ** rng.uniform(-3, 3))))
    except ValueError:
        parts[place] = rng.choice(VALUES)
    element.set(key, " ".join(parts))


def set_word(root, rng):
    element = rng.choice(elements(root, 1))
    other = rng.choice(elements(root, 1))
    key = rng.choice(sorted(element.attrib))
    element.set(key, rng.choice((rng.choice(sorted(other.attrib.values())), rng.choice(WORDS))))


def drop(root, rng):
    element = rng.choice(elements(root, 1))
    del element.attrib[rng.choice(sorted(element.attrib))]


def remove(root, rng):
    parent = rng.choice([element for element in root.iter() if len(element)])
    parent.remove(rng.choice(list(parent)))


def double(root, rng):
    parent = rng.choice([element for element in root.iter() if len(element)])
    parent.append(copy.deepcopy(rng.choice(list(parent))))


def move(root, rng):
    """An element comes into another of any kind."""
    rng.choice(elements(root)).append(copy.deepcopy(rng.choice([e for e in root.iter() if e is not root])))


def outcome(source, known):
    """End of a model: "refused", "stepped", "loaded", "diverged", or the error that should not be."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            model = loaded(source)
            model.sensing_struct()
            if model.struct().layout.features not in known or model.nv > 60:
                return "loaded"
            sim = saltus.Simulation(model, "euler")
            for _ in range(3):
                sim.step(5)
            finite = all(np.isfinite(x).all() for x in (sim.qpos, sim.qvel, sim.act, sim.energy()))
            return "stepped" if finite else "numbers that are none"
    except saltus.DivergenceError:
        return "diverged"
    except SaltusError:
        return "refused"
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]


def loaded(source):
    """The model of a text, or of bytes as they stand in a file."""
    if isinstance(source, str):
        return saltus.load(source)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "odd.xml"
        path.write_bytes(source)
        return saltus.load(path, apart=COMPILING)


def outcomes(seeds, results, kind="changed"):
    """Send how each of these models ends, and after how many seconds."""
    names = [path.stem for path in sorted(BUNDLED.glob("*.xml"))]
    known = {saltus.load(name).struct().layout.features for name in names}
    for seed in seeds:
        rng = random.Random(seed)
        source = MAKERS[kind](rng.choice(names), rng)
        results.send((seed, "begun", 0.0))
        began = time.monotonic()
        results.send((seed, outcome(source, known), time.monotonic() - began))
    results.close()


MAKERS = {"changed": mutant, "odd": odd_mutant}


def in_a_process(seeds, kind="changed"):
    """Outcomes in a process of its own; where that dies, the model that it died of is named, and the rest goes on."""
    seeds = list(seeds)
    while seeds:
        ours, theirs = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("spawn").Process(target=outcomes, args=(seeds, theirs, kind))
        process.start()
        theirs.close()
        last = None
        try:
            while ours.poll(PATIENCE):
                last = ours.recv()
                if last[1] != "begun":
                    yield last
        except EOFError:
            pass
        process.kill()
        process.join()
        if last is None:
            raise RuntimeError("the process of the models did not begin")
        if last[1] == "begun":
            yield last[0], f"the process ended, or hung: {process.exitcode}", PATIENCE
        seeds = seeds[seeds.index(last[0]) + 1 :]


def main(count, first=0, kind="changed"):
    counts, slowest = collections.Counter(), 0.0
    for begin in range(first, first + count, PART):
        for seed, how, seconds in in_a_process(range(begin, min(begin + PART, first + count)), kind):
            counts[how] += 1
            slowest = max(slowest, seconds)
            if how not in ("refused", "stepped", "loaded", "diverged") or seconds > 10:
                print(f"seed {seed}, {seconds:.1f} s: {how}", flush=True)
    print(dict(counts), f"slowest {slowest:.1f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])
