// Scenario: a year of hourly weather in a time series that expires after a
// day. PHASE says before or after which restart of the server this is; the
// server's clock stands where the phase begins.
const { weather, dailyMeans } = require(process.env.CHECKS);

const hours = weather(process.env.DATASETS);
const admin = db.getSiblingDB('admin');
const bucketSpan = 2592000; // of granularity "hours"

const options = () => db.getCollectionInfos({ name: 'weather24h' })[0].options;
const count = () => db.weather24h.countDocuments({});
const runPass = () => admin.runCommand({ runExpirationPass: 1 }).deleted.timeseriesBuckets;
const jumpTo = at => admin.runCommand({ testClock: 1, set: at, runDuePasses: false });

if (process.env.PHASE === 'load') {
  check('create and load', () => {
    db.createCollection('weather24h', {
      timeseries: { timeField: 'timestamp', metaField: 'metadata', granularity: 'hours' },
      expireAfterSeconds: 86400,
    });
    assert.equal(Object.keys(db.weather24h.insertMany(hours).insertedIds).length, hours.length);
    assert.equal(count(), hours.length);
  });

  check('listCollections', () => {
    const info = db.getCollectionInfos({ name: 'weather24h' })[0];
    assert.equal(info.type, 'timeseries');
    assert.equal(Number(info.options.expireAfterSeconds), 86400);
    assert.equal(info.options.timeseries.bucketMaxSpanSeconds, bucketSpan);
  });

  check('collMod to a week, off and back', () => {
    assert.equal(db.runCommand({ collMod: 'weather24h', expireAfterSeconds: 604801 }).ok, 1);
    assert.equal(Number(options().expireAfterSeconds), 604801);
    assert.equal(db.runCommand({ collMod: 'weather24h', expireAfterSeconds: 'off' }).ok, 1);
    assert.equal(options().expireAfterSeconds, undefined);
    assert.equal(db.runCommand({ collMod: 'weather24h', expireAfterSeconds: 86400 }).ok, 1);
    assert.equal(Number(options().expireAfterSeconds), 86400);
  });
}

check(`daily means (${process.env.PHASE})`, () => {
  const want = dailyMeans(hours);
  const got = db.weather24h.aggregate([
    { $group: { _id: { $dateToString: { date: '$timestamp', format: '%Y-%m-%d' } }, mean: { $avg: '$temperature' } } },
    { $sort: { _id: 1 } },
  ]).toArray();
  assert.equal(got.length, want.size);
  for (const { _id, mean } of got) assert.ok(Math.abs(mean - want.get(_id)) < 1e-9, `${_id}: ${mean}, want ${want.get(_id)}`);
});

if (process.env.PHASE === 'expire') {
  // The buckets of the server, oldest first: b is the second from which the
  // removal condition of a bucket counts, its rounded minimum.
  const buckets = db.getCollection('system.buckets.weather24h').aggregate([
    { $group: { _id: '$control.min.timestamp', n: { $sum: 1 } } },
    { $sort: { _id: 1 } },
  ]).toArray();

  check('a bucket goes in its second, not before', () => {
    assert.ok(buckets.length >= 12, `${buckets.length} minima`);
    const due = new Date(buckets[0]._id.getTime() + (bucketSpan + 86400) * 1000);
    jumpTo(new Date(due.getTime() - 1));
    assert.equal(runPass(), 0);
    assert.equal(count(), hours.length);
    jumpTo(due);
    assert.equal(Number(runPass()), buckets[0].n);
    assert.equal(count(), hours.filter(h => h.timestamp >= buckets[1]._id).length);
  });

  check('half of the year', () => {
    const middle = buckets[6]._id;
    jumpTo(new Date(middle.getTime() + (bucketSpan + 86400) * 1000));
    runPass();
    assert.equal(count(), hours.filter(h => h.timestamp >= buckets[7]._id).length);
  });

  check('off keeps everything, a number takes it', () => {
    const left = count();
    db.runCommand({ collMod: 'weather24h', expireAfterSeconds: 'off' });
    jumpTo(new Date('2012-01-01T00:00:00Z'));
    assert.equal(Number(runPass()), 0);
    assert.equal(count(), left);
    db.runCommand({ collMod: 'weather24h', expireAfterSeconds: 86400 });
    assert.ok(runPass() > 0);
    assert.equal(count(), 0);
    assert.ok(db.serverStatus().metrics.ttl.deletedDocuments > 0);
  });
}

print('done');
