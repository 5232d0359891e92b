'use strict';

const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const name = process.platform === 'win32' ? 'duskdb.exe' : 'duskdb';

/**
 * Returns the path of the binary: DUSKDB_BINARY, the given one, that of the package for this
 * platform, duskdb on the PATH, or one that it builds with Go if this package is in a clone of
 * the repository.
 */
function find(given) {
  for (const [what, file] of [['DUSKDB_BINARY', process.env.DUSKDB_BINARY], ['the option binary', given]]) {
    if (!file) continue;
    if (!fs.existsSync(file)) throw new Error(`${what} is ${file}, which does not exist`);
    return file;
  }
  return packed() ?? onPath() ?? fromSource() ?? missing();
}

const platformPackage = `@duskdb/${process.platform}-${process.arch}`;

/** The binary of the package that npm has installed as an optional dependency. */
function packed() {
  try {
    return require.resolve(`${platformPackage}/bin/${name}`);
  } catch (err) {
    if (err.code !== 'MODULE_NOT_FOUND') throw err;
    return undefined;
  }
}

function onPath() {
  return (process.env.PATH ?? '').split(path.delimiter).filter(Boolean).map((dir) => path.join(dir, name)).find(isProgram);
}

function isProgram(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

function fromSource() {
  const repository = path.resolve(__dirname, '..', '..', '..');
  return fs.existsSync(path.join(repository, 'cmd', 'duskdb', 'main.go')) ? build(repository) : undefined;
}

function missing() {
  throw new Error(`no duskdb binary found: the package ${platformPackage} is not installed (was npm told to omit optional dependencies?), ` +
    'and there is none on the PATH. Install it, or set DUSKDB_BINARY or the option binary');
}

let built; // the path of the binary that this process has built

function build(repository) {
  if (built) return built;
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'duskdb-build-'));
  process.on('exit', () => fs.rmSync(dir, { recursive: true, force: true }));
  const file = path.join(dir, name);
  execFileSync('go', ['build', '-o', file, './cmd/duskdb'], { cwd: repository, stdio: ['ignore', 'ignore', 'inherit'] });
  return (built = file);
}

module.exports = { find };
