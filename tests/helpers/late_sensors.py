"""A chain with sensors that are late, or read at intervals, in every way."""

import mujoco

LATE = [
    *(f'nsample="6" delay="{delay}" interp="{way}"' for way in ("zoh", "linear", "cubic") for delay in (0.012, 0.0071)),
    *(f'nsample="4" interval="{i}" interp="{way}"' for way in ("zoh", "cubic") for i in ("0.005 0", "0.0071 -0.003")),
    *('nsample="4" interval="0.01 -0.004" delay="0.0123" interp="linear"', 'nsample="3"'),
    *('nsample="5" interval="0.006 0" delay="0.02" interp="cubic"', 'nsample="1" delay="0.002"', ""),
]
SENSORS = ('jointpos joint="x0"', 'framelinvel objtype="site" objname="tip"', 'accelerometer site="tip"')


def late(integrator, more=""):
    """A chain of three links with sensors of position, velocity and acceleration, late in every way."""
    sensors = "".join(f"<{sensor} {when}/>" for sensor in SENSORS for when in LATE)
    links = "".join(
        f'<body pos="0 0 {-0.3 * (k > 0)}"><joint name="x{k}" axis="{k} 1 0" damping="0.1"/>'
        '<geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.3"/>'
        for k in range(3)
    )
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="0.002" integrator="{integrator}"/><default><geom contype="0" conaffinity="0"/>'
        f'</default><worldbody>{links}<site name="tip" pos="0 0 -0.3"/>{"</body>" * 3}</worldbody>'
        f"<sensor>{sensors}{more}</sensor></mujoco>"
    )
