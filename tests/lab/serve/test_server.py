"""The server against strangers, fools and crowds, over real sockets.

What must hold: nobody without the token, from another page or under another name gets anything; whoever says what the
protocol does not know is sent away with the reason; the simulation keeps its pace whatever clients do (time goes by as
on the wall, within a tenth), and memory is bounded, as the queues are.
"""

import asyncio
import gc
import http.client
import json
import os
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest
from helpers.lab import Page, decoded_samples, page
from helpers.systems import needs_proc
from websockets.asyncio.client import connect as connect_async
from websockets.exceptions import ConnectionClosed, InvalidStatus

from saltus import lab
from saltus.errors import ModelError, OptionError
from saltus.lab.serve.client import Status
from saltus.lab.serve.server import MOST_CLIENTS, MOST_STRANGERS


@pytest.fixture(scope="module")
def opened():
    with lab.open("pendularm", browser=False) as it:
        with page(it) as client:  # compiled and running from here on
            client.until(lambda: client.frame is not None and client.frame["time"] > 0.05)
        yield it


def get(opened, path, **headers):
    """Status, headers and text of a plain request."""
    host, _, port = opened.url.split("/")[2].partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=10)
    try:
        connection.putrequest("GET", path, skip_host="Host" in headers, skip_accept_encoding=True)
        for name, value in headers.items():
            for one in value if isinstance(value, list) else [value]:
                connection.putheader(name, one)
        connection.endheaders()
        response = connection.getresponse()
        return response.status, dict(response.headers), response.read().decode()
    finally:
        connection.close()


def address(opened):
    host, _, port = opened.url.split("/")[2].partition(":")
    return host, int(port)


def query(opened):
    return opened.url.partition("/?")[2]


def refused(opened, **options):
    """The status with which a websocket is refused."""
    with pytest.raises(InvalidStatus) as error:
        Page(opened, **options)
    return error.value.response.status_code


def closed(client):
    """Code and reason with which the server closes a connection."""
    with pytest.raises(ConnectionClosed) as error:
        while True:
            client.socket.recv(60.0)
    return error.value.rcvd.code, error.value.rcvd.reason


# ---------------------------------------------------------------- strangers


def test_the_page_is_given_to_who_has_the_token(opened):
    status, headers, text = get(opened, f"/?{query(opened)}")
    assert status == 200 and text.lstrip().lower().startswith("<!doctype html>")
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'") and "http:" not in policy.partition("frame-ancestors")[0]
    assert headers["Cache-Control"] == "no-store" and headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff" and "Server" not in headers


@pytest.mark.parametrize(
    "path", ["/", "/?token=", "/?token=wrong", "/?token=%00%ff", "/?tokens=x", "/ws?token=wrong", "/?" + "a=b&" * 50]
)
def test_without_the_token_there_is_nothing(opened, path):
    status, _, text = get(opened, path, Origin=opened.url.partition("/?")[0])
    assert status == 403 and "token" in text and "script" not in text


@pytest.mark.parametrize("path", ["/x", "//", "/download/", "/download/../page.html", "/page.html"])
def test_other_paths_are_not_there(opened, path):
    assert get(opened, f"{path}?{query(opened)}")[0] == 404


@pytest.mark.parametrize("what", ["trajectory.nc", "video.mp4", "report.html"])
def test_nothing_to_download_yet(opened, what):
    status, _, text = get(opened, f"/download/{what}?{query(opened)}")
    assert status == 409 and "record" in text
    assert get(opened, f"/download/{what}?token=x")[0] == 403


@pytest.mark.parametrize("host", ["example.org", "127.0.0.1", "localhost:1", "127.0.0.1.example.org:{port}", ""])
def test_other_names_of_this_machine_are_refused(opened, host):
    """A page of example.org whose name suddenly resolves to 127.0.0.1."""
    port = opened.url.split("/")[2].partition(":")[2]
    assert get(opened, f"/?{query(opened)}", Host=host.format(port=port))[0] == 403
    assert get(opened, f"/?{query(opened)}", Host=f"localhost:{port}")[0] == 200
    assert get(opened, f"/?{query(opened)}", Host=[f"localhost:{port}", "example.org"])[0] == 403


