"""The part of the package that is written in C++."""

from os import PathLike
from pathlib import Path
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

version: str

class Motion:
    time_step: float
    body_names: list[str]
    joint_names: list[str]
    root: int
    @property
    def time(self) -> npt.NDArray[np.float64]: ...
    @property
    def states(self) -> npt.NDArray[np.void]: ...
    @property
    def torques(self) -> npt.NDArray[np.float64]: ...
    @property
    def contacts(self) -> npt.NDArray[np.void]: ...
    @property
    def forces(self) -> npt.NDArray[np.float64]: ...
    @property
    def ground_force(self) -> npt.NDArray[np.float64]: ...

class ReplayResult:
    motions: list[Motion]
    success: bool
    completed: bool
    diverged: bool
    text: str

class Run:
    manifest: str
    characters: int
    def __init__(self, folder: Union[str, PathLike[str]]) -> None: ...
    def motion(self) -> ReplayResult: ...
    def replay(self, pushes: Sequence[str], feedback: bool, output: Optional[Path], force: bool,
               command: str) -> ReplayResult: ...
    def verify(self) -> str: ...
    def export(self, formats: Sequence[str], output: str, rate: Optional[float], skeleton: str, recording: str,
               skin: bool, force: bool) -> list[Path]: ...

class NamedColumns:
    names: list[str]
    @property
    def values(self) -> npt.NDArray[np.float64]: ...

class ForceArrays:
    ground: NamedColumns
    joints: NamedColumns
    mass: float
    notes: list[str]
    warnings: list[str]
    text: str
    @property
    def time(self) -> npt.NDArray[np.float64]: ...

def reconstruct(options: str, output: Path, threads: int, force: bool, resume: bool, report: bool, command: str,
                progress: Optional[Callable[[float], None]]) -> tuple[bool, list[str]]: ...
def forces(options: str, output: Optional[Path], use_measured: bool, cycles: bool, force: bool,
           command: str) -> ForceArrays: ...
def inspect(options: str) -> str: ...
