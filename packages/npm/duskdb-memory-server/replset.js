'use strict';

const { EventEmitter } = require('node:events');
const { Lifecycle, cleanupOf, enter, stateError } = require('./lifecycle.js');
const { MongoMemoryServer } = require('./mongoms.js');
const { checkOptions } = require('./options.js');
const { MongoMemoryReplSetEvents, MongoMemoryReplSetStates: States } = require('./states.js');

/**
 * A replica set with the options and methods of mongodb-memory-server. It has one member, which
 * is primary as soon as the server has started.
 */
class MongoMemoryReplSet extends Lifecycle {
  constructor(opts = {}) {
    checkOptions('MongoMemoryReplSet', opts);
    super(opts, States.stopped);
    this.servers = [];
    this.replSetOpts = { name: 'testset', count: 1, dbName: '', ip: '127.0.0.1', storageEngine: 'ephemeralForTest', args: [], ...opts.replSet };
    const members = Math.max(this.replSetOpts.count, opts.instanceOpts?.length ?? 0);
    if (!(this.replSetOpts.count >= 1)) throw new Error('ReplSet Count needs to be 1 or higher!');
    if (members > 1) throw new Error(`DuskDB is a replica set of one member, not of ${members}: leave replSet.count and further instanceOpts out`);
  }

  /** Starts the member. */
  async start() {
    if (this.state !== States.stopped) throw stateError([States.stopped], this.state);
    this[enter](States.init);
    try {
      if (this.servers.length === 0) this.servers = [new MongoMemoryServer(this.#memberOptions())];
      await this.servers[0].start();
    } catch (err) {
      this[enter](States.stopped);
      throw err;
    }
    this[enter](States.running);
  }

  #memberOptions() {
    const { name, dbName, ip, storageEngine, args, auth, spawn, oplogSize, launchTimeout, now, parameters, logs } = this.replSetOpts;
    const own = this.opts.instanceOpts?.[0] ?? {};
    const size = oplogSize === undefined ? [] : ['--oplogSize', String(oplogSize)];
    return {
      binary: this.opts.binary, spawn, auth: auth === true ? {} : auth || undefined,
      instance: { dbName, ip, storageEngine, launchTimeout, now, parameters, logs, ...own, replSet: name, args: [...size, ...args, ...(own.args ?? [])] },
    };
  }

  /** Stops the member and, unless doCleanup is false, removes its data. Returns false if it did not run. */
  async stop(cleanup = {}) {
    if (this.state === States.stopped) return false;
    const { doCleanup, force } = cleanupOf(cleanup);
    await this.servers[0].stop({ doCleanup: false });
    this[enter](States.stopped);
    if (doCleanup) await this.cleanup({ force });
    return true;
  }

  /** Removes the temporary directory; with force also a dbPath that was given. */
  async cleanup(options) {
    if (this.state !== States.stopped) throw stateError([States.stopped], this.state);
    for (const server of this.servers) if (server.state === 'stopped') await server.cleanup(options);
    this.servers = [];
  }

  /** Waits until the replica set runs. */
  async waitUntilRunning() {
    if (this.state === States.running) return;
    if (this.state !== States.init) throw stateError([States.running, States.init], this.state);
    const [state] = await EventEmitter.once(this, MongoMemoryReplSetEvents.stateChange);
    if (state !== States.running) throw new Error(`the replica set did not start: it is ${state}`);
  }

  /** Returns the connection string, with a database and another address if they are given. */
  getUri(otherDb = undefined, otherIp = undefined) {
    if (this.state !== States.running) throw stateError([States.running], this.state);
    return `${this.servers[0].getUri(otherDb ?? this.replSetOpts.dbName, otherIp)}?replicaSet=${encodeURIComponent(this.replSetOpts.name)}`;
  }

  /** The DuskDB server; an error unless it runs. */
  get duskdb() {
    if (this.state !== States.running) throw stateError([States.running], this.state);
    return this.servers[0].duskdb;
  }
}

module.exports = { MongoMemoryReplSet };
