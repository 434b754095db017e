"""The version of the waiting policy: a digest of its code, without comments and tests.

A commit would not do. It gets another name where it is applied anew, and the check of a page has to come out the same before and
after the commit that changes the policy.
"""

import hashlib
import subprocess

from records import ROOT

SOURCE = "locks/ondeck/src"
PLACES = [f"{SOURCE}/mutex", f"{SOURCE}/parking", f"{SOURCE}/spin.rs"]


def code(text):
    """The lines of a file that are compiled into the locks."""
    lines = (line.strip() for line in text.partition("\n#[cfg(test)]\nmod ")[0].splitlines())
    return [line.partition(" // ")[0] for line in lines if line and not line.startswith("//")]


def digest(files):
    """The digest of files, by their paths."""
    lines = [line for path in sorted(files) for line in (path, *code(files[path]))]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def here():
    """The policy of this tree."""
    paths = (path for place in PLACES for path in [ROOT / place, *(ROOT / place).rglob("*.rs")] if path.is_file())
    return digest({str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths})


def at(commit):
    """The policy of a commit; none if git does not know that, or if it was changed before the build (`-dirty`)."""

    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True, encoding="utf-8").stdout

    try:
        paths = git("ls-tree", "-r", "--name-only", f"{commit}^{{commit}}", "--", *PLACES).splitlines()
        return digest({path: git("show", f"{commit}:{path}") for path in paths if path.endswith(".rs")})
    except (OSError, subprocess.CalledProcessError):
        return None
