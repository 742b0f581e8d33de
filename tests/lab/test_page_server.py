"""The page against a server of the test's own: what it draws of a scene, and what it makes of nonsense.

References: the projection by MuJoCo's camera numbers, computed here; the bytes of the frames that are sent.
"""

import base64
import json
import struct
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
from helpers.browser import LabPage
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Response
from websockets.sync.server import serve

import saltus

PAGE = Path(saltus.__file__).parent / "lab" / "page.html"
TRACK = Path(saltus.__file__).parent / "lab" / "page" / "src" / "track.js"
HELLO = {
    "type": "hello",
    "role": "writer",
    "scenes": [{"name": "one", "title": "One", "group": "test"}],
    "version": "0",
}
STATUS = {
    **{"type": "status", "playing": True, "speed": 1, "time": 0, "integrator": "rk4", "timestep": 0.01},
    **{"contact": "soft", "gravity": [0, 0, -9.81], "recording": False, "recorded": 0, "servo": None},
    **{"hud": [["System", ["t 0.00 s", "  two  spaces"]], ["Keys", ["a/d  push"]]], "sliders": {}, "follow": None},
    **{"ghosts": False, "can_ghost": False, "video": {"state": "none", "done": 0, "message": ""}, "viewers": 1},
}
CAMERA = {"lookat": [0.1, -0.2, 0.5], "distance": 4.0, "azimuth": 70.0, "elevation": -25.0, "fovy": 40.0}


def packed(array, dtype):
    return base64.b64encode(np.asarray(array, dtype).tobytes()).decode()


def shape(kind, body, size=(0.2, 0.2, 0.2), mesh=-1, **more):
    at = {"pos": [0, 0, 0], "quat": [1, 0, 0, 0], "size": list(size), "rgba": [0.8, 0.2, 0.1, 1]}
    return {"kind": kind, "body": body, "mesh": mesh, "source": "geom", "name": kind, "checker": None} | at | more


def scene(kinds=("sphere",), **more):
    """A scene with a body for each kind, in a row along y."""
    tetrahedron = {
        "vertices": packed([[0, 0, 0], [0.4, 0, 0], [0, 0.4, 0], [0, 0, 0.4]], "<f4"),
        "faces": packed([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], "<u4"),
    }
    shapes = [shape(kind, i + 1, mesh=0 if kind in ("mesh", "hfield") else -1) for i, kind in enumerate(kinds)]
    return {
        **{"type": "scene", "name": "one", "title": "One", "kind": "live"},
        **{"bodies": ["world", *(f"{kind} body" for kind in kinds)], "shapes": shapes, "meshes": [tetrahedron]},
        **{"center": [0, 0, 0], "extent": 2.0, "camera": CAMERA, "gravity": [0, 0, -9.81]},
        **{"ghosts": [], "tendons": [], "flexes": [], "dofs": [], "integrators": ["rk4"], "contacts": ["soft"]},
        **{"keys": [], "sliders": [], "keyboard": [], "motors": [], "steps_per_frame": False, "duration": None},
        **more,
    }


def places(count):
    return np.array([[0.0, 0.5 * i - 0.25 * (count - 1), 0.3 + 0.05 * i] for i in range(count)])


def frame(number=1, bodies=1, extra=([0, 0, 0],), ncontact=0, time=0.25, quat=(1.0, 0, 0, 0)):
    """A frame with these bodies where `places` says, energies 1 and 2; extra: what follows."""
    poses = np.hstack([np.vstack([np.zeros(3), places(bodies)]), np.tile(quat, (bodies + 1, 1))])
    numbers = np.concatenate([[1.0, 2.0], poses.ravel(), *map(np.ravel, extra)]).astype("<f4")
    return struct.pack("<BBHId", 2, 1, ncontact, number, time) + numbers.tobytes()


def course(times, columns, anew=True):
    """A message with the course of a run: its times [n] and columns [n] each."""
    head = struct.pack("<BBHII", 129, int(anew), len(columns), 1, len(times)) + bytes(2 * len(columns))
    values = np.asarray(columns, "<f4").tobytes()
    return head + bytes(-len(head) % 8) + np.asarray(times, "<f8").tobytes() + values


