// The administrator's helpers of the shell. Run by TestMongoshAdministration.

const admin = db.getSiblingDB('admin');

check('serverStatus', () => {
  const s = db.serverStatus();
  for (const part of ['connections', 'opcounters', 'network', 'mem', 'metrics']) assert.ok(s[part], part);
  assert.ok(s.metrics.ttl.passes >= 0);
  assert.ok(s.connections.current > 0);
  assert.equal(typeof s.uptime, 'number');
  assert.equal(db.serverStatus({ metrics: 0 }).metrics, undefined);
});

check('host and build', () => {
  assert.ok(db.hostInfo().system.numCores >= 1);
  assert.equal(db.serverBuildInfo().maxBsonObjectSize, 16777216);
  assert.ok(Array.isArray(db.serverCmdLineOpts().argv));
  assert.equal(db.runCommand({ whatsmyuri: 1 }).ok, 1);
  assert.equal(db.runCommand({ connectionStatus: 1 }).authInfo.authenticatedUsers.length, 0);
  assert.ok(db.listCommands !== undefined && Object.keys(db.runCommand({ listCommands: 1 }).commands).length > 50);
});

check('parameters', () => {
  const was = admin.runCommand({ setParameter: 1, ttlMonitorSleepSecs: 30 }).was;
  assert.equal(was, 60);
  assert.equal(admin.runCommand({ getParameter: 1, ttlMonitorSleepSecs: 1 }).ttlMonitorSleepSecs, 30);
  rejects(72, () => admin.runCommand({ setParameter: 1, noSuchParameter: 1 }));
  assert.equal(admin.runCommand({ getParameter: 1, featureCompatibilityVersion: 1 }).featureCompatibilityVersion.version, '8.2');
});

check('log', () => {
  assert.ok(Array.isArray(admin.runCommand({ getLog: 'global' }).log));
  assert.ok(admin.runCommand({ getLog: '*' }).names.includes('startupWarnings'));
});

check('verbosity of the log', () => {
  assert.equal(db.getLogComponents().verbosity, 0);
  assert.equal(db.getLogComponents().storage.journal.verbosity, -1);
  const lines = () => admin.runCommand({ getLog: 'global' }).log.filter(l => l.includes('noise'));
  db.noise.findOne();
  assert.equal(lines().length, 0);
  db.setLogLevel(1, 'command');
  assert.equal(db.getLogComponents().command.verbosity, 1);
  db.noise.findOne();
  assert.ok(lines().length > 0);
  db.setLogLevel(-1, 'command');
  const was = lines().length;
  db.noise.findOne();
  assert.equal(lines().length, was);
  db.setLogLevel(2);
  assert.equal(admin.runCommand({ getParameter: 1, logLevel: 1 }).logLevel, 2);
  db.setLogLevel(0);
});

check('profiling', () => {
  assert.equal(db.getProfilingStatus().was, 0);
  assert.equal(db.setProfilingLevel(0, { slowms: 200 }).was, 0);
  assert.equal(db.getProfilingStatus().slowms, 200);
});

check('currentOp and killOp', () => {
  const ops = db.currentOp({ $all: true });
  assert.equal(ops.ok, 1);
  assert.ok(ops.inprog.some(o => o.command && (o.command.aggregate !== undefined || o.command.currentOp !== undefined)));
  assert.equal(db.killOp(123456789).ok, 1);
  assert.ok(admin.aggregate([{ $currentOp: { allUsers: true } }]).toArray().length >= 1);
});

check('fsync', () => {
  assert.equal(db.fsyncLock().ok, 1);
  assert.equal(db.fsyncUnlock().ok, 1);
  rejects(20, () => db.fsyncUnlock());
});

check('sessions', () => {
  const s = db.getMongo().startSession();
  const c = s.getDatabase('test').sessioned;
  c.insertOne({ _id: 1 });
  assert.equal(c.findOne()._id, 1);
  s.endSession();
  assert.equal(db.runCommand({ startSession: 1 }).timeoutMinutes, 30);
});

check('transactions are answered cleanly', () => {
  const s = db.getMongo().startSession();
  s.startTransaction();
  try {
    s.getDatabase('test').tx.insertOne({ _id: 1 });
    s.commitTransaction();
    assert.equal(db.tx.countDocuments(), 1);
  } catch (e) {
    assert.equal(e.code, 20, e.message); // as a standalone mongod answers
  }
  s.endSession();
});

check('watch is answered cleanly', () => {
  try {
    const w = db.watched.watch([], { maxAwaitTimeMS: 50 });
    w.tryNext();
    w.close();
  } catch (e) {
    assert.equal(e.code, 40573, e.message); // as a standalone mongod answers
  }
});

check('replica set and sharding helpers', () => {
  rejects(76, () => rs.status());
  rejects(59, () => db.runCommand({ listShards: 1 }));
  assert.equal(db.isMaster().ismaster, true);
});

check('unknown names', () => {
  rejects(59, () => db.runCommand({ noSuchCommand: 1 }));
  rejects(40324, () => db.c.aggregate([{ $noSuchStage: 1 }]).toArray());
  rejects(2, () => db.c.find({ $noSuchOperator: 1 }).toArray());
  rejects(9, () => db.c.updateOne({}, { $noSuchOperator: { a: 1 } }));
  rejects(40415, () => db.runCommand({ find: 'c', noSuchField: 1 }));
  rejects(73, () => db.runCommand({ find: '' }));
});

check('top and inventory', () => {
  assert.equal(admin.runCommand({ top: 1 }).ok, 1);
  const names = admin.runCommand({ listDatabases: 1, nameOnly: true }).databases.map(d => d.name);
  assert.ok(names.includes('test'));
  assert.equal(db.runCommand({ dbHash: 1 }).ok, 1);
});

print('done');
