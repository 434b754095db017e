"""Fetches published crates, and puts crate ondeck's locks in parking_lot's place by `[patch.crates-io]`.

The sources come by `cargo fetch`, from whatever registry cargo is configured for. No file of a crate is changed, apart
from what `fetch` says: the patches are in a file that cargo is given by `--config`.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRATCH = pathlib.Path(os.environ.get("DROPIN_SCRATCH", "/tmp/ondeck-drop-in"))
SIDES = ("original", "ondeck")
REPLACEMENTS = ("parking_lot-0.12", "parking_lot-0.13", "parking_lot_core-0.9", "parking_lot_core-0.10")

# One target folder for all crates, so that what they have in common is compiled once; without what debuggers need,
# which takes most of the linker's time.
ENVIRONMENT = {"CARGO_TARGET_DIR": str(SCRATCH / "target"), "CARGO_PROFILE_DEV_DEBUG": "0", **os.environ}


def cargo(folder, *arguments):
    """What cargo prints. If it fails, so does the program, with cargo's words."""
    done = subprocess.run(
        ["cargo", *arguments], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{folder}: cargo {' '.join(arguments)} failed:\n{done.stderr}")
    return done.stdout


def packages(folder, *arguments):
    return json.loads(cargo(folder, *arguments, "metadata", "-q", "--all-features", "--format-version", "1"))["packages"]


def empty(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def fetch(name, version, target):
    """Copies a crate's published source to `target`.

    Left out: the versions that its authors had (Cargo.lock), for cargo would keep their parking_lot; and the compiler
    that they ask for, which may be older than the one that crate ondeck needs.
    """
    by = empty(SCRATCH / f"by-{name}")
    (by / "src").mkdir()
    (by / "src/lib.rs").touch()
    (by / "Cargo.toml").write_text(
        f'[package]\nname = "fetches"\nedition = "2021"\n[workspace]\n[dependencies]\n{name} = "={version}"\n'
    )
    cargo(by, "fetch", "-q")
    manifest = next(it["manifest_path"] for it in packages(by) if (it["name"], it["version"]) == (name, version))
    shutil.rmtree(target, ignore_errors=True)
    left_out = shutil.ignore_patterns("Cargo.lock", ".cargo-ok", "rust-toolchain", "rust-toolchain.toml")
    shutil.copytree(pathlib.Path(manifest).parent, target, ignore=left_out)


def patches(folder, side, itself):
    """A file for `cargo --config`: the patches of a side.

    `itself` is the name of a crate and its place in `folder`. On both sides that is also the one that its development
    dependencies use, as in its authors' workspace.
    """
    paths = {name: folder / place for name, place in itself.items()}
    if side == "ondeck":
        paths |= {it: ROOT / "drop-in" / it for it in REPLACEMENTS}
    lines = [
        f'{key.replace(".", "_")} = {{ package = "{key.rsplit("-0.", 1)[0]}", path = "{path}" }}'
        for key, path in paths.items()
    ]
    config = folder.parent / f"{folder.name}.toml"
    config.write_text("\n".join(["[patch.crates-io]", *lines, ""]))
    return config


def locks(folder, config):
    """Which packages of parking_lot are used: of the registry, or of this project."""
    return {
        f"{it['name']} {it['version']}": "registry" if it["source"] else "ondeck"
        for it in packages(folder, "--config", str(config))
        if it["name"] in ("parking_lot", "parking_lot_core") and it["id"].rpartition("#")[0] != f"path+file://{folder / 'core'}"
    }


def both_sides(name, make, itself):
    """A folder for each side, which `make` fills, each with its patches: a dictionary by side.

    All versions of other crates are the same on both sides.
    """
    sides = {}
    for side in SIDES:
        folder = SCRATCH / side / name
        make(folder)
        sides[side] = folder, patches(folder, side, itself)
    (original, config), (ours, our_config) = (sides[side] for side in SIDES)
    cargo(original, "--config", str(config), "generate-lockfile", "-q")
    shutil.copy(original / "Cargo.lock", ours / "Cargo.lock")
    # As a user does whose lock file has the originals already.
    updates = [word for it in sorted(locks(original, config)) for word in ("-p", it.replace(" ", "@"))]
    cargo(ours, "--config", str(our_config), "update", "-q", *updates)
    for side, of in zip(SIDES, ("registry", "ondeck")):
        found = locks(*sides[side])
        if not found or set(found.values()) != {of}:
            sys.exit(f"{name}: does not use parking_lot as it should on the side {side}: {found}")
    return sides


def published(name, version, more_dependencies, member):
    """Both sides of a published crate.

    `more_dependencies` is appended to its manifest: development dependencies that it lost when it was published. A
    `member` is in a workspace, for its tests know the folder that it has there.
    """
    place = name if member else "."

    def make(folder):
        empty(folder)
        fetch(name, version, folder / place)
        with (folder / place / "Cargo.toml").open("a") as manifest:
            manifest.write(more_dependencies)
        if member:
            (folder / "Cargo.toml").write_text(f'[workspace]\nresolver = "2"\nmembers = ["{name}"]\n')

    return both_sides(f"{name}-{version}", make, {name: place})
