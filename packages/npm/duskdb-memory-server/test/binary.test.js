'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');

const source = path.resolve(__dirname, '..', 'binary.js');
const program = process.platform === 'win32' ? 'duskdb.exe' : 'duskdb';

/** A project that has the package, with or without that of this platform. */
function project(t, withBinary) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'duskdb-project-'));
  t.after(() => fs.rmSync(dir, { recursive: true }));
  const modules = path.join(dir, 'node_modules');
  write(path.join(modules, 'duskdb-memory-server', 'binary.js'), fs.readFileSync(source));
  const packed = path.join(modules, `@duskdb/${process.platform}-${process.arch}`, 'bin', program);
  if (withBinary) write(packed, '');
  const other = path.join(dir, 'other', program);
  write(other, '');
  const { find } = require(path.join(modules, 'duskdb-memory-server', 'binary.js'));
  return { find, packed, other };
}

function write(file, text) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text, { mode: 0o755 });
}

/** Runs f with other environment variables. */
function within(t, variables, f) {
  const before = { ...process.env };
  t.after(() => { process.env = before; });
  process.env = { ...variables };
  return f();
}

test('the order', (t) => {
  const { find, packed, other } = project(t, true);
  const PATH = path.dirname(other);
  assert.equal(within(t, { DUSKDB_BINARY: other, PATH }, () => find(packed)).file, other);
  assert.equal(within(t, { PATH }, () => find(other)).file, other);
  assert.equal(within(t, { PATH }, () => find()).file, fs.realpathSync(packed));
});

test('without the package of the platform', (t) => {
  const { find, other } = project(t, false);
  assert.equal(within(t, { PATH: `/does/not/exist${path.delimiter}${path.dirname(other)}` }, () => find()).file, other);
  assert.throws(() => within(t, {}, () => find()), /@duskdb\/\S+ is not installed/);
});

test('a binary that does not exist', (t) => {
  const { find } = project(t, true);
  assert.throws(() => within(t, {}, () => find('/does/not/exist')), /the option binary is \/does\/not\/exist, which does not exist/);
  assert.throws(() => within(t, { DUSKDB_BINARY: '/not/there' }, () => find()), /DUSKDB_BINARY is \/not\/there/);
});

test('a binary that cannot be run', { skip: process.platform === 'win32' }, (t) => {
  const { find, other } = project(t, true);
  const directory = path.dirname(other);
  assert.throws(() => within(t, { DUSKDB_BINARY: directory }, () => find()), { message: `DUSKDB_BINARY is ${directory}, which is a directory: give the path of the program in it, such as ${other}` });
  fs.chmodSync(other, 0o644);
  assert.throws(() => within(t, {}, () => find(other)), { message: `the option binary is ${other}, which is not executable: chmod +x ${other}` });
});

/** A module that starts a server by a shell script in place of the binary. */
async function startScript(t, script, options) {
  const { other } = project(t, false);
  fs.writeFileSync(other, script);
  const { DuskDBMemoryServer } = require('../index.js');
  t.after(((before) => () => { process.env = before; })({ ...process.env }));
  process.env.DUSKDB_BINARY = other;
  return { other, started: DuskDBMemoryServer.create(options) };
}

test('another program', { skip: process.platform === 'win32' }, async (t) => {
  for (const [script, options, message] of [
    ['#!/bin/sh\n', {}, 'ended with exit code 0 before it was ready, and has printed nothing: is it duskdb?'],
    ['#!/bin/sh\necho usage: other >&2; exit 3\n', {}, 'ended with exit code 3 before it was ready:\nusage: other'],
    ['#!/bin/sh\nexec sleep 60\n', { launchTimeout: 100 }, 'did not say where it listens within 100 ms (launchTimeout), and has printed nothing: is it duskdb?'],
  ]) {
    const { other, started } = await startScript(t, script, options);
    await assert.rejects(started, { message: `the program ${other} (DUSKDB_BINARY) ${message}` });
  }
  const { other, started } = await startScript(t, '\x7fELF of another processor');
  await assert.rejects(started, { message: new RegExp(`^the program ${other} \\(DUSKDB_BINARY\\) (cannot be run|ended with exit code)`) });
});

/** A clone of the repository with a Go that only says so. */
function clone(t, go) {
  const { other } = project(t, false);
  const repository = path.dirname(path.dirname(other));
  const inClone = path.join(repository, 'packages', 'npm', 'duskdb-memory-server', 'binary.js');
  write(inClone, fs.readFileSync(source));
  write(path.join(repository, 'cmd', 'duskdb', 'main.go'), '');
  const tools = path.join(repository, 'tools');
  write(path.join(tools, 'go'), go);
  const { spawnSync } = require('node:child_process');
  return { repository: fs.realpathSync(repository), run: (PATH) => spawnSync(process.execPath, ['-p', `require(${JSON.stringify(inClone)}).find().file`], { encoding: 'utf8', env: { PATH: PATH ?? tools } }) };
}

test('in a clone it says that it builds', { skip: process.platform === 'win32' }, (t) => {
  const { repository, run } = clone(t, '#!/bin/sh\n');
  const { stderr, status } = run();
  assert.equal(stderr, `duskdb-memory-server: building duskdb with Go in ${repository}; the first time this takes minutes\n`);
  assert.equal(status, 0);
  assert.match(run('/nowhere').stderr, /Go is not installed\. Set DUSKDB_BINARY, or install Go/);
  assert.match(clone(t, '#!/bin/sh\nexit 1\n').run().stderr, /duskdb could not be built in/);
});
