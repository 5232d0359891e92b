"""Brings the fixtures of this folder. They are imported, because pytest takes pytest_plugins from the
topmost conftest alone, and this folder may stand anywhere in another project."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from duskdb.pytest_plugin import duskdb, duskdb_clocks, duskdb_session  # noqa: E402, F401
