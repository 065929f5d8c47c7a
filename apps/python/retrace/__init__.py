"""The control and the forces behind a recorded motion.

    import retrace
    run = retrace.reconstruct("walk.bvh")
    print(run.success, run.states["position"].shape, run.torques.shape)
    pushed = run.replay(pushes=["trunk,60:0:0,1.5,0.2"])
    run.export("bvh", skeleton="source")

Units are those of SI, y points up, quaternions are w, x, y, z. What a step of the simulation brings about (torques,
contacts, forces) stands at the state that it led to, and is 0 at the first one. Arrays are read-only views.
Long work leaves the interpreter to other threads, and ends with KeyboardInterrupt on Ctrl-C.
"""

from __future__ import annotations

import difflib
import json
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, Union

from . import _core
from ._errors import Error, InputError, OutputError, UsageError

__all__ = ["Error", "Forces", "InputError", "Motion", "OutputError", "Replay", "Run", "Table", "UsageError", "forces",
           "inspect", "reconstruct", "__version__"]
__version__: str = _core.version

PathLike = Union[str, "os.PathLike[str]"]
PushLike = Union[str, Mapping[str, Any]]

_CLIP = ("skeleton", "animation", "performer", "map", "up", "level_floor", "seconds", "start", "end", "time_scale", "loop",
         "unit", "frame_rate", "skip_frames", "keep_calibration_frames", "mirror", "floor_height", "treadmill", "facing")
_TASK = _CLIP + ("character", "world", "ground", "config", "settings", "repair", "strength", "servos", "solver")
_RECONSTRUCT = _TASK + ("method", "quality", "samples", "saved", "seed", "continuation", "best_effort", "paper")
_FORCES = _TASK + ("mass", "force_plates", "force_plates_heading", "force_plates_delay",
                  "force_plates_sides")
_PATHS = ("skeleton", "map", "config", "force_plates", "character")


def _assignments(settings: Mapping[str, Any], above: str = "") -> list[str]:
    """{"search": {"budget": 100}} and {"/search/budget": 100} become ["/search/budget=100"]."""
    found: list[str] = []
    for key, value in settings.items():
        pointer = key if key.startswith("/") else f"{above}/{key}"
        if isinstance(value, Mapping):
            found += _assignments(value, pointer)
        else:
            found.append(f"{pointer}={value if isinstance(value, str) else json.dumps(value)}")
    return found


def _strength(value: Any) -> list[str]:
    """100, {"left_knee": 60} or ["100", "left_knee=60"] as the program takes them."""
    if isinstance(value, Mapping):
        return [f"{joint}={limit}" for joint, limit in value.items()]
    if isinstance(value, (str, int, float)):
        return [str(value)]
    return [str(one) for one in value]


