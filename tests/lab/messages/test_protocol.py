"""Messages: what is understood, what is not, and what frames say.

Reference: the text of `saltus.lab.messages.protocol`, which a decoder in `helpers.lab` follows by itself.
"""

import base64
import dataclasses
import json
import struct

import numpy as np
import pytest
from helpers.lab import MESSAGES, decoded

from saltus.lab.messages import protocol
from saltus.lab.messages.protocol import COMMANDS, Frame, Malformed, parse


@pytest.mark.parametrize("message", MESSAGES, ids=json.dumps)
def test_every_message_is_understood(message):
    command = parse(json.dumps(message))
    assert command.type == message["type"]
    values = {key: list(value) if isinstance(value, tuple) else value for key, value in command.fields.items()}
    assert values == {key: value for key, value in message.items() if key != "type"}


def test_pieces_of_files_are_bytes():
    command = parse(json.dumps({"type": "upload", "name": "a.stl", "data": base64.b64encode(b"\0\xff").decode()}))
    assert command.fields == {"name": "a.stl", "data": b"\0\xff"}


def test_all_commands_are_among_those():
    assert {message["type"] for message in MESSAGES} | {"upload"} == {*COMMANDS, "ack"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"{}", "binary"),
        ("", "not JSON"),
        ("play", "not JSON"),
        ("[" * 30000, "not JSON"),
        ('{"type":"seek","time":' + "9" * 5000 + "}", "not JSON"),
        ('{"type":"speed","value":NaN}', "not JSON"),
        ('{"type":"speed","value":-Infinity}', "not JSON"),
        ("[]", "not an object"),
        ("null", "not an object"),
        ("3", "not an object"),
        ("{}", "unknown type NoneType"),
        ('{"type":[]}', "unknown type list"),
        ('{"type":"Play"}', "unknown type Play"),
        ('{"type":"' + "x" * 500 + '"}', "unknown type x{40}$"),
        ('{"type":"__class__"}', "unknown type __class__"),
        ('{"type":"play","now":1}', "play: unknown field now"),
        ('{"type":"step"}', "step: no n"),
        ('{"type":"step","n":0}', "between 1 and 1000"),
        ('{"type":"step","n":1001}', "between 1 and 1000"),
        ('{"type":"step","n":1.5}', "not a whole number"),
        ('{"type":"step","n":true}', "not a whole number"),
        ('{"type":"ack","frame":-1}', "not a whole number"),
        ('{"type":"upload","name":"a","data":"%"}', "upload: data is not base64"),
        ('{"type":"upload","name":"a","data":3}', "upload: data is not base64"),
        ('{"type":"path","path":"' + "x" * 5000 + '"}', "at most 4096"),
        ('{"type":"speed","value":0}', "between 0.01 and 100"),
        ('{"type":"speed","value":"1"}', "not a number"),
        ('{"type":"speed","value":true}', "not a number"),
        ('{"type":"speed","value":null}', "not a number"),
        ('{"type":"slider","id":"kp","value":1e999}', "between"),
        ('{"type":"slider","id":3,"value":1}', "not a text"),
        ('{"type":"seek","time":1' + "0" * 400 + "}", "between"),
        ('{"type":"timestep","value":0}', "between 1e-06 and 1"),
        ('{"type":"gravity","value":[0,0]}', "list of 3 numbers"),
        ('{"type":"gravity","value":{"0":0,"1":0,"2":0}}', "list of 3 numbers"),
        ('{"type":"gravity","value":[0,0,"a"]}', r"gravity: value\[2\] is not a number"),
        ('{"type":"gravity","value":[0,0,1e10]}', "between"),
        ('{"type":"ghosts","on":1}', "neither true nor false"),
        ('{"type":"plot","signals":"energy"}', "not a list of at most 100 texts"),
        ('{"type":"plot","signals":[1]}', r"plot: signals\[0\] is not a text"),
        ('{"type":"follow","body":3}', "not a text"),
        ('{"type":"keydown","key":"' + "k" * 201 + '"}', "at most 200 characters"),
        ('{"type":"drag","body":1,"point":[0,0,0]}', "drag: no target"),
        ('{"type":"drag","body":-1,"point":[0,0,0],"target":[0,0,0]}', "not a whole number"),
    ],
)
def test_what_is_malformed_says_why(text, reason):
    with pytest.raises(Malformed, match=reason):
        parse(text)


