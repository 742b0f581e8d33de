"""`saltus.capstan`: what it writes into a model's text, and what it refuses."""

import pytest

import saltus

XML = """<mujoco><worldbody><geom name="post" type="cylinder" size=".1 .2"/>
  <body pos="1 0 0"><joint axis="0 0 1"/><geom size=".1"/><site name="a"/></body>
  <body pos="-1 0 0"><joint type="slide"/><geom size=".1"/><site name="b"/></body></worldbody>
  <tendon><spatial name="rope"><site site="a"/><geom geom="post"/><site site="b"/></spatial>
  <spatial name="free" limited="true" range="0 1"><site site="a"/><geom geom="post"/><site site="b"/></spatial></tendon>
  </mujoco>"""


def test_a_coefficient_is_declared_and_replaced():
    model = saltus.capstan(XML, "rope", 0.2)
    assert model.names("tuple") == ["capstan_friction"] and model.tendon_frictionloss.tolist() == [1e-9, 0.0]
    again = saltus.capstan(model, "rope", 0.5)
    assert again.struct().views["capstan_friction"].ravel().tolist() == [0.5, 0.0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: saltus.capstan(XML, "string", 0.2), "no tendon 'string'"),
        (lambda: saltus.capstan(XML, "free", 0.2), "capstan of tendon 'free'.*limits"),
        (lambda: saltus.capstan(XML, "rope", -0.2), "friction must be at least 0"),
    ],
)
def test_errors_name_the_remedy(call, words):
    with pytest.raises(saltus.OptionError, match=words):
        call()
