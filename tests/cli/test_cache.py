"""`saltus cache`: the place of compiled code, its amount, and an end to it."""

from saltus.number.cache import storage


def test_place_and_amount(saltus_command, monkeypatch, tmp_path):
    (tmp_path / storage.cache_key()).mkdir()
    for name in ("a-1.nbc", "b-2.nbc"):
        (tmp_path / storage.cache_key() / name).write_bytes(bytes(2**19))
    monkeypatch.setattr(storage, "cache_root", lambda: tmp_path)
    code, out, err = saltus_command("cache")
    assert (code, err) == (0, "") and out == f"2 files (1.0 MiB), at most 4,096 MiB, in {tmp_path}\n"
    assert saltus_command("cache", "--clear")[1] == f"removed 2 files (1.0 MiB) from {tmp_path}\n"
    assert saltus_command("cache")[1].startswith("0 files (0.0 MiB)")
