"""Systems with measurements that several estimators are tested on."""

#: Two masses on springs, linear, of which a position and a velocity are measured.
SPRINGS = """
<mujoco><option timestep="0.01" gravity="0 0 0"/><worldbody>
  <body><joint name="a" type="slide" axis="1 0 0" stiffness="20" damping=".3"/><geom size=".1" mass="1" contype="0"/>
    <body><joint name="b" type="slide" axis="1 0 0" stiffness="5" damping=".1"/>
      <geom size=".1" mass=".5" contype="0"/></body>
  </body>
  </worldbody><actuator><motor joint="a"/></actuator>
  <sensor><jointpos name="at" joint="b"/><jointvel name="rate" joint="a"/></sensor></mujoco>"""