@pytest.mark.parametrize(
    "origin", ["http://example.org", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1", None]
)
def test_other_pages_cannot_connect(opened, origin):
    port = opened.url.split("/")[2].partition(":")[2]
    assert refused(opened, origin=origin and origin.format(port=port)) == 403


def test_only_the_loopback_listens(opened):
    port = int(opened.url.split("/")[2].partition(":")[2])
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as other:
        other.settimeout(1.0)
        assert other.connect_ex(("127.0.0.2", port)) != 0


def test_tokens_differ_and_are_long(opened):
    with lab.open("pendularm", browser=False) as other:
        assert query(other) != query(opened)
    assert len(query(opened)) >= len("token=") + 22  # 128 bits


# ---------------------------------------------------------------- fools


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("nonsense", "not JSON"),
        (b"\x00\x01", "binary"),
        ('{"type":"fly"}', "unknown type fly"),
        ('{"type":"speed","value":NaN}', "not JSON"),
        ('{"type":"step","n":1e6}', "step: n is not a whole number"),
        ("[" * 60000, "not JSON"),
    ],
)
def test_malformed_messages_close_with_a_reason(opened, message, reason):
    with page(opened) as client:
        client.socket.send(message)
        code, said = closed(client)
    assert code == 4001 and said.startswith("malformed message: ") and reason in said


@pytest.mark.parametrize(
    ("type", "value", "bounds"),
    [
        ("timestep", 5, "between 1e-06 and 1"),
        ("timestep", 1e-9, "between 1e-06 and 1"),
        ("speed", 0, "between 0.01 and 100"),
        ("gravity", [0, 0, 1e12], "between -1e+09 and 1e+09"),
    ],
)
def test_a_number_out_of_its_bounds_is_told_and_the_connection_stays(opened, type, value, bounds):
    with page(opened) as client:
        client.until(lambda: client.status.get("timestep"))
        before = [client.status[name] for name in ("timestep", "speed", "gravity")]
        client.send(type, value=value)
        client.until(lambda: client.notices)
        assert client.notices[-1].startswith(type) and bounds in client.notices[-1]
        assert [client.status[name] for name in ("timestep", "speed", "gravity")] == before
        client.send("pause")  # it still listens
        client.until(lambda: not client.status["playing"])
        client.send("play")
        client.until(lambda: client.status["playing"])


def test_oversized_messages(opened):
    with page(opened) as client:
        client.socket.send('{"type":"keydown","key":"' + "k" * 70000 + '"}')
        assert closed(client)[0] == 1009


@pytest.mark.slow
def test_flooding(opened):
    with page(opened) as client:
        with pytest.raises(ConnectionClosed):
            for _ in range(100_000):
                client.socket.send('{"type":"blur"}')
        assert closed(client) == (4002, "too many messages: more than 600 within a second")
    assert_it_goes_on(opened)


def test_a_viewer_may_look_but_not_touch(opened):
    with page(opened) as writer, page(opened) as viewer:
        writer.until(lambda: writer.status.get("viewers") == 2)
        viewer.until(lambda: viewer.frame is not None)
        assert (writer.role, viewer.role) == ("writer", "viewer")
        viewer.send("speed", value=7.0)
        viewer.until(lambda: viewer.notices)
        assert "watching" in viewer.notices[0]
        writer.send("speed", value=2.0)
        viewer.until(lambda: viewer.status.get("speed") == 2.0)
        viewer.send("take")
        viewer.until(lambda: viewer.role == "writer")
        writer.until(lambda: writer.role == "viewer")
        viewer.send("speed", value=1.0)
        writer.until(lambda: writer.status["speed"] == 1.0)


