"""Keeps the report of the two in which the host and other programs had less of the CPU time.

`keep.py NEW KEPT`: KEPT may not exist. It is written without the spaces, which are half of a report. Ends with 1
if others had more in it than a report lets pass: then it is worth another try.
"""

import json
import pathlib
import sys

from figures import taken


def main():
    new, kept = map(pathlib.Path, sys.argv[1:])
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in (new, kept) if path.exists()]
    best = min(reports, key=taken)
    kept.write_text(
        json.dumps(best, ensure_ascii=False, separators=(",", ":")), encoding="utf-8"
    )
    disturbed = {warning["code"] for warning in best["warnings"]} & {"disturbed", "stolen"}
    if disturbed:
        print(f"others had {100 * taken(best):.1f} % of the CPU time")
    return 1 if disturbed else 0


if __name__ == "__main__":
    sys.exit(main())
