"""A MongoDB-compatible server for tests, with a clock that tests can move.

    from duskdb import DuskDB

    with DuskDB() as server:
        carts = server.client.shop.carts
        carts.create_index("touched", expireAfterSeconds=3600)
        carts.insert_one({"touched": server.now()})
        server.advance("61m")  # returns after the expiry pass that became due
        assert carts.count_documents({}) == 0

With pytest, the fixture duskdb is such a server.
"""

from duskdb.binary import find_binary
from duskdb.duration import milliseconds
from duskdb.server import DuskDB

__all__ = ["DuskDB", "find_binary", "milliseconds"]