def test_the_place_of_a_writer_who_left_is_free(opened):
    """Its keys are up and what it dragged is let go."""
    with page(opened) as viewer_to_be:
        with page(opened) as second:
            second.until(lambda: second.role == "viewer")
        viewer_to_be.send("keydown", key="d")
        viewer_to_be.send("drag", body=1, point=[0, 0, -2], target=[5, 0, 0])
        session = opened._stage.session
        until(lambda: session._held and session.motion.drag is not None)
    until(lambda: not session._held and session.motion.drag is None)
    assert not session.sim.xfrc_applied.any()
    with page(opened) as client:
        client.until(lambda: client.role == "writer")


def test_the_controls_fall_back_to_who_had_them_last(opened):
    """Each of three had them; whoever closes hands them back, and one that only watches is passed over."""
    with page(opened) as first, page(opened) as watching:
        watching.until(lambda: watching.role == "viewer")
        with page(opened) as second:
            second.until(lambda: second.role == "viewer").send("take")
            second.until(lambda: second.role == "writer")
            with page(opened) as third:
                third.until(lambda: third.role == "viewer").send("take")
                third.until(lambda: third.role == "writer")
                third.send("keydown", key="d")
                until(lambda: opened._stage.session._held)
            second.until(lambda: second.role == "writer" and second.notices)
            assert "you have control again" in second.notices[-1]
            until(lambda: not opened._stage.session._held)
            assert first.until(lambda: first.role == "viewer").notices == []
        first.until(lambda: first.role == "writer" and first.notices)
        assert "you have control again" in first.notices[-1]
        first.send("speed", value=2.0)
        watching.until(lambda: watching.status.get("speed") == 2.0)
        assert watching.role == "viewer"
        first.send("speed", value=1.0)
        first.until(lambda: first.status["speed"] == 1.0)


def test_a_page_loaded_anew_has_its_controls_before_one_that_only_watches(opened):
    with page(opened) as writer, page(opened) as watching:
        watching.until(lambda: watching.role == "viewer")
        writer.close()
        until(lambda: len(opened._server._clients) == 1)
        with page(opened) as again:
            again.until(lambda: again.role == "writer")
        watching.send("take")
        watching.until(lambda: watching.role == "writer")


# ---------------------------------------------------------------- crowds


def test_frames_wait_for_the_page(opened):
    """Who does not acknowledge gets three frames, and then the newest as soon as it does."""
    with page(opened) as client:
        frames, first = [], opened._stage.session.sim.time
        while opened._stage.session.sim.time < first + 1.0:
            message = client.socket.recv(60.0)
            if not isinstance(message, bytes):
                client.understand(json.loads(message))
            elif message[0] == 128:
                client.sampled(decoded_samples(message))
            elif message[0] < 128:  # not the course of the run
                frames.append(int.from_bytes(message[4:8], "little"))
        assert len(frames) == 3
        client.send("ack", frame=frames[-1])
        newest = client.until(lambda: client.frame is not None).frame["number"]
        assert newest > frames[-1] + 1


@needs_proc
@pytest.mark.slow
def test_a_crowd_that_does_not_read(opened):
    """200 viewers, of whom 180 never read: frames go on for those who do, queues and memory stay as they are."""
    before = resident()
    port = int(opened.url.split("/")[2].partition(":")[2])
    deaf = [stuck_viewer(opened, port) for _ in range(180)]
    try:
        with page(opened) as client:
            client.until(lambda: client.status.get("viewers") == 181)
            aside(readers(opened, 20))
            first, frames = opened._stage.session.sim.time, client.frames
            client.until(lambda: client.frames > frames + 60)
            assert opened._stage.session.sim.time > first
        for one in opened._server._clients:
            assert len(one._sent) <= 3 and len(one._notices) <= 50
            assert one.socket.transport.get_write_buffer_size() <= 2 * 65536
        assert resident() - before < 60 * 2**20
    finally:
        for one in deaf:
            one.close()
    until(lambda: not opened._server._clients)
    assert_it_goes_on(opened)


@pytest.mark.slow
def test_what_was_sent_is_forgotten(opened):
    """Of hundreds of frames and tens of statuses a few are left."""
    with page(opened) as client:
        client.until(lambda: client.frame is not None)
        first = client.frames
        client.until(lambda: client.frames > first + 60)
        gc.collect()
        assert sum(type(thing) is Status for thing in gc.get_objects()) < 10  # asks nothing of dead proxies


