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
  assert.equal(within(t, { DUSKDB_BINARY: other, PATH }, () => find(source)), other);
  assert.equal(within(t, { PATH }, () => find(source)), source);
  assert.equal(within(t, { PATH }, () => find()), fs.realpathSync(packed));
});

test('without the package of the platform', (t) => {
  const { find, other } = project(t, false);
  assert.equal(within(t, { PATH: `/does/not/exist${path.delimiter}${path.dirname(other)}` }, () => find()), other);
  assert.throws(() => within(t, {}, () => find()), /@duskdb\/\S+ is not installed/);
});

test('a binary that does not exist', (t) => {
  const { find } = project(t, true);
  assert.throws(() => within(t, {}, () => find('/does/not/exist')), /the option binary is \/does\/not\/exist, which does not exist/);
  assert.throws(() => within(t, { DUSKDB_BINARY: '/not/there' }, () => find()), /DUSKDB_BINARY is \/not\/there/);
});
