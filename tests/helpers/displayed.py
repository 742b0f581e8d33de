"""A piece of HTML as a browser reads it, by the parser of the standard library."""

import base64
import io
from html.parser import HTMLParser

import numpy as np
from PIL import Image

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
LOADING = ("src", "href", "srcset", "poster", "data", "action", "xlink:href")


class Displayed(HTMLParser):
    """Elements, text, rows of cells, pictures and addresses of a display; AssertionError where tags do not match."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.rows, self.pictures, self.addresses, self.frames = [], [], [], [], []
        self.text, self._open = "", []
        self.feed(text)
        self.close()
        assert not self._open, f"not closed: {self._open}"

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
        self.addresses += [given[name] for name in LOADING if name in given]
        assert not any(name.startswith("on") for name in given), given
        if tag not in VOID:
            self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
        elif tag == "br" and self.rows and self.rows[-1]:
            self.rows[-1][-1] += "\n"
        elif tag == "img":
            data = given["src"].partition("base64,")[2]
            self.pictures.append(np.asarray(Image.open(io.BytesIO(base64.b64decode(data)))))
        elif tag == "iframe":
            self.frames.append(given)

    def handle_endtag(self, tag):
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data):
        if self._open[-1:] == ["style"]:
            return
        self.text += data
        if self.rows and self.rows[-1] and not {"td", "th"}.isdisjoint(self._open):
            self.rows[-1][-1] += data

    def row(self, first):
        """The only row that begins so."""
        (found,) = (row for row in self.rows if row[0] == first)
        return found
