// The messages that the page of a queue has received, and how they are settled.
import { el, run, ms, num, button, plural } from './lib.js';

const settlements = [
  ['Complete', 'mqComplete', 'completed'],
  ['Abandon', 'mqAbandon', 'abandoned'],
  ['Defer', 'mqDefer', 'deferred'],
  ['Dead-letter', 'mqDeadLetter', 'dead-lettered'],
];
const reason = command => (command === 'mqDeadLetter' ? { reason: 'Console' } : {});

// received keeps the locks of messages by their numbers. q is as for the dialogs.
export function received(q) {
  const held = new Map();
  const settle = (n, command, done) => {
    const { lockToken } = held.get(n);
    held.delete(n);
    return q.act({ [command]: q.name, lockToken, ...reason(command) }, `${n} ${done}`);
  };
  // settleAll settles all of them. Each has a result of its own.
  const settleAll = async (command, done) => {
    const lockTokens = [...held.values()].map(m => m.lockToken);
    held.clear();
    const { results } = await run(q.db, { [command]: q.name, lockTokens, ...reason(command) }),
      failed = results.filter(r => !r.ok);
    q.tell(`${plural(results.length - failed.length, 'message')} ${done}`);
    await q.refresh();
    if (failed.length) throw new Error(`${failed.length} not ${done}: ${failed[0].errmsg}`);
  };
  const forget = which => held.forEach((m, n) => which(m) && held.delete(n));
  return {
    numbers: () => [...held.keys()],
    // add keeps a message. The lock of one of a session ends with that of the session.
    add: ({ sequenceNumber, lockToken, lockedUntilUtc, sessionId }, bySession) =>
      held.set(num(sequenceNumber), {
        lockToken,
        until: bySession ? Infinity : ms(lockedUntilUtc),
        session: bySession ? sessionId : undefined,
      }),
    // expire forgets the messages whose locks have ended, and release those of a session.
    expire: now => forget(m => m.until <= now),
    release: session => forget(m => m.session === session),
    buttons: n =>
      held.has(n)
        ? settlements.map(([text, command, done]) => button(text, () => settle(n, command, done)))
        : [],
    together: () =>
      held.size > 1 &&
      el(
        'div',
        { class: 'row together' },
        el('span', { class: 'small' }, `All ${held.size} that you received:`),
        settlements.map(([text, command, done]) =>
          button(text, () => settleAll(command, done), {
            'aria-label': `${text} all ${held.size}`,
          }),
        ),
      ),
  };
}
