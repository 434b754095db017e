"""Checks the table of docs/drop-in.md against what the replacements export, and against the test of each item.

An item is a name of a `pub use` or a public module of drop-in/parking_lot-*/src/lib.rs. The table's first column has
it in backticks, the second and third say in which versions it is. Each item of a version is named in the test of that
version, drop-in/parking_lot-*/tests/every_item.rs, or in the one that both have in common.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent
VERSIONS = ["0.12", "0.13"]


def exported(version):
    """The names that a replacement exports."""
    text = (ROOT / f"parking_lot-{version}/src/lib.rs").read_text()
    names = set(re.findall(r"^pub mod (\w+);", text, re.M))
    for used in re.findall(r"^pub use ([^;]*);", text, re.M):
        inner = re.search(r"\{(.*)\}", used, re.S)
        names.update(re.findall(r"\w+", inner[1]) if inner else [used.split("::")[-1].strip()])
    return names


def documented():
    """The names of the table, by version."""
    names = {version: set() for version in VERSIONS}
    for line in (ROOT / "../docs/drop-in.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) < 4 or cells[1] not in ("yes", "–") or cells[2] not in ("yes", "–"):
            continue
        for name in re.findall(r"`(\w+)`", cells[0]):
            for version, cell in zip(VERSIONS, cells[1:3]):
                if cell == "yes":
                    names[version].add(name)
    return names


def main():
    table, complaints = documented(), []
    common = (ROOT / "shared/tests/items.rs").read_text()
    for version in VERSIONS:
        test = common + (ROOT / f"parking_lot-{version}/tests/every_item.rs").read_text()
        items = exported(version)
        complaints += [f"{version}: {name} is not in the table of docs/drop-in.md" for name in items - table[version]]
        complaints += [f"{version}: {name} is in the table, and not exported" for name in table[version] - items]
        complaints += [f"{version}: no test uses {name}" for name in items if not re.search(rf"\b{name}\b", test)]
    print("\n".join(sorted(complaints)) or "the table is complete")
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
