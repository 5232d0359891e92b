'use strict';

const { spawn } = require('node:child_process');
const { find } = require('./binary.js');
const { command } = require('./wire.js');

const LISTENING = /^duskdb listening on (\S+)/m;

/** A DuskDB server that keeps its data in memory and whose clock tests can move. */
class DuskDBMemoryServer {
  #child;
  #uri;
  #exited;

  constructor(child, uri, exited) {
    this.#child = child;
    this.#uri = uri;
    this.#exited = exited;
  }

  /** Starts a server on a free port. */
  static async create(options = {}) {
    // When this process exits, even by a signal, the server's standard input closes and the server exits.
    const child = spawn(find(options.binary), flags(options), { stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.on('error', () => {}); // nothing is ever written to it
    const kill = () => child.kill('SIGKILL');
    process.on('exit', kill);
    const exited = new Promise((resolve) => {
      child.on('close', (code, signal) => { process.off('exit', kill); resolve({ code, signal }); });
    });
    const uri = await listening(child);
    hold(child, false);
    return new DuskDBMemoryServer(child, uri, exited);
  }

  get uri() { return this.#uri; }

  get port() { return Number(new URL(this.#uri).port); }

  /** Returns the URI with a database name, as getUri of mongodb-memory-server does. */
  getUri(database = '') { return this.#uri.replace(/\/\?/, `/${encodeURIComponent(database)}?`); }

  /** Runs a command without a driver and returns the reply. */
  command(doc, database = 'admin') {
    const { hostname, port } = new URL(this.#uri);
    return command(hostname, Number(port), { ...doc, $db: database });
  }

  /** Returns the server's time. */
  async now() { return (await this.command({ testClock: 1 })).now; }

  /** Moves the clock forward, runs the expiration pass if one has become due, and returns the new time. */
  async advance(milliseconds) {
    if (!Number.isSafeInteger(milliseconds)) throw new TypeError('advance takes whole milliseconds');
    return (await this.command({ testClock: 1, advanceMillis: BigInt(milliseconds) })).now;
  }

  /** Moves the clock to a time that is not before the server's time. */
  async set(date) { return (await this.command({ testClock: 1, set: new Date(date) })).now; }

  /** Stops the clock, or lets it run again. */
  async freeze(frozen = true) { return (await this.command({ testClock: 1, freeze: frozen })).now; }

  /** Runs an expiration pass now and returns the numbers of what it deleted. */
  async runPass() { return (await this.command({ runExpirationPass: 1 })).deleted; }

  /** Stops the server. Further calls do nothing. */
  async stop() {
    hold(this.#child, true);
    this.#child.kill('SIGTERM');
    await this.#exited;
  }

  async [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]() { await this.stop(); }
}

/** Sets whether the server keeps this process running; it should only while the process waits for it. */
function hold(child, keep) {
  for (const handle of [child, ...child.stdio]) handle[keep ? 'ref' : 'unref']();
}

function flags({ port = 0, dbpath = ':memory:', now, replSet, parameters = {}, args = [] }) {
  const out = ['--test-clock', '--exit-with-stdin', '--quiet', '--port', String(port), '--dbpath', dbpath];
  if (now !== undefined) out.push('--setParameter', `testClockStart=${new Date(now).toISOString()}`);
  if (replSet) out.push('--replSet', replSet);
  for (const [name, value] of Object.entries(parameters)) out.push('--setParameter', `${name}=${value}`);
  return [...out, ...args];
}

/** Waits for the line with the address that the server listens on, and returns the address. */
function listening(child) {
  return new Promise((resolve, reject) => {
    let out = '';
    let log = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      out += text;
      const found = LISTENING.exec(out);
      if (found) resolve(found[1]);
    });
    child.stderr.setEncoding('utf8').on('data', (text) => { log = (log + text).slice(-4000); });
    child.on('error', reject);
    child.on('close', (code) => reject(new Error(`duskdb exited with ${code}:\n${log}`)));
  });
}

module.exports = { DuskDBMemoryServer };
