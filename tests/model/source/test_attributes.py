"""Attributes of elements, found as bytes. References: expat, and texts on which a search from each letter takes hours.

The texts of 2 MB are those on which regular expressions that search took seconds for a thirtieth of the length, and
the square of that for all: hours. The scans take about a second; the limit of time is that of a process that hangs.
"""

import random
import subprocess
import sys
import xml.parsers.expat

from saltus.model.source.attributes import attributes, cut_off

HANGS = """
from saltus.errors import ModelError
from saltus.model.source.encoding import check_utf8
from saltus.model.source.format_strings import check_text
from saltus.model.source.urdf.checks import remarks
from saltus.model.source.urdf.tree import parse
from saltus.symbolic.export.identifiers import identifier

SIZE = 2**21
long = lambda text: text * (SIZE // len(text))
for text in ("<include ", "<include a='<model b=\\"", "<include a='\\"x=' y=\\"'z=\\" ", "< "):
    check_text(long(text))
for text in (b"b", b"b ", b"b=", b"b='' ", b"<a b='\\" ", b"_"):
    try:
        check_utf8(b"<a " + long(text) + b"\\xff")
    except ModelError:
        continue
    raise AssertionError(text)
for text in (b"<!---->", b"<?a?>", b"<a/>", b"<a b=''/>"):
    parse(b"<robot>" + long(text) + b"</robot>")
remarks(parse(b"<robot>" + long(b"<joint type='revolute' name='a'><mimic joint='b'/></joint>") + b"</robot>"))
assert identifier(long("_") + "a" + long("_") + "b" + "_ ") == "a" + long("_") + "b"
"""


def test_names_and_places_are_those_of_expat():
    rng = random.Random(3)
    for _ in range(200):
        chosen = rng.sample(["file", "a:b", "c.d-e", "_f", "class", "é"], rng.randrange(5))
        parts = []
        for name in chosen:
            quote = rng.choice("'\"")
            value = "".join(rng.choices("ab >=/'\"\n", k=rng.randrange(6))).replace(quote, "")
            parts.append(f"{rng.choice([' ', '  ', chr(10)])}{name}{rng.choice(['', ' '])}={quote}{value}{quote}")
        text = f"<e{''.join(parts)}/>".encode()
        given: dict[str, str] = {}
        reader = xml.parsers.expat.ParserCreate()
        reader.StartElementHandler = lambda _, found, given=given: given.update(found)
        reader.Parse(text, True)
        found = {a.name.decode(): text[a.begin + 1 : a.end - 1].decode() for a in attributes(text, 2)}
        assert {name: value.replace("\n", " ") for name, value in found.items()} == given


def test_the_attribute_in_which_a_text_ends():
    for text, name in ((b"<e a='1' b=\"2", b"b"), (b"<e a='1' b='2'", None), (b"<e a='1' b ", None), (b"<e c='", b"c")):
        assert cut_off(text, 2) == name


def test_texts_of_strangers_are_read_in_time_proportional_to_their_length():
    done = subprocess.run([sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
