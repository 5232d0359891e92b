"""A server as a child process."""

from __future__ import annotations

import atexit
import contextlib
import datetime
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pymongo

from duskdb.binary import find_binary
from duskdb.duration import milliseconds

if TYPE_CHECKING:
    from types import TracebackType


class DuskDB:
    """A server that keeps its data in memory. It is also a context manager."""

    uri: str
    """The connection string."""

    def __init__(
        self,
        *args: str,
        now: datetime.datetime | str | None = None,
        parameters: Mapping[str, object] | None = None,
        binary: str | None = None,
        replica_set: str | None = None,
    ) -> None:
        """Starts a server. With now, a datetime or an ISO 8601 string, its clock stands
        still at that time. args are more flags for duskdb."""
        flags = ["--test-clock", "--exit-with-stdin", "--quiet", "--port", "0", "--dbpath", ":memory:"]
        settings = dict(parameters or {})
        if now is not None:
            settings["testClockStart"] = now if isinstance(now, str) else _instant(now)
        for name, value in settings.items():
            flags += ["--setParameter", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
        if replica_set is not None:
            flags += ["--replSet", replica_set]
        self._log = tempfile.TemporaryFile()
        self._process = subprocess.Popen(  # the server exits when its stdin closes, at the latest when this process exits
            [find_binary(binary), *flags, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        atexit.register(self.stop)
        self._client: pymongo.MongoClient[dict[str, Any]] | None = None
        self.uri = self._listening()

    def _listening(self) -> str:
        assert self._process.stdout
        for line in self._process.stdout:
            if line.startswith("duskdb listening on "):
                return line.split()[-1]
        code = self._process.wait()
        raise RuntimeError(f"duskdb exited with {code}:\n{self.log()}")

    def log(self) -> str:
        """Returns what the server has logged: warnings and errors."""
        self._log.seek(0)
        return self._log.read().decode()

    @property
    def client(self) -> pymongo.MongoClient[dict[str, Any]]:
        """A MongoClient for this server, created at the first use."""
        if self._client is None:
            self._client = pymongo.MongoClient(self.uri, tz_aware=True)
        return self._client

    def now(self) -> datetime.datetime:
        """Returns the server's time."""
        return self._clock()

    def advance(self, duration: str | datetime.timedelta | None = None, **parts: float) -> datetime.datetime:
        """Moves the clock forward, runs the expiration pass if one has become due, and
        returns the new time: advance("61m"), advance(hours=1, minutes=1) or
        advance(timedelta(minutes=61))."""
        return self._clock(advanceMillis=milliseconds(duration, **parts))

    def set(self, instant: datetime.datetime) -> datetime.datetime:
        """Moves the clock to a datetime that is not before the server's time."""
        return self._clock(set=instant)

    def freeze(self, frozen: bool = True) -> datetime.datetime:
        """Stops the clock, or lets it run again, and returns the server's time."""
        return self._clock(freeze=frozen)

    def run_pass(self) -> dict[str, int]:
        """Runs an expiration pass now and returns the numbers of what it deleted."""
        deleted: dict[str, int] = self.client.admin.command("runExpirationPass")["deleted"]
        return deleted

    @contextlib.contextmanager
    def frozen_time(self) -> Iterator[Clocks]:
        """Stops the server's clock, and with freezegun that of this process at the same
        instant, so that datetime.now() is the server's time:

            with server.frozen_time() as clocks:
                carts.insert_one({"touched": datetime.now(timezone.utc)})
                clocks.advance("61m")
        """
        import freezegun

        at = self.freeze()
        # pymongo's timeouts need the real time.
        with freezegun.freeze_time(at, ignore=["pymongo", "bson"]) as python:
            try:
                yield Clocks(self, python)
            finally:
                self.freeze(False)

    def _clock(self, **change: Any) -> datetime.datetime:
        aware = self.client.codec_options
        now: datetime.datetime = self.client.admin.command("testClock", codec_options=aware, **change)["now"]
        return now

    def stop(self) -> None:
        """Stops the server. Further calls do nothing."""
        atexit.unregister(self.stop)
        if self._client is not None:
            self._client.close()
            self._client = None
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._log.close()

    def __enter__(self) -> DuskDB:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()


class Clocks:
    """The server's clock and that of this process, at the same instant."""

    def __init__(self, server: DuskDB, python: Any) -> None:
        self._server, self._python = server, python

    def advance(self, duration: str | datetime.timedelta | None = None, **parts: float) -> datetime.datetime:
        """Moves both clocks forward and returns the new time."""
        return self._moved(self._server.advance(duration, **parts))

    def set(self, instant: datetime.datetime) -> datetime.datetime:
        """Moves both clocks to a datetime that is not before their time."""
        return self._moved(self._server.set(instant))

    def _moved(self, now: datetime.datetime) -> datetime.datetime:
        self._python.move_to(now)
        return now


def _instant(when: datetime.datetime) -> str:
    text = when.isoformat()
    return text if when.tzinfo else text + "Z"
