from os import PathLike
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, TypedDict, Union

import numpy as np
import numpy.typing as npt

from ._errors import Error as Error
from ._errors import InputError as InputError
from ._errors import OutputError as OutputError
from ._errors import UsageError as UsageError

__version__: str

_Path = Union[str, PathLike[str]]
_Floats = npt.NDArray[np.float64]
_Rows = npt.NDArray[np.void]

class Push(TypedDict):
    body: str
    force: Sequence[float]
    start: float
    duration: float

class Motion:
    time_step: float
    body_names: list[str]
    joint_names: list[str]
    root: int
    @property
    def time(self) -> _Floats: ...
    @property
    def states(self) -> _Rows: ...
    @property
    def torques(self) -> _Floats: ...
    @property
    def contacts(self) -> _Rows: ...
    @property
    def forces(self) -> _Floats: ...
    @property
    def ground_force(self) -> _Floats: ...

class _Moving:
    @property
    def motions(self) -> list[Motion]: ...
    @property
    def motion(self) -> Motion: ...
    @property
    def time(self) -> _Floats: ...
    @property
    def states(self) -> _Rows: ...
    @property
    def torques(self) -> _Floats: ...
    @property
    def contacts(self) -> _Rows: ...
    @property
    def forces(self) -> _Floats: ...
    @property
    def ground_force(self) -> _Floats: ...
    @property
    def time_step(self) -> float: ...
    @property
    def body_names(self) -> list[str]: ...
    @property
    def joint_names(self) -> list[str]: ...
    @property
    def root(self) -> int: ...

class Replay(_Moving):
    success: bool
    completed: bool
    diverged: bool
    text: str

class Run(_Moving):
    folder: Path
    def __init__(self, folder: _Path) -> None: ...
    @classmethod
    def load(cls, folder: _Path) -> Run: ...
    @property
    def manifest(self) -> dict[str, Any]: ...
    @property
    def success(self) -> bool: ...
    @property
    def doubts(self) -> list[str]: ...
    @property
    def evaluation(self) -> dict[str, Any]: ...
    def verify(self) -> str: ...
    def replay(self, pushes: Iterable[Union[str, Push]] = ..., *, feedback: bool = ..., output: Optional[_Path] = ...,
               force: bool = ...) -> Replay: ...
    def export(self, formats: Union[str, Sequence[str]], output: Optional[_Path] = ..., *, rate: Optional[float] = ...,
               skeleton: str = ..., recording: Optional[_Path] = ..., skin: bool = ...,
               force: bool = ...) -> list[Path]: ...

class Table:
    names: list[str]
    values: _Floats
    def __getitem__(self, name: str) -> _Floats: ...
    def __contains__(self, name: object) -> bool: ...
    def __len__(self) -> int: ...

class Forces:
    folder: Optional[Path]
    ground: Table
    joints: Table
    mass: float
    notes: list[str]
    warnings: list[str]
    text: str
    @property
    def time(self) -> _Floats: ...

def reconstruct(
    clip: _Path,
    output: Optional[_Path] = ...,
    *,
    threads: int = ...,
    force: bool = ...,
    resume: bool = ...,
    report: bool = ...,
    progress: Optional[Callable[[float], None]] = ...,
    skeleton: Optional[_Path] = ...,
    animation: Optional[str] = ...,
    performer: Optional[str] = ...,
    map: Optional[_Path] = ...,
    up: Optional[str] = ...,
    level_floor: Optional[bool] = ...,
    seconds: Optional[float] = ...,
    start: Optional[float] = ...,
    end: Optional[float] = ...,
    time_scale: Optional[float] = ...,
    loop: Optional[float] = ...,
    unit: Optional[float] = ...,
    frame_rate: Optional[float] = ...,
    skip_frames: Optional[int] = ...,
    keep_calibration_frames: Optional[bool] = ...,
    mirror: Optional[bool] = ...,
    floor_height: Optional[float] = ...,
    treadmill: Optional[float] = ...,
    facing: Optional[float] = ...,
    character: Optional[_Path] = ...,
    world: Union[None, _Path, Sequence[_Path]] = ...,
    ground: Optional[str] = ...,
    config: Optional[_Path] = ...,
    settings: Optional[Mapping[str, Any]] = ...,
    repair: Optional[bool] = ...,
    strength: Union[None, float, str, Sequence[str], Mapping[str, float]] = ...,
    servos: Optional[str] = ...,
    solver: Optional[str] = ...,
    method: Optional[str] = ...,
    quality: Optional[str] = ...,
    samples: Optional[int] = ...,
    saved: Optional[int] = ...,
    seed: Optional[int] = ...,
    continuation: Optional[float] = ...,
    best_effort: Optional[bool] = ...,
    paper: Optional[bool] = ...,
) -> Run: ...
def forces(
    clip: _Path,
    output: Optional[_Path] = ...,
    *,
    use_measured: bool = ...,
    cycles: bool = ...,
    force: bool = ...,
    mass: Optional[float] = ...,
    force_plates: Optional[_Path] = ...,
    force_plates_heading: Optional[float] = ...,
    force_plates_delay: Optional[float] = ...,
    force_plates_sides: Optional[str] = ...,
    **settings: Any,
) -> Forces: ...
def inspect(clip: _Path, **settings: Any) -> dict[str, Any]: ...