@pytest.mark.slow
def test_more_than_there_is_room_for(opened):
    port = int(opened.url.split("/")[2].partition(":")[2])
    many = [stuck_viewer(opened, port) for _ in range(MOST_CLIENTS)]
    try:
        until(lambda: len(opened._server._clients) == MOST_CLIENTS)
        with page(opened) as client:
            assert closed(client) == (4003, f"too many viewers: {MOST_CLIENTS} are connected")
    finally:
        for one in many:
            one.close()
    until(lambda: not opened._server._clients)


@contextmanager
def silent_sockets(number):
    """A lab with connections that say nothing, and how many of them it has dropped so far."""
    with lab.open("pendularm", browser=False) as it, ExitStack() as sockets:
        port = int(it.url.split("/")[2].partition(":")[2])
        silent = [sockets.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(number)]
        for one in silent:
            one.setblocking(False)
        yield it, lambda: sum(map(dropped, silent))


def dropped(one):
    try:
        return one.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def test_more_sockets_than_anyone_needs(monkeypatch):
    """The oldest are dropped at once, whatever they wanted; the others may take their time."""
    monkeypatch.setattr("saltus.lab.serve.server.MOST_STRANGERS", 8)
    monkeypatch.setattr("saltus.lab.serve.server.SILENCE", 600.0)
    with silent_sockets(20) as (opened, number):
        until(lambda: number() == 12)
        assert len(opened._server.strangers) == 8


def test_whoever_has_the_token_gets_in_past_a_crowd(monkeypatch):
    """Hundreds of connections without it, none of which ends by itself."""
    monkeypatch.setattr("saltus.lab.serve.server.SILENCE", 600.0)
    with silent_sockets(600) as (opened, number):
        until(lambda: number() == 600 - MOST_STRANGERS)
        for _ in range(3):
            with page(opened) as client:
                client.until(lambda client=client: client.role)
            assert get(opened, f"/?{query(opened)}")[0] == 200
        assert number() < 600


def test_a_wrong_token_does_not_make_a_connection_welcome(monkeypatch):
    """It has its answer, and its time runs on."""
    monkeypatch.setattr("saltus.lab.serve.server.SILENCE", 0.5)
    with silent_sockets(3) as (opened, number), socket.create_connection(address(opened)) as one:
        one.sendall(f"GET /?token=x HTTP/1.1\r\nHost: 127.0.0.1:{address(opened)[1]}\r\n\r\n".encode())
        assert b"403" in one.recv(100)
        until(lambda: number() == 3 and not opened._server.strangers and not opened._server.admitted)


def test_too_many_with_the_token(monkeypatch):
    monkeypatch.setattr("saltus.lab.serve.server.MOST_SOCKETS", 3)
    with lab.open("pendularm", browser=False) as opened, ExitStack() as pages:
        for _ in range(3):
            pages.enter_context(page(opened))
        with pytest.raises((ConnectionError, http.client.HTTPException)):
            get(opened, f"/?{query(opened)}")


def test_sockets_that_say_nothing(monkeypatch):
    monkeypatch.setattr("saltus.lab.serve.server.SILENCE", 0.2)
    with silent_sockets(20) as (opened, number):
        until(lambda: number() == 20 and not opened._server.strangers)
        assert_it_goes_on(opened)


def test_what_takes_long_to_make_can_be_downloaded(monkeypatch):
    """A connection that waits for its answer is not a silent one."""
    monkeypatch.setattr("saltus.lab.serve.server.SILENCE", 0.2)
    with lab.open("pendularm", browser=False) as opened:

        def made(what):
            time.sleep(1.0)
            return b"made"

        monkeypatch.setattr(opened._stage.downloads, "content", made)
        assert get(opened, f"/download/report.html?{query(opened)}")[::2] == (200, "made")


def test_the_state_is_for_those_who_have_the_token(opened):
    status, headers, text = get(opened, f"/state.py?{query(opened)}")
    assert status == 200 and "sim.qpos[:] = [" in text and headers["Content-Type"].startswith("text/plain")
    status, _, text = get(opened, "/state.py?token=x")
    assert status == 403 and "sim." not in text


