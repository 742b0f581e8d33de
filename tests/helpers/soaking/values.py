"""Odd values for what is written as text or JSON, and trees of JSON with some of theirs changed."""

import copy
import json
import random
from typing import Any

#: Values that stand where a number or a name should; of the length of what may be typed or sent.
TEXTS = ("", " ", "nan", "inf", "-inf", "-1", "0", "1e308", "-1e308", "1e-320", "1e999", "0x10", "1_0", "١", "1,2")
TEXTS += ("true", "auto", "x", "world", "é" * 50, "0 0 0", "0 0 0 0", "1 nan 0", "9" * 400, "a" * 10_000, "\t", "&<'")
TEXTS += ("2147483648", "-2147483649", "1e10", "{}", "../..", "/etc/passwd")
VALUES = (None, True, False, 0, -1, 1, 2**31, 2**63, 10**30, -0.0, 1e-320, 1e308, 0.5, "", "x", "nan", "é" * 50)
VALUES += ([], {}, [None], ["x"], [[]], {"x": None}, [0, 0, 0], "a" * 10_000, [1e308] * 3)
FACTORS = (-1.0, 0.0, 1e-12, 1e-3, 0.5, 2.0, 1e3, 1e12, 1e300)


def changed_numbers(text: str, rng: random.Random) -> str:
    """A text of numbers or words with one of them changed, doubled or gone."""
    words = text.split()
    if not words:
        return rng.choice(TEXTS)
    at = rng.randrange(len(words))
    try:
        new = [repr(float(words[at]) * rng.choice(FACTORS))]
    except ValueError:
        new = [words[at][: rng.randrange(len(words[at]) + 1)]]
    words[at : at + 1] = rng.choice([new, new, new, [], [words[at]] * 2, [rng.choice(TEXTS)]])
    return " ".join(words)


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """All (container, key) inside a tree of JSON, from the outside."""
    keys = list(tree) if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else []
    return [place for key in keys for place in ((tree, key), *_places(tree[key]))]


def changed_json(tree: Any, rng: random.Random, most: int = 2) -> Any:
    """A copy of a tree of JSON with up to `most` of its values changed, exchanged, gone or new."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.randint(1, most)):
        places = _places(tree)
        if not places:
            return rng.choice(VALUES)
        holder, key = rng.choice(places)
        how = rng.randrange(6)
        if how == 0:
            del holder[key]
        elif how == 1 and isinstance(holder, dict):
            holder[rng.choice(["", "x", "é", f"{key} "])] = holder.pop(key)
        elif how == 2:
            other, name = rng.choice(places)
            holder[key] = copy.deepcopy(other[name])
        elif how == 3 and isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
            holder[key] = holder[key] + rng.choice([-1, 1, 0.5, 2**31, 1e300])
        elif how == 4 and isinstance(holder[key], str):
            holder[key] = changed_numbers(holder[key], rng)
        else:
            holder[key] = copy.deepcopy(rng.choice(VALUES))
    return tree


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def changed_json_text(text: str, rng: random.Random) -> str:
    """A text of JSON with values changed; seldom one that is no JSON any more, as one that was none stays."""
    if rng.random() < 0.1 or not _is_json(text):
        at = rng.randrange(len(text) + 1)
        return rng.choice(
            [text[:at], text[:at] + rng.choice('{}[],:"0e\\') + text[at:], "[" * 100_000, f"{text}{text}"]
        )
    return json.dumps(changed_json(json.loads(text), rng))
