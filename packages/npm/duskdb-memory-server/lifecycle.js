'use strict';

const { EventEmitter } = require('node:events');
const { checkNames } = require('./options.js');

/** The name of the event of a change of state, for servers and replica sets alike. */
const stateChange = 'stateChange';

/** Enters a state; for the classes below only, hence a symbol. */
const enter = Symbol('enter');

/**
 * What a server and a replica set of mongodb-memory-server have in common: a state, the end
 * of "await using", and the methods of a DuskDBMemoryServer. A class below has start, stop
 * and duskdb, the server that runs.
 */
class Lifecycle extends EventEmitter {
  #state;

  constructor(opts, state) {
    super();
    this.opts = { ...opts };
    this.#state = state;
  }

  /** Creates one and starts it. */
  static async create(opts) {
    const created = new this(opts);
    await created.start();
    return created;
  }

  get state() { return this.#state; }

  [enter](state) {
    this.#state = state;
    this.emit(stateChange, state);
  }

  command(doc, database) { return this.duskdb.command(doc, database); }
  now() { return this.duskdb.now(); }
  advance(duration) { return this.duskdb.advance(duration); }
  set(date) { return this.duskdb.set(date); }
  freeze(frozen) { return this.duskdb.freeze(frozen); }
  fakeTimers(fakes) { return this.duskdb.fakeTimers(fakes); }
  runPass() { return this.duskdb.runPass(); }

  async [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]() {
    if (this.opts.dispose?.enabled !== false) await this.stop(this.opts.dispose?.cleanup);
  }
}

/** The error of mongodb-memory-server for an operation in a state that does not allow it. */
function stateError(wanted, got) {
  const err = new Error(`Incorrect State for operation: "${got}", allowed States: [${wanted.map((state) => `"${state}"`).join(',')}]`);
  err.name = 'StateError';
  return Object.assign(err, { wantedStates: wanted, gotState: got });
}

/** Reads the argument of stop. */
function cleanupOf(argument) {
  if (argument && typeof argument === 'object') checkNames(argument, ['doCleanup', 'force'], 'stop', '');
  const { doCleanup = true, force = false } = argument === false ? { doCleanup: false } : Object(argument);
  return { doCleanup, force };
}

module.exports = { Lifecycle, cleanupOf, enter, stateError };
