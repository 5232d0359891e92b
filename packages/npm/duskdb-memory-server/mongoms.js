'use strict';

const { EventEmitter } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { Lifecycle, cleanupOf, enter, stateError } = require('./lifecycle.js');
const { DuskDBMemoryServer } = require('./memoryserver.js');
const { checkOptions } = require('./options.js');
const { MongoMemoryServerEvents, MongoMemoryServerStates: States } = require('./states.js');

/** Engines of mongod that keep data on disk. All others keep it in memory. */
const onDisk = ['wiredTiger', 'mmapv1'];

/**
 * A server with the options and methods of mongodb-memory-server, and with the clock of
 * DuskDBMemoryServer.
 */
class MongoMemoryServer extends Lifecycle {
  #server;
  #info;

  constructor(opts = {}) {
    checkOptions('MongoMemoryServer', opts);
    super(opts, States.new);
    this.auth = authOf(opts.auth);
  }

  /** Describes the server; undefined before the start and after a clean-up. */
  get instanceInfo() { return this.#info; }

  /** Starts the server. After a stop, forceSamePort makes it fail if the port is taken. */
  async start(forceSamePort = false) {
    if (this.state !== States.new && this.state !== States.stopped) throw stateError([States.new, States.stopped], this.state);
    this[enter](States.starting);
    try {
      await this.#launch(forceSamePort);
    } catch (err) {
      this[enter](States.stopped);
      throw err;
    }
    this[enter](States.running);
  }

  async #launch(forceSamePort) {
    const instance = this.opts.instance ?? {};
    const info = this.#info ?? describe(instance);
    const wanted = this.#info?.port ?? instance.port ?? 0;
    const options = serverOptions(this.opts, info, this.auth);
    this.#server = await launch({ ...options, port: wanted }, !forceSamePort && instance.portGeneration !== false);
    info.port = this.#server.port;
    info.instance = { mongodProcess: this.#server.process };
    this.#info = info;
    for (const user of this.auth?.extraUsers ?? []) await this.#createUser(user);
  }

  /** Creates a user, unless an earlier start has. */
  async #createUser({ database = 'admin', ...user }) {
    const { users } = await this.#server.command({ usersInfo: user.createUser }, database);
    if (users.length === 0) await this.#server.command(user, database);
  }

  /** Stops the server and, unless doCleanup is false, removes its data. Returns false if it did not run. */
  async stop(cleanup = {}) {
    if (this.#info === undefined || this.state === States.stopped) return false;
    const { doCleanup, force } = cleanupOf(cleanup);
    await this.#server.stop();
    this.#server = undefined;
    this[enter](States.stopped);
    if (doCleanup) await this.cleanup({ force });
    return true;
  }

  /** Removes the temporary directory; with force also a dbPath that was given. */
  async cleanup({ force = false } = {}) {
    if (this.state !== States.stopped) throw stateError([States.stopped], this.state);
    if (this.#info === undefined) return;
    const { tmpDir, dbPath } = this.#info;
    if (tmpDir !== undefined || (force && dbPath !== ':memory:')) await fs.promises.rm(tmpDir ?? dbPath, { recursive: true, force: true });
    this.#info = undefined;
    this[enter](States.new);
  }

  /** Returns instanceInfo, after it has started the server if necessary. */
  async ensureInstance() {
    if (this.state === States.starting) {
      const [state] = await EventEmitter.once(this, MongoMemoryServerEvents.stateChange);
      if (state !== States.running) throw new Error(`"ensureInstance" waited for "running" but got a different state: "${state}"`);
    } else if (this.state !== States.running) {
      await this.start();
    }
    return this.#info;
  }

  /** Returns the connection string, with a database and another address if they are given. */
  getUri(otherDb = '', otherIp = undefined) {
    if (this.#info === undefined || this.#server === undefined) throw stateError([States.running, States.starting], this.state);
    const ip = otherIp ?? (this.#info.ip === '0.0.0.0' ? '127.0.0.1' : this.#info.ip);
    return `mongodb://${ip.includes(':') ? `[${ip}]` : ip}:${this.#info.port}/${otherDb}`;
  }

  /** The DuskDB server; an error unless it runs. */
  get duskdb() {
    if (this.#server === undefined) throw stateError([States.running], this.state);
    return this.#server;
  }
}

/** The automatic users with their defaults; undefined without authentication. */
function authOf(auth) {
  if (!auth || auth.enable === false) return undefined;
  return { force: false, enable: true, customRootName: 'mongodb-memory-server-root', customRootPwd: 'rootuser', extraUsers: [], keyfileContent: '0123456789', ...auth };
}

/** Describes a server that is about to start. */
function describe(instance) {
  const info = {
    port: 0, dbName: instance.dbName ?? '', ip: instance.ip ?? '127.0.0.1', storageEngine: instance.storageEngine ?? 'ephemeralForTest',
    replSet: instance.replSet, dbPath: instance.dbPath ?? ':memory:', tmpDir: undefined,
  };
  if (instance.dbPath === undefined && onDisk.includes(info.storageEngine)) {
    info.dbPath = info.tmpDir = fs.mkdtempSync(path.join(os.tmpdir(), 'duskdb-mem-'));
  }
  return info;
}

function serverOptions({ instance = {}, binary = {}, spawn }, info, auth) {
  return {
    binary: binary.systemBinary, ip: info.ip, dbpath: info.dbPath, replSet: info.replSet, launchTimeout: instance.launchTimeout, spawn,
    now: instance.now, parameters: instance.parameters, logs: instance.logs,
    args: [
      ...(instance.auth && !auth ? ['--auth'] : []),
      ...(/^8\.0(\.|$)/.test(binary.version) ? ['--mongodbVersion', '8.0'] : []),
      ...(instance.args ?? []),
    ],
    auth: auth && { username: auth.customRootName, password: auth.customRootPwd },
  };
}

/** Starts a server; if its port is taken and another will do, on a free one. */
async function launch(options, anyPort) {
  try {
    return await DuskDBMemoryServer.create(options);
  } catch (err) {
    if (options.port === 0 || !anyPort || !/address already in use|Only one usage of each socket address/.test(err.message)) throw err;
    return DuskDBMemoryServer.create({ ...options, port: 0 });
  }
}

module.exports = { MongoMemoryServer };