def test_a_frame_says_what_it_was_given():
    rng = np.random.default_rng(3)
    scene = {
        **{"bodies": ["world", "a", "b"], "ghosts": [{}, {}], "dofs": [{}], "tendons": [{"points": 4}]},
        **{"motors": [{}]},
        "flexes": [{"nvert": 5}],
    }
    tendon = np.concatenate([[2.0], rng.normal(size=6), np.zeros(6)])
    frame = Frame(
        time=1.2345678901234567,
        playing=True,
        energy=rng.normal(size=2),
        bodies=rng.normal(size=(3, 7)),
        dofs=rng.normal(size=(1, 2)),
        com=rng.normal(size=3),
        ghost_energy=rng.normal(size=(2, 2)),
        ghost_bodies=rng.normal(size=(2, 3, 7)),
        ghost_dofs=rng.normal(size=(2, 1, 2)),
        tendons=[tendon],
        flexes=[rng.normal(size=(5, 3))],
        motors=[(3.5, -0.25)],
        contacts=rng.normal(size=(6, 8)),
    )
    data = frame.encode(2**32 + 7)
    assert data[0] == 2 and data[1] == 1 and struct.unpack_from("<HI", data, 2) == (6, 7)
    found = decoded(data, scene)
    assert found["time"] == frame.time and found["playing"] and not found["replay"]
    same = lambda a, b: np.testing.assert_array_equal(a, np.asarray(b, np.float32))  # noqa: E731
    same(found["energy"], [frame.energy, *frame.ghost_energy])
    same(found["bodies"], [frame.bodies, *frame.ghost_bodies])
    same(found["dofs"], [frame.dofs, *frame.ghost_dofs])
    same(found["tendon 0"], tendon)
    same(found["flex 0"], frame.flexes[0])
    same(found["motors"], [[3.5, -0.25]])
    same(found["com"], frame.com)
    same(found["contacts"], frame.contacts)
    assert found["cop"].size == 0  # nothing presses on the ground
    pressed = dataclasses.replace(frame, cop=np.array([0.5, -0.25, 0.0]))
    same(decoded(pressed.encode(1), scene)["cop"], pressed.cop)


def test_of_too_many_contacts_the_strongest_are_told():
    contacts = np.zeros((protocol.MOST_CONTACTS + 10, 8))
    contacts[:, 5] = np.arange(len(contacts))[::-1]
    frame = Frame(0.0, False, np.zeros(2), np.zeros((1, 7)), np.zeros((0, 2)), np.zeros(3), contacts=contacts)
    scene = {"bodies": ["world"], "ghosts": [], "dofs": [], "tendons": [], "flexes": [], "motors": []}
    found = decoded(frame.encode(1), scene)["contacts"]
    np.testing.assert_array_equal(found, contacts[: protocol.MOST_CONTACTS])


def test_json_of_the_server_is_json():
    """JSON has no nan; what a browser cannot read is null."""
    text = protocol.encode({"a": float("nan"), "b": [1.0, float("inf"), {"c": float("-inf")}], "d": (2, "x", None)})
    assert json.loads(text, parse_constant=pytest.fail) == {
        "a": None,
        "b": [1.0, None, {"c": None}],
        "d": [2, "x", None],
    }


def test_a_reason_fits_into_a_close_frame():
    assert protocol.reason("short") == "short"
    assert len(protocol.reason("π" * 500).encode()) <= 123
