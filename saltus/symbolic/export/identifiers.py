"""Names of symbols as identifiers in code."""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

# keywords of C and C++, and what <math.h> declares that generated code may use or shadow
C_WORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const
    constexpr const_cast continue decltype default delete do double dynamic_cast else enum explicit export
    extern false final float for friend goto if inline int long mutable namespace new noexcept not not_eq
    nullptr operator or or_eq override private protected public register reinterpret_cast requires restrict
    return short signed sizeof static static_assert static_cast struct switch template this thread_local throw
    true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq main
    NULL errno linux unix fortran acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2
    expm1 frexp ilogb ldexp log log10 log1p log2 logb modf scalbn scalbln cbrt fabs hypot pow sqrt erf erfc
    lgamma tgamma ceil floor nearbyint rint lrint round lround trunc fmod remainder remquo copysign nan
    nextafter nexttoward fdim fmax fmin fma isnan isinf signbit isfinite isnormal INFINITY NAN HUGE_VAL sign
    i386
""".split()  # noqa: SIM905
# names used by generated Python and kernels
PYTHON_WORDS = ["np", "math", "numba", "sincos", "kernel", "power", "absolute", "minimum", "maximum", "where"]
RESERVED = frozenset([*C_WORDS, *PYTHON_WORDS, *keyword.kwlist, *keyword.softkwlist, *dir(builtins)])


def identifier(text: str, taken: Iterable[str] = ()) -> str:
    """The name closest to a text that any target language takes and that is not taken.

    Greek letters are written out, `lambda` becomes `lambda_`.
    """
    letters = [_latin(c) for c in text]
    runs = re.split(r"([\W_]+)", "".join(letters), flags=re.ASCII)  # at odd places what is no letter or digit
    runs[1::2] = ["_" if run.strip("_") else run for run in runs[1::2]]
    name = "".join(runs).strip("_")
    if not name or name[0].isdigit():
        name = f"v{name}"
    base, number = name, 1
    while name in RESERVED or name in taken:
        name = f"{base}_" if number == 1 else f"{base}_{number}"
        number += 1
    return name


def _latin(letter: str) -> str:
    if letter.isascii():
        return letter
    name = unicodedata.name(letter, "")
    if name.startswith("GREEK") and "LETTER" in name:
        word = name.split("LETTER ")[1].split()[0].lower().replace("lamda", "lambda")
        return word.capitalize() if "CAPITAL" in name else word
    plain = "".join(c for c in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(c))
    return plain if plain.isascii() else "_"


def names_of(symbols: Sequence[Any], taken: Iterable[str]) -> dict[Any, str]:
    """An identifier for each symbol; symbols whose names are fine already keep them."""
    texts = {s: getattr(s, "name", str(s)) for s in symbols}
    used = set(taken)
    names = {s: t for s, t in texts.items() if identifier(t, used) == t}
    used.update(names.values())
    for s, text in texts.items():
        if s not in names:
            names[s] = identifier(text, used)
            used.add(names[s])
    return {s: names[s] for s in symbols}


def prefix_of_temporaries(names: Iterable[str]) -> str:
    """Prefix for names of temporaries, chosen so that none of the given names is one: x, x_, ..."""
    prefix, names = "x", list(names)
    while any(re.fullmatch(rf"{prefix}\d+", name) for name in names):
        prefix += "_"
    return prefix
