"""Tests of the class DuskDB. They need neither pytest nor a network: python3 -m unittest."""

import contextlib
import datetime
import inspect
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

FOLDER = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(FOLDER))
from duskdb import DuskDB, find_binary, milliseconds  # noqa: E402
from duskdb.instant import instant  # noqa: E402

START = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)


class TestDuskDB(unittest.TestCase):
    def test_ttl_index(self):
        with DuskDB(now=START) as server:
            carts = server.client.shop.carts
            carts.create_index("touched", expireAfterSeconds=3600)
            carts.insert_one({"touched": server.now()})
            server.advance("59m59s")
            self.assertEqual(carts.count_documents({}), 1)
            self.assertEqual(server.advance(minutes=1, seconds=1, milliseconds=5), START + datetime.timedelta(seconds=3660, milliseconds=5))
            self.assertEqual(carts.count_documents({}), 0)

    def test_set(self):
        with DuskDB(now="2026-01-01T00:00:00Z") as server:
            self.assertEqual(server.set(START.replace(month=5)), START.replace(month=5))
            self.assertEqual(server.set("2026-06-01"), START.replace(month=6))

    def test_no_date(self):
        with DuskDB(now=START) as server:
            for date, kind, words in (
                ("2026-02-31", ValueError, "'2026-02-31' is no date: give a datetime, or a text such as \"2026-01-01T00:00:00Z\""),
                ("2026-01-01T00:00:00", ValueError, "'2026-01-01T00:00:00' has no time zone: write \"2026-01-01T00:00:00Z\" for UTC"),
                (1_700_000_000, TypeError, "1700000000 has no unit: write datetime.fromtimestamp(1700000000, timezone.utc) for seconds since 1970"),
                (1.5, TypeError, "1.5 has no unit: write datetime.fromtimestamp(1.5, timezone.utc) for seconds since 1970"),
                (True, TypeError, "True is no date"),
                (None, TypeError, "None is no date"),
                ([], TypeError, "[] is no date"),
                (START.date(), TypeError, "datetime.date(2026, 1, 1) is no date"),
            ):
                with self.subTest(date), self.assertRaisesRegex(kind, "^" + re.escape(words)):
                    server.set(date)
                if date is not None:
                    with self.subTest(date), self.assertRaisesRegex(kind, "^" + re.escape(words)):
                        DuskDB(now=date)
            with self.assertRaisesRegex(ValueError, re.escape("the clock cannot move backwards, from 2026-01-01T00:00:00+00:00 to 2025-12-31T00:00:00+00:00")):
                server.set("2025-12-31")
            self.assertEqual(server.now(), START)

    def test_wrong_durations(self):
        with DuskDB(now=START) as server:
            for args, parts, kind, words in (
                ((), {}, TypeError, 'advance needs a duration such as "61m", a timedelta, or days, hours, minutes, seconds, milliseconds'),
                ((None,), {}, TypeError, "advance needs a duration"),
                ((), {"hour": 1}, TypeError, "advance has no argument hour; did you mean hours?"),
                ((), {"weeks": 1}, TypeError, 'advance has no argument weeks; it takes a duration such as "61m", a timedelta, or days, hours, minutes, seconds, milliseconds'),
                ((61,), {}, TypeError, '61 has no unit: write "61s" or seconds=61'),
                ((True,), {}, TypeError, 'True is no duration: advance takes a text such as "61m", a timedelta, or days, hours'),
                (([],), {}, TypeError, "[] is no duration"),
                ((), {"hours": "1"}, TypeError, "hours is '1', not a number that is at least 0"),
                ((), {"hours": None}, TypeError, "hours is None, not a number that is at least 0"),
                ((), {"hours": True}, TypeError, "hours is True, not a number that is at least 0"),
                ((), {"hours": -1}, ValueError, "hours is -1, not a number that is at least 0"),
                ((), {"hours": float("nan")}, ValueError, "hours is nan, not a number that is at least 0"),
                ((), {"hours": float("inf")}, ValueError, "the duration is longer than 2900000 days"),
                (("1d",), {"days": 2_900_000}, ValueError, "the duration is longer than 2900000 days"),
                ((datetime.timedelta(minutes=-1),), {}, ValueError, "-1 day, 23:59:00 is negative: the clock moves forward only"),
                (("-1m",), {}, ValueError, '"-1m" is negative: the clock moves forward only'),
                ((datetime.timedelta(microseconds=1),), {}, ValueError, "0:00:00.000001 is no whole number of milliseconds"),
            ):
                with self.subTest(args=args, parts=parts), self.assertRaisesRegex(kind, "^" + re.escape(words)):
                    server.advance(*args, **parts)
            with self.assertRaisesRegex(TypeError, "^freeze takes True or False, not 'no'$"):
                server.freeze("no")
            self.assertEqual(server.now(), START)
            server.set("9999-12-31")
            with self.assertRaisesRegex(ValueError, "^the clock cannot move past the year 9999, by 2 days, 0:00:00 from 9999-12-31T00:00:00\\+00:00$"):
                server.advance("2d")  # Python has no such date, and pymongo could connect no more
            self.assertEqual(server.advance("1h").hour, 1)
        with self.assertRaisesRegex(TypeError, "^milliseconds has no argument hour; did you mean hours"):
            milliseconds(hour=1)

    def test_wrong_arguments(self):
        for args, options, kind, words in (
            ((), {"prot": 1}, TypeError, "prot"),
            ((5,), {}, TypeError, "the flags of duskdb must be texts, not 5"),
            ((), {"parameters": ["x"]}, TypeError, "parameters must be a dict such as {\"ttlMonitorSleepSecs\": 1}, not ['x']"),
            ((), {"parameters": {"a": None}}, TypeError, "parameters must be a dict such as {\"ttlMonitorSleepSecs\": 1}, not {'a': None}"),
            ((), {"binary": 5}, TypeError, "binary must be the path of a program, not 5"),
            ((), {"binary": ""}, ValueError, "binary must be the path of a program, not ''"),
            ((), {"replica_set": ""}, ValueError, "replica_set must be the name of a replica set, not ''"),
            ((), {"replica_set": True}, TypeError, "replica_set must be the name of a replica set, not True"),
            ((), {"launch_timeout": "5s"}, TypeError, "launch_timeout must be a number of seconds greater than 0, not '5s'"),
            ((), {"launch_timeout": 0}, ValueError, "launch_timeout must be a number of seconds greater than 0, not 0"),
            ((), {"launch_timeout": -1}, ValueError, "launch_timeout must be a number of seconds greater than 0, not -1"),
            ((), {"launch_timeout": 1e12}, ValueError, "launch_timeout must be a number of seconds greater than 0, not 1000000000000.0"),
            ((), {"launch_timeout": float("inf")}, ValueError, "launch_timeout must be a number of seconds greater than 0, not inf"),
        ):
            with self.subTest(args=args, options=options), self.assertRaisesRegex(kind, re.escape(words)):
                DuskDB(*args, **options)

    def test_page_has_all_arguments(self):
        page = (FOLDER / "README.md").read_text()
        for name in inspect.signature(DuskDB.__init__).parameters:
            if name != "self":
                self.assertRegex(page, rf"(?m)^\| `\*?{name}`", f"README does not list {name}")

    def test_without_freezegun(self):
        old = types.SimpleNamespace(freeze_time=lambda at, ignore=None: None)  # as in old versions
        for module in (None, old):
            with DuskDB() as server, unittest.mock.patch.dict(sys.modules, freezegun=module):
                with self.assertRaisesRegex(ImportError, "^frozen_time and the fixture duskdb_clocks need freezegun 1.4 or later: pip install --upgrade freezegun$"):
                    with server.frozen_time():
                        pass

    def test_run_pass(self):
        with DuskDB(parameters={"ttlMonitorSleepSecs": 3600}) as server:
            server.client.shop.c.insert_many([{"at": START.replace(year=1980)} for _ in range(3)])
            server.client.shop.c.create_index("at", expireAfterSeconds=0)
            self.assertEqual(server.run_pass()["ttl"], 3)

    def test_freeze(self):
        with DuskDB() as server:
            self.assertEqual(server.freeze(), server.now())

    def test_replica_set(self):
        with DuskDB(replica_set="rs0") as server:
            self.assertEqual(server.client.admin.command("hello")["setName"], "rs0")

    def test_errors(self):
        with self.assertRaisesRegex(RuntimeError, "nonsense"):
            DuskDB("--nonsense")

    def test_goes_with_the_program(self):
        start = f"import sys; sys.path.insert(0, {str(FOLDER)!r}); from duskdb import DuskDB; s = DuskDB()"
        wait = "print(s.uri, flush=True); sys.stdin.read()"
        with subprocess.Popen(
            [sys.executable, "-c", f"{start}; {wait}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as program:
            port = int(program.stdout.readline().split(":")[2].split("/")[0])
            with socket.create_connection(("127.0.0.1", port)) as connection:
                program.kill()
                # The server ends, and with it the connection, even one that it had not accepted.
                with contextlib.suppress(ConnectionResetError):
                    self.assertEqual(connection.recv(1), b"")

    def test_stops_twice(self):
        server = DuskDB()
        server.stop()
        server.stop()
        for use in (server.now, server.run_pass, server.freeze, lambda: server.advance("1m"), lambda: server.set(START), lambda: server.client, lambda: server.uri, server.__enter__):
            with self.assertRaisesRegex(RuntimeError, "^the server has been stopped$"):
                use()

    def test_log_after_stop(self):
        server = DuskDB("--setParameter", "logLevel=1")
        server.client.admin.command("ping")
        before = server.log()
        server.stop()
        self.assertIn(before, server.log())

    def test_stops_whatever_the_client_says(self):
        server = DuskDB()
        close = server.client.close

        def fail():
            close()
            raise ValueError

        with unittest.mock.patch.object(server.client, "close", fail), self.assertRaises(ValueError):
            server.stop()
        self.assertIsNotNone(server._process.poll())

    def test_killed(self):
        with DuskDB() as server:
            server._process.kill()
            server._process.wait()
            with self.assertRaisesRegex(RuntimeError, "^the server has ended by itself with exit code -9$"):
                server.now()


class TestFindBinary(unittest.TestCase):
    def find(self, given=None, **variables):
        with unittest.mock.patch.dict(os.environ, variables):
            return find_binary(given)

    def test_order(self):
        self.assertEqual(self.find(sys.executable, DUSKDB_BINARY="/bin/sh"), "/bin/sh")
        self.assertEqual(self.find(sys.executable, DUSKDB_BINARY=""), sys.executable)

    def test_missing(self):
        for given, variable, message in (("", "/not/there", "DUSKDB_BINARY is /not/there"), ("/nor/there", "", "the argument binary is /nor/there")):
            with self.assertRaisesRegex(RuntimeError, message):
                self.find(given, DUSKDB_BINARY=variable)

    def test_cannot_be_run(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(RuntimeError, f"^DUSKDB_BINARY is {folder}, which is a directory: give the path of the program in it, such as {folder}/duskdb"):
                self.find(DUSKDB_BINARY=folder)
            file = os.path.join(folder, "x")
            pathlib.Path(file).write_text("")
            with self.assertRaisesRegex(RuntimeError, f"^the argument binary is {file}, which is not executable: chmod"):
                self.find(file, DUSKDB_BINARY="")

    def test_another_program(self):
        for script, message in (
            ("#!/bin/sh\n", "ended with exit code 0 before it was ready, and has printed nothing: is it duskdb\\?$"),
            ("#!/bin/sh\necho usage: other >&2; exit 3\n", "ended with exit code 3 before it was ready:\nusage: other$"),
            ("#!/bin/sh\nexec sleep 60\n", "did not say where it listens within 0.2 s \\(launch_timeout\\), and has printed nothing"),
            ("\x7fELF of another processor", "cannot be run: "),
        ):
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder, "other")
                file.write_text(script)
                file.chmod(0o700)
                with unittest.mock.patch.dict(os.environ, DUSKDB_BINARY=str(file)):
                    with self.assertRaisesRegex(RuntimeError, f"^the program {file} \\(DUSKDB_BINARY\\) {message}"):
                        DuskDB(launch_timeout=0.2 if "sleep" in script else 30)

    def test_says_that_it_builds(self):
        with tempfile.TemporaryDirectory() as folder:
            repository = pathlib.Path(folder).resolve()
            shutil.copytree(FOLDER / "duskdb", repository / "packages" / "python" / "duskdb")
            for name, text in (("cmd/duskdb/main.go", ""), ("tools/go", "#!/bin/sh\n")):
                file = repository / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
                file.chmod(0o700)
            program = f"import sys; sys.path.insert(0, {str(repository / 'packages' / 'python')!r}); import duskdb.binary as b; b._build(b.pathlib.Path({str(repository)!r}))"
            for path, message in (("tools", "takes minutes"), ("empty", "Go is not installed. Set DUSKDB_BINARY, or install Go")):
                run = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PATH": str(repository / path)}, stderr=subprocess.PIPE, text=True)
                self.assertIn(f"duskdb: building duskdb with Go in {repository}; the first time this takes minutes\n", run.stderr)
                self.assertIn(message, run.stderr)


class TestArguments(unittest.TestCase):
    """The table of arguments that the packages for all languages accept, or refuse."""

    def table(self, name):
        return json.loads((FOLDER.parent / "testdata" / "arguments.json").read_text())[name].items()

    def test_durations(self):
        for text, want in self.table("durations"):
            self.assertEqual(milliseconds(text), want, text)
        self.assertEqual(milliseconds(datetime.timedelta(minutes=61)), 3_660_000)
        self.assertEqual(milliseconds(hours=1, minutes=1), 3_660_000)
        self.assertEqual(milliseconds(hours=0), 0)

    def test_wrong_durations(self):
        for text, words in self.table("wrongDurations"):
            with self.subTest(text), self.assertRaisesRegex(ValueError, re.escape(f'"{text}" {words}')):
                milliseconds(text)

    def test_dates(self):
        for text, want in self.table("dates"):
            self.assertEqual(instant(text), datetime.datetime.strptime(want, "%Y-%m-%dT%H:%M:%S.%f%z"), text)

    def test_wrong_dates(self):
        for text, words in self.table("wrongDates"):
            with self.subTest(text), self.assertRaisesRegex(ValueError, re.escape(f"{text!r} {words}")):
                instant(text)


if __name__ == "__main__":
    unittest.main()