def test_a_large_scene_goes_out_in_pieces():
    """A slow client holds no more than a piece of it in the server's memory."""
    from saltus.lab.serve.client import PIECE, pieces

    text = "π" * (3 * PIECE + 5)
    parts = list(pieces(text))
    assert "".join(parts) == text and max(map(len, parts)) == PIECE


# ---------------------------------------------------------------- opening and closing


def test_what_was_said_before_anyone_was_there_is_told_to_the_first():
    with lab.open("pendulum", browser=False) as it:
        it._stage.say("warning", "said early")
        with page(it) as first:
            first.until(lambda: "said early" in first.notices)
        with page(it) as second:
            second.until(lambda: second.status.get("timestep"))
            assert "said early" not in second.notices


def test_a_port_that_is_taken(opened):
    port = int(opened.url.split("/")[2].partition(":")[2])
    with pytest.raises(OptionError, match=f"cannot listen on port {port}: "):
        lab.open("pendularm", browser=False, port=port)


def test_what_cannot_be_shown_is_said_at_once():
    threads = threading.active_count()
    with pytest.raises(ModelError, match="no such file"):
        lab.open("no_such_model", browser=False)
    with pytest.raises(OptionError, match="unknown integrator"):
        lab.open("pendulum", browser=False, integrator="rk5")
    with pytest.raises(OptionError, match="unknown contact law"):
        lab.open("pendulum", browser=False, contact="sotf")
    with pytest.raises(OptionError, match="did you mean 'pendulum'"):
        lab.open("pendulum", browser=False, parameters=["body_mass[pendulun]=1:2"])
    with pytest.raises(OptionError, match="speed"):
        lab.open("pendulum", browser=False, speed=0.0)
    until(lambda: threading.active_count() <= threads)


@pytest.mark.slow
def test_closing_tells_the_pages():
    """Also while one of them never reads; and no thread is left."""
    threads = threading.active_count()
    opened = lab.open("pendularm", browser=False)
    port = int(opened.url.split("/")[2].partition(":")[2])
    deaf = stuck_viewer(opened, port)
    with page(opened) as client:
        client.until(lambda: client.frame is not None)
        opened.close()
        assert closed(client)[0] == 1001
    deaf.close()
    until(lambda: threading.active_count() <= threads)
    opened.close()  # again is nothing


# ---------------------------------------------------------------- helpers


def until(condition, patience=10.0):
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def resident():
    """Memory of this process (bytes)."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def stuck_viewer(opened, port):
    """A websocket whose end is never read."""
    one = socket.create_connection(("127.0.0.1", port))
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    lines = [
        f"GET /ws?{query(opened)} HTTP/1.1",
        *[f"Host: 127.0.0.1:{port}", f"Origin: http://127.0.0.1:{port}", "Upgrade: websocket", "Connection: Upgrade"],
        *["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13", "", ""],
    ]
    one.sendall("\r\n".join(lines).encode())
    return one


def aside(coroutine):
    """Run it in a thread of its own: a browser, once it is there, has the event loop of this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, coroutine).result()


async def readers(opened, count):
    """Viewers that read and acknowledge until each has seen twenty frames."""
    base, _, token = opened.url.partition("/?")

    async def read():
        frames = 0
        async with connect_async(f"{base.replace('http', 'ws')}/ws?{token}", origin=base, compression=None) as one:
            while frames < 20:
                message = await asyncio.wait_for(one.recv(), 60.0)
                if isinstance(message, bytes):
                    frames += 1
                    await one.send(json.dumps({"type": "ack", "frame": int.from_bytes(message[4:8], "little")}))

    await asyncio.gather(*[read() for _ in range(count)])


def assert_it_goes_on(opened):
    """The simulation runs, and a new page sees it."""
    with page(opened) as client:
        client.until(lambda: client.frame is not None)
        first = client.frame["time"]
        client.until(lambda: client.frame["time"] > first + 0.2)
