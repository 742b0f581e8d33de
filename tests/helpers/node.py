"""Node, which runs the page's modules without a browser; what is in a page's file."""

import base64
import gzip
import json
import re
import struct

from saltus.bench.harness.page_process import PageProcess


def run_page(html, runs):
    """States of a page's loops after steps from its first state: of each run (integrator, contact, steps) a dict."""
    with PageProcess(html) as page:
        found = []
        for integrator, contact, steps in runs:
            page.start(integrator, contact)
            found.append(page.step(steps))
        return found


def contents(html):
    """Contents of a page, see `saltus.lab.standalone.page`: the description, the module, initial contents of memory."""
    (text,) = re.findall(r'id="simulation-data">([^<]*)<', html)
    whole = gzip.decompress(base64.b64decode(text))
    first, second = struct.unpack("<II", whole[:8])
    about, rest = json.loads(whole[8 : 8 + first]), whole[8 + first :]
    return about, rest[:second], rest[second:]
