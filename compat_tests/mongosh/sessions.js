// Scenario: documents that live for some seconds after their last write. In
// each of three collections stand documents without ttl, with -1 and with
// 2000; the policy is absent, -1 and 1000. The server's clock stands still.
const admin = db.getSiblingDB('admin');
const policies = { off: undefined, never: -1, sessions: 1000 };
const items = { missing: {}, forever: { ttl: -1 }, own: { ttl: 2000 } };

const advance = ms => admin.runCommand({ testClock: 1, advanceMillis: Long(String(ms)), runDuePasses: false });
const left = name => db.getCollection(name).find().toArray().map(d => d._id).sort();
const all = ['forever', 'missing', 'own'];

if (process.env.PHASE === 'load') {
  check('create', () => {
    for (const [name, seconds] of Object.entries(policies)) {
      if (seconds !== undefined) db.getCollection(name).createIndex({ _ts: 1 }, { expireAfterSeconds: seconds });
      for (const [_id, extra] of Object.entries(items)) db.getCollection(name).insertOne({ _id, ...extra });
    }
    assert.equal(db.sessions.getIndexes()[1].expireAfterSeconds, 1000);
    assert.equal(db.sessions.findOne()._ts, undefined);
  });

  check('all are there a millisecond before the first instant', () => {
    advance(999999);
    for (const name of Object.keys(policies)) assert.deepEqual(left(name), all, name);
  });
}

if (process.env.PHASE === 'first') { // a restart later, in the instant of 1000 s
  check('the default has expired, nothing else', () => {
    assert.deepEqual(left('off'), all);
    assert.deepEqual(left('never'), all);
    assert.deepEqual(left('sessions'), ['forever', 'own']);
    assert.equal(db.sessions.countDocuments({ _id: 'missing' }), 0);
    assert.equal(db.sessions.estimatedDocumentCount(), 2);
    assert.equal(db.sessions.updateOne({ _id: 'missing' }, { $set: { a: 1 } }).matchedCount, 0);
    assert.equal(db.sessions.deleteOne({ _id: 'missing' }).deletedCount, 0);
    assert.equal(db.sessions.aggregate([{ $match: { _id: 'missing' } }]).toArray().length, 0);
  });

  check('the name of an expired document is free', () => {
    assert.equal(db.sessions.insertOne({ _id: 'missing', again: true }).acknowledged, true);
    assert.equal(db.sessions.findOne({ _id: 'missing' }).again, true);
    db.sessions.deleteOne({ _id: 'missing' });
  });

  check('own time-to-live: a millisecond before, and in its instant', () => {
    advance(999999);
    assert.deepEqual(left('never'), all);
    assert.deepEqual(left('sessions'), ['forever', 'own']);
    advance(1);
    assert.deepEqual(left('off'), all);
    assert.deepEqual(left('never'), ['forever', 'missing']);
    assert.deepEqual(left('sessions'), ['forever']);
  });

  check('a write starts the time anew', () => {
    db.sessions.insertOne({ _id: 'kept' });
    advance(999999);
    db.sessions.updateOne({ _id: 'kept' }, { $set: { seen: 1 } }); // _ts counts whole seconds
    advance(999000);
    assert.equal(db.sessions.countDocuments({ _id: 'kept' }), 1);
    advance(1);
    assert.equal(db.sessions.countDocuments({ _id: 'kept' }), 0);
  });

  check('the purge removes what is invisible', () => {
    assert.ok(Number(admin.runCommand({ runExpirationPass: 1 }).deleted.documentTtl) >= 1);
    assert.deepEqual(left('sessions'), ['forever']);
  });
}

if (process.env.PHASE === 'last') { // after a crash, far in the future
  check('what never expires is still there', () => {
    assert.deepEqual(left('off'), all);
    assert.deepEqual(left('never'), ['forever', 'missing']);
    assert.deepEqual(left('sessions'), ['forever']);
  });
}

print('done');
