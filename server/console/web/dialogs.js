// What the page of a queue asks before it sends, resubmits or purges. q has the database and
// name of the queue, act, which runs a command and tells of it, tell and refresh.
import { el, run, ask, num, count, plural } from './lib.js';
import { states } from './entities.js';

const live = placeholder => el('input', { placeholder: `${placeholder}, or PT5M` });

// edit resubmits one dead letter with other fields.
export function edit(q, n, fields) {
  const text = el(
      'textarea',
      { 'aria-label': 'Fields of the message' },
      JSON.stringify(fields, null, 2),
    ),
    timeToLive = live('as before');
  ask(
    `Resubmit message ${n}`,
    [el('label', {}, 'Fields', text), el('label', {}, 'Time to live', timeToLive), el('p', {})],
    'Resubmit',
    async () => {
      const set = JSON.parse(text.value),
        unset = Object.keys(fields).filter(k => !(k in set));
      await q.act(
        {
          mqResubmit: q.name,
          sequenceNumbers: [n],
          set,
          unset,
          ...(timeToLive.value ? { timeToLive: timeToLive.value } : {}),
        },
        `${n} resubmitted`,
      );
    },
  );
}

// resubmitAll resubmits all dead letters.
export async function resubmitAll(q) {
  const n = num((await run(q.db, { mqStats: q.name })).deadLettered);
  ask(
    'Resubmit all dead letters?',
    el(
      'p',
      {},
      `${plural(n, 'dead letter')} would return to the end of ${q.name} as new messages. Locked ones stay.`,
    ),
    `Resubmit ${count(n)}`,
    () => q.act({ mqResubmit: q.name, all: true }, 'Resubmitted'),
  );
}

// purge deletes the messages of a state.
export async function purge(q, state) {
  const n = num((await run(q.db, { mqPurge: q.name, state, dryRun: true })).purged),
    named = states.find(k => k[0] === state)[1].toLowerCase();
  ask(
    'Purge messages?',
    el('p', {}, `${plural(n, 'message')} of the state “${named}” would be deleted for good.`),
    `Delete ${count(n)}`,
    () => q.act({ mqPurge: q.name, state }, 'Purged'),
    true,
  );
}

// send sends a message to what e describes, with the properties that matter there.
export function send(q, e) {
  const text = el('textarea', { 'aria-label': 'Message' }, '{"task": "example"}'),
    settings = [
      ['timeToLive', 'Time to live', live(`default of the ${e.kind}`)],
      (e.kind === 'topic' || e.requiresSession) && [
        'sessionId',
        'Session',
        el('input', { placeholder: e.requiresSession ? 'needed here' : 'none' }),
      ],
      e.requiresDuplicateDetection && [
        'messageId',
        'Message id',
        el('input', { placeholder: 'none' }),
      ],
    ].filter(Boolean);
  ask(
    'Send a message',
    [
      el('label', {}, 'Message', text),
      ...settings.map(([, title, input]) => el('label', {}, title, input)),
      el('p', {}),
    ],
    'Send',
    async () => {
      const m = JSON.parse(text.value),
        given = settings.filter(([, , input]) => input.value);
      if (given.length)
        m._mq = Object.fromEntries(given.map(([key, , input]) => [key, input.value]));
      const { sequenceNumbers } = await q.act({ mqSend: q.name, messages: [m] }, 'Sent');
      if (!num(sequenceNumbers[0]))
        q.tell('The message was dropped: one with this message id was sent before.');
    },
  );
}
