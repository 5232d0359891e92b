// Every way in which data expires, in the shell. The server's clock stands still.
const admin = db.getSiblingDB('admin');
const seconds = n => new Date(start.getTime() + n * 1000);
const forward = n => admin.runCommand({ testClock: 1, advanceSeconds: Long(String(n)), runDuePasses: false });
const pass = () => admin.runCommand({ runExpirationPass: 1 }).deleted;
const ids = name => db.getCollection(name).find().sort({ _id: 1 }).toArray().map(d => d._id);
const run = command => db.runCommand(command);
let start;
const now = () => { start = admin.runCommand({ testClock: 1 }).now; };

check('TTL index', () => {
  now();
  db.ttl.createIndex({ at: 1 }, { expireAfterSeconds: 10 });
  db.ttl.insertMany([{ _id: 1, at: seconds(0) }, { _id: 2, at: [seconds(50), seconds(0)] }, { _id: 3, at: 'never' }]);
  forward(10);
  assert.equal(db.ttl.countDocuments(), 3); // until a pass
  assert.equal(Number(pass().ttl), 2);
  assert.deepEqual(ids('ttl'), [3]);
});

check('clustered collection', () => {
  now();
  db.createCollection('clustered', { clusteredIndex: { key: { _id: 1 }, unique: true }, expireAfterSeconds: 10 });
  db.clustered.insertMany([{ _id: seconds(0) }, { _id: seconds(5) }, { _id: 'a' }]);
  forward(10);
  assert.equal(Number(pass().clustered), 1);
  db.runCommand({ collMod: 'clustered', expireAfterSeconds: 'off' });
  forward(100);
  assert.equal(Number(pass().clustered), 0);
  assert.equal(db.clustered.countDocuments(), 2);
});

check('time series, and a part of one', () => {
  now();
  db.createCollection('weather', { timeseries: { timeField: 't', metaField: 'm', bucketMaxSpanSeconds: 60, bucketRoundingSeconds: 60 }, expireAfterSeconds: 100 });
  db.weather.createIndex({ t: 1 }, { expireAfterSeconds: 10, partialFilterExpression: { m: { $gt: 5 } } });
  db.weather.insertMany([{ t: start, m: 1 }, { t: start, m: 9 }, { t: seconds(1), m: 9 }]);
  forward(70);
  assert.equal(Number(pass().timeseriesBuckets), 1);
  assert.deepEqual(db.weather.find().toArray().map(d => d.m), [1]);
  forward(90);
  assert.equal(Number(pass().timeseriesBuckets), 1);
  assert.equal(db.weather.countDocuments(), 0);
});

check('document TTL by the index on _ts', () => {
  db.sessions.createIndex({ _ts: 1 }, { expireAfterSeconds: 10 });
  db.sessions.insertMany([{ _id: 1 }, { _id: 2, ttl: 20 }, { _id: 3, ttl: -1 }, { _id: 4, ttl: 'no' }]);
  forward(10);
  assert.deepEqual(ids('sessions'), [2, 3]); // without a pass
  assert.equal(db.sessions.updateOne({ _id: 1 }, { $set: { a: 1 } }).matchedCount, 0);
  assert.equal(db.sessions.insertOne({ _id: 1 }).insertedId, 1);
  db.sessions.dropIndex('_ts_1');
  forward(100);
  assert.deepEqual(ids('sessions'), [1, 2, 3]);
});

check('document TTL by the option', () => {
  db.createCollection('carts', { documentTtl: { default: 10, exposeTs: true } });
  db.carts.insertOne({ _id: 1 });
  assert.equal(Object.keys(db.carts.findOne()).pop(), '_ts');
  rejects(2, () => db.carts.insertOne({ _id: 2, ttl: 0 }));
  forward(9);
  db.carts.updateOne({ _id: 1 }, { $set: { seen: true } });
  forward(9);
  assert.deepEqual(ids('carts'), [1]);
  forward(1);
  assert.deepEqual(ids('carts'), []);
  const changed = run({ collMod: 'carts', documentTtl: 'off' });
  assert.equal(changed.documentTtl_old.default, 10);
  assert.equal(changed.documentTtl_new, null);
  forward(100);
  assert.deepEqual(ids('carts'), []); // expiry is final
});

check('customAction', () => {
  assert.equal(run({ customAction: 'CreateCollection', collection: 'cosmos', indexes: [{ key: { _id: 1 }, name: '_id_1' }, { key: { _ts: 1 }, name: '_ts_1', expireAfterSeconds: 30 }] }).ok, 1);
  db.cosmos.insertOne({ _id: 1 });
  assert.equal(run({ customAction: 'GetCollection', collection: 'cosmos' }).provisionedThroughput, 400);
  forward(30);
  assert.equal(db.cosmos.countDocuments(), 0);
});

