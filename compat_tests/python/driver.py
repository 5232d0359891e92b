"""PyMongo: everyday work, then expiry with the clock moved by the client.

Each check prints one line that the Go tests read: "ok NAME" or
"not ok NAME: WHY".
"""

import csv
import os
import traceback
from collections import defaultdict
from datetime import datetime, timedelta, timezone

import gridfs
import pymongo
from bson import Decimal128, Int64, ObjectId
from pymongo import InsertOne, UpdateOne
from pymongo.errors import DuplicateKeyError, OperationFailure

URI = os.environ["URI"]
client = pymongo.MongoClient(URI, tz_aware=True)
db = client["python"]


def check(function):
    """Runs a check at once and reports it."""
    name = function.__name__.replace("_", " ")
    try:
        function()
        print("ok", name)
    except Exception:  # noqa: BLE001 - every failure is reported
        print(f"not ok {name}: " + traceback.format_exc(limit=-3).replace("\n", "\\n"))


def advance(seconds):
    client.admin.command("testClock", 1, advanceSeconds=seconds)


@check
def crud():
    c = db.crud
    one = c.insert_one({"n": Int64(1), "d": Decimal128("1.10"), "at": datetime(2026, 1, 1, tzinfo=timezone.utc)}).inserted_id
    assert isinstance(one, ObjectId)
    back = c.find_one({"d": Decimal128("1.1")})
    assert back["_id"] == one and isinstance(back["n"], Int64), back
    assert c.update_one({"_id": one}, {"$inc": {"n": 2}}).modified_count == 1
    assert c.find_one_and_update({"_id": one}, [{"$set": {"n": {"$add": ["$n", 1]}}}], return_document=True)["n"] == 4
    assert c.replace_one({"_id": 5}, {"a": 1}, upsert=True).upserted_id == 5
    assert c.delete_many({}).deleted_count == 2


@check
def errors():
    c = db.errors
    c.insert_one({"_id": 1})
    try:
        c.insert_one({"_id": 1})
        raise AssertionError("the duplicate was accepted")
    except DuplicateKeyError as e:
        assert e.details["keyPattern"] == {"_id": 1}, e.details
    try:
        db.command("noSuchCommand")
        raise AssertionError("an unknown command was accepted")
    except OperationFailure as e:
        assert e.code == 59, e


@check
def cursors_and_bulk():
    c = db.cursors
    c.bulk_write([InsertOne({"_id": i, "mod": i % 3}) for i in range(1000)], ordered=False)
    assert [d["_id"] for d in c.find({}, batch_size=77).sort("_id", -1)] == list(range(999, -1, -1))
    result = client.bulk_write([UpdateOne({"mod": 1}, {"$set": {"x": 1}}, namespace="python.cursors")])
    assert result.modified_count == 1, result
    assert c.count_documents({"mod": {"$mod": [2, 0]}}) == 667


@check
def grid_fs():
    fs = gridfs.GridFS(db)
    body = os.urandom(700_000)
    key = fs.put(body, filename="f")
    assert fs.get(key).read() == body
    fs.delete(key)
    assert db["fs.chunks"].count_documents({}) == 0


@check
def sessions():
    with client.start_session(causal_consistency=True) as s:
        db.sessions.insert_one({"_id": 1}, session=s)
        assert db.sessions.find_one({"_id": 1}, session=s) is not None


@check
def compression():
    text = "expiry " * 20_000
    for name in ("snappy", "zlib", "zstd"):
        with pymongo.MongoClient(URI, compressors=name) as z:
            z["python"].z.insert_one({"_id": name, "text": text})
            assert z["python"].z.find_one({"_id": name})["text"] == text, name


@check
def TLS_and_SCRAM():
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-1"):
        with pymongo.MongoClient(os.environ["SECURE_URI"], tlsCAFile=os.environ["CA_FILE"], authMechanism=mechanism) as s:
            s["python"].secure.insert_one({"_id": mechanism})
            assert s.admin.command("connectionStatus")["authInfo"]["authenticatedUsers"][0]["user"] == "ada"
    wrong = os.environ["SECURE_URI"].replace("s3cret", "wrong")
    with pymongo.MongoClient(wrong, tlsCAFile=os.environ["CA_FILE"]) as s:
        try:
            s["python"].secure.find_one()
            raise AssertionError("the wrong password was accepted")
        except OperationFailure as e:
            assert e.code == 18, e


@check
def weather_by_month():
    sums = defaultdict(float)
    docs = []
    with open(os.environ["DATASETS"] + "/seattle-weather-hourly-normals.csv", encoding="utf-8") as f:
        for row in csv.DictReader(f):
            at = datetime.fromisoformat(row["date"]).replace(tzinfo=timezone.utc)
            sums[at.month] += float(row["wind"])
            docs.append({"at": at, "wind": float(row["wind"])})
    db.create_collection("weather", timeseries={"timeField": "at"})
    db.weather.insert_many(docs)
    got = db.weather.aggregate([{"$group": {"_id": {"$month": "$at"}, "wind": {"$sum": "$wind"}}}])
    got = {d["_id"]: d["wind"] for d in got}
    assert got.keys() == sums.keys(), got
    for month, wind in sums.items():
        assert abs(got[month] - wind) < 1e-6, (month, got[month], wind)


@check
def expiry_of_a_TTL_index():
    c = db.ttl
    c.create_index("at", expireAfterSeconds=60)
    now = client.admin.command("testClock", 1)["now"]
    c.insert_many([{"_id": i, "at": now + timedelta(minutes=i)} for i in range(4)])
    for left in (3, 2, 1, 0):
        advance(60)
        assert c.count_documents({}) == left, (left, list(c.find()))


@check
def expiry_of_documents():
    c = db.documents
    c.create_index("_ts", expireAfterSeconds=100)
    c.insert_many([{"_id": "default"}, {"_id": "longer", "ttl": 1000}, {"_id": "forever", "ttl": -1}])
    advance(100)
    assert {d["_id"] for d in c.find()} == {"longer", "forever"}
    advance(900)
    assert [d["_id"] for d in c.find()] == ["forever"]


client.close()
print("done")
