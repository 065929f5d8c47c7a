"""The forces of the ground and the loads of a knee behind a recorded motion, without a force plate.

usage: biomechanist.py walk.bvh FOLDER
"""

import sys

try:
    import numpy as np
except ImportError:
    sys.exit(77)

import retrace

found = retrace.inspect(sys.argv[1])
print(f"{found['frames']} frames at {found['frame_rate']:.0f} per second")
forces = retrace.forces(sys.argv[1], sys.argv[2], mass=70, force=True)
weight = forces.mass * 9.81
for side in ("left", "right"):
    vertical = forces.ground[f"{side}_foot_force_y"] / weight
    stance = vertical > 0.05
    print(f"{side} foot: on the ground {100 * stance.mean():.0f} % of the time, peak {vertical.max():.2f} body weights")
    moment = forces.joints[f"{side}_knee_x"] / forces.mass
    print(f"{side} knee: {np.nanmin(moment):.2f} to {np.nanmax(moment):.2f} N m/kg")
for warning in forces.warnings:
    print("warning:", warning)
