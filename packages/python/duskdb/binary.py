"""Where the binary is."""

from __future__ import annotations

import atexit
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile

_NAME = "duskdb.exe" if os.name == "nt" else "duskdb"
_built: str | None = None


def find_binary(given: str | None = None) -> str:
    """Returns the path of the binary: DUSKDB_BINARY, the given one, that of this package, or
    duskdb on the PATH. In a clone of the repository it is otherwise built with Go."""
    return locate(given)[0]


def locate(given: str | None) -> tuple[str, str]:
    """Returns the path of the binary, and how messages call it."""
    for what, path in (("DUSKDB_BINARY", os.environ.get("DUSKDB_BINARY")), ("the argument binary", given)):
        if path:
            if wrong := _problem(path):
                raise RuntimeError(f"{what} is {path}, which {wrong}")
            return path, f"the program {path} ({what})"
    path = _search()
    return path, f"the program {path}"


def _problem(path: str) -> str:
    """Says why a file cannot be run; an empty text if it can."""
    if not os.path.exists(path):
        return "does not exist"
    if os.path.isdir(path):
        return f"is a directory: give the path of the program in it, such as {os.path.join(path, _NAME)}"
    if not os.access(path, os.X_OK):
        return f"is not executable: chmod +x {path}"
    return ""


def _search() -> str:
    """Finds the binary that nobody has named, or builds it."""
    for scheme in (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")):
        path = os.path.join(sysconfig.get_path("scripts", scheme), _NAME)
        if os.path.isfile(path):
            return path
    if found := shutil.which("duskdb"):
        return found
    repository = pathlib.Path(__file__).resolve().parents[3]
    if (repository / "cmd" / "duskdb" / "main.go").exists():
        return _build(repository)
    raise RuntimeError("no duskdb binary found: install the wheel of this platform, which go run ./internal/release -platforms own makes in a clone, or set DUSKDB_BINARY")


def _build(repository: pathlib.Path) -> str:
    global _built
    if _built is None:
        folder = tempfile.mkdtemp(prefix="duskdb-build-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        path = os.path.join(folder, _NAME)
        print(f"duskdb: building duskdb with Go in {repository}; the first time this takes minutes", file=sys.stderr, flush=True)
        try:
            subprocess.run(["go", "build", "-o", path, "./cmd/duskdb"], cwd=repository, check=True)
        except FileNotFoundError as error:
            raise RuntimeError(
                f"no duskdb binary found, and none can be built in {repository}: Go is not installed. Set DUSKDB_BINARY, or install Go"
            ) from error
        except subprocess.CalledProcessError as error:
            raise RuntimeError(f"duskdb could not be built in {repository}; what Go said is on standard error") from error
        _built = path
    return _built
