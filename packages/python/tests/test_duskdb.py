"""Tests of the class DuskDB. They need neither pytest nor a network: python3 -m unittest."""

import contextlib
import datetime
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import pymongo.errors

FOLDER = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(FOLDER))
from duskdb import DuskDB, find_binary, milliseconds  # noqa: E402

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
            with self.assertRaises(pymongo.errors.OperationFailure):
                server.set(START)

    def test_set_to_a_text(self):
        with DuskDB(now="2026-01-01") as server:
            self.assertEqual(server.now(), START)
            self.assertEqual(server.set("2026-05-01T02:00:00.5+02:00"), START.replace(month=5, microsecond=500_000))

    def test_no_date(self):
        with DuskDB() as server:
            for date, kind in (("soon", ValueError), ("2026-13-01", ValueError), ("", ValueError), (5, TypeError), (None, TypeError), (START.date(), TypeError)):
                message = re.escape(f'{date!r} is no date: give a datetime, or a text such as "2026-01-01T00:00:00Z"')
                with self.assertRaisesRegex(kind, message):
                    server.set(date)
                if date is not None:
                    with self.assertRaisesRegex(kind, message):
                        DuskDB(now=date)

    def test_unknown_arguments(self):
        with self.assertRaisesRegex(TypeError, "prot"):
            DuskDB(prot=1)
        with DuskDB() as server, self.assertRaisesRegex(TypeError, "minute"):
            server.advance(minute=1)

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
        for use in (server.now, server.run_pass, server.freeze, lambda: server.advance("1m"), lambda: server.set(START), lambda: server.client):
            with self.assertRaisesRegex(RuntimeError, "^the server has been stopped$"):
                use()

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


class TestDuration(unittest.TestCase):
    def test_forms(self):
        for duration, want in {
            "61m": 3_660_000,
            "1h30m": 5_400_000,
            "1h 30m": 5_400_000,
            "1500ms": 1500,
            "1.5s": 1500,
            "0.1s": 100,
            "2d": 172_800_000,
            datetime.timedelta(minutes=61): 3_660_000,
        }.items():
            self.assertEqual(milliseconds(duration), want, duration)
        self.assertEqual(milliseconds(hours=1, minutes=1), 3_660_000)

    def test_no_unit(self):
        for number in (3661, 1.5):
            with self.assertRaisesRegex(TypeError, f'{number} has no unit: write "{number}s" or seconds={number}'):
                milliseconds(number)

    def test_no_duration(self):
        for text in ("", "61", "m", "1h30", "61 minutes", "-1s", "1h-30m", "1m1"):
            with self.assertRaisesRegex(ValueError, "is no duration like"):
                milliseconds(text)
        with self.assertRaisesRegex(ValueError, "no whole number of milliseconds"):
            milliseconds("0.5ms")


if __name__ == "__main__":
    unittest.main()
