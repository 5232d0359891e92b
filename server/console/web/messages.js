// The table of the messages of a queue.
import { el, num, ms, short, when, table } from './lib.js';

// origin says what the sender called a message, and on which way it came.
function origin(mq) {
  const facts = [
    mq.sessionId !== undefined && `session ${mq.sessionId}`,
    mq.messageId !== undefined && `message id ${mq.messageId}`,
    mq.enqueuedSequenceNumber && `sent as number ${num(mq.enqueuedSequenceNumber)}`,
    mq.ruleName !== undefined && `changed by the rule ${mq.ruleName}`,
    mq.deadLetterForwarded &&
      `dead letter of ${mq.deadLetterSource}: ${mq.deadLetterReason ?? 'without a reason'}`,
  ].filter(Boolean);
  return facts.length ? el('div', { class: 'way small muted' }, facts.join(' · ')) : undefined;
}

// fate says what becomes of a message by itself, or why it is a dead letter.
function fate(mq, state) {
  if (state === 'deadLettered')
    return [
      el('b', {}, mq.deadLetterReason ?? '–'),
      el('div', { class: 'small muted' }, mq.deadLetterErrorDescription ?? ''),
    ];
  if (state === 'scheduled') return el('span', {}, 'active ', when(ms(mq.scheduledEnqueueTimeUtc)));
  const at = ms(mq.expiresAtUtc);
  return at === undefined ? el('span', { class: 'muted' }, 'never') : when(at);
}

// messageTable shows messages of one state. actions makes the buttons for a message by its
// number and the fields of its sender.
export const messageTable = (messages, state, actions) =>
  table(
    ['Number', 'Message', state === 'deadLettered' ? 'Why' : 'Expires', 'Deliveries', ''],
    messages.map(({ _id, _mq, ...rest }) => {
      const n = num(_mq.sequenceNumber);
      return [
        String(n),
        [
          el('span', { class: 'mono small muted' }, short(_id)),
          origin(_mq),
          el('code', { class: 'doc' }, JSON.stringify(rest)),
        ],
        fate(_mq, state),
        String(_mq.deliveryCount),
        el('span', { class: 'row' }, actions(n, rest)),
      ];
    }),
    'Messages',
  );