@contextmanager
def server(talk, port=0):
    """A server that gives the page and then talks as the test says; yields the address and what it heard."""
    heard = []

    def respond(connection, request):
        if request.path.startswith("/ws"):
            return None
        body = PAGE.read_bytes()
        kind = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body))}
        return Response(200, "OK", Headers(kind), body)

    def handle(socket):
        talk(socket)
        with suppress(ConnectionClosed):
            heard.extend(json.loads(message) for message in iter(socket.recv, None))

    with serve(handle, "127.0.0.1", port, process_request=respond) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{running.socket.getsockname()[1]}/?token=t", heard
        finally:
            running.shutdown()
            thread.join()


def telling(*messages):
    """A talk: these messages, one after the other."""

    def talk(socket):
        for message in messages:
            socket.send(message if isinstance(message, bytes | str) else json.dumps(message))

    return talk


@contextmanager
def shown(browser, *messages, **options):
    with server(telling(HELLO, *messages)) as (url, heard):
        page = LabPage(browser, url, **options)
        try:
            yield page, heard
        finally:
            page.close()


def picture(page):
    """The canvas as an array [height, width, 3], and where its corner is on the page."""
    from io import BytesIO

    from PIL import Image

    box = page.tab.locator("#canvas").bounding_box()
    image = Image.open(BytesIO(page.tab.screenshot(clip=box))).convert("RGB")
    return np.asarray(image).astype(int), (box["x"], box["y"])


def pixel_by_hand(point, box):
    """Where MuJoCo's camera numbers put a point of the world."""
    azimuth, elevation = np.radians([CAMERA["azimuth"], CAMERA["elevation"]])
    forward = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
    right = np.cross(forward, [0, 0, 1]) / np.linalg.norm(np.cross(forward, [0, 0, 1]))
    seen = np.asarray(point) - (np.array(CAMERA["lookat"]) - CAMERA["distance"] * forward)
    scale = 0.5 * box["height"] / np.tan(np.radians(CAMERA["fovy"]) / 2) / (seen @ forward)
    up = np.cross(right, forward)
    return box["x"] + box["width"] / 2 + scale * (seen @ right), box["y"] + box["height"] / 2 - scale * (seen @ up)


KINDS = ("sphere", "box", "capsule", "ellipsoid", "cylinder", "mesh")


@pytest.mark.slow
def test_every_kind_of_shape_is_drawn_where_the_camera_numbers_say(browser):
    with shown(browser, scene(KINDS), STATUS, frame(bodies=len(KINDS)), width=900) as (page, heard):
        page.opened()
        page.unfolded("view-section")
        page.tab.uncheck("#show-hud")  # beside it the middle of the picture is another
        page.tab.click("#fold")
        page.tab.wait_for_timeout(900)  # a still picture is drawn finely
        box = page.tab.locator("#canvas").bounding_box()
        image, (left, top) = picture(page)
        for i, place in enumerate(places(len(KINDS))):
            inside = place + (0.08 if KINDS[i] == "mesh" else 0.0)  # its corner is its origin
            expected = pixel_by_hand(inside, box)
            given = page.get(f"lab.project({i + 1}, [{', '.join(map(str, inside - place))}])")
            assert (given["x"], given["y"]) == pytest.approx(expected, abs=0.05)
            red, green, blue = image[int(expected[1] - top), int(expected[0] - left)]
            assert red > 2 * max(green, blue), KINDS[i]  # the shapes are red, nothing else is
        assert {"type": "ack", "frame": 1} in heard
        assert page.complaints == [] and page.get("lab.error") is None


