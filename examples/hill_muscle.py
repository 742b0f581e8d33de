"""What does a tendon do? A forearm is lifted by a biceps whose fibres pull on an elastic tendon, and on a rigid one.

The muscle is the law of an actuator of the file, replaced as the model is loaded. With a tendon that stretches, the
fibres must shorten before the arm moves, so that it starts later; what the tendon has stored it returns, so that the
arm rises as high.

    python examples/hill_muscle.py
"""

import dataclasses

import numpy as np

import saltus

ARM = """
<mujoco><option timestep="0.0005" integrator="RK4"/>
  <worldbody>
    <site name="shoulder" pos="0.02 0 0.3"/>
    <body name="forearm">
      <joint name="elbow" axis="0 -1 0" damping="0.2"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.28" mass="1.2"/>
      <geom size="0.03" pos="0 0 -0.32" mass="4" name="load"/>
      <site name="radius" pos="0.02 0 -0.04"/>
    </body>
  </worldbody>
  <tendon><spatial name="biceps"><site site="shoulder"/><site site="radius"/></spatial></tendon>
  <actuator><muscle name="biceps" tendon="biceps" lengthrange="0.26 0.34"/></actuator>
</mujoco>"""

elastic = saltus.HillMuscle(
    max_isometric_force=1200,  # N
    optimal_fiber_length=0.12,  # m
    tendon_slack_length=0.21,  # m
)
rigid = dataclasses.replace(elastic, rigid_tendon=True)

for name, muscle in (("elastic tendon", elastic), ("rigid tendon", rigid)):
    sim = saltus.Simulation(saltus.load(ARM, muscles={"biceps": muscle}))
    trajectory = sim.run(0.6, control=lambda sim: 1.0 if sim.time < 0.2 else 0.0, sample=0.005)
    angle = np.degrees(trajectory.qpos[:, 0])
    raised = trajectory.time[np.argmax(angle > 30)]
    print(f"{name}: 30 degrees after {1000 * raised:.0f} ms, highest {angle.max():.1f} degrees")
    if not muscle.rigid_tendon:
        first, least = trajectory.act[0, 1], trajectory.act[:, 1].min()
        print(f"    fibres from {first:.3f} to {least:.3f} optimal lengths")
