"""A server as a child process."""

from __future__ import annotations

import atexit
import contextlib
import datetime
import inspect
import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pymongo
import pymongo.errors

from duskdb.arguments import check_flags, check_parameters, check_text, check_timeout
from duskdb.binary import locate
from duskdb.duration import Parts, read
from duskdb.instant import instant as instant_of

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Unpack


class DuskDB:
    """A server that keeps its data in memory. It is also a context manager."""

    def __init__(
        self,
        *args: str,
        now: datetime.datetime | str | None = None,
        parameters: Mapping[str, object] | None = None,
        binary: str | os.PathLike[str] | None = None,
        replica_set: str | None = None,
        launch_timeout: float = 30,
    ) -> None:
        """Starts a server. With now, a datetime or an ISO 8601 string, its clock stands
        still at that time. launch_timeout are the seconds that the start may take. args are
        more flags for duskdb."""
        check_flags(args)
        check_parameters(parameters)
        check_text("binary", "the path of a program", binary)
        check_text("replica_set", "the name of a replica set", replica_set)
        check_timeout(launch_timeout)
        flags = ["--test-clock", "--exit-with-stdin", "--quiet", "--port", "0", "--dbpath", ":memory:"]
        settings = dict(parameters or {})
        if now is not None:
            settings["testClockStart"] = instant_of(now).isoformat()
        for name, value in settings.items():
            flags += ["--setParameter", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
        if replica_set is not None:
            flags += ["--replSet", replica_set]
        path, self._name = locate(None if binary is None else os.fspath(binary))
        self._log = tempfile.TemporaryFile()
        self._last_log = ""  # when the file is closed
        self._stopped = False
        try:
            self._process = subprocess.Popen(  # the server exits when its stdin closes, at the latest when this process exits
                [path, *flags, *args],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                text=True,
                errors="replace",
            )
        except OSError as error:
            self._log.close()
            raise RuntimeError(f"{self._name} cannot be run: {error.strerror}") from error
        atexit.register(self.stop)
        self._client: pymongo.MongoClient[dict[str, Any]] | None = None
        try:
            self._uri = self._listening(launch_timeout)
        except BaseException:
            self.stop()
            raise

    def _listening(self, timeout: float) -> str:
        """Waits until the program says where it listens, and returns that."""
        assert self._process.stdout
        late = threading.Timer(timeout, self._process.kill)
        late.start()
        said = ""
        try:
            for line in self._process.stdout:
                if line.startswith("duskdb listening on "):
                    return line.split()[-1]
                said += line
        finally:
            in_time = late.is_alive()
            late.cancel()
        code = self._process.wait()
        how = f"ended with exit code {code} before it was ready" if in_time else f"did not say where it listens within {timeout:g} s (launch_timeout)"
        words = (self.log() or said).strip()
        raise RuntimeError(f"{self._name} {how}" + (f":\n{words}" if words else ", and has printed nothing: is it duskdb?"))

    def log(self) -> str:
        """Returns what the server has logged: warnings and errors."""
        if self._log.closed:
            return self._last_log
        self._log.seek(0)
        return self._log.read().decode(errors="replace")

    @property
    def uri(self) -> str:
        """The connection string."""
        self._check_running()
        return self._uri

    @property
    def client(self) -> pymongo.MongoClient[dict[str, Any]]:
        """A MongoClient for this server, created at the first use."""
        self._check_running()
        if self._client is None:
            self._client = pymongo.MongoClient(self._uri, tz_aware=True)
        return self._client

    def _check_running(self) -> None:
        if self._stopped:
            raise RuntimeError("the server has been stopped")
        if (code := self._process.poll()) is not None:
            raise RuntimeError(f"the server has ended by itself with exit code {code}")

    def now(self) -> datetime.datetime:
        """Returns the server's time."""
        return self._clock()

    def advance(self, duration: str | datetime.timedelta | None = None, **parts: Unpack[Parts]) -> datetime.datetime:
        """Moves the clock forward, runs the expiration pass if one has become due, and
        returns the new time: advance("61m"), advance(hours=1, minutes=1) or
        advance(timedelta(minutes=61))."""
        millis = read("advance", duration, parts)
        by, now = datetime.timedelta(milliseconds=millis), self.now()
        if by > datetime.datetime.max.replace(tzinfo=datetime.timezone.utc) - now:  # pymongo could read no reply any more
            raise ValueError(f"the clock cannot move past the year 9999, by {by} from {now.isoformat()}")
        return self._clock(advanceMillis=millis)

    def set(self, instant: datetime.datetime | str) -> datetime.datetime:
        """Moves the clock to a datetime, or an ISO 8601 string, that is not before the server's
        time."""
        to = instant_of(instant)
        try:
            return self._clock(set=to)
        except pymongo.errors.OperationFailure as error:
            if "backwards" not in str(error):
                raise
            raise ValueError(f"the clock cannot move backwards, from {self.now().isoformat()} to {to.isoformat()}") from error

    def freeze(self, frozen: bool = True) -> datetime.datetime:
        """Stops the clock, or lets it run again, and returns the server's time."""
        if not isinstance(frozen, bool):
            raise TypeError(f"freeze takes True or False, not {frozen!r}")
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
        try:
            import freezegun

            inspect.signature(freezegun.freeze_time).parameters["real_asyncio"]
        except (ImportError, KeyError) as error:
            raise ImportError("frozen_time and the fixture duskdb_clocks need freezegun 1.4 or later: pip install --upgrade freezegun") from error
        at = self.freeze()
        # Timeouts of pymongo and asyncio need the real time, and pytest measures by it.
        with freezegun.freeze_time(at, ignore=["pymongo", "bson", "_pytest.timing"], real_asyncio=True) as python:
            clocks = Clocks(self, python)
            try:
                yield clocks
            finally:
                clocks._python = None
                self.freeze(False)

    def _clock(self, **change: Any) -> datetime.datetime:
        aware = self.client.codec_options
        now: datetime.datetime = self.client.admin.command("testClock", codec_options=aware, **change)["now"]
        return now

    def stop(self) -> None:
        """Stops the server. Further calls do nothing."""
        atexit.unregister(self.stop)
        self._stopped = True
        try:
            if self._client is not None:
                self._client.close()
                self._client = None
        finally:
            self._end()

    def _end(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._last_log = self.log()
        self._log.close()

    def __enter__(self) -> DuskDB:
        self._check_running()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()


class Clocks:
    """The server's clock and that of this process, at the same instant."""

    def __init__(self, server: DuskDB, python: Any) -> None:
        self._server, self._python = server, python  # python is None when the clocks run again

    def advance(self, duration: str | datetime.timedelta | None = None, **parts: Unpack[Parts]) -> datetime.datetime:
        """Moves both clocks forward and returns the new time."""
        return self._moved(lambda: self._server.advance(duration, **parts))

    def set(self, instant: datetime.datetime | str) -> datetime.datetime:
        """Moves both clocks to a datetime, or an ISO 8601 string, that is not before their time."""
        return self._moved(lambda: self._server.set(instant))

    def _moved(self, move: Callable[[], datetime.datetime]) -> datetime.datetime:
        if self._python is None:
            raise RuntimeError("the clocks run again: use frozen_time() once more")
        now = move()
        self._python.move_to(now)
        return now