@pytest.mark.slow
def test_frames_are_read_as_they_were_written(browser):
    tendon = {"name": "rope", "width": 0.02, "rgba": [0.1, 0.6, 0.1, 1], "points": 3}
    flex = {"name": "cloth", "rgba": [0.1, 0.1, 0.8, 1], "nvert": 3, "faces": packed([[0, 1, 2]], "<u4")}
    cable = {
        "name": "wire",
        "rgba": [0, 0, 0, 1],
        "nvert": 2,
        "faces": "",
        "edges": packed([[0, 1]], "<u4"),
        "radius": 0.01,
    }
    dofs = [{"name": "turn", "unit": "rad", "kind": "hinge"}]
    one = scene(tendons=[tendon], flexes=[flex, cable], dofs=dofs)
    rope = [2, 0, 0, 1, 0, 0.5, 1, 0, 0, 0]
    contact = [0.1, 0.2, 0.0, 1.0, 2.0, 30.0, -0.001, -1]
    extra = ([0.5, -0.25], rope, np.ones((3, 3)), np.ones((2, 3)), [7, 8, 9], contact)
    with shown(browser, one, STATUS, frame(number=41, extra=extra, ncontact=1)) as (page, _):
        page.opened()
        seen = page.get("lab.frame")
        assert (seen["number"], seen["time"], seen["playing"]) == (41, 0.25, True)
        assert seen["energy"] == [[1, 2]] and seen["dofs"] == [[0.5, -0.25]] and seen["com"] == [7, 8, 9]
        assert seen["contacts"] == pytest.approx(contact, rel=1e-6)
        page.unfolded("view-section")
        page.tab.check("#show-contacts")
        assert page.tab.inner_text("#view-note").startswith("1 contact; an arrow of ")
        assert page.tab.inner_text("#time") == "0.25 s"
        assert page.complaints == []


@pytest.mark.slow
def test_torque_and_desired_angle_are_marked_where_the_hinge_puts_them(browser):
    """A link along -z at angle 0 that is to stand at 1.2 rad about -y: the mark is at l (sin 1.2, 0, -cos 1.2).

    The arrow, from the link on around the hinge, is over the side that the torque turns to, and there alone.
    """
    link = [shape("sphere", 1, (0.02,) * 3) | {"pos": [0, 0, -1]}]
    motor = {"body": 1, "dof": 0, "anchor": [0, 0, 0], "axis": [0, -1, 0], "full": 10.0}
    dofs = [{"name": "turn", "unit": "rad", "kind": "hinge", "turns": True, "relative": None}]
    one = scene(shapes=link, dofs=dofs, motors=[motor])
    poses = np.array([[0, 0, 0, 1, 0, 0, 0], [0, 0, 0.8, 1, 0, 0, 0]])

    def bytes_of(torque, wanted):
        numbers = np.concatenate([[1.0, 2.0], poses.ravel(), [0.0, 0.0], [torque, wanted], [0, 0, 0]])
        return struct.pack("<BBHId", 2, 1, 0, 1, 0.25) + numbers.astype("<f4").tobytes()

    mark = poses[1, :3] + [np.sin(1.2), 0, -np.cos(1.2)]
    turned = np.radians(60)  # within the 135 degrees of an arrow at half of its full torque
    arc = poses[1, :3] + 0.13 * 2.0 * np.array([np.sin(turned), 0, -np.cos(turned)])
    other = poses[1, :3] + 0.13 * 2.0 * np.array([-np.sin(turned), 0, -np.cos(turned)])

    def colours(page):
        box = page.tab.locator("#canvas").bounding_box()
        image, (left, top) = picture(page)
        pixels = [pixel_by_hand(place, box) for place in (mark, arc, other)]
        return [image[round(y - top), round(x - left)] for x, y in pixels]

    for torque, wanted in ((5.0, 1.2), (-5.0, np.nan)):
        with shown(browser, one, STATUS, bytes_of(torque, wanted), width=900) as (page, _):
            page.opened()
            page.unfolded("view-section")
            page.tab.uncheck("#show-hud")
            page.tab.wait_for_timeout(900)  # a still picture is drawn finely
            at_mark, right, left = (c.astype(int) for c in colours(page))
            teal = at_mark[1] > at_mark[0] + 40 and at_mark[2] > at_mark[0] + 40
            violet = [bool(c[2] > c[1] + 40 and c[0] > c[1] + 20) for c in (right, left)]
            assert teal == (wanted == 1.2) and violet == [torque > 0, torque < 0]
            page.tab.uncheck("#show-motors")
            page.tab.wait_for_timeout(900)
            assert all(np.ptp(c) < 30 for c in colours(page))
            assert page.complaints == [] and page.get("lab.error") is None


