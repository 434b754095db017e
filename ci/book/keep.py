"""Keeps the report of the two in which the host and other programs had less of the CPU time.

`keep.py NEW KEPT`: KEPT may not exist. It is written without the spaces, which are half of a report. Ends with 3
if others had more in it than a report lets pass: then it is worth another try.
"""

import json
import pathlib
import sys

from figures import disturbed, taken

# Not 1, which is Python's own for a mistake.
AGAIN = 3


def main():
    new, kept = map(pathlib.Path, sys.argv[1:])
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in (new, kept) if path.exists()]
    best = min(reports, key=taken)
    kept.write_text(
        json.dumps(best, ensure_ascii=False, separators=(",", ":")), encoding="utf-8"
    )
    if not disturbed(best):
        return 0
    print(f"others had {100 * taken(best):.1f} % of the CPU time")
    return AGAIN


if __name__ == "__main__":
    sys.exit(main())
