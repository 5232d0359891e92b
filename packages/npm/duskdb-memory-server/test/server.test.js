'use strict';

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const net = require('node:net');
const path = require('node:path');
const { PassThrough } = require('node:stream');
const { test } = require('node:test');
const { DuskDBMemoryServer } = require('../index.js');
const { command, encode, decode } = require('../wire.js');

async function start(t, options) {
  const server = await DuskDBMemoryServer.create(options);
  t.after(() => server.stop());
  return server;
}

const count = async (server, name) => (await server.command({ count: name }, 'shop')).n;

test('BSON goes there and back', () => {
  const doc = { a: 1, b: 'ä', c: [true, null, 1.5], g: Buffer.from([1, 2]), d: { e: new Date(5) }, f: 2 ** 40 };
  assert.deepEqual(decode(encode(doc)), doc);
});

test('a TTL index expires when the clock is moved', async (t) => {
  const server = await start(t, { now: '2026-01-01T00:00:00Z' });
  assert.equal((await server.now()).toISOString(), '2026-01-01T00:00:00.000Z');
  await server.command({ createIndexes: 'carts', indexes: [{ key: { at: 1 }, name: 'at_1', expireAfterSeconds: 3600 }] }, 'shop');
  await server.command({ insert: 'carts', documents: [{ at: await server.now() }] }, 'shop');
  await server.advance('59m59s');
  assert.equal(await count(server, 'carts'), 1);
  assert.equal((await server.advance({ minutes: 1, seconds: 1 })).toISOString(), '2026-01-01T01:01:00.000Z');
  assert.equal(await count(server, 'carts'), 0);
});

test('set moves to an instant, and never back', async (t) => {
  const server = await start(t, { now: new Date(0) });
  assert.equal((await server.set('2026-05-01')).toISOString(), '2026-05-01T00:00:00.000Z');
  await assert.rejects(server.set(new Date(0)), { code: 2, message: /backwards/ });
  await assert.rejects(server.advance('0.5ms'), TypeError);
});

test('runPass says what it deleted', async (t) => {
  const server = await start(t, { parameters: { ttlMonitorSleepSecs: 3600 } });
  await server.command({ insert: 'c', documents: [{ at: new Date(0) }, { at: new Date(0) }] }, 'shop');
  await server.command({ createIndexes: 'c', indexes: [{ key: { at: 1 }, name: 'at_1', expireAfterSeconds: 0 }] }, 'shop');
  assert.equal((await server.runPass()).ttl, 2);
});

test('servers are independent, and stop twice', async (t) => {
  const [a, b] = await Promise.all([start(t), start(t)]);
  assert.notEqual(a.port, b.port);
  assert.equal(a.getUri('shop'), `mongodb://127.0.0.1:${a.port}/shop?directConnection=true`);
  await a.stop();
  await a.stop();
  for (const used of [() => a.uri, () => a.port, () => a.getUri()]) assert.throws(used, { message: 'the server has been stopped' });
  for (const used of [() => a.now(), () => a.advance('1m'), () => a.set(new Date()), () => a.freeze(), () => a.runPass(), () => a.command({ ping: 1 })]) {
    await assert.rejects(used, { message: 'the server has been stopped' });
  }
  await b.now();
});

test('a server that was killed', async (t) => {
  const server = await start(t);
  server.process.ref(); // a test that waits for nothing else would end
  server.process.kill('SIGKILL');
  await server.exited;
  await assert.rejects(server.now(), { message: 'the server has ended by itself (SIGKILL)' });
});

test('a server with a user', async (t) => {
  const auth = { username: 'a=b,c', password: 'pass word' };
  const server = await start(t, { auth });
  assert.equal((await server.command({ connectionStatus: 1 })).authInfo.authenticatedUsers[0].user, 'a=b,c');
  await server.advance('1m');
  const { hostname, port } = new URL(server.uri);
  await assert.rejects(command(hostname, Number(port), { find: 'c', $db: 'shop' }), { code: 13 });
  await assert.rejects(command(hostname, Number(port), { ping: 1, $db: 'admin' }, { ...auth, password: 'wrong' }), { code: 18 });
});

test('the log goes where it should', async (t) => {
  const lines = [];
  await start(t, { logs: (line) => lines.push(line) });
  assert.match(lines.join('\n'), /Waiting for connections/);
  const stream = new PassThrough();
  await start(t, { logs: stream });
  assert.match(String(stream.read()), /Waiting for connections/);
});

test('what is wrong is said', async () => {
  await assert.rejects(DuskDBMemoryServer.create({ args: ['--nonsense'] }), /ended with exit code 2 before it was ready:[^]*nonsense/);
});

/** Runs a separate program that starts a server, prints its port, and then runs the given code. */
async function elsewhere(then) {
  const module = JSON.stringify(path.resolve(__dirname, '..'));
  const script = `require(${module}).DuskDBMemoryServer.create().then((server) => { console.log(server.port); ${then} })`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(child.stdout.setEncoding('utf8'), 'data');
  return { child, port: Number(port) };
}

test('a program that is killed leaves no server behind', async () => {
  const { child, port } = await elsewhere('setInterval(() => {}, 1000)');
  const socket = net.connect(port, '127.0.0.1').resume();
  await once(socket, 'connect');
  socket.on('error', () => {}); // a reset, if the server ends before it has accepted the connection
  const closed = new Promise((resolve) => { socket.once('close', resolve); });
  child.kill('SIGKILL');
  await closed; // by the server, as it ends
});

test('a server that nobody stops keeps no program from ending', async () => {
  const { child } = await elsewhere('');
  assert.equal((await once(child, 'close'))[0], 0);
});

test('a program may end with stopping its server', async () => {
  const { child } = await elsewhere('server.stop().then(() => { process.exitCode = 7; })');
  assert.equal((await once(child, 'close'))[0], 7);
});
