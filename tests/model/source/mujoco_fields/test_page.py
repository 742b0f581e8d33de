"""The page of MuJoCo's fields has each of them, with its treatment and its readers."""

from saltus.model.source.mujoco_fields import page, uses


def test_each_field_is_on_the_page_once():
    text = page.document()
    assert [name for field in uses.fields()[0] if text.count(name := f"`{field.name}`") < 1] == []
    gravity = next(line for line in text.splitlines() if "`gravity`" in line)
    assert "| read | model dynamics" in gravity


def test_counts_are_those_of_the_fields():
    first = page.document().splitlines()[0]
    numbers = [int(part.split()[0]) for part in first.split(": ")[1].split(", ")]
    assert sum(numbers) == len(uses.fields()[0])