def _options(function: str, clip: PathLike, known: Sequence[str], options: Mapping[str, Any]) -> str:
    for name in options:
        if name in known:
            continue
        near = difflib.get_close_matches(name, known, 1)
        hint = f'; did you mean "{near[0]}"?' if near else ""
        raise UsageError(f'{function}: found an option "{name}", expected one of {", ".join(known)}{hint}', 2)
    document: dict[str, Any] = {"clip": os.fspath(clip)}
    for name, value in options.items():
        if value is None:
            continue
        if name == "settings":
            document["set"] = _assignments(value)
        elif name == "world":
            worlds = [value] if isinstance(value, (str, os.PathLike)) else list(value)
            document["world"] = [os.fspath(world) for world in worlds]
        elif name == "strength":
            document["strength"] = _strength(value)
        elif name in _PATHS:
            document[name] = os.fspath(value)
        else:
            document[name] = value
    try:
        return json.dumps(document, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{function}: found an option that is no JSON ({error}), expected numbers and texts", 2) from None


def _command(function: str, clip: PathLike, options: Mapping[str, Any]) -> str:
    """The call, for the manifest."""
    arguments = [repr(os.fspath(clip))] + [f"{name}={value!r}" for name, value in options.items()]
    return f"retrace.{function}({', '.join(arguments)})"


def _push(push: PushLike) -> str:
    if isinstance(push, str):
        return push
    unknown = set(push) - {"body", "force", "start", "duration"}
    missing = {"body", "force", "start", "duration"} - set(push)
    if unknown or missing:
        raise UsageError(f"pushes: found {sorted(push)}, expected body, force (three numbers), start and duration", 2)
    force = ":".join(repr(float(part)) for part in push["force"])
    return f"{push['body']},{force},{float(push['start'])!r},{float(push['duration'])!r}"


class Motion:
    """The simulated motion of one character, with n states, b bodies, j joints and k contacts."""

    def __init__(self, core: Any) -> None:
        self._core = core
        self.time_step: float = core.time_step
        self.body_names: list[str] = core.body_names
        self.joint_names: list[str] = core.joint_names
        self.root: int = core.root

    @property
    def time(self) -> Any:
        """(n) [s]"""
        return self._core.time

    @property
    def states(self) -> Any:
        """(n, b) with the fields position, orientation, linear_velocity, angular_velocity of the centers of mass"""
        return self._core.states

    @property
    def torques(self) -> Any:
        """(n, j, 3): of the servo on the child, in the parent's axes [N m]"""
        return self._core.torques

    @property
    def contacts(self) -> Any:
        """(k) with the fields state, body, other (body, else -1), object (else -1), point, force, normal"""
        return self._core.contacts

    @property
    def forces(self) -> Any:
        """(n, b, 3): of ground and objects on each body [N]"""
        return self._core.forces

    @property
    def ground_force(self) -> Any:
        """(n, 3): the sum of these [N]"""
        return self._core.ground_force


class _Moving:
    """What has motions: one per character, whose first is meant where none is named."""

    _motions: Optional[list[Motion]] = None

    def _make(self) -> list[Motion]:
        raise NotImplementedError

    @property
    def motions(self) -> list[Motion]:
        """(characters)"""
        if self._motions is None:
            self._motions = self._make()
        return self._motions

    @property
    def motion(self) -> Motion:
        """That of the first character."""
        return self.motions[0]

    def __getattr__(self, name: str) -> Any:
        if name in ("time", "states", "torques", "contacts", "forces", "ground_force", "time_step", "body_names",
                    "joint_names", "root"):
            return getattr(self.motion, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class Replay(_Moving):
    """A run that was simulated again."""

    def __init__(self, core: Any) -> None:
        self._core = core
        self.success: bool = core.success
        self.completed: bool = core.completed
        self.diverged: bool = core.diverged
        self.text: str = core.text

    def _make(self) -> list[Motion]:
        return [Motion(core) for core in self._core.motions]


class Run(_Moving):
    """A run as its folder keeps it. It is simulated when its motion is first looked at."""

    def __init__(self, folder: PathLike) -> None:
        self.folder = Path(folder)
        self._core = _core.Run(self.folder)

    @classmethod
    def load(cls, folder: PathLike) -> "Run":
        """The run in a folder."""
        return cls(folder)

    def __repr__(self) -> str:
        return f"<retrace.Run {str(self.folder)!r}>"

    def _make(self) -> list[Motion]:
        return [Motion(core) for core in self._core.motion().motions]

    @property
    def manifest(self) -> dict[str, Any]:
        """What manifest.json has."""
        return json.loads(self._core.manifest) or {}

    @property
    def success(self) -> bool:
        """Whether the motion is within its tolerances."""
        return bool(self.manifest.get("success", False))

    @property
    def doubts(self) -> list[str]:
        """Why a success may be nonsense, as sentences."""
        return list(self.manifest.get("evaluation", {}).get("doubts", []))

    @property
    def evaluation(self) -> dict[str, Any]:
        """Tolerances and figures."""
        return dict(self.manifest.get("evaluation", {}))

    def verify(self) -> str:
        """Simulates the run again; what differs from what is stored, in the first bit, or an empty text."""
        return self._core.verify()

    def replay(self, pushes: Iterable[PushLike] = (), *, feedback: bool = False, output: Optional[PathLike] = None,
               force: bool = False) -> Replay:
        """Simulates the run under pushes: texts such as "trunk,60:0:0,1.5,0.2" (newtons in world axes, start and duration
        in s) or {"body", "force", "start", "duration"}; with `feedback` under that of `retrace feedback add`. `output`
        is a folder to write it into."""
        texts = [_push(push) for push in pushes]
        command = f"retrace.Run({str(self.folder)!r}).replay({texts!r})"
        where = None if output is None else Path(output)
        return Replay(self._core.replay(texts, feedback, where, force, command))

    def export(self, formats: Union[str, Sequence[str]], output: Optional[PathLike] = None, *,
               rate: Optional[float] = None, skeleton: str = "character", recording: Optional[PathLike] = None,
               skin: bool = False, force: bool = False) -> list[Path]:
        """Writes the motion as glb, bvh, csv, npz, sto, trc, joints, mujoco or all; with skeleton="source" on the skeleton of
        the recording; with `skin` a human of a glb file has one mesh that bends at the joints. Returns the files."""
        names = [formats] if isinstance(formats, str) else list(formats)
        where, source = ("" if path is None else os.fspath(path) for path in (output, recording))
        return self._core.export(names, where, rate, skeleton, source, skin, force)


class Table:
    """Columns with names: table["left_foot_force_y"]."""

    def __init__(self, core: Any) -> None:
        self.names: list[str] = core.names
        self.values = core.values

    def __getitem__(self, name: str) -> Any:
        if name not in self.names:
            near = difflib.get_close_matches(name, self.names, 1)
            raise KeyError(name + (f' (did you mean "{near[0]}"?)' if near else ""))
        return self.values[:, self.names.index(name)]

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __len__(self) -> int:
        return len(self.names)


class Forces:
    """The forces behind a recorded motion by inverse dynamics."""

    def __init__(self, core: Any, folder: Optional[Path]) -> None:
        self._core = core
        self.folder = folder
        self.ground = Table(core.ground)
        self.joints = Table(core.joints)
        self.mass: float = core.mass
        self.notes: list[str] = core.notes
        self.warnings: list[str] = core.warnings
        self.text: str = core.text

    @property
    def time(self) -> Any:
        """(n) [s]"""
        return self._core.time


def reconstruct(clip: PathLike, output: Optional[PathLike] = None, *, threads: int = 0, force: bool = False,
                resume: bool = False, report: bool = False, progress: Optional[Callable[[float], None]] = None,
                **settings: Any) -> Run:
    """Finds the control that makes a character perform a recorded motion, as `retrace reconstruct` does, with the same
    files. Without `output` they are in a temporary folder, which goes with the run.

    Settings have the names of the program's options: start, end, character, world, method, quality, seed, ...; and
    settings={"/search/budget": 100} or {"search": {"budget": 100}} for what `--set` sets. `progress` is called with a
    fraction of the motion. A run that is out of tolerance is returned, too: `run.success` says so."""
    options = _options("reconstruct", clip, _RECONSTRUCT, settings)
    temporary = None
    if output is None:
        temporary = tempfile.mkdtemp(prefix="retrace-")
        output = Path(temporary) / "run"
    try:
        _core.reconstruct(options, Path(output), threads, force, resume, report,
                          _command("reconstruct", clip, settings), progress)
        run = Run(output)
    except BaseException:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
        raise
    if temporary is not None:
        weakref.finalize(run, shutil.rmtree, temporary, True)
    return run


def forces(clip: PathLike, output: Optional[PathLike] = None, *, use_measured: bool = False, cycles: bool = False,
           force: bool = False, **settings: Any) -> Forces:
    """The forces of the ground and the loads of the joints behind a recorded motion, as `retrace forces` finds them;
    `output` is a folder to write them into."""
    options = _options("forces", clip, _FORCES, {"character": "subject", **settings})
    where = None if output is None else Path(output)
    core = _core.forces(options, where, use_measured, cycles, force, _command("forces", clip, settings))
    return Forces(core, where)


def inspect(clip: PathLike, **settings: Any) -> dict[str, Any]:
    """What is recognized in a recording, as `retrace inspect --json` prints it."""
    known = _CLIP + ("character",)
    return json.loads(_core.inspect(_options("inspect", clip, known, settings)))
