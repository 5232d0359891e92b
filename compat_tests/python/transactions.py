"""PyMongo: transactions and change streams.

Each check prints one line that the Go tests read: "ok NAME" or
"not ok NAME: WHY".
"""

import os
import threading
import traceback
from datetime import timedelta, timezone

import pymongo

client = pymongo.MongoClient(os.environ["URI"], tz_aware=True)
db = client["python"]


def check(function):
    """Runs a check at once and reports it."""
    name = function.__name__.replace("_", " ")
    try:
        function()
        print("ok", name)
    except Exception:  # noqa: BLE001 - every failure is reported
        print(f"not ok {name}: " + traceback.format_exc(limit=-3).replace("\n", "\\n"))


@check
def with_transaction():
    c = db.accounts
    c.insert_many([{"_id": "a", "n": 10}, {"_id": "b", "n": 0}])

    def move(n, fail):
        def callback(session):
            c.update_one({"_id": "a"}, {"$inc": {"n": -n}}, session=session)
            c.update_one({"_id": "b"}, {"$inc": {"n": n}}, session=session)
            if fail:
                raise ValueError("refused")

        with client.start_session() as session:
            session.with_transaction(callback)

    try:
        move(3, True)
        raise AssertionError("committed")
    except ValueError:
        pass
    assert c.find_one({"_id": "a"})["n"] == 10
    move(3, False)
    assert [d["n"] for d in c.find().sort("_id")] == [7, 3]


@check
def with_transaction_tries_again_after_a_conflict():
    c = db.counter
    c.insert_one({"_id": 1, "n": 0})

    def callback(session):
        n = c.find_one({"_id": 1}, session=session)["n"]
        c.update_one({"_id": 1}, {"$set": {"n": n + 1}}, session=session)

    def increment():
        with client.start_session() as session:
            session.with_transaction(callback)

    threads = [threading.Thread(target=increment) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert c.find_one()["n"] == 8, c.find_one()


@check
def watch():
    c = db.watched
    with c.watch(max_await_time_ms=500) as stream:
        c.insert_one({"_id": 1, "n": 1})
        first = next(stream)
        assert first["operationType"] == "insert" and first["fullDocument"] == {"_id": 1, "n": 1}, first
    c.update_one({"_id": 1}, {"$set": {"n": 2}})
    c.delete_one({"_id": 1})
    with c.watch(resume_after=first["_id"]) as stream:
        event = next(stream)
        assert event["updateDescription"]["updatedFields"] == {"n": 2}, event
        assert next(stream)["operationType"] == "delete"


@check
def watch_tells_why_a_document_has_gone():
    c = db.expiring
    c.create_index("at", expireAfterSeconds=0)
    now = client.admin.command("testClock", 1)["now"].replace(tzinfo=timezone.utc)
    with db.watch([{"$match": {"operationType": "delete"}}], show_expanded_events=True, max_await_time_ms=500) as stream:
        c.insert_one({"_id": 1, "at": now + timedelta(seconds=1)})
        client.admin.command("testClock", 1, advanceSeconds=120)
        event = next(stream)
        assert event["documentKey"] == {"_id": 1}, event
        assert event["expiration"]["policy"] == "ttl", event
        assert event["expiration"]["dueAt"] == now + timedelta(seconds=1), (event["expiration"], now)


client.close()
print("done")
