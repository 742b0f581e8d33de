"""The content security policy of a page of its own: it runs its own script, and asks for nothing from anywhere.

A browser keeps to it whatever a model's names or a text in the file may say: nothing is loaded or sent, and no script
runs but the page's own, by its checksum (Content Security Policy Level 3, W3C).
"""

from __future__ import annotations

import base64
import hashlib
import re

SCRIPT = re.compile('<script type="module">(.*?)</script>', re.DOTALL)
FIRST = '<meta charset="utf-8">'  # of the head; the policy holds for what follows
POLICY = (
    "default-src 'none'; script-src {script} 'wasm-unsafe-eval'; script-src-attr 'none'; worker-src blob:; "
    "style-src 'unsafe-inline'; img-src data: blob:; media-src data: blob:; font-src data:; connect-src 'none'; "
    "base-uri 'none'; form-action 'none'"
)


def with_policy(page: str) -> str:
    """The HTML text of a page with its policy; the simulation is WebAssembly, run by a worker from the page itself."""
    scripts = SCRIPT.findall(page)
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    policy = POLICY.format(script=" ".join(f"'sha256-{digest}'" for digest in digests))
    return page.replace(FIRST, f'{FIRST}\n<meta http-equiv="Content-Security-Policy" content="{policy}">', 1)
