'use strict';

/**
 * The server's clock and the Date of this process, which stand still at the same instant.
 * Timers such as setTimeout keep running: drivers need them.
 */
class Clocks {
  #server;
  #date; // { set(milliseconds), restore() }; undefined when it is restored

  constructor(server, date) {
    this.#server = server;
    this.#date = date;
  }

  /** Moves both clocks forward and returns the new time. */
  async advance(duration) { return this.#moved(() => this.#server.advance(duration)); }

  /** Moves both clocks to a time that is not before theirs. */
  async set(date) { return this.#moved(() => this.#server.set(date)); }

  async #moved(move) {
    if (this.#date === undefined) throw new Error('the clocks have been restored: call fakeTimers again');
    const now = await move();
    this.#date.set(now.getTime());
    return now;
  }

  /** Gives the process its Date back, and lets the server's clock run. Further calls do nothing. */
  async restore() {
    if (this.#date === undefined) return;
    this.#date.restore();
    this.#date = undefined;
    await this.#server.freeze(false);
  }

  async [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]() { await this.restore(); }
}

/** All that Jest would replace besides Date. */
const notDate = ['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'requestAnimationFrame', 'cancelAnimationFrame', 'requestIdleCallback',
  'cancelIdleCallback', 'setImmediate', 'clearImmediate', 'setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'];

/** Replaces Date by means of Jest's jest, Vitest's vi, Sinon, or mock of node:test. */
function replaceDate(fakes, now) {
  if (typeof fakes?.timers?.enable === 'function') { // mock of node:test
    fakes.timers.enable({ apis: ['Date'], now });
    return { set: (to) => fakes.timers.setTime(to), restore: () => fakes.timers.reset() };
  }
  if (typeof fakes.getTimerCount === 'function' && typeof fakes.hoisted !== 'function') { // jest
    fakes.useFakeTimers({ now, doNotFake: notDate });
    return { set: (to) => fakes.setSystemTime(to), restore: () => fakes.useRealTimers() };
  }
  const clock = fakes.useFakeTimers({ now, toFake: ['Date'] });
  if (typeof fakes.useRealTimers === 'function') { // vi
    return { set: (to) => fakes.setSystemTime(to), restore: () => fakes.useRealTimers() };
  }
  return { set: (to) => clock.setSystemTime(to), restore: () => clock.restore() }; // sinon
}

/** Stops the server's clock, and Date at the same instant. */
async function fakeTimers(server, fakes) {
  if (typeof (fakes?.timers?.enable ?? fakes?.useFakeTimers) !== 'function') throw new TypeError('fakeTimers takes jest, vi, sinon, or mock of node:test');
  const now = await server.freeze();
  return new Clocks(server, replaceDate(fakes, now.getTime()));
}

module.exports = { fakeTimers };
