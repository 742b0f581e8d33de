"""Compiled code of the rasteriser on disk: an edit in its sources is noticed, and the physics kernels do not mind."""

import shutil

from saltus.draw.raster import compiled
from saltus.number.cache import storage
from saltus.number.cache.fingerprint import base_key


def test_any_edit_changes_the_key(tmp_path, monkeypatch):
    shutil.copytree(compiled.ROOM, tmp_path / "draw", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(compiled, "ROOM", tmp_path / "draw")
    keys = [compiled.sources.__wrapped__()]
    assert keys == [compiled.sources()]
    for name in ("raster/cover.py", "raster/light.py", "scene/paths.py"):
        path = tmp_path / "draw" / name
        path.write_text(path.read_text() + "\n")
        keys.append(compiled.sources.__wrapped__())
    assert len(set(keys)) == 4


def test_the_key_is_part_of_what_kernels_are_found_by():
    from saltus.draw.raster.triangles import rasterise

    depends = rasterise._cache._cache_file._depends
    assert compiled.sources() in depends and base_key() in depends


def test_physics_kernels_do_not_depend_on_pictures(tmp_path, monkeypatch):
    shutil.copytree(storage.PACKAGE, tmp_path / "saltus", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(storage, "PACKAGE", tmp_path / "saltus")
    before = storage.source_key.__wrapped__()
    (tmp_path / "saltus" / "draw" / "cover.py").write_text("")
    assert storage.source_key.__wrapped__() == before