@pytest.mark.slow
def test_the_phase_plot_wraps_hinges_that_turn_on_and_on(browser):
    """An angle of 4 rad is shown as 4 - 2π; that of a hinge with limits, which may mean it, as it is."""
    for turns, expected in ((True, 4 - 2 * np.pi), (False, 4.0)):
        dofs = [{"name": "turn", "unit": "rad", "kind": "hinge", "turns": turns, "relative": "upper"}]
        motion = (
            course([0.0, 0.1], [*2 * [[1.0, 1.0]], 2 * [np.nan], [3.9, 4.0], [0.4, 0.5]]),
            frame(extra=([4.0, 0.5], [0, 0, 0])),
        )
        with shown(browser, scene(dofs=dofs), STATUS, *motion) as (page, _):
            page.opened()
            points = page.until("lab.phase && lab.phase[0].length && lab.phase")
            assert points[0][-1] == pytest.approx(expected, abs=1e-6) and points[1][-1] == 0.5


@pytest.mark.slow
def test_modes_of_contacts_are_told(browser):
    """How many stick, slip and are open; and an arrow's length."""
    contacts = [[0.1 * k, 0, 0, 0, 0, 5.0 * (mode > 0), 0, mode] for k, mode in enumerate((1, 2, 1, 0))]
    with shown(browser, scene(), STATUS, frame(extra=([0, 0, 0], contacts), ncontact=4)) as (page, _):
        page.opened()
        page.unfolded("view-section")
        page.tab.check("#show-contacts")
        note = page.tab.locator("#view-note")
        assert note.inner_text().startswith("2 sticking; 1 slipping; 1 open; an arrow of ")
        colours = [dot.evaluate("e => getComputedStyle(e).backgroundColor") for dot in note.locator("i").all()]
        assert colours == ["rgb(0, 114, 178)", "rgb(213, 94, 0)", "rgb(244, 244, 238)"]
        assert page.complaints == []


def commands(heard):
    return [message for message in heard if message["type"] != "ack"]


@pytest.mark.slow
def test_keys_are_told_once_down_and_once_up(browser):
    """Whatever the keyboard repeats; not what is typed; all are up when the window loses the keyboard."""
    with shown(browser, scene(keyboard=["c", "a", "1", " "]), STATUS, frame()) as (page, heard):
        page.opened()
        keyboard = page.tab.keyboard
        page.tab.locator("#canvas").focus()
        for key in ("c", "c", "c", "z"):
            keyboard.down(key)
        keyboard.up("z")
        keyboard.up("c")
        keyboard.press("Space")  # the scene's now, not the page's
        keyboard.press("Control+a")
        page.tab.locator("#speed").focus()
        keyboard.press("1")
        keyboard.press("Escape")
        page.tab.locator("#canvas").focus()
        keyboard.down("Shift")
        keyboard.down("A")
        page.tab.evaluate("window.dispatchEvent(new Event('blur'))")
        keyboard.up("A")
        keyboard.up("Shift")
        told = [("keydown", "c"), ("keyup", "c"), ("keydown", " "), ("keyup", " "), ("keydown", "a"), ("blur", None)]
        page.wait(lambda: len(commands(heard)) >= len(told))
        page.tab.wait_for_timeout(200)  # and nothing after them
        assert [(message["type"], message.get("key")) for message in commands(heard)] == told


@pytest.mark.slow
def test_buttons_do_what_keys_do(browser):
    """One that is held is down as long as the mouse or the space bar; one that is pressed goes down and up at once."""
    actions = [
        {"group": "Servo", "key": "c", "label": "Servo", "hold": False, "when": ["servo", True]},
        {"group": "Push", "key": "d", "label": "Push +", "hold": True, "when": None},
    ]
    with shown(browser, scene(actions=actions), {**STATUS, "servo": True}, frame()) as (page, heard):
        page.opened()
        keys = lambda: [(m["type"], m["key"]) for m in heard if m["type"].startswith("key")]  # noqa: E731
        servo, push = (page.tab.get_by_role("button", name=name, exact=True) for name in ("Servo", "Push +"))
        page.wait(lambda: servo.get_attribute("aria-pressed") == "true")
        servo.click()
        page.wait(lambda: keys() == [("keydown", "c"), ("keyup", "c")])
        push.hover()
        page.tab.mouse.down()
        page.wait(lambda: keys()[2:] == [("keydown", "d")])
        page.tab.wait_for_timeout(100)
        assert len(keys()) == 3
        page.tab.mouse.up()
        page.wait(lambda: keys()[3:] == [("keyup", "d")])
        push.focus()
        page.tab.keyboard.down("Space")
        page.wait(lambda: keys()[4:] == [("keydown", "d")])
        page.tab.keyboard.up("Space")
        page.wait(lambda: keys()[5:] == [("keyup", "d")])
        assert page.complaints == []


