"""Answers to plain HTTP requests, and checks of who may send them.

Only this machine can reach the socket, but that includes every web page in a browser on it. Requests therefore need a
token; `Host` is checked against foreign names that resolve to 127.0.0.1, and `Origin` against foreign pages that open a
websocket.
"""

from __future__ import annotations

import functools
import hmac
import urllib.parse
from dataclasses import dataclass
from http import HTTPStatus
from importlib import resources

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

_PLAIN = "text/plain; charset=utf-8"
DOWNLOADS = {
    "/download/trajectory.nc": ("trajectory", "application/x-netcdf"),
    "/download/video.mp4": ("video", "video/mp4"),
    "/download/report.html": ("report", "text/html; charset=utf-8"),
}
STATE = "/state.py"


class Refused(Exception):
    """A refused request: the HTTP status and a sentence for the user."""

    def __init__(self, status: HTTPStatus, sentence: str):
        self.status = status
        super().__init__(sentence)


@dataclass(frozen=True)
class Door:
    """Access control: the port that the server listens on and the token that requests need."""

    port: int
    token: str

    @property
    def hosts(self) -> tuple[str, str]:
        """Allowed values of the `Host` header."""
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    def path(self, request: Request) -> str:
        """The path of a permitted request; Refused for any other."""
        if request.headers.get_all("Host") not in [[host] for host in self.hosts]:
            raise Refused(HTTPStatus.FORBIDDEN, "This lab answers only at http://127.0.0.1 and http://localhost.")
        path, _, query = request.path.partition("?")
        if not hmac.compare_digest(_token(query).encode(errors="replace"), self.token.encode()):
            raise Refused(
                HTTPStatus.FORBIDDEN,
                "The address has no token or an old one. Open the address printed by `saltus lab`.",
            )
        return path

    def check_origin(self, request: Request) -> None:
        """Raise Refused for a websocket opened by a page of another site."""
        if request.headers.get_all("Origin") not in [[f"http://{host}"] for host in self.hosts]:
            raise Refused(HTTPStatus.FORBIDDEN, "Only the lab's own page may connect.")

    def page(self) -> Response:
        """The response with the page; its policy allows no other source and no connection but this server."""
        sources = " ".join(f"ws://{host}" for host in self.hosts)
        policy = (
            "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
            f"font-src data:; media-src 'self' blob:; connect-src 'self' {sources}; base-uri 'none'; "
            "form-action 'none'; frame-ancestors http://127.0.0.1:* http://localhost:*"
        )
        return answer(page(), "text/html; charset=utf-8", {"Content-Security-Policy": policy})


def _token(query: str) -> str:
    """The token in a query; "" if there is none or the query is malformed."""
    try:
        return urllib.parse.parse_qs(query, max_num_fields=20).get("token", [""])[-1]
    except ValueError:
        return ""


@functools.cache
def page() -> bytes:
    """The page as HTML with all scripts and styles inlined."""
    try:
        return (resources.files("saltus.lab") / "page.html").read_bytes()
    except FileNotFoundError:
        sentence = "The page is missing from this installation; build it with `node build.mjs` in saltus/lab/page."
        raise Refused(HTTPStatus.INTERNAL_SERVER_ERROR, sentence) from None


def answer(
    body: bytes,
    kind: str = _PLAIN,
    more: dict[str, str] | None = None,
    status: HTTPStatus = HTTPStatus.OK,
) -> Response:
    """A response with headers against caching, type sniffing and leaking the token."""
    headers = Headers(
        {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Connection": "close",
            **(more or {}),
        }
    )
    return Response(int(status), status.phrase, headers, body)


def refusal(refused: Refused) -> Response:
    """The response to a refused request."""
    return answer(f"{refused}\n".encode(), status=refused.status)
