"""The process beside another one answers each line with what it was of, also where there is nothing to compile."""

import io

from saltus.number.compile import worker, worker_pool


def test_each_line_is_answered(monkeypatch, capsys):
    asked = []

    def compiled(name):
        asked.append(name)
        raise KeyError(name)

    monkeypatch.setattr(worker_pool, "MOST", worker_pool.MOST)  # which the worker sets to 0
    monkeypatch.setattr(worker.prefetch, "compile_kernel", compiled)
    monkeypatch.setattr("sys.argv", ["worker", "saltus.no_such_module"])
    monkeypatch.setattr("sys.stdin", io.StringIO("kernel first\nunit no:such:unit\nkernel second\n"))
    worker.main()
    assert capsys.readouterr().out.splitlines() == ["kernel", "unit", "kernel"]
    assert asked == ["first", "second"] and worker_pool.MOST == 0
