'use strict';

const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const name = process.platform === 'win32' ? 'duskdb.exe' : 'duskdb';

/** Returns the path of the binary: the given one, DUSKDB_BINARY, bin/ of this package, or one
 * that it builds with Go if this package is in a clone of the repository. */
function find(given) {
  for (const [what, file] of [['the option binary', given], ['DUSKDB_BINARY', process.env.DUSKDB_BINARY]]) {
    if (!file) continue;
    if (!fs.existsSync(file)) throw new Error(`${what} is ${file}, which does not exist`);
    return file;
  }
  const packed = path.join(__dirname, 'bin', name);
  if (fs.existsSync(packed)) return packed;
  const repository = path.resolve(__dirname, '..', '..', '..');
  if (fs.existsSync(path.join(repository, 'cmd', 'duskdb', 'main.go'))) return build(repository);
  throw new Error('no duskdb binary found: set DUSKDB_BINARY or the option binary');
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
