"""Tests that use the fixtures, run by pytest."""

import datetime
import time


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
