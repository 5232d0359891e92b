'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { DuskDBMemoryServer, MongoMemoryReplSet, MongoMemoryServer } = require('../index.js');

const refused = (create, message) => assert.rejects(async () => create(), { name: 'TypeError', message });

test('unknown options of DuskDBMemoryServer', async () => {
  for (const [options, message] of [
    [{ prot: 1 }, 'has no option prot; did you mean port?'],
    [{ dbPath: 'x' }, 'has no option dbPath; did you mean dbpath?'],
    [{ instance: { port: 1 } }, 'has no option instance; its options stand directly in the object: create({ port: 27017 }). MongoMemoryServer has instance'],
    [{ auth: { user: 'a', password: 'b' } }, 'has no option auth.user; its options: auth.username, auth.password'],
    [27017, 'takes an object with options, not 27017'],
    [[], 'takes an object with options, not []'],
    [null, 'takes an object with options, not null'],
  ]) await refused(() => DuskDBMemoryServer.create(options), `DuskDBMemoryServer ${message}`);
});

test('unknown options of MongoMemoryServer', async () => {
  for (const [options, message] of [
    [{ port: 1 }, 'has no option port; write instance: { port: … }, or use DuskDBMemoryServer'],
    [{ now: 0 }, 'has no option now; write instance: { now: … }, or use DuskDBMemoryServer'],
    [{ dbpath: 'x' }, 'has no option dbpath; write instance: { dbPath: … }'],
    [{ instanceOpts: [] }, 'has no option instanceOpts; MongoMemoryReplSet has it'],
    [{ instances: {} }, 'has no option instances; did you mean instance?'],
    [{ instance: { prot: 1 } }, 'has no option instance.prot; did you mean instance.port?'],
    [{ instance: { dbpath: 'x' } }, 'has no option instance.dbpath; did you mean instance.dbPath?'],
    [{ binary: { binary: 'x' } }, 'has no option binary.binary; its options: binary.systemBinary, binary.version, binary.downloadDir, binary.arch, binary.os, binary.platform, binary.checkMD5, binary.skipMD5'],
    [{ auth: { enabled: true } }, 'has no option auth.enabled; did you mean auth.enable?'],
    [{ dispose: { enable: true } }, 'has no option dispose.enable; did you mean dispose.enabled?'],
  ]) {
    await refused(() => MongoMemoryServer.create(options), `MongoMemoryServer ${message}`);
    assert.throws(() => new MongoMemoryServer(options), TypeError);
  }
});

test('unknown options of MongoMemoryReplSet', () => {
  for (const [options, message] of [
    [{ instance: {} }, 'has no option instance; write instanceOpts: [{ … }]'],
    [{ name: 'rs' }, 'has no option name; write replSet: { name: … }'],
    [{ replSet: { cuont: 1 } }, 'has no option replSet.cuont; did you mean replSet.count?'],
    [{ replSet: { auth: { enabled: true } } }, 'has no option replSet.auth.enabled; did you mean replSet.auth.enable?'],
    [{ instanceOpts: [{ prot: 1 }] }, 'has no option instanceOpts.prot; did you mean instanceOpts.port?'],
  ]) assert.throws(() => new MongoMemoryReplSet(options), { name: 'TypeError', message: `MongoMemoryReplSet ${message}` });
});

test('options of the wrong kind', async () => {
  for (const [options, message] of [
    [{ launchTimeout: '5s' }, 'launchTimeout must be a number of milliseconds greater than 0, not "5s"'],
    [{ launchTimeout: 0 }, 'launchTimeout must be a number of milliseconds greater than 0, not 0'],
    [{ launchTimeout: Infinity }, 'launchTimeout must be a number of milliseconds greater than 0, not Infinity'],
    [{ port: 99999 }, 'port must be a port from 0 to 65535, not 99999'],
    [{ port: 'x' }, 'port must be a port from 0 to 65535, not "x"'],
    [{ port: '' }, 'port must be a port from 0 to 65535, not ""'],
    [{ port: null }, 'port must be a port from 0 to 65535, not null'],
    [{ port: true }, 'port must be a port from 0 to 65535, not true'],
    [{ ip: 127 }, 'ip must be an address, not 127'],
    [{ dbpath: '' }, 'dbpath must be the path of a directory, not ""'],
    [{ binary: '' }, 'binary must be the path of a program, not ""'],
    [{ args: '--quiet' }, 'args must be an array of flags, not "--quiet"'],
    [{ args: [5] }, 'args must be an array of flags, not [5]'],
    [{ replSet: { name: 'rs' } }, 'replSet must be the name of a replica set, not {"name":"rs"}'],
    [{ replSet: '' }, 'replSet must be the name of a replica set, not ""'],
    [{ auth: { username: 'a' } }, 'auth must be { username, password }, not {"username":"a"}'],
    [{ auth: { username: '', password: 'x' } }, 'auth must be { username, password }, not {"username":"","password":"x"}'],
    [{ auth: true }, 'auth must be { username, password }, not true'],
    [{ parameters: 'ttlMonitorSleepSecs=1' }, 'parameters must be an object such as { ttlMonitorSleepSecs: 1 }, not "ttlMonitorSleepSecs=1"'],
    [{ parameters: ['x'] }, 'parameters must be an object such as { ttlMonitorSleepSecs: 1 }, not ["x"]'],
    [{ parameters: { a: null } }, 'parameters must be an object such as { ttlMonitorSleepSecs: 1 }, not {"a":null}'],
    [{ spawn: 'x' }, 'spawn must be an object with options of the child process, not "x"'],
    [{ spawn: { stdio: 'inherit' } }, 'spawn.stdio would have no effect: the option logs says where the output goes'],
    [{ spawn: { cwd: '/nowhere' } }, 'spawn.cwd is /nowhere, which does not exist'],
    [{ logs: 'x' }, 'logs must be true, a stream or a function, not "x"'],
  ]) await refused(() => DuskDBMemoryServer.create(options), `the option ${message}`);
});

