"""Where the binary is."""

from __future__ import annotations

import atexit
import os
import pathlib
import shutil
import subprocess
import sysconfig
import tempfile

_NAME = "duskdb.exe" if os.name == "nt" else "duskdb"
_built: str | None = None


def find_binary(given: str | None = None) -> str:
    """Returns the path of the binary: DUSKDB_BINARY, the given one, that of this package, or
    duskdb on the PATH. In a clone of the repository it is otherwise built with Go."""
    for what, path in (("DUSKDB_BINARY", os.environ.get("DUSKDB_BINARY")), ("the argument binary", given)):
        if path:
            if not os.path.isfile(path):
                raise RuntimeError(f"{what} is {path}, which does not exist")
            return path
    for scheme in (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")):
        path = os.path.join(sysconfig.get_path("scripts", scheme), _NAME)
        if os.path.isfile(path):
            return path
    if found := shutil.which("duskdb"):
        return found
    repository = pathlib.Path(__file__).resolve().parents[3]
    if (repository / "cmd" / "duskdb" / "main.go").exists():
        return _build(repository)
    raise RuntimeError("no duskdb binary found: install the wheel of this platform, or set DUSKDB_BINARY")


def _build(repository: pathlib.Path) -> str:
    global _built
    if _built is None:
        folder = tempfile.mkdtemp(prefix="duskdb-build-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        path = os.path.join(folder, _NAME)
        subprocess.run(["go", "build", "-o", path, "./cmd/duskdb"], cwd=repository, check=True)
        _built = path
    return _built
