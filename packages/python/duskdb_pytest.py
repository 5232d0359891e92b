"""A MongoDB-compatible server for tests, with a clock that tests can move.

Put this file beside conftest.py, or on the Python path, and add to conftest.py:

    pytest_plugins = ["duskdb_pytest"]

Each test that uses the fixture has its own server:

    def test_cart_expires(duskdb):
        carts = duskdb.client.shop.carts
        carts.create_index("touched", expireAfterSeconds=3600)
        carts.insert_one({"touched": duskdb.now()})
        duskdb.advance(3661)  # seconds; returns after the expiry pass that became due
        assert carts.count_documents({}) == 0

The binary is the path in the environment variable DUSKDB_BINARY, or duskdb on the
PATH; in a clone of the repository it is otherwise built with Go. Only pymongo is
required.
"""

import atexit
import os
import pathlib
import shutil
import subprocess
import tempfile

import pymongo

try:
    import pytest
except ImportError:  # the class also works without pytest
    pytest = None

_built = None


def find_binary():
    """Returns the path of the binary, and builds it if necessary."""
    global _built
    if given := os.environ.get("DUSKDB_BINARY"):
        return given
    if found := shutil.which("duskdb"):
        return found
    repository = pathlib.Path(__file__).resolve().parents[2]
    if not (repository / "cmd" / "duskdb" / "main.go").exists():
        raise RuntimeError("no duskdb binary found: set DUSKDB_BINARY")
    if _built is None:
        folder = tempfile.mkdtemp(prefix="duskdb-build-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        _built = os.path.join(folder, "duskdb")
        subprocess.run(["go", "build", "-o", _built, "./cmd/duskdb"], cwd=repository, check=True)
    return _built


class DuskDB:
    """A server that keeps its data in memory. It is also a context manager."""

    def __init__(self, *args, now=None, parameters=None, binary=None):
        """Starts a server. With now, a datetime or an ISO 8601 string, its clock
        stands still at that time. args are more flags for duskdb."""
        flags = ["--test-clock", "--exit-with-stdin", "--quiet", "--port", "0", "--dbpath", ":memory:"]
        parameters = dict(parameters or {})
        if now is not None:
            parameters["testClockStart"] = now if isinstance(now, str) else _instant(now)
        for name, value in parameters.items():
            flags += ["--setParameter", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
        self._log = tempfile.TemporaryFile()
        self._process = subprocess.Popen(  # the server exits when its stdin closes, at the latest when this process exits
            [binary or find_binary(), *flags, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        atexit.register(self.stop)
        self._client = None
        self.uri = self._listening()

    def _listening(self):
        for line in self._process.stdout:
            if line.startswith("duskdb listening on "):
                return line.split()[-1]
        code = self._process.wait()
        self._log.seek(0)
        raise RuntimeError(f"duskdb exited with {code}:\n{self._log.read().decode()}")

    @property
    def client(self):
        """A MongoClient for this server, created at the first use."""
        if self._client is None:
            self._client = pymongo.MongoClient(self.uri, tz_aware=True)
        return self._client

    def now(self):
        """Returns the server's time."""
        return self._clock()

    def advance(self, seconds=0, *, millis=0):
        """Moves the clock forward, runs the expiration pass if one has become due, and
        returns the new time."""
        return self._clock(advanceMillis=round(seconds * 1000) + millis)

    def set(self, instant):
        """Moves the clock to a datetime that is not before the server's time."""
        return self._clock(set=instant)

    def run_pass(self):
        """Runs an expiration pass now and returns the numbers of what it deleted."""
        return self.client.admin.command("runExpirationPass")["deleted"]

    def _clock(self, **change):
        aware = self.client.codec_options
        return self.client.admin.command("testClock", codec_options=aware, **change)["now"]

    def stop(self):
        """Stops the server. Further calls do nothing."""
        atexit.unregister(self.stop)
        if self._client is not None:
            self._client.close()
            self._client = None
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
        self._log.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def _instant(when):
    text = when.isoformat()
    return text if when.tzinfo else text + "Z"


if pytest:

    @pytest.fixture
    def duskdb():
        """A server for one test."""
        with DuskDB() as server:
            yield server

    @pytest.fixture(scope="session")
    def duskdb_session():
        """A server for all tests."""
        with DuskDB() as server:
            yield server
