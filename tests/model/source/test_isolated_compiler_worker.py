"""Messages between the process and its helper: what is written is read, and what is cut off is none."""

import io

from saltus.model.source.isolated_compiler_worker import read_message, write_message


def test_messages_are_read_as_they_were_written():
    stream, messages = io.BytesIO(), [({"error": "é\n"}, b""), ({"name": "x", "n": [1, None]}, bytes(range(256)))]
    for about, content in messages:
        write_message(stream, about, content)
    stream.seek(0)
    assert [read_message(stream) for _ in range(3)] == [*messages, None]


def test_what_is_cut_off_is_none():
    whole = io.BytesIO()
    write_message(whole, {"a": 1}, b"content")
    for end in range(len(whole.getvalue())):
        assert read_message(io.BytesIO(whole.getvalue()[:end])) is None
