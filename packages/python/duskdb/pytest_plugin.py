"""Fixtures of pytest, which finds them by the package's entry point."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from duskdb.server import Clocks, DuskDB


@pytest.fixture
def duskdb() -> Iterator[DuskDB]:
    """A server for one test."""
    with DuskDB() as server:
        yield server


@pytest.fixture(scope="session")
def duskdb_session() -> Iterator[DuskDB]:
    """A server for all tests; with pytest -n, for all tests of a worker."""
    with DuskDB() as server:
        yield server


@pytest.fixture
def duskdb_clocks(duskdb: DuskDB) -> Iterator[Clocks]:
    """The clock of the fixture duskdb and that of this process, which stand still
    together. Needs freezegun."""
    with duskdb.frozen_time() as clocks:
        yield clocks
