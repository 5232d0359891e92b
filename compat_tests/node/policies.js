// The Node driver: every way in which data expires, with the clock moved by the
// client, and consumers that wait. Run by TestNodePolicies.
'use strict';
const assert = require('assert');
const { MongoClient, Long } = require('mongodb');
const { check, rejects } = require('./checks.js');

async function main() {
  const client = await MongoClient.connect(process.env.URI);
  const db = client.db('policies');
  const admin = client.db('admin');
  const now = async () => (await admin.command({ testClock: 1 })).now;
  const forward = seconds => admin.command({ testClock: 1, advanceSeconds: seconds, runDuePasses: false });
  const pass = async () => (await admin.command({ runExpirationPass: 1 })).deleted;
  const ids = async c => (await c.find().sort({ _id: 1 }).toArray()).map(d => d._id);
  const after = (start, seconds) => new Date(start.getTime() + seconds * 1000);

  await check('TTL index, changed and hidden', async () => {
    const c = db.collection('ttl');
    const start = await now();
    await c.createIndex({ at: 1 }, { expireAfterSeconds: 3600 });
    await c.insertMany([{ _id: 1, at: start }, { _id: 2, at: after(start, 60) }]);
    const changed = await db.command({ collMod: 'ttl', index: { keyPattern: { at: 1 }, expireAfterSeconds: 10, hidden: true } });
    assert.deepEqual([changed.expireAfterSeconds_old, changed.expireAfterSeconds_new], [3600, 10]);
    await forward(10);
    assert.equal((await pass()).ttl, 1);
    assert.deepEqual(await ids(c), [2]);
  });

  await check('clustered collection', async () => {
    const start = await now();
    const c = await db.createCollection('clustered', { clusteredIndex: { key: { _id: 1 }, unique: true }, expireAfterSeconds: 10 });
    await c.insertMany([{ _id: start }, { _id: after(start, 1) }]);
    await forward(10);
    assert.equal((await pass()).clustered, 1);
    assert.equal(await c.countDocuments(), 1);
  });

  await check('time series, and a part of one', async () => {
    const start = await now();
    const c = await db.createCollection('weather', { timeseries: { timeField: 't', metaField: 'm', granularity: 'seconds' }, expireAfterSeconds: 100000 });
    await c.createIndex({ t: 1 }, { expireAfterSeconds: 10, partialFilterExpression: { m: { $gt: 5 } } });
    await c.insertMany([1, 9].map(m => ({ t: start, m })));
    await forward(3600 + 60 + 10);
    assert.equal((await pass()).timeseriesBuckets, 1);
    assert.deepEqual((await c.find().toArray()).map(d => d.m), [1]);
    await forward(100000);
    assert.equal((await pass()).timeseriesBuckets, 1);
  });

  await check('document TTL by both routes', async () => {
    const byOption = await db.createCollection('option', { documentTtl: { default: -1 } });
    const byIndex = db.collection('index');
    await byIndex.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
    for (const c of [byOption, byIndex]) {
      await c.insertMany([{ _id: 1 }, { _id: 2, ttl: 5 }]);
      assert.equal((await c.indexes()).find(i => i.name === '_ts_1').expireAfterSeconds, c === byOption ? -1 : 10);
    }
    await rejects(2, () => byOption.insertOne({ ttl: -2 }));
    const cursor = byOption.find().sort({ _id: 1 }).batchSize(1);
    await cursor.next();
    await forward(5);
    assert.equal(await cursor.next(), null); // expired between two batches
    assert.deepEqual(await ids(byOption), [1]);
    await forward(5);
    assert.deepEqual([await ids(byOption), await ids(byIndex)], [[1], []]);
    assert.equal((await byIndex.replaceOne({ _id: 1 }, { again: true }, { upsert: true })).upsertedCount, 1);
  });

  await check('onExpire: moved instead of deleted', async () => {
    const c = await db.createCollection('leases', { documentTtl: { default: 10 }, onExpire: { deadLetterTo: 'ended' } });
    await c.insertOne({ _id: 1 });
    await forward(10);
    assert.equal((await pass()).documentTtl >= 1, true);
    assert.equal((await db.collection('ended').findOne({ _id: 1 }))._expired.policy, 'documentTtl');
  });

  const receive = async more => (await db.command({ mqReceive: 'jobs', mode: 'peekLock', ...more })).messages[0];
  const settle = (command, m, more) => db.command({ [command]: 'jobs', lockToken: m._mq.lockToken, ...more });

  await check('queue: a consumer that waits', async () => {
    await db.command({ create: 'jobs', messageQueue: { defaultMessageTimeToLive: 60, lockDuration: 30, deadLetteringOnMessageExpiration: true, autoDeleteOnIdle: 300 } });
    const waiting = receive({ maxWaitTimeMS: 30000 });
    await db.collection('jobs').insertOne({ n: 1 });
    const m = await waiting;
    assert.equal(m.n, 1);
    await settle('mqComplete', m);
    await rejects(90410, () => settle('mqComplete', m));
  });

  await check('queue: a scheduled message wakes a consumer when the clock moves', async () => {
    const due = after(await now(), 100);
    await db.command({ mqSend: 'jobs', messages: [{ n: 2, _mq: { scheduledEnqueueTimeUtc: due } }] });
    const waiting = receive({ maxWaitTimeMS: 30000 });
    await forward(100);
    const m = await waiting;
    assert.deepEqual([m.n, m._mq.enqueuedTimeUtc], [2, due]);
    assert.equal((await settle('mqAbandon', m)).outcome, 'active');
  });

  await check('queue: deferred, locked, dead', async () => {
    const m = await receive();
    const { sequenceNumber } = await settle('mqDefer', m);
    await rejects(90404, () => receive({ sequenceNumbers: [Long.fromNumber(99)] }));
    const back = await receive({ sequenceNumbers: [Long.fromNumber(Number(sequenceNumber))] });
    assert.deepEqual((await settle('mqRenewLock', back)).lockedUntilUtc, after(await now(), 30));
    await settle('mqDeadLetter', back, { reason: 'bad' });
    await db.command({ mqSend: 'jobs', messages: [{ n: 3 }] });
    await forward(60);
    assert.equal((await pass()).messagesDeadLettered, 1);
    const dead = await db.collection('jobs.deadletterqueue').find().sort({ n: 1 }).toArray();
    assert.deepEqual(dead.map(d => d._mq.deadLetterReason), ['bad', 'TTLExpiredException']);
    await rejects(20, () => db.command({ findAndModify: 'jobs', query: {}, update: { $set: { n: 4 } } }));
  });

  await check('expirationStats', async () => {
    await db.command({ mqSend: 'jobs', messages: [{ n: 5 }] });
    const [{ policies, messages }] = (await db.command({ expirationStats: 'jobs', horizonSeconds: 60, buckets: 1, empty: true })).collections;
    assert.deepEqual(policies.map(p => [p.lane, p.histogram[0].count]), [['expiry', 1], ['lock', 0], ['schedule', 0], ['idle', 0]]);
    assert.deepEqual([messages.active, messages.deadLettered], [1, 2]);
    const all = (await db.command({ expirationStats: 1 })).collections.flatMap(c => c.policies.map(p => p.policy));
    for (const policy of ['ttl', 'clustered', 'timeseries', 'partialTimeseries', 'documentTtl', 'messageQueue']) assert.ok(all.includes(policy), policy);
  });

  await check('an idle queue goes', async () => {
    await forward(300);
    assert.equal((await pass()).queuesDropped, 1);
    await rejects(26, () => receive());
  });

  await client.close();
  console.log('done');
}

main().catch(e => { console.error(e); process.exit(1); });
