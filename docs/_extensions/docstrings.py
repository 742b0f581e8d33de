"""Docstrings as the reference shows them: prose with `code`, sections such as `Args:`, and signatures as in the source.

Docstrings of Saltus are plain text. Here they become reStructuredText: what stands in backticks becomes a link where it
names something of the reference, code otherwise; items of sections become lists of definitions; indented blocks become
literal. Signatures are taken from the source, in which types have their short names (`IntegratorChoice`), and not from
the objects, where such names are unions over many lines.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.roles import XRefRole

SECTIONS = {"Args": "Arguments", "Attributes": "Attributes", "Raises": "Raises", "Returns": "Returns"}
ITEM = re.compile(r"((?:\*{0,2}[\w.]+(?: \[[^\]]*\]| [^:,]{1,20})?)(?:, \*{0,2}[\w.]+(?: \[[^\]]*\])?)*): (.*)")
NAME = re.compile(r"(saltus\.|\.)?[A-Za-z_][\w.]*(\(\))?")
ARRAY = re.compile(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[(\w+)\]\]")
CODE = re.compile(r"(``.+?``|`[^`]+`)", re.S)


# ---------------------------------------------------------------- text


def restructured(lines: list[str]) -> list[str]:
    """The lines of a docstring in reStructuredText."""
    out: list[str] = []
    paragraphs = re.split(r"\n\s*\n", "\n".join(lines).strip("\n"))
    section = None
    for paragraph in paragraphs:
        rows = paragraph.split("\n")
        heading = re.fullmatch(r"(\w+):", rows[0])
        if heading and heading[1] in SECTIONS:
            section = SECTIONS[heading[1]]
            out += [f":{section}:", *_definitions(textwrap.dedent("\n".join(rows[1:])).split("\n")), ""]
        elif rows[0].startswith(" ") and section:
            out += [*_definitions(textwrap.dedent(paragraph).split("\n")), ""]
        elif rows[0].startswith(" "):
            out += ["::", "", *(f"    {row}" for row in textwrap.dedent(paragraph).split("\n")), ""]
        else:
            section = None
            out += [*_escaped(paragraph).split("\n"), ""]
    return out


def _definitions(rows: list[str]) -> list[str]:
    """Items `name: text`, continued on deeper lines, as a list of definitions inside a field."""
    items: list[tuple[str, list[str]]] = []
    for row in rows:
        found = None if row.startswith(" ") else ITEM.fullmatch(row)
        if found:
            items.append((found[1], [found[2]]))
        elif items:
            items[-1][1].append(row.strip())
        else:
            items.append(("", [row]))
    out: list[str] = []
    for names, text in items:
        words = _escaped("\n".join(text)).split("\n")
        if names:
            parts = re.split(r"( \[[^\]]*\])", names)  # names and shapes
            parts[::2] = [re.sub(r"(?<![\w.`])\*{0,2}[A-Za-z_][\w.]*", r"`\g<0>`", part) for part in parts[::2]]
            terms = "".join(parts)
            out += [f"    {_escaped(terms)}", *(f"        {word}" for word in words)]
        else:
            out += [f"    {word}" for word in words]
    return out


def _escaped(text: str) -> str:
    """Prose whose only markup are backticks."""
    out = []
    parts = CODE.split(text)
    for i, part in enumerate(parts):
        if i % 2:
            before, after = parts[i - 1][-1:], parts[i + 1][:1]
            part = ("\\ " if before and not re.match(r"[\s'\"(\[{<\-/:]", before) else "") + part
            part += "\\ " if after and not re.match(r"[\s'\")\]}>\-/\\:.,;!?]", after) else ""
        else:
            part = re.sub(r"([*|\\])", r"\\\1", part)
            part = re.sub(r"(?<=\w)_(?!\w)", r"\\_", part)
            part = re.sub(r"\bdocs/(\w+/\w+)\.md", r":doc:`/\1`", part)
        out.append(part)
    return "".join(out)


def _docstring(app, what, name, obj, options, lines: list[str]) -> None:
    lines[:] = restructured(lines)


# ---------------------------------------------------------------- signatures


# names in the types of these modules stand for several things, so that links from them would be ambiguous
WITHOUT_TYPES = ("saltus.torch.", "saltus.jax.")


def source_signature(app, what, name, obj, options, signature, annotation):
    """Arguments and result as the source has them; None leaves what autodoc found."""
    if name.startswith(WITHOUT_TYPES) and inspect.isfunction(obj):
        given = inspect.signature(obj).parameters.values()
        plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in given]
        return str(inspect.Signature(plain)), None
    try:
        if signature == "()" and not hasattr(obj, "__total__"):
            found = None  # as the page says
        elif inspect.isclass(obj):
            found = _of_class(obj)
        elif callable(obj):
            found = _of_function(inspect.unwrap(obj))
        else:
            found = None
    except (OSError, TypeError, SyntaxError):
        return None
    return None if signature is None else found


def _of_function(function: Any) -> tuple[str, str | None] | None:
    if inspect.ismodule(function):  # saltus.simulate, a module that can be called
        from saltus.simulate.function import simulate as function
    function = getattr(function, "__func__", function)
    if not inspect.isfunction(function):
        return None
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if not isinstance(tree, ast.FunctionDef):
        return None
    arguments = _readable(tree.args)
    first = [*arguments.posonlyargs, *arguments.args][:1]
    if first and first[0].arg in ("self", "cls"):
        (arguments.posonlyargs or arguments.args).pop(0)
    returned = ast.unparse(_readable(tree.returns)) if tree.returns else None
    return f"({ast.unparse(arguments)})", returned


def _of_class(kind: type) -> tuple[str, None] | None:
    """From the constructor, or from the fields of a dataclass, or of a TypedDict."""
    made = kind.__dict__.get("__init__")
    if inspect.isfunction(made) and "__dataclass_fields__" not in kind.__dict__:
        found = _of_function(made)
        return found and (found[0], None)
    if hasattr(kind, "__total__"):
        items = [f"{name}: {text}" for name, text in _items(kind).items()]
        return f"(*, {', '.join(items)})", None
    if "__dataclass_fields__" not in kind.__dict__:
        return None
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    fields = []
    for part in tree.body:
        if isinstance(part, ast.AnnAssign) and "ClassVar" not in ast.unparse(part.annotation):
            annotation, value = ast.unparse(_readable(part.annotation)), part.value
            text = f"{part.target.id}: {annotation}"
            if isinstance(value, ast.Call) and ast.unparse(value.func) in ("field", "dataclasses.field"):
                given = {word.arg: word.value for word in value.keywords}
                if ast.unparse(given.get("init", ast.Constant(True))) == "False":
                    continue
                value = given.get("default") or (given.get("default_factory") and ast.Constant(...))
            fields.append(text if value is None else f"{text} = {ast.unparse(value)}")
    return f"({', '.join(fields)})", None


def _items(kind: type) -> dict[str, str]:
    """Keys of a TypedDict and their types, those of its bases first."""
    found: dict[str, str] = {}
    for base in getattr(kind, "__orig_bases__", ()):
        found |= _items(base) if hasattr(base, "__total__") else {}
    for part in ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0].body:
        if isinstance(part, ast.AnnAssign):
            found[part.target.id] = ast.unparse(_readable(part.annotation))
    return found


class _Unquoted(ast.NodeTransformer):
    """Annotations that are written as text, without the quotes."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.parse(node.value, mode="eval").body if isinstance(node.value, str) else node


