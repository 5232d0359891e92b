"""Loads the fixtures as a user's project does."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
pytest_plugins = ["duskdb.pytest_plugin"]
