r"""LaTeX formulas as MathML, which browsers show without a script: the part of LaTeX that derivations are written in.

    mathml(r"\dot{\theta}_{1}^{2}")

Letters, numbers, indices and powers, fractions, roots, accents, brackets, named functions, words, and the environments
aligned, pmatrix, bmatrix, matrix and cases. Anything else raises ValueError. (SymPy prints MathML of expressions, not
of LaTeX, and breaks no lines; MathJax and KaTeX are scripts of 0.3 to 1 MB that every page would carry.)
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

GREEK_NAMES = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi
    chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"""
GREEK = dict(zip(GREEK_NAMES.split(), "αβγδϵζηθικλμνξπρστυϕχψωΓΔΘΛΞΠΣΥΦΨΩ", strict=True))
SYMBOLS = {"partial": "∂", "infty": "∞", "ell": "ℓ"}
OPERATORS = {"cdot": "·", "times": "×", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "to": "→"}
OPERATORS |= {"approx": "≈", "ldots": "…", "otimes": "⊗", "wedge": "∧", "vee": "∨"}
FUNCTIONS = frozenset("sin cos tan asin acos atan arcsin arccos arctan sinh cosh tanh exp log ln max min".split())  # noqa: SIM905
SPACES = {",": "0.167em", ":": "0.222em", ";": "0.278em", "!": "-0.167em", " ": "0.25em"}
SPACES |= {"quad": "1em", "qquad": "2em"}
ACCENTS = {"dot": "˙", "ddot": "¨", "hat": "^", "bar": "¯", "vec": "→"}
BIG = {"big": 1.2, "bigl": 1.2, "bigr": 1.2, "Big": 1.8, "Bigl": 1.8, "Bigr": 1.8}
BRACKETS = {"pmatrix": "()", "bmatrix": "[]", "matrix": "  ", "cases": "{ ", "aligned": "  "}
TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[0-9]+(?:\.[0-9]+)?|\s+|.", re.DOTALL)


def mathml(latex: str, display: bool = False) -> str:
    """A formula as a <math> element; `display`: on a line of its own.

    Raises:
        ValueError: the formula contains an unknown command.
    """
    parser = _Parser([t for t in TOKEN.findall(latex) if not t.isspace()])
    body = parser.row(())
    attribute = ' display="block"' if display else ""
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML"{attribute}>{body}</math>'


@dataclass
class _Atom:
    """An element and how it joins what stands around it: a letter, an operator, an opening bracket, a function, "
    "space."""

    text: str
    kind: str = "letter"


