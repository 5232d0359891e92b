// The Node driver: transactions and change streams. Run by TestTransactions.
'use strict';
const assert = require('assert');
const { MongoClient } = require('mongodb');
const { check } = require('./checks.js');

async function main() {
  const client = await MongoClient.connect(process.env.URI);
  const db = client.db('node');
  const total = async c => (await c.find().toArray()).reduce((n, d) => n + d.n, 0);

  await check('withTransaction', async () => {
    const c = db.collection('accounts');
    await c.insertMany([{ _id: 'a', n: 10 }, { _id: 'b', n: 0 }]);
    const move = (n, fail) => client.withSession(session => session.withTransaction(async () => {
      await c.updateOne({ _id: 'a' }, { $inc: { n: -n } }, { session });
      await c.updateOne({ _id: 'b' }, { $inc: { n } }, { session });
      if (fail) throw new Error('refused');
    }));
    await assert.rejects(move(3, true), /refused/);
    assert.equal((await c.findOne({ _id: 'a' })).n, 10);
    await move(3);
    assert.equal((await c.findOne({ _id: 'a' })).n, 7);
    assert.equal((await c.findOne({ _id: 'b' })).n, 3);
  });

  await check('withTransaction tries again after a conflict', async () => {
    const c = db.collection('counter');
    await c.insertOne({ _id: 1, n: 0 });
    const increment = () => client.withSession(session => session.withTransaction(async () => {
      const { n } = await c.findOne({ _id: 1 }, { session });
      await c.updateOne({ _id: 1 }, { $set: { n: n + 1 } }, { session });
    }));
    await Promise.all(Array.from({ length: 8 }, increment));
    assert.equal(await total(c), 8);
  });

  await check('watch', async () => {
    const c = db.collection('watched');
    let stream = c.watch([], { fullDocument: 'updateLookup', maxAwaitTimeMS: 500 });
    await stream.tryNext();
    await client.withSession(session => session.withTransaction(async () => {
      await c.insertOne({ _id: 1, n: 1 }, { session });
      await c.updateOne({ _id: 1 }, { $set: { n: 2 } }, { session });
    }));
    const first = await stream.next();
    assert.equal(first.operationType, 'insert');
    assert.ok(first.txnNumber !== undefined && first.lsid);
    await stream.close();
    await c.replaceOne({ _id: 1 }, { n: 3 });
    await c.deleteOne({ _id: 1 });
    stream = c.watch([], { fullDocument: 'updateLookup', resumeAfter: first._id });
    for (const want of ['update', 'replace', 'delete']) {
      assert.equal((await stream.next()).operationType, want);
    }
    await stream.close();
  });

  await check('watch tells why a document has gone', async () => {
    const c = db.collection('expiring');
    await c.createIndex({ at: 1 }, { expireAfterSeconds: 0 });
    const stream = db.watch([{ $match: { operationType: 'delete' } }], { showExpandedEvents: true, maxAwaitTimeMS: 500 });
    await stream.tryNext();
    const { now } = await client.db('admin').command({ testClock: 1 });
    await c.insertOne({ _id: 1, at: new Date(now.getTime() + 1000) });
    await client.db('admin').command({ testClock: 1, advanceSeconds: 120 });
    const event = await stream.next();
    assert.deepEqual(event.documentKey, { _id: 1 });
    assert.equal(event.expiration.policy, 'ttl');
    assert.equal(event.expiration.dueAt.getTime(), now.getTime() + 1000);
    await stream.close();
  });

  await client.close();
  console.log('done');
}

main().catch(e => {
  console.error(e);
  process.exit(1);
});
