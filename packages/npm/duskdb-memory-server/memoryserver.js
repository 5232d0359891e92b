'use strict';

const { spawn } = require('node:child_process');
const readline = require('node:readline');
const { find } = require('./binary.js');
const { instant } = require('./date.js');
const { milliseconds } = require('./duration.js');
const { checkOptions } = require('./options.js');
const { fakeTimers } = require('./timers.js');
const { command } = require('./wire.js');

const LISTENING = /^duskdb listening on (\S+)/m;
const LAUNCH_TIMEOUT = 30_000;
const STOPPED = 'the server has been stopped';

/** A DuskDB server that keeps its data in memory and whose clock tests can move. */
class DuskDBMemoryServer {
  #child;
  #uri;
  #exited;
  #user;
  #stopped = false;

  constructor(child, uri, exited, user) {
    if (uri === undefined) throw new TypeError('start a server with await DuskDBMemoryServer.create()');
    this.#child = child;
    this.#uri = uri;
    this.#exited = exited;
    this.#user = user;
  }

  /** Starts a server on a free port. */
  static async create(options = {}) {
    checkOptions('DuskDBMemoryServer', options);
    const args = flags(options);
    const { file, name } = find(options.binary);
    // When this process exits, even by a signal, the server's standard input closes and the server exits.
    const child = spawn(file, args, { ...options.spawn, env: environment(options), stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.on('error', () => {}); // nothing is ever written to it
    const kill = () => child.kill('SIGKILL');
    process.on('exit', kill);
    const exited = new Promise((resolve) => {
      child.on('close', (code, signal) => { process.off('exit', kill); resolve({ code, signal }); });
    });
    forward(child, options.logs);
    const uri = await listening(child, options.launchTimeout ?? LAUNCH_TIMEOUT, name);
    hold(child, false);
    return new DuskDBMemoryServer(child, uri, exited, options.auth);
  }

  get uri() {
    if (this.#stopped) throw new Error(STOPPED);
    return this.#uri;
  }

  get port() { return Number(new URL(this.uri).port); }

  /** The server's process. */
  get process() { return this.#child; }

  /** Settles with { code, signal } when the process has ended. */
  get exited() { return this.#exited; }

  /** Returns the URI with a database name, as getUri of mongodb-memory-server does. */
  getUri(database = '') { return this.uri.replace(/\/\?/, `/${encodeURIComponent(database)}?`); }

  /** Runs a command without a driver and returns the reply. */
  async command(doc, database = 'admin') {
    if (doc === null || typeof doc !== 'object' || Object.keys(doc).length === 0) throw new TypeError('a command is an object such as { ping: 1 }');
    const { hostname, port } = new URL(this.#uri);
    try {
      return await command(hostname, Number(port), { ...doc, $db: database }, this.#user);
    } catch (err) {
      throw this.#explained(err);
    }
  }

  /** The error of a command, which a server that has ended explains. Its replies have a code that is a number. */
  #explained(err) {
    if (typeof err.code === 'number') return err;
    if (this.#stopped) return new Error(STOPPED, { cause: err });
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null) return err;
    return new Error(`the server has ended by itself (${signalCode ?? `exit code ${exitCode}`})`, { cause: err });
  }

  /** Returns the server's time. */
  async now() { return (await this.command({ testClock: 1 })).now; }

  /**
   * Moves the clock forward, runs the expiration pass if one has become due, and returns the new
   * time: advance('61m'), advance({ hours: 1, minutes: 1 }).
   */
  async advance(duration) {
    return (await this.command({ testClock: 1, advanceMillis: BigInt(milliseconds(duration)) })).now;
  }

  /** Moves the clock to a time that is not before the server's time. */
  async set(date) {
    const to = instant(date);
    try {
      return (await this.command({ testClock: 1, set: to })).now;
    } catch (err) {
      if (!/backwards/.test(err.message)) throw err;
      const now = (await this.now()).toISOString();
      throw Object.assign(new RangeError(`${err.message}, from ${now} to ${to.toISOString()}`, { cause: err }), { code: err.code });
    }
  }

  /** Stops the clock, or lets it run again. */
  async freeze(frozen = true) {
    if (typeof frozen !== 'boolean') throw new TypeError(`freeze takes true or false, not ${JSON.stringify(frozen)}`);
    return (await this.command({ testClock: 1, freeze: frozen })).now;
  }

  /**
   * Stops the clock, and Date of this process at the same instant, by means of jest, vi, sinon, or
   * mock of node:test. The object that it returns moves both.
   */
  fakeTimers(fakes) { return fakeTimers(this, fakes); }

  /** Runs an expiration pass now and returns the numbers of what it deleted. */
  async runPass() { return (await this.command({ runExpirationPass: 1 })).deleted; }

  /** Stops the server. Further calls do nothing. */
  async stop() {
    this.#stopped = true;
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

function flags({ port = 0, ip, dbpath = ':memory:', now, replSet, parameters = {}, logs, args = [] }) {
  const out = ['--test-clock', '--exit-with-stdin', '--port', String(port), '--dbpath', dbpath];
  if (!logs) out.push('--quiet');
  if (ip !== undefined) out.push('--bind_ip', ip);
  if (now !== undefined) out.push('--setParameter', `testClockStart=${instant(now).toISOString()}`);
  if (replSet) out.push('--replSet', replSet);
  for (const [name, value] of Object.entries(parameters)) out.push('--setParameter', `${name}=${value}`);
  return [...out, ...args];
}

function environment({ auth, spawn: { env = process.env } = {} }) {
  if (!auth) return env;
  return { ...env, DUSKDB_ROOT_USERNAME: auth.username, DUSKDB_ROOT_PASSWORD: auth.password };
}

/** Passes the server's log on: to standard error, a stream, or a function that takes lines. */
function forward(child, logs) {
  if (!logs) return;
  if (typeof logs === 'function') readline.createInterface({ input: child.stderr }).on('line', logs);
  else child.stderr.pipe(logs === true ? process.stderr : logs, { end: false });
}

/** Waits for the line with the address that the server listens on, and returns the address. */
function listening(child, timeout, name) {
  return new Promise((resolve, reject) => {
    let out = '';
    let log = '';
    const late = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`${name} did not say where it listens within ${timeout} ms (launchTimeout)${saying(out, log)}`));
    }, timeout);
    child.stdout.setEncoding('utf8').on('data', (text) => {
      out += text;
      const found = LISTENING.exec(out);
      if (found) { clearTimeout(late); resolve(found[1]); }
    });
    child.stderr.setEncoding('utf8').on('data', (text) => { log = (log + text).slice(-4000); });
    child.on('error', (err) => { clearTimeout(late); reject(new Error(`${name} cannot be run: ${err.message}`, { cause: err })); });
    child.on('close', (code, signal) => {
      clearTimeout(late);
      reject(new Error(`${name} ended with ${signal ?? `exit code ${code}`} before it was ready${saying(out, log)}`));
    });
  });
}

/** What the program has said, or what its silence may mean. */
function saying(out, log) {
  const said = (log || out).trim();
  return said === '' ? ', and has printed nothing: is it duskdb?' : `:\n${said}`;
}

module.exports = { DuskDBMemoryServer };
