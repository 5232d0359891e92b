'use strict';

const assert = require('node:assert/strict');
const { EventEmitter } = require('node:events');
const fs = require('node:fs');
const net = require('node:net');
const { test } = require('node:test');
const { DuskDBMemoryServer, MongoMemoryServer, MongoMemoryReplSet, MongoMemoryServerStates } = require('../index.js');

function later(t, server) {
  t.after(() => server.stop());
  return server;
}

const create = async (t, opts) => later(t, await MongoMemoryServer.create(opts));

test('states and events', async () => {
  const server = new MongoMemoryServer();
  const states = [server.state];
  server.on('stateChange', (state) => states.push(state));
  assert.throws(() => server.getUri(), { name: 'StateError' });
  assert.equal(await server.stop(), false);
  const started = server.start();
  await assert.rejects(server.start(), { name: 'StateError' });
  assert.equal((await server.ensureInstance()).ip, '127.0.0.1');
  await started;
  assert.equal(server.getUri('shop'), `mongodb://127.0.0.1:${server.instanceInfo.port}/shop`);
  assert.equal(server.getUri(undefined, '10.0.0.1'), `mongodb://10.0.0.1:${server.instanceInfo.port}/`);
  assert.equal(await server.stop(), true);
  assert.deepEqual(states, ['new', 'starting', 'running', 'stopped', 'new']);
  assert.equal(server.instanceInfo, undefined);
  assert.equal(server.state, MongoMemoryServerStates.new);
});

test('a failed start', async () => {
  const server = new MongoMemoryServer({ instance: { args: ['--nonsense'] } });
  await assert.rejects(server.start(), /nonsense/);
  assert.equal(server.state, 'stopped');
});

test('options of the instance', async (t) => {
  const server = await create(t, { instance: { dbName: 'shop', storageEngine: 'ephemeralForTest', args: ['--setParameter', 'ttlMonitorSleepSecs=7'], now: new Date(0) } });
  assert.equal((await server.command({ getParameter: 1, ttlMonitorSleepSecs: 1 })).ttlMonitorSleepSecs, 7);
  assert.equal(server.instanceInfo.dbName, 'shop');
  assert.equal((await server.advance('61m')).getTime(), 3_660_000);
  assert.equal((await server.set(new Date(4_000_000))).getTime(), 4_000_000);
  assert.equal((await server.now()).getTime(), 4_000_000);
  assert.equal((await server.runPass()).ttl, 0);
});

test('the version of the binary', async (t) => {
  const versionOf = async (opts) => (await (await create(t, opts)).command({ buildInfo: 1 })).version;
  assert.match(await versionOf({ binary: { version: '8.0.4' } }), /^8\.0\./);
  assert.match(await versionOf({ binary: { version: '7.0.14' } }), /^8\.2\./);
  assert.match(await versionOf({}), /^8\.2\./);
});

test('a port that is taken', async (t) => {
  const taken = net.createServer();
  await new Promise((resolve) => { taken.listen(0, '127.0.0.1', resolve); });
  t.after(() => taken.close());
  const { port } = taken.address();
  const other = await create(t, { instance: { port } });
  assert.notEqual(other.instanceInfo.port, port);
  await assert.rejects(MongoMemoryServer.create({ instance: { port, portGeneration: false } }), /address already in use/);
});

test('data survive a stop without a clean-up', async (t) => {
  const server = await create(t, { instance: { storageEngine: 'wiredTiger' } });
  const { dbPath, port } = server.instanceInfo;
  await server.command({ insert: 'c', documents: [{ _id: 1 }] }, 'shop');
  assert.equal(await server.stop({ doCleanup: false }), true);
  assert.equal(await server.stop(), false);
  await server.start(true);
  assert.equal(server.instanceInfo.port, port);
  assert.equal((await server.command({ count: 'c' }, 'shop')).n, 1);
  await server.stop();
  assert.equal(fs.existsSync(dbPath), false);
});

test('a directory that was given stays, unless force is', async (t) => {
  const dbPath = fs.mkdtempSync('duskdb-test-');
  t.after(() => fs.rmSync(dbPath, { recursive: true, force: true }));
  const server = await create(t, { instance: { dbPath } });
  await server.stop();
  assert.equal(fs.existsSync(dbPath), true);
  await server.start();
  await server.stop({ force: true });
  assert.equal(fs.existsSync(dbPath), false);
});

test('automatic users', async (t) => {
  const server = await create(t, { auth: { extraUsers: [{ createUser: 'reader', pwd: 'secret', roles: ['read'], database: 'shop' }] } });
  assert.equal(server.auth.customRootName, 'mongodb-memory-server-root');
  const { users } = await server.command({ usersInfo: { forAllDBs: true } });
  assert.deepEqual(users.map((user) => `${user.db}.${user.user}`).sort(), ['admin.mongodb-memory-server-root', 'shop.reader']);
  await server.advance('1m');
  const open = await create(t, { auth: { enable: false } });
  assert.equal(open.auth, undefined);
});

test('a replica set', async (t) => {
  const set = later(t, new MongoMemoryReplSet({ replSet: { name: 'rs', dbName: 'shop', oplogSize: 10 } }));
  assert.equal(set.state, 'stopped');
  const started = set.start();
  await set.waitUntilRunning();
  await started;
  const [{ instanceInfo: { port } }] = set.servers;
  assert.equal(set.getUri(), `mongodb://127.0.0.1:${port}/shop?replicaSet=rs`);
  assert.equal(set.getUri('other'), `mongodb://127.0.0.1:${port}/other?replicaSet=rs`);
  const hello = await set.command({ hello: 1 });
  assert.equal(hello.setName, 'rs');
  assert.equal(hello.isWritablePrimary, true);
  assert.equal(await set.stop(), true);
  assert.equal(await set.stop(), false);
  assert.deepEqual(set.servers, []);
  assert.throws(() => set.getUri(), { name: 'StateError' });
});

test('a replica set with users', async (t) => {
  const set = later(t, await MongoMemoryReplSet.create({ replSet: { auth: { customRootName: 'root', customRootPwd: 'pw' } } }));
  assert.equal((await set.command({ connectionStatus: 1 })).authInfo.authenticatedUsers[0].user, 'root');
});

test('a replica set has one member', () => {
  assert.throws(() => new MongoMemoryReplSet({ replSet: { count: 3 } }), /one member, not of 3/);
  assert.throws(() => new MongoMemoryReplSet({ instanceOpts: [{}, {}] }), /one member, not of 2/);
  assert.throws(() => new MongoMemoryReplSet({ replSet: { count: 0 } }), /1 or higher/);
});

test('await using stops it', async () => {
  const dispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');
  for (const Class of [DuskDBMemoryServer, MongoMemoryServer, MongoMemoryReplSet]) {
    const server = await Class.create();
    await server[dispose]();
    await assert.rejects(async () => server.now());
  }
  const kept = await MongoMemoryServer.create({ dispose: { enabled: false } });
  await kept[dispose]();
  assert.equal(kept.state, 'running');
  await kept.stop();
  assert.ok(kept instanceof EventEmitter);
});
