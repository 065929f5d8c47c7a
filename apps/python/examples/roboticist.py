"""Torques and contacts of a motion as arrays, and how hard it can be pushed.

usage: roboticist.py walk.bvh FOLDER
"""

import sys

try:
    import numpy as np
except ImportError:
    sys.exit(77)

import retrace

run = retrace.reconstruct(sys.argv[1], sys.argv[2], force=True, strength=300, seed=1)
largest = np.abs(run.torques).max(axis=(0, 2))
for joint, torque in sorted(zip(run.joint_names, largest), key=lambda item: -item[1])[:5]:
    print(f"{joint}: at most {torque:.0f} N m about an axis")
feet = [b for b, name in enumerate(run.body_names) if name.endswith("_foot")]
bears = np.linalg.norm(run.forces[:, feet], axis=2) > 20
print("double support", f"{100 * (bears.sum(axis=1) == 2).mean():.0f} % of the time")

# Without feedback: how long after a push is the trunk where it was to be?
trunk = run.body_names.index("trunk")
for newtons in (20, 50, 100):
    pushed = run.replay([{"body": "trunk", "force": (newtons, 0, 0), "start": 1.0, "duration": 0.1}])
    steps = min(len(run.time), len(pushed.time))
    off = np.linalg.norm(pushed.states["position"][:steps, trunk] - run.states["position"][:steps, trunk], axis=1)
    late = np.nonzero(off > 0.1)[0]
    when = f"{run.time[late[0]] - 1:.2f} s later" if len(late) else "never"
    print(f"{newtons} N for 0.1 s: 0.1 m off {when}")