@pytest.mark.slow
def test_a_phone_shows_the_view_and_reaches_everything(browser):
    """On 390 by 844 pixels the readings are folded, two thirds of the view are free, no button is off the screen."""
    names = ["Servo", "Push −", "Push +", "Target −", "Target +", "None", "Euler", "Verlet", "Velocity verlet"]
    actions = [
        {"group": n.split()[0], "key": str(i), "label": n, "hold": False, "when": None} for i, n in enumerate(names)
    ]
    hud = [["System", [f"line {i} of the readings" for i in range(20)]]]
    with shown(
        browser, scene(actions=actions), {**STATUS, "hud": hud}, frame(), width=390, height=844, has_touch=True
    ) as (page, heard):
        page.opened()
        readings, fold = page.tab.locator("#hud"), page.tab.locator("#hud-fold")
        page.wait(fold.is_visible)
        assert not readings.is_visible()
        free = page.tab.evaluate("""(() => { const { left, top, width, height } =
            document.getElementById('canvas').getBoundingClientRect(); let free = 0;
            for (let i = 0; i < 20; i += 1) for (let k = 0; k < 20; k += 1) free += document.elementFromPoint(
                left + (i + 0.5) * width / 20, top + (k + 0.5) * height / 20).id === 'canvas';
            return free / 400; })()""")
        assert free > 2 / 3
        fold.tap()
        page.wait(readings.is_visible)
        fold.tap()
        page.wait(lambda: not readings.is_visible())
        for button in [*page.tab.locator("header button:visible, header select:visible, #actions button").all()]:
            box = button.bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= 390 and box["y"] + box["height"] <= 844
        page.tab.get_by_role("button", name="Push +", exact=True).tap()
        page.wait(lambda: {"type": "keydown", "key": "2"} in heard)
        page.unfolded("record-section").scroll_into_view_if_needed()
        page.tab.locator("#record").tap()
        page.wait(lambda: {"type": "record", "on": True} in heard)
        assert page.complaints == []


@pytest.mark.slow
def test_a_drag_names_the_point_in_the_body_and_the_target_in_the_world(browser):
    """The point is where the mouse's ray meets the sphere; the target lies in the plane through it that the camera sees
    face to face."""
    half = np.sqrt(0.5)  # the body is turned a quarter about z
    with shown(browser, scene(), STATUS, frame(quat=(half, 0, 0, half)), width=900) as (page, heard):
        page.opened()
        page.unfolded("view-section")
        page.tab.uncheck("#show-hud")
        page.tab.click("#fold")
        box = page.tab.locator("#canvas").bounding_box()
        centre = places(1)[0]
        x, y = pixel_by_hand(centre, box)
        page.until(f"Math.hypot(lab.project(1).x - {x}, lab.project(1).y - {y}) < 0.1")  # it fills the window now
        start = np.round(pixel_by_hand(centre + [0.03, 0.02, 0.05], box))
        page.tab.mouse.move(*start)
        page.tab.mouse.down()
        page.wait(lambda: commands(heard))  # the first message goes with the next picture
        page.tab.mouse.move(*(start + [40, -30]), steps=3)
        page.wait(lambda: len(commands(heard)) > 1)
        page.tab.wait_for_timeout(200)  # and as far as it goes
        page.tab.mouse.up()
        page.wait(lambda: commands(heard)[-1]["type"] == "release")
        first, *_, last, release = commands(heard)
        assert (first["type"], last["type"], release["type"]) == ("drag", "drag", "release")
        assert first["body"] == last["body"] == 1 and first["point"] == pytest.approx(last["point"], abs=1e-6)
        x, y, z = first["point"]
        grabbed = centre + [-y, x, z]
        # on the sphere, drawn without a graphics processor by 16 times 10 faces, whose middles lie inside
        deepest = np.cos(np.pi / 16) * np.cos(np.pi / 20)
        assert deepest * 0.2 <= np.linalg.norm(grabbed - centre) <= 0.2 * (1 + 1e-5)
        assert pixel_by_hand(grabbed, box) == pytest.approx(tuple(start), abs=0.1)
        assert first["target"] == pytest.approx(grabbed, abs=1e-5)
        assert pixel_by_hand(last["target"], box) == pytest.approx(tuple(start + [40, -30]), abs=0.1)
        azimuth, elevation = np.radians([CAMERA["azimuth"], CAMERA["elevation"]])
        forward = [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)]
        assert (np.array(last["target"]) - grabbed) @ forward == pytest.approx(0, abs=1e-6)


