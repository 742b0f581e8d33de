"""Linker for LLVM's WebAssembly object files: makes a module that browsers can run.

An object file is almost a module: if nothing else is linked, its indices of functions and addresses are final. Its
imports from a linker (memory, stack pointer) are replaced by definitions, and functions are exported by name.

Source: WebAssembly core specification 2.0, section 5.5 (modules); tool conventions, "WebAssembly Object File Linking".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from saltus.errors import OptionError

CUSTOM, IMPORT, MEMORY, GLOBAL, EXPORT = 0, 2, 5, 6, 7
DATA = 11
ORDER = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 10, 11)  # order of sections in a module; 12 counts segments of data
FUNCTION, TABLE_KIND, MEMORY_KIND, GLOBAL_KIND = range(4)  # kinds of imports and exports
I32, MUTABLE, I32_CONST, END = 0x7F, 1, 0x41, 0x0B
SYMBOL_TABLE = 8
UNDEFINED, EXPLICIT_NAME = 0x10, 0x40  # flags of symbols
PAGE = 65536
STACK = 16 * PAGE  # bytes
HEADER = b"\0asm\1\0\0\0"


def linked(code: bytes, exports: Iterable[str], functions: Iterable[str]) -> bytes:
    """Link an object file to a module that exports some functions, its `memory`, and `heap`, the first free byte.

    `functions`: functions that it may import from "env".

    Raises OptionError if it needs another function, or calls a function by its address.
    """
    found = dict(_sections(code))
    sections = {kind: found[kind] for kind in ORDER if kind in found}
    table = _symbols(_linking(code))
    imports, types = _function_imports(sections.pop(IMPORT, b"\0"))
    if unknown := sorted(set(imports) - set(functions)):
        raise OptionError(f"the code calls {', '.join(unknown)}, which a browser does not have")
    sections[IMPORT] = _vector(
        _name("env") + _name(n) + bytes([FUNCTION]) + t for n, t in zip(imports, types, strict=True)
    )
    heap = -(-(_data_end(sections.get(DATA, b"\0")) + STACK) // 64) * 64
    start = bytes([I32_CONST]) + _signed(heap) + bytes([END])
    sections[MEMORY] = _vector([b"\0" + _unsigned(-(-heap // PAGE))])
    sections[GLOBAL] = _vector([bytes([I32, MUTABLE]) + start, bytes([I32, 0]) + start])
    given = [_name(name) + bytes([FUNCTION]) + _unsigned(table[name]) for name in exports]
    given += [_name("memory") + bytes([MEMORY_KIND, 0]), _name("heap") + bytes([GLOBAL_KIND, 1])]
    sections[EXPORT] = _vector(given)
    written = (bytes([k]) + _unsigned(len(sections[k])) + sections[k] for k in ORDER if k in sections)
    return HEADER + b"".join(written)


# ---------------------------------------------------------------- reading


class _Reader:
    """Sequential reader of bytes."""

    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def bytes(self, n: int) -> bytes:
        self.at += n
        return self.data[self.at - n : self.at]

    def byte(self) -> int:
        return self.bytes(1)[0]

    def number(self) -> int:
        """Read an integer in LEB128."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def name(self) -> str:
        return self.bytes(self.number()).decode()

    def expression(self) -> int:
        """Read an expression that is a constant address."""
        self.byte()
        value = self.number()
        self.byte()
        return value

    def limits(self) -> None:
        for _ in range(1 + (self.byte() & 1)):
            self.number()


def _sections(code: bytes) -> Iterator[tuple[int, bytes]]:
    reader = _Reader(code)
    reader.bytes(len(HEADER))
    while reader.at < len(code):
        kind = reader.byte()
        yield kind, reader.bytes(reader.number())


def _linking(code: bytes) -> _Reader:
    """Reader of the object file's linking section, positioned after the version."""
    for kind, content in _sections(code):
        reader = _Reader(content)
        if kind == CUSTOM and reader.name() == "linking":
            reader.number()
            return reader
    raise ValueError("the object file has no symbols")


def _symbols(reader: _Reader) -> dict[str, int]:
    """Indices of defined functions, by name."""
    found = {}
    while reader.at < len(reader.data):
        kind, content = reader.byte(), _Reader(reader.bytes(reader.number()))
        if kind != SYMBOL_TABLE:
            continue
        for _ in range(content.number()):
            symbol, flags = content.byte(), content.number()
            if symbol == 1:  # data
                content.name()
                if not flags & UNDEFINED:
                    [content.number() for _ in range(3)]
            elif symbol == 3:  # a section
                content.number()
            else:
                index = content.number()
                named = not flags & UNDEFINED or flags & EXPLICIT_NAME
                name = content.name() if named else ""
                if symbol == FUNCTION and not flags & UNDEFINED:
                    found[name] = index
    return found


def _function_imports(section: bytes) -> tuple[list[str], list[bytes]]:
    """Names of imported functions, and their encoded types. OptionError: another import, as a function table."""
    reader = _Reader(section)
    names, types = [], []
    for _ in range(reader.number()):
        reader.name()
        name, kind = reader.name(), reader.byte()
        if kind == FUNCTION:
            names.append(name)
            types.append(_unsigned(reader.number()))
        elif kind == MEMORY_KIND:
            reader.limits()
        elif kind == GLOBAL_KIND and name == "__stack_pointer":
            reader.bytes(2)
        else:
            raise OptionError(f"the code needs {name}, which a browser does not have")
    return names, types


def _data_end(section: bytes) -> int:
    """Address of the first byte after all data segments."""
    reader, end = _Reader(section), 0
    for _ in range(reader.number()):
        if reader.number() != 0:
            raise ValueError("a segment of data without an address")
        start = reader.expression()
        size = reader.number()
        reader.bytes(size)
        end = max(end, start + size)
    return end


# ---------------------------------------------------------------- writing


def _unsigned(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _signed(value: int) -> bytes:
    """Encode a non-negative number as signed LEB128, with a leading 0 bit."""
    out = bytearray()
    while value >= 0x40:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _name(text: str) -> bytes:
    return _unsigned(len(text.encode())) + text.encode()


def _vector(items: Iterable[bytes]) -> bytes:
    items = list(items)
    return _unsigned(len(items)) + b"".join(items)
