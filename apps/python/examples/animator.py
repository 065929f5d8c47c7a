"""Makes a recorded motion physical and returns it on the skeleton of the recording.

usage: animator.py walk.bvh FOLDER
"""

import sys
from pathlib import Path

import retrace

clip, folder = Path(sys.argv[1]), Path(sys.argv[2])
run = retrace.reconstruct(clip, folder, force=True)
print(f"{clip.name}: {'within tolerance' if run.success else 'out of tolerance'}, {run.time[-1]:.2f} s")
for doubt in run.doubts:
    print("  doubt:", doubt)
for path in run.export(["bvh", "glb"], skeleton="source"):
    print(" ", path)

# A shove from the side, harder and harder, each as a take of its own on the same skeleton.
for newtons in (30, 60, 120):
    take = folder.parent / f"{folder.name}-{newtons}N"
    run.replay([{"body": "trunk", "force": (newtons, 0, 0), "start": 1.0, "duration": 0.2}], output=take, force=True)
    print(" ", retrace.Run.load(take).export("bvh", skeleton="source")[0])
