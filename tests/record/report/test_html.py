"""A recording in a notebook. Reference: the rules of HTML."""

from helpers.recordings import certificate, recorded


def test_html_escapes_what_it_shows():
    t = recorded(certificate=certificate(50), attrs={"model_name": "<script>", "integrator": "rk4", "timestep": 0.1})
    text = t._repr_html_()
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    for shown in ("rk4, timestep 0.1 s", "50 samples", "nq = 7, nv = 6", "position error about 0.3"):
        assert shown in text
