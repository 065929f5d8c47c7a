"""What the experiments share: folders, statistics, and loading one script from another.

An experiment is a script without an extension, scripts/experiments/NAME/run. It finds this file by
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__)))).
"""
import importlib.machinery
import importlib.util
import math
import os
import sys

sys.dont_write_bytecode = True
EXPERIMENTS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(EXPERIMENTS))
CLIPS = os.path.join(ROOT, "..", "shared", "mocap", "clips")  # recordings that are not part of the repository


def load(path):
    """The module that a script is, from its path below scripts/."""
    name = "".join(c if c.isalnum() else "_" for c in path)
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(ROOT, "scripts", path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def experiment_options(parser, output, jobs=True):
    """Adds the options that experiments have in common; `output` is a folder below results/."""
    parser.add_argument("--output", default=os.path.join(ROOT, "results", output))
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "release", "apps"))
    if jobs:
        parser.add_argument("--jobs", type=int, default=os.cpu_count())


def at_least(k, n):
    """The one-sided 95 % lower bound, after Clopper and Pearson, of a share that was seen k times in n trials."""
    if k == 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(60):
        p = 0.5 * (low + high)
        tail = sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))
        low, high = (p, high) if tail < 0.05 else (low, p)
    return low


def mcnemar(pairs):
    """McNemar's exact test, one-sided, that the second of two is no better. Pairs of (first, second)."""
    better = sum(b and not a for a, b in pairs)
    worse = sum(a and not b for a, b in pairs)
    n = better + worse
    return sum(math.comb(n, i) for i in range(better, n + 1)) / 2**n