test('options of mongodb-memory-server of the wrong kind', () => {
  for (const name of ['instance', 'binary', 'auth', 'dispose']) {
    for (const value of ['x', 5, null, []]) {
      assert.throws(() => new MongoMemoryServer({ [name]: value }), { name: 'TypeError', message: `the option ${name} must be an object, not ${JSON.stringify(value)}` });
    }
  }
  for (const [options, message] of [
    [{ instance: { args: '--quiet' } }, 'instance.args must be an array of flags, not "--quiet"'],
    [{ auth: { extraUsers: 'a' } }, 'auth.extraUsers must be an array of users, not "a"'],
  ]) assert.throws(() => new MongoMemoryServer(options), { name: 'TypeError', message: `the option ${message}` });
  for (const auth of [undefined, true, false]) new MongoMemoryServer({ auth });
  assert.throws(() => new MongoMemoryReplSet({ replSet: { args: '--quiet' } }), { name: 'TypeError', message: 'the option replSet.args must be an array of flags, not "--quiet"' });
  for (const count of [0, -1, 'x', NaN]) assert.throws(() => new MongoMemoryReplSet({ replSet: { count } }), { message: 'ReplSet Count needs to be 1 or higher!' });
  assert.throws(() => new MongoMemoryReplSet({ replSet: 'rs' }), { name: 'TypeError', message: 'the option replSet must be an object, not "rs"' });
  assert.throws(() => new MongoMemoryReplSet({ instanceOpts: {} }), { name: 'TypeError', message: 'the option instanceOpts must be an array of objects, not {}' });
  assert.throws(() => new MongoMemoryReplSet({ instanceOpts: ['x'] }), { name: 'TypeError', message: 'the option instanceOpts must be an array of objects, not ["x"]' });
});

test('stop refuses what it does not know', async (t) => {
  const server = await MongoMemoryServer.create();
  t.after(() => server.stop());
  await refused(() => server.stop({ docleanup: false }), 'stop has no option docleanup; did you mean doCleanup?');
});

// Each option of the declarations is accepted, and the page lists those without effect.
test('the declarations, the lists and the page agree', () => {
  const text = fs.readFileSync(path.join(__dirname, '..', 'index.d.ts'), 'utf8');
  const page = fs.readFileSync(path.join(__dirname, '..', 'README.md'), 'utf8');
  const members = (name) => {
    const [, base, body] = new RegExp(`interface ${name}(?: extends (\\w+))? \\{([^]*?)\\n\\}`).exec(text);
    const own = [...body.matchAll(/^  (\w+)\?: ([^;]+);/gm)].map((found) => found[1]);
    for (const [, ignored] of body.matchAll(/No effect[^]*?\*\/\n  (\w+)\?:/g)) assert.ok(page.includes(`\`${ignored}\``), `README does not list ${ignored}`);
    return [...own, ...(base ? members(base) : [])];
  };
  const all = (name) => Object.fromEntries(members(name).map((option) => [option, undefined]));
  assert.throws(() => new MongoMemoryServer({ instance: { ...all('MongoMemoryInstanceOpts'), prot: 1 } }), /instance\.prot/);
  for (const [name, options] of [
    ['MongoMemoryServerOpts', all('MongoMemoryServerOpts')],
    ['MongoMemoryInstanceOpts', { instance: all('MongoMemoryInstanceOpts') }],
    ['MongoBinaryOpts', { binary: all('MongoBinaryOpts') }],
    ['AutomaticAuth', { auth: all('AutomaticAuth') }],
    ['DisposeOptions', { dispose: all('DisposeOptions') }],
  ]) assert.doesNotThrow(() => new MongoMemoryServer(options), name);
  assert.doesNotThrow(() => new MongoMemoryReplSet({ ...all('MongoMemoryReplSetOpts'), replSet: { ...all('ReplSetOpts'), count: 1 } }));
});

test('the constructor is not for tests', () => {
  assert.throws(() => new DuskDBMemoryServer(), { name: 'TypeError', message: 'start a server with await DuskDBMemoryServer.create()' });
});