@pytest.mark.slow
def test_a_body_that_cannot_move_is_no_handle(browser):
    with shown(browser, scene(moving=[False, False]), STATUS, frame()) as (page, heard):
        page.opened()
        spot = page.get("Object.values(lab.project(1))")
        page.tab.mouse.move(*spot)
        page.tab.mouse.down()
        page.tab.mouse.move(spot[0] + 40, spot[1], steps=3)
        page.tab.mouse.up()
        page.tab.wait_for_timeout(200)
        assert commands(heard) == [] and abs(page.get("lab.project(1).x") - spot[0]) > 1  # the camera turned


FIELDS = [("timestep", "0.01", ["2", "5", "1e-9"], "0.000001 and 1 s"), ("speed", "1", ["0", "1000"], "0.01 and 100")]
FIELDS += [("gravity-z", "-9.81", ["1e12"], "-1000000000 and 1000000000 m/s²")]


@pytest.mark.slow
@pytest.mark.parametrize(("field", "value", "wrong", "bounds"), FIELDS)
def test_a_number_out_of_its_bounds_is_told_at_its_field(browser, field, value, wrong, bounds):
    """The field says what it takes, nothing is sent, and what is shows again; a good number ends it."""
    hello = {**HELLO, "bounds": {"timestep": [1e-6, 1], "speed": [0.01, 100], "gravity": [-1e9, 1e9]}}
    with server(telling(hello, scene(), STATUS, frame())) as (url, heard):
        page = LabPage(browser, url).opened()
        box = page.tab.locator(f"#{field}")
        for text in wrong:
            box.fill(text)
            box.press("Enter")
            said = page.tab.inner_text(".complaint")
            assert f"is not between {bounds}" in said
            assert box.input_value() == value
        assert {message["type"] for message in heard} == {"ack"}
        box.fill("0.5")
        box.press("Enter")
        page.wait(lambda: any(message["type"] == field.partition("-")[0] for message in heard))
        assert page.tab.locator(".complaint").count() == 0 and page.complaints == []
        page.close()


@pytest.mark.slow
def test_hard_contact_has_its_numbers_in_the_panel(browser):
    """Only where contact is hard; no friction means the model's."""
    hello = {**HELLO, "bounds": {"restitution": [0, 1], "friction": [0, 10]}}
    hard = {**STATUS, "contact": "hard", "restitution": 0.8, "friction": 0.3}
    with server(telling(hello, scene(contacts=["soft", "hard"]), hard, frame())) as (url, heard):
        page = LabPage(browser, url).opened()
        restitution, friction = page.tab.locator("#restitution"), page.tab.locator("#friction")
        page.wait(lambda: restitution.input_value() == "0.8" and friction.input_value() == "0.3")
        restitution.fill("2")
        restitution.press("Enter")
        assert "2 is not between 0 and 1" in page.tab.inner_text(".complaint")
        restitution.fill("0.5")
        restitution.press("Enter")
        page.wait(lambda: {"type": "restitution", "value": 0.5} in heard)
        friction.fill("")
        friction.press("Enter")
        page.wait(lambda: {"type": "friction", "value": None} in heard)
        assert page.complaints == []
        page.close()
    with shown(browser, scene(contacts=["soft", "hard"]), STATUS, frame()) as (page, _):
        page.opened()
        page.wait(lambda: not page.tab.locator("#restitution").is_visible())


