"""Attacks on servers and on the command line of this machine: ``make attack``.

Each attack is a function: it does its worst and returns what it saw. What it must not see it raises
as ``AssertionError``. A duration is judged as a ratio to a quiet request of the same minute, so
that a busy machine changes nothing. All traffic goes to 127.0.0.0/8.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The servers and graphs of the tests are what is attacked.
sys.path[:0] = [str(ROOT / "tests")]
