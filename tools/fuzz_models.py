"""Load thousands of damaged and forged models and ask them for answers; prints what became of them.

Every sixth case is a folder of a distributed model, the others are model files. Seeds are fixed: a case is the same in
every run, and ``--first`` repeats one. A case has ten seconds, in a process of its own that may die.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "packages" / "dsna"))  # helpers of the tests
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "packages" / "dsna-vision"))

from tests.io.forged_trials import examined


def kind_of(verdict: str) -> str:
    """What a verdict counts as."""
    if verdict in ("refused", "sound"):
        return verdict
    return {"hung": "hangs", "killed": "signals"}.get(verdict.split()[0], "other exceptions")


def main() -> int:
    """Exit code 0 where every model was refused by an error of dsna, or answers as a fitted one does."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=6000, help="number of cases (6000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case (0)")
    asked = parser.parse_args()
    begin, counts, folders = time.monotonic(), Counter(), 0
    for number, done, verdict in examined(asked.first, asked.first + asked.cases):
        kind = kind_of(verdict)
        counts[kind] += 1
        folders += done.startswith("folder of ")
        if kind not in ("refused", "sound"):
            print(f"case {number}: {done}: {' '.join(verdict.split())}", flush=True)
    print(f"{sum(counts.values())} cases, {folders} of them folders, in {time.monotonic() - begin:.0f} s")
    for kind in ("refused", "sound", "signals", "hangs", "other exceptions"):
        print(f"{counts[kind]:6} {kind}")
    return int(sum(counts.values()) < asked.cases or any(counts[k] for k in ("signals", "hangs", "other exceptions")))


if __name__ == "__main__":
    sys.exit(main())