class _Parser:
    """Reads tokens from left to right."""

    def __init__(self, tokens: list[str]):
        self.tokens, self.at = tokens, 0

    def next(self) -> str:
        token = self.peek()
        if token is None:
            raise ValueError("the formula ends too early")
        self.at += 1
        return token

    def peek(self) -> str | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    # ------------------------------------------------------------ rows and groups

    def row(self, ends: tuple[str, ...]) -> str:
        """Elements up to one of the tokens, which is left unread, in one <mrow>."""
        atoms: list[_Atom] = []
        while (token := self.peek()) is not None and token not in ends:
            if token == "}":
                raise ValueError("a brace closes that none opens")
            if token in "_^":
                atoms.append(self.scripts(atoms.pop() if atoms else _Atom("<mrow></mrow>")))
            else:
                before = next((atom.kind for atom in reversed(atoms) if atom.kind != "space"), "open")
                atom = self.atom(self.next(), before in ("operator", "open"))
                if atom.kind == "function" and atoms and atoms[-1].kind in ("letter", "close"):
                    atoms.append(_space("0.167em"))
                if atoms and atoms[-1].kind == "function" and atom.kind not in ("open", "space", "close"):
                    atoms.append(_space("0.167em"))
                atoms.append(atom)
        if self.peek() is None and ends:
            raise ValueError(f"nothing closes the formula; expected {' or '.join(ends)}")
        if len(atoms) == 1:
            return atoms[0].text
        return f"<mrow>{''.join(atom.text for atom in atoms)}</mrow>"

    def group(self) -> str:
        """Parse a group in braces, or one element."""
        token = self.next()
        if token == "{":
            body = self.row(("}",))
            self.next()
            return body
        return self.atom(token, True).text

    def words(self) -> str:
        """The text in braces, as text."""
        if self.next() != "{":
            raise ValueError("expected a brace")
        out, depth = [], 1
        while depth:
            token = self.next()
            depth += {"{": 1, "}": -1}.get(token, 0)
            if depth:
                out.append({r"\ ": " ", r"\_": "_", r"\,": " "}.get(token, token))
        return "".join(out)

    def scripts(self, base: _Atom) -> _Atom:
        below = above = ""
        while (token := self.peek()) in ("_", "^"):
            self.next()
            body = self.group()
            below, above = (body, above) if token == "_" else (below, body)
        if below and above:
            return _Atom(f"<msubsup>{base.text}{below}{above}</msubsup>", base.kind)
        tag, script = ("msub", below) if below else ("msup", above)
        return _Atom(f"<{tag}>{base.text}{script}</{tag}>", base.kind)

    # ------------------------------------------------------------ elements

    def atom(self, token: str, starts: bool) -> _Atom:
        """The element that begins with a token; `starts`: a sign here is one of a term, not between two."""
        if token == "{":
            body = self.row(("}",))
            self.next()
            return _Atom(body)
        if token.startswith("\\"):
            return self.command(token[1:], starts)
        if token[0].isdigit():
            return _Atom(f"<mn>{token}</mn>")
        if token.isalpha():
            return _Atom(f"<mi>{token}</mi>")
        return _character(token, starts)

    def command(self, name: str, starts: bool) -> _Atom:
        if name in GREEK:
            upright = ' mathvariant="normal"' if name[0].isupper() else ""
            return _Atom(f"<mi{upright}>{GREEK[name]}</mi>")
        if name in SYMBOLS:
            return _Atom(f"<mi>{SYMBOLS[name]}</mi>")
        if name in OPERATORS:
            return _Atom(f"<mo>{OPERATORS[name]}</mo>", "operator")
        if name in FUNCTIONS:
            return _Atom(f"<mi>{name}</mi>", "function")
        if name in SPACES:
            return _space(SPACES[name])
        if name in ACCENTS:
            return _Atom(f'<mover accent="true">{self.group()}<mo stretchy="false">{ACCENTS[name]}</mo></mover>')
        if name in BIG:
            return self.big(BIG[name])
        if name in ("text", "mathrm", "mathsf", "operatorname", "mathbf"):
            return self.named(name)
        if name in ("frac", "tfrac", "dfrac"):
            body = f"<mfrac>{self.group()}{self.group()}</mfrac>"
            return _Atom(f'<mstyle displaystyle="false">{body}</mstyle>' if name == "tfrac" else body)
        if name == "sqrt":
            return _Atom(f"<msqrt>{self.group()}</msqrt>")
        if name == "left":
            return self.fenced()
        if name == "begin":
            return self.environment()
        if name in "{}|":
            return _character(name, starts)
        raise ValueError(f"\\{name} is not known here")

    def named(self, style: str) -> _Atom:
        """Upright words."""
        text = html.escape(re.sub("[_{}]", "", self.words()), quote=False)
        if style == "text":
            return _Atom(f"<mtext>{text}</mtext>")
        upright = ' mathvariant="normal"' if len(text) == 1 else ""
        return _Atom(
            f"<mi{upright}>{text.replace(' ', chr(160))}</mi>", "function" if style == "operatorname" else "letter"
        )

    def big(self, size: float) -> _Atom:
        bracket = self.next().removeprefix("\\")
        kind = "open" if bracket in "([{" else "close"
        form = "prefix" if kind == "open" else "postfix"
        sizes = f'minsize="{size}em" maxsize="{size}em"'
        return _Atom(f'<mo form="{form}" stretchy="true" symmetric="true" {sizes}>{bracket}</mo>', kind)

    def fenced(self) -> _Atom:
        r"""\left( ... \right)."""
        left = self.next().removeprefix("\\")
        body = self.row((r"\right",))
        self.next()
        right = self.next().removeprefix("\\")
        return _Atom(f"<mrow>{_fence(left, 'prefix')}{body}{_fence(right, 'postfix')}</mrow>")

    def environment(self) -> _Atom:
        name = self.words()
        if name not in BRACKETS:
            raise ValueError(f"environment {name} is not known here")
        rows: list[list[str]] = [[]]
        while True:
            rows[-1].append(self.row(("&", r"\\", r"\end")))
            end = self.next()
            if end == r"\\":
                rows.append([])
            elif end == r"\end":
                break
        if self.words() != name:
            raise ValueError(f"environment {name} does not end")
        cells = "".join("<mtr>" + "".join(f"<mtd>{cell}</mtd>" for cell in row) + "</mtr>" for row in rows)
        left, right = BRACKETS[name]
        display = ' displaystyle="true"' if name == "aligned" else ""
        table = f'<mtable class="{name}"{display}>{cells}</mtable>'
        if name == "aligned":
            return _Atom(table)
        return _Atom(f"<mrow>{_fence(left, 'prefix')}{table}{_fence(right, 'postfix')}</mrow>")


def _space(width: str) -> _Atom:
    return _Atom(f'<mspace width="{width}"></mspace>', "space")


def _fence(bracket: str, form: str) -> str:
    if bracket in " .":
        return ""
    return f'<mo form="{form}" stretchy="true" fence="true">{html.escape(bracket, quote=False)}</mo>'


def _character(token: str, starts: bool) -> _Atom:
    if token in "([{":
        return _Atom(f'<mo form="prefix" stretchy="false">{token}</mo>', "open")
    if token in ")]}":
        return _Atom(f'<mo form="postfix" stretchy="false">{token}</mo>', "close")
    if token in "+-":
        sign = {"+": "+", "-": "−"}[token]
        form = ' form="prefix"' if starts else ""
        return _Atom(f"<mo{form}>{sign}</mo>", "operator")
    if token in "=<>,;:/|.'":
        shown = html.escape({"'": "′"}.get(token, token), quote=False)
        return _Atom(f"<mo>{shown}</mo>", "letter" if token in "'|." else "operator")
    raise ValueError(f"{token!r} is not known here")