@pytest.mark.slow
def test_a_divergence_offers_what_may_end_it_and_goes_with_its_scene(browser):
    diverged = {"type": "notice", "level": "diverged", "text": "diverged; largest term: bias"}
    with shown(browser, scene(), STATUS, frame(), diverged) as (page, heard):
        page.opened()
        page.tab.get_by_role("button", name="Halve the step").click()
        page.wait(lambda: {"type": "timestep", "value": 0.005} in heard)
        assert page.tab.locator(".toast").count() == 0
    with shown(browser, scene(), STATUS, frame(), diverged) as (page, heard):
        page.opened()
        page.tab.locator(".toast").get_by_role("button", name="Reset").click()
        page.wait(lambda: {"type": "reset", "key": None} in heard)
    with shown(browser, scene(), STATUS, frame(), diverged, scene(), STATUS, frame(number=2)) as (page, _):
        page.until("lab && lab.frame && lab.frame.number === 2")
        assert page.tab.locator(".toast").count() == 0 and "largest term" in page.tab.text_content("#notices")
        assert page.complaints == []


@pytest.mark.slow
def test_an_integrator_that_is_compiled_is_shown_as_pending(browser):
    """The list names the wanted one, marked, whoever asked for it; once it runs, the mark is gone."""
    one = scene(integrators=["rk4", "euler"])
    waiting = {**STATUS, "building": True, "wanted": "euler"}
    for status, name, marked in ((waiting, "euler", True), ({**STATUS, "wanted": "rk4"}, "rk4", False)):
        with shown(browser, one, status, frame()) as (page, _):
            page.opened()
            field = page.tab.locator("#integrator")
            page.wait(lambda field=field, name=name: field.input_value() == name)
            assert ("pending" in (field.get_attribute("class") or "")) == marked


@pytest.mark.slow
def test_what_is_waited_for_is_said(browser):
    """What is compiled, for how long and about how long it took before; and the list names the scene that is shown."""
    compiling = {
        "kernel": "the integrator velocity_verlet",
        "integrator": "velocity_verlet",
        "seconds": 12,
        "about": 41.4,
    }
    waiting = {**STATUS, "building": True, "compiling": compiling, "opening": None}
    scenes = [{"name": name, "title": name.title(), "group": "test"} for name in ("one", "two")]
    hello = {**HELLO, "scenes": scenes}
    for status, text in (
        (waiting, "Compiling the integrator velocity verlet: 12 s of about 41 s"),
        ({**waiting, "compiling": compiling | {"about": None}}, "Compiling the integrator velocity verlet: 12 s, once"),
        ({**waiting, "opening": "two"}, "Opening Two ..."),
    ):
        with server(telling(hello, scene(), status, frame())) as (url, heard):
            page = LabPage(browser, url).opened()
            pill = page.tab.locator("#building")
            page.wait(pill.is_visible)
            assert pill.inner_text().startswith(text)
            page.tab.select_option("#scene", "two")
            page.wait(lambda heard=heard: {"type": "scene", "name": "two"} in heard)
            assert page.tab.input_value("#scene") == "one" and page.complaints == []
            page.close()


@pytest.mark.slow
def test_readings_line_by_line(browser):
    with shown(browser, scene(), STATUS, frame()) as (page, _):
        page.opened()
        text = "System\nt 0.00 s\n  two  spaces\n\nKeys\na/d  push"
        assert page.get("lab.hud") == text
        assert page.tab.locator("#hud").text_content() == text


NONSENSE = {
    "no JSON": ["{oops"],
    "an unknown type": [{"type": "surprise"}],
    "no object": ["null"],
    "a scene without its lists": [{"type": "scene", "name": "one"}],
    "a shape on no body": [scene() | {"shapes": [shape("sphere", 7)]}],
    "a mesh face without its vertex": [
        scene(("mesh",)) | {"meshes": [{"vertices": packed([[0, 0, 0]], "<f4"), "faces": packed([[0, 1, 2]], "<u4")}]}
    ],
    "a frame that is too short": [scene(), STATUS, frame()[:-4]],
    "a frame of another version": [scene(), STATUS, b"\x03" + frame()[1:]],
    "an empty frame": [scene(), STATUS, b""],
}


