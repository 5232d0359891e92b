'use strict';

const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const name = process.platform === 'win32' ? 'duskdb.exe' : 'duskdb';

/**
 * Returns the path of the binary, and how messages name it: DUSKDB_BINARY, the given one, that of
 * the package for this platform, duskdb on the PATH, or one that it builds with Go if this package
 * is in a clone of the repository.
 */
function find(given) {
  for (const [what, file] of [['DUSKDB_BINARY', process.env.DUSKDB_BINARY], ['the option binary', given]]) {
    if (!file) continue;
    const wrong = problem(file);
    if (wrong) throw new Error(`${what} is ${file}, which ${wrong}`);
    return { file, name: `the program ${file} (${what})` };
  }
  const file = packed() ?? onPath() ?? fromSource() ?? missing();
  return { file, name: `the program ${file}` };
}

/** Says why a file cannot be run. */
function problem(file) {
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return 'does not exist';
  if (stat.isDirectory()) return `is a directory: give the path of the program in it, such as ${path.join(file, name)}`;
  return isProgram(file) ? undefined : `is not executable: chmod +x ${file}`;
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
  process.stderr.write(`duskdb-memory-server: building duskdb with Go in ${repository}; the first time this takes minutes\n`);
  try {
    execFileSync('go', ['build', '-o', file, './cmd/duskdb'], { cwd: repository, stdio: ['ignore', 'ignore', 'inherit'] });
  } catch (err) {
    throw new Error(err.code === 'ENOENT'
      ? `no duskdb binary found, and none can be built in ${repository}: Go is not installed. Set DUSKDB_BINARY, or install Go`
      : `duskdb could not be built in ${repository}; what Go said is on standard error`, { cause: err });
  }
  return (built = file);
}

module.exports = { find };
