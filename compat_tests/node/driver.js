// The Node driver: everyday work, then expiry with the clock moved by the
// client. Run by TestNodeDriver.
'use strict';
const assert = require('assert');
const fs = require('fs');
const { MongoClient, Long, GridFSBucket, ObjectId } = require('mongodb');
const { check, rejects, weather } = require('./checks.js');

const uri = process.env.URI;

async function main() {
  const client = await MongoClient.connect(uri);
  const db = client.db('node');
  const admin = client.db('admin');
  const advance = seconds => admin.command({ testClock: 1, advanceSeconds: seconds });

  await check('crud', async () => {
    const c = db.collection('crud');
    const { insertedId } = await c.insertOne({ n: 1, big: Long.fromString('9007199254740993'), d: new Date(0) });
    assert.ok(insertedId instanceof ObjectId);
    const back = await c.findOne({ _id: insertedId }, { promoteLongs: false });
    assert.equal(back.big.toString(), '9007199254740993');
    assert.equal((await c.updateOne({ n: 1 }, { $set: { 'a.b': [1, 2] } })).modifiedCount, 1);
    assert.equal((await c.updateOne({ 'a.b': 2 }, { $set: { 'a.b.$': 9 } })).modifiedCount, 1);
    assert.deepEqual((await c.findOneAndUpdate({ n: 1 }, { $push: { 'a.b': 3 } }, { returnDocument: 'after' })).a.b, [1, 9, 3]);
    assert.equal((await c.deleteMany({})).deletedCount, 1);
  });

  await check('errors', async () => {
    const c = db.collection('errors');
    await c.insertOne({ _id: 1 });
    const e = await rejects(11000, () => c.insertOne({ _id: 1 }));
    assert.deepEqual(e.keyPattern, { _id: 1 });
    assert.deepEqual(e.keyValue, { _id: 1 });
    await rejects(59, () => db.command({ noSuchCommand: 1 }));
    await rejects(26, () => c.rename('x').then(() => c.rename('y')));
  });

  await check('cursors', async () => {
    const c = db.collection('cursors');
    await c.insertMany(Array.from({ length: 1000 }, (_, i) => ({ _id: i })));
    let n = 0;
    for await (const d of c.find().sort({ _id: 1 }).batchSize(100)) assert.equal(d._id, n++);
    assert.equal(n, 1000);
    const cursor = c.find().batchSize(2);
    await cursor.next();
    await cursor.close();
    assert.equal((await c.find().hint({ _id: 1 }).min({ _id: 990 }).toArray()).length, 10);
  });

  await check('bulkWrite of the client', async () => {
    const r = await client.bulkWrite([
      { namespace: 'node.b1', name: 'insertOne', document: { _id: 1 } },
      { namespace: 'node.b2', name: 'updateOne', filter: { _id: 1 }, update: { $set: { a: 1 } }, upsert: true },
      { namespace: 'node.b1', name: 'deleteMany', filter: {} },
    ]);
    assert.deepEqual([r.insertedCount, r.upsertedCount, r.deletedCount], [1, 1, 1]);
  });

  await check('GridFS', async () => {
    const bucket = new GridFSBucket(db);
    const body = Buffer.alloc(600000, 'dusk');
    await new Promise((done, fail) => bucket.openUploadStream('f').on('finish', done).on('error', fail).end(body));
    const parts = [];
    for await (const p of bucket.openDownloadStreamByName('f')) parts.push(p);
    assert.ok(Buffer.concat(parts).equals(body));
  });

  await check('sessions', async () => {
    await client.withSession(async session => {
      await db.collection('sessions').insertOne({ _id: 1 }, { session });
      assert.equal(await db.collection('sessions').countDocuments({}, { session }), 1);
    });
  });

  const zstd = require('zlib').zstdCompress ? ['zstd'] : []; // since Node 22.15
  for (const compressors of ['snappy', 'zlib', ...zstd]) {
    await check(`compression with ${compressors}`, async () => {
      const z = await MongoClient.connect(uri, { compressors });
      const text = 'expiry '.repeat(20000);
      await z.db('node').collection('z').insertOne({ text });
      assert.equal((await z.db('node').collection('z').findOne({ text })).text, text);
      await z.close();
    });
  }

  await check('TLS and SCRAM', async () => {
    for (const mechanism of ['SCRAM-SHA-256', 'SCRAM-SHA-1']) {
      const s = await MongoClient.connect(process.env.SECURE_URI, { tlsCAFile: process.env.CA_FILE, authMechanism: mechanism });
      await s.db('node').collection('secure').insertOne({ mechanism });
      assert.equal((await s.db('node').command({ connectionStatus: 1 })).authInfo.authenticatedUsers[0].user, 'ada');
      await s.close();
    }
    const wrong = new MongoClient(process.env.SECURE_URI.replace('s3cret', 'wrong'), { tlsCAFile: process.env.CA_FILE });
    await rejects(18, () => wrong.connect());
    await wrong.close();
  });

  await check('flights: aggregate as computed here', async () => {
    const flights = JSON.parse(fs.readFileSync(`${process.env.DATASETS}/flights-5k.json`, 'utf8'));
    const c = db.collection('flights');
    await c.insertMany(flights);
    const want = {};
    for (const f of flights) want[f.origin] = (want[f.origin] || 0) + f.delay;
    const got = Object.fromEntries((await c.aggregate([{ $group: { _id: '$origin', delay: { $sum: '$delay' } } }]).toArray()).map(g => [g._id, g.delay]));
    assert.deepEqual(got, want);
  });

  await check('expiry: TTL index', async () => {
    const c = db.collection('ttl');
    await c.createIndex({ at: 1 }, { expireAfterSeconds: 3600 });
    await c.insertMany([{ at: new Date() }, { at: new Date(Date.now() + 86400e3) }, { at: 'never' }]);
    await advance(3601);
    assert.equal(await c.countDocuments(), 2);
    await advance(86400);
    assert.equal(await c.countDocuments(), 1);
  });

  await check('expiry: time series', async () => {
    const c = await db.createCollection('weather', { timeseries: { timeField: 'timestamp', metaField: 'metadata', granularity: 'hours' }, expireAfterSeconds: 86400 });
    const hours = weather(process.env.DATASETS);
    await c.insertMany(hours);
    assert.equal(await c.countDocuments(), hours.length);
    await admin.command({ runExpirationPass: 1 });
    assert.equal(await c.countDocuments(), 0); // the year is 2010
  });

  await client.close();
  console.log('done');
}

main().catch(e => { console.error(e); process.exit(1); });