check('onExpire: moved instead of deleted', () => {
  now();
  db.createCollection('leases', { onExpire: { deadLetterTo: 'ended' } });
  db.leases.createIndex({ at: 1 }, { expireAfterSeconds: 10 });
  db.leases.insertOne({ _id: 1, at: start });
  forward(15);
  pass();
  assert.equal(db.leases.countDocuments(), 0);
  const { _expired } = db.ended.findOne({ _id: 1 });
  assert.equal(_expired.policy, 'ttl');
  assert.equal(_expired.expiredAt.getTime(), seconds(10).getTime());
});

const first = reply => reply.messages[0];
const receive = more => first(run({ mqReceive: 'jobs', mode: 'peekLock', ...more }));

check('queue: send, receive, settle', () => {
  now();
  run({ create: 'jobs', messageQueue: { defaultMessageTimeToLive: 'PT1M', lockDuration: 'PT30S', maxDeliveryCount: 3, deadLetteringOnMessageExpiration: true, autoDeleteOnIdle: 'PT10M' } });
  assert.deepEqual(run({ mqSend: 'jobs', messages: [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4, _mq: { scheduledEnqueueTimeUtc: seconds(500) } }] }).sequenceNumbers.map(Number), [1, 2, 3, 4]);
  const a = receive();
  assert.equal(run({ mqComplete: 'jobs', lockToken: a._mq.lockToken }).ok, 1);
  rejects(90410, () => run({ mqComplete: 'jobs', lockToken: a._mq.lockToken }));
  const b = receive();
  assert.equal(run({ mqAbandon: 'jobs', lockToken: b._mq.lockToken, set: { tried: 1 } }).outcome, 'active');
  const again = receive();
  assert.deepEqual([again.n, again.tried, again._mq.deliveryCount], [2, 1, 2]);
  const deferred = run({ mqDefer: 'jobs', lockToken: again._mq.lockToken });
  assert.equal(deferred.outcome, 'deferred');
  const back = receive({ sequenceNumbers: [deferred.sequenceNumber] });
  assert.equal(run({ mqDeadLetter: 'jobs', lockToken: back._mq.lockToken, reason: 'bad', description: 'no image' }).ok, 1);
  assert.equal(run({ mqCancelScheduled: 'jobs', sequenceNumber: Long('4') }).ok, 1);
  assert.equal(first(run({ mqPeek: 'jobs' })).n, 3);
  assert.equal(db.jobs.findOne()._mq.lockToken, undefined);
});

check('queue: locks and expiry', () => {
  const c = receive();
  forward(29);
  assert.equal(run({ mqRenewLock: 'jobs', lockToken: c._mq.lockToken }).lockedUntilUtc.getTime(), seconds(59).getTime());
  forward(60);
  assert.equal(receive({ maxWaitTimeMS: 1 }), undefined); // expired when its lock had ended
  const dead = run({ mqReceive: 'jobs', subQueue: 'deadLetter', mode: 'receiveAndDelete', maxMessages: 10 }).messages;
  assert.deepEqual(dead.map(m => m._mq.deadLetterReason).sort(), ['TTLExpiredException', 'bad']);
  const stats = run({ mqStats: 'jobs' });
  assert.deepEqual([stats.active, stats.locked, stats.deferred, stats.scheduled, stats.deadLettered].map(Number), [0, 0, 0, 0, 0]);
});

check('expirationStats and metrics', () => {
  db.ttl.insertOne({ _id: 9, at: admin.runCommand({ testClock: 1 }).now });
  const [ttl] = run({ expirationStats: 'ttl', horizonSeconds: 20, buckets: 2, empty: true }).collections[0].policies;
  assert.deepEqual([ttl.policy, Number(ttl.pending), Number(ttl.overdue), ...ttl.histogram.map(b => Number(b.count))], ['ttl', 1, 0, 1, 0]);
  const lanes = run({ expirationStats: 'jobs' }).collections[0].policies.map(p => p.lane);
  assert.deepEqual(lanes, ['expiry', 'lock', 'schedule', 'idle']);
  const { ttl: counted, expiration } = db.serverStatus().metrics;
  assert.ok(Number(counted.deletedDocuments) >= 5 && Number(counted.passes) >= 5);
  assert.equal(Number(expiration.messageQueue.expiredDeadLettered), 1);
});

check('an idle queue goes', () => {
  forward(600);
  assert.equal(Number(pass().queuesDropped), 1);
  rejects(26, () => run({ mqReceive: 'jobs' }));
});

check('the clock', () => {
  assert.equal(admin.runCommand({ testClock: 1, advanceSeconds: 60 }).passRan, true);
  rejects(2, () => admin.runCommand({ testClock: 1, advanceMillis: -1 }));
});

print('done');