@pytest.mark.slow
@pytest.mark.parametrize("messages", NONSENSE.values(), ids=NONSENSE.keys())
def test_nonsense_is_told_and_leaves_the_page_alive(browser, messages):
    with shown(browser, *messages, width=500, height=300) as (page, _):
        page.until("lab.error")
        banner = page.tab.locator("#banner")
        assert banner.is_visible() and "does not understand" in banner.inner_text()
        assert page.tab.locator("#play").is_visible() and page.tab.locator("#canvas").is_visible()
        assert page.complaints == []  # nothing went by uncaught


@pytest.mark.slow
def test_good_frames_after_a_bad_one_are_shown(browser):
    good = frame(number=5)
    with shown(browser, scene(), STATUS, good[:-4], good) as (page, _):
        page.opened()
        assert page.get("lab.frame.number") == 5 and page.get("lab.error")


@pytest.mark.slow
def test_a_server_that_goes_and_comes_back(browser):
    with server(telling(HELLO, scene(), STATUS, frame())) as (url, _):
        page = LabPage(browser, url).opened()
    page.tab.wait_for_selector("#banner:visible")
    assert "not answering" in page.tab.inner_text("#banner")
    port = int(url.split(":")[2].split("/")[0])
    with server(telling(HELLO, scene(), STATUS, frame(number=77)), port):
        page.until("lab.frame?.number === 77")
        assert not page.tab.locator("#banner").is_visible()
    page.close()


@pytest.mark.slow
def test_a_refusal_is_final_and_says_why(browser):
    with server(lambda socket: socket.close(4003, "too many viewers: 256 are connected")) as (url, _):
        page = LabPage(browser, url)
        page.tab.wait_for_selector("#banner:visible")
        assert "too many viewers: 256" in page.tab.inner_text("#banner")
        page.tab.wait_for_timeout(1200)
        assert len([address for address in page.requests if address.startswith("ws:")]) == 1
        page.close()


@pytest.mark.slow
def test_a_replay_has_a_time_slider(browser):
    replay = scene() | {"kind": "replay", "duration": 10.0}
    with shown(browser, replay, STATUS, frame()) as (page, heard):
        page.opened()
        assert page.tab.locator("#seek").is_visible() and not page.tab.locator("#simulation").is_visible()
        assert page.tab.inner_text("#seek-time") == "0.25 of 10.00 s"
        page.tab.locator("#seek").focus()
        page.tab.keyboard.press("End")
        page.wait(lambda: {"type": "seek", "time": 10} in heard)


def test_plots_remember_a_bounded_past(browser):
    """A line stays that line however long it becomes, and an impact in it stays; the last 20 s stay whole."""
    tab = browser.new_page()
    script = """async (source) => {
        const { Track } = await import('data:text/javascript,' + encodeURIComponent(source));
        const track = new Track(1, 1);
        const one = (i) => [i, i, i === 300 ? -0.25 / 60 : NaN, 3 * Math.abs(i - 299.75) / 60, i < 300 ? -3 : 3];
        for (let i = 0; i < 300000; i += 1) {
            track.push({ anew: i === 0, times: [i / 60], values: one(i).map((value) => [value]) });
        }
        const seen = (seconds) => [track.energies(seconds)[0], ...track.orbit(0, 0, seconds)];
        const [all, recent] = [seen(Infinity), seen(20)];
        return [track.count, track.room, all, recent];
    }"""
    count, room, (times, x, v), (late, *_) = tab.evaluate(script, TRACK.read_text())
    tab.close()
    assert count <= room == 100_000 and times[0] == 0.0 and times[-1] == pytest.approx(299999 / 60)
    assert np.all(np.diff(times) >= 0)
    (jump,) = np.flatnonzero(np.diff(v))
    assert v[jump : jump + 2] == [-3, 3] and x[jump] == x[jump + 1] == pytest.approx(0.0, abs=1e-5)
    assert times[jump] == times[jump + 1] == pytest.approx(299.75 / 60)
    others = np.delete(np.arange(len(x)), [jump, jump + 1])
    assert np.array(x)[others] == pytest.approx(3 * np.abs(np.array(times)[others] - 299.75 / 60), rel=1e-6, abs=1e-6)
    assert np.diff(late) == pytest.approx(1 / 60) and late[-1] - late[0] == pytest.approx(20.0, abs=1 / 59)
