"""Models that commands are given, what they answer, and Ctrl-C while they run."""

from saltus.simulate.engine.engine import Engine

CONTACT = """<mujoco model="ball"><worldbody>
  <geom name="floor" type="plane" size="1 1 1"/>
  <body name="b" pos="0 0 1"><joint name="fall" type="slide" axis="0 0 1" range="-1 1" limited="true"/>
  <geom name="ball" size="0.1"/></body>
</worldbody><sensor><jointpos joint="fall"/></sensor></mujoco>"""

# a law that is a function of the user's, and a spring that yields, are not simulated
REFUSED = CONTACT.replace('type="slide"', 'type="slide" stiffness="2" springyield="0.1"').replace(
    "<sensor>", "<actuator><general name='drive' joint='fall' gaintype='user'/></actuator><sensor>"
)

OSCILLATOR = """<mujoco model="oscillator"><option timestep="{step}" integrator="{integrator}"/>
<worldbody><body><joint name="x" type="slide" stiffness="{stiffness}" damping="{damping}"/>
<geom size="0.1" mass="1" contype="0" conaffinity="0"/></body></worldbody></mujoco>"""


def error_lines(text):
    """Lines that tell an error."""
    return [line for line in text.splitlines() if line.startswith("error: ")]


def interrupt_after(monkeypatch, calls):
    """Press Ctrl-C in that call of the compiled loop, but not in others; returns a list that grows with each call."""
    counter = []
    for name in ("advance", "advance_unattended"):
        step = getattr(Engine, name)

        def interrupted(self, n, h, step=step):
            counter.append(n)
            if len(counter) == calls:
                raise KeyboardInterrupt
            return step(self, n, h)

        monkeypatch.setattr(Engine, name, interrupted)
    return counter
