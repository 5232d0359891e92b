"""Tests that use the fixtures, run by pytest."""

import asyncio
import datetime
import time

import pymongo
import pytest


def test_cart_expires(duskdb):
    carts = duskdb.client.shop.carts
    carts.create_index("touched", expireAfterSeconds=3600)
    carts.insert_one({"touched": duskdb.now()})
    duskdb.advance("61m")
    assert carts.count_documents({}) == 0


def test_each_test_has_its_own(duskdb, duskdb_session):
    assert duskdb.client.list_database_names() == duskdb_session.client.list_database_names()
    assert duskdb.uri != duskdb_session.uri


def test_both_clocks(duskdb, duskdb_clocks):
    carts = duskdb.client.shop.carts
    carts.create_index("touched", expireAfterSeconds=3600)
    before = datetime.datetime.now(datetime.timezone.utc)
    assert before == duskdb.now()
    carts.insert_one({"touched": before})
    duskdb_clocks.advance("59m")
    assert carts.count_documents({}) == 1
    now = duskdb_clocks.advance(minutes=2)
    assert now - before == datetime.timedelta(minutes=61)
    assert now == datetime.datetime.now(datetime.timezone.utc) == duskdb.now()
    assert time.time() == now.timestamp()
    assert carts.count_documents({}) == 0
    later = now + datetime.timedelta(days=1)
    assert duskdb_clocks.set(later) == datetime.datetime.now(datetime.timezone.utc)


def test_both_clocks_with_asyncio(duskdb, duskdb_clocks):
    async def touch():
        async with pymongo.AsyncMongoClient(duskdb.uri, serverSelectionTimeoutMS=3000) as client:
            carts = client.shop.carts
            await carts.create_index("touched", expireAfterSeconds=3600)
            await carts.insert_one({"touched": datetime.datetime.now(datetime.timezone.utc)})
            duskdb_clocks.advance("59m")
            await asyncio.wait_for(asyncio.sleep(0.01), 1)  # by the real time
            assert await carts.count_documents({}) == 1
            duskdb_clocks.advance("2m")
            assert datetime.datetime.now(datetime.timezone.utc) == duskdb.now()
            assert await carts.count_documents({}) == 0

    asyncio.run(touch())


def test_pytest_measures_real_time(duskdb, duskdb_clocks):
    from _pytest import timing

    start = timing.perf_counter()
    duskdb_clocks.advance("61m")
    assert timing.perf_counter() - start < 3600


def test_clocks_that_run_again(duskdb):
    with duskdb.frozen_time() as clocks:
        clocks.advance("61m")
    before = duskdb.now()
    for move in (lambda: clocks.advance("61m"), lambda: clocks.set("2100-01-01")):
        with pytest.raises(RuntimeError, match=r"^the clocks run again: use frozen_time\(\) once more$"):
            move()
    assert duskdb.now() - before < datetime.timedelta(minutes=1)
