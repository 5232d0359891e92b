"""Tests that use the fixtures, run by pytest."""


def test_cart_expires(duskdb):
    carts = duskdb.client.shop.carts
    carts.create_index("touched", expireAfterSeconds=3600)
    carts.insert_one({"touched": duskdb.now()})
    duskdb.advance(3661)
    assert carts.count_documents({}) == 0


def test_each_test_has_its_own(duskdb, duskdb_session):
    assert duskdb.client.list_database_names() == duskdb_session.client.list_database_names()
    assert duskdb.uri != duskdb_session.uri
