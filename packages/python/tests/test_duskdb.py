"""Tests of the class DuskDB. They need neither pytest nor a network: python3 -m unittest."""

import contextlib
import datetime
import os
import pathlib
import socket
import subprocess
import sys
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


class TestFindBinary(unittest.TestCase):
    def find(self, given=None, **variables):
        with unittest.mock.patch.dict(os.environ, variables):
            return find_binary(given)

    def test_order(self):
        self.assertEqual(self.find(sys.executable, DUSKDB_BINARY=__file__), __file__)
        self.assertEqual(self.find(sys.executable, DUSKDB_BINARY=""), sys.executable)

    def test_missing(self):
        for given, variable, message in (("", "/not/there", "DUSKDB_BINARY is /not/there"), ("/nor/there", "", "the argument binary is /nor/there")):
            with self.assertRaisesRegex(RuntimeError, message):
                self.find(given, DUSKDB_BINARY=variable)


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
