// Scenario: a plain index with a partial filter becomes a TTL index; the
// monitor of the system clock deletes within two seconds.
const past = new Date(Date.now() - 3600 * 1000);

check('a plain index deletes nothing', () => {
  db.jobs.createIndex({ doneAt: 1 }, { partialFilterExpression: { state: 'done' } });
  db.jobs.insertMany([
    { _id: 1, state: 'done', doneAt: past },
    { _id: 2, state: 'running', doneAt: past },
    { _id: 3, state: 'done', doneAt: new Date(Date.now() + 3600 * 1000) },
    { _id: 4, state: 'done' },
  ]);
  assert.equal(db.jobs.countDocuments(), 4);
});

check('collMod makes it a TTL index', () => {
  const r = db.runCommand({ collMod: 'jobs', index: { keyPattern: { doneAt: 1 }, expireAfterSeconds: 60 } });
  assert.equal(Number(r.expireAfterSeconds_new), 60);
  assert.equal(r.expireAfterSeconds_old, undefined);
  assert.equal(db.jobs.getIndexes()[1].expireAfterSeconds, 60);
});

check('deleted within two seconds', () => {
  const limit = Date.now() + 2000;
  while (db.jobs.countDocuments({ _id: 1 }) !== 0 && Date.now() < limit) sleep(20);
  assert.deepEqual(db.jobs.find().sort({ _id: 1 }).toArray().map(d => d._id), [2, 3, 4]);
  const after = db.runCommand({ collMod: 'jobs', index: { keyPattern: { doneAt: 1 }, expireAfterSeconds: 61 } });
  assert.deepEqual([Number(after.expireAfterSeconds_old), Number(after.expireAfterSeconds_new)], [60, 61]);
});

print('done');