def _readable(node: Any) -> Any:
    if isinstance(node, ast.arguments):
        for argument in (*node.posonlyargs, *node.args, *node.kwonlyargs, node.vararg, node.kwarg):
            if argument is not None and argument.annotation is not None:
                argument.annotation = _Unquoted().visit(argument.annotation)
        return node
    return _Unquoted().visit(node)


# ---------------------------------------------------------------- links


def _arrays(app, domain, objtype, content) -> None:
    """The types of properties: what NumPy makes of NDArray[np.float64], as it was written."""
    if domain == "py":
        for part in list(content.parent.findall(addnodes.desc_annotation)):
            if found := ARRAY.search(part.astext()):
                part[:] = [nodes.Text(ARRAY.sub(rf"NDArray[np.{found[1]}]", part.astext()))]


class Code(XRefRole):
    """What stands in backticks: a link if it names something of the reference, code in any case."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        if not NAME.fullmatch(self.text) or self.text.startswith("."):
            return [nodes.literal(self.rawtext, self.text, classes=["code"])], []
        self.refdomain, self.reftype = "py", "obj"
        self.classes = ["xref", "py", "py-obj"]
        return self.create_xref_node()

    def process_link(self, env, refnode, has_explicit_title, title, target):
        refnode["py:module"] = env.ref_context.get("py:module")
        refnode["py:class"] = env.ref_context.get("py:class")
        return title, target.removesuffix("()")


def _by_short_name(app, env, node, contnode):
    """A name that the domain does not find: of a class from where it is defined, or without its module."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    last = target.rpartition(".")[2]
    domain = env.get_domain("py")
    if target.startswith("saltus.") or last[:1].isupper() or f"saltus.{target}" in domain.objects:
        names = [name for name in domain.objects if name.endswith(f".{target}") or name.endswith(f".{last}")]
        # members of classes only by the class's name
        names = [n for n in names if n.endswith(f".{target}") or n.rpartition(".")[0] not in domain.objects]
        if names:
            name = min(names, key=lambda name: (not name.endswith(f".{target}"), len(name)))
            found = domain.objects[name]
            from sphinx.util.nodes import make_refnode

            return make_refnode(app.builder, node["refdoc"], found.docname, found.node_id, contnode, name)
    return None


def setup(app) -> dict[str, Any]:
    app.add_role("name-or-code", Code())
    app.connect("autodoc-process-docstring", _docstring)
    app.connect("autodoc-process-signature", source_signature)
    app.connect("object-description-transform", _arrays)
    app.connect("missing-reference", _by_short_name)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
