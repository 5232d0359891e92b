"""Tests of the class DuskDB. They need neither pytest nor a network: python3 -m unittest."""

import datetime
import pathlib
import socket
import subprocess
import sys
import unittest

import pymongo.errors

FOLDER = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(FOLDER))
from duskdb_pytest import DuskDB  # noqa: E402

START = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)


class TestDuskDB(unittest.TestCase):
    def test_ttl_index(self):
        with DuskDB(now=START) as server:
            carts = server.client.shop.carts
            carts.create_index("touched", expireAfterSeconds=3600)
            carts.insert_one({"touched": server.now()})
            server.advance(3599)
            self.assertEqual(carts.count_documents({}), 1)
            self.assertEqual(server.advance(61, millis=5), START + datetime.timedelta(seconds=3660, milliseconds=5))
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

    def test_errors(self):
        with self.assertRaisesRegex(RuntimeError, "nonsense"):
            DuskDB("--nonsense")

    def test_goes_with_the_program(self):
        start = f"import sys; sys.path.insert(0, {str(FOLDER)!r}); from duskdb_pytest import DuskDB; s = DuskDB()"
        wait = "print(s.uri, flush=True); sys.stdin.read()"
        with subprocess.Popen(
            [sys.executable, "-c", f"{start}; {wait}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as program:
            port = int(program.stdout.readline().split(":")[2].split("/")[0])
            with socket.create_connection(("127.0.0.1", port)) as connection:
                program.kill()
                self.assertEqual(connection.recv(1), b"")  # closed by the server, as it ends

    def test_stops_twice(self):
        server = DuskDB()
        server.stop()
        server.stop()


if __name__ == "__main__":
    unittest.main()
