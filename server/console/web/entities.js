// What the collections for messages are: queues, topics, and subscriptions of a topic.
import { el, run, state, chip, count, num, split, path } from './lib.js';

// states are those of messages.
export const states = [
  ['active', 'Active'],
  ['scheduled', 'Scheduled'],
  ['deferred', 'Deferred'],
  ['locked', 'Locked'],
  ['deadLettered', 'Dead letters'],
];

// kinds are the options that make a collection one for messages, and what the pages call it.
const kinds = {
  messageQueue: 'queue',
  messageTopic: 'topic',
  messageSubscription: 'subscription',
};

// entity reads what a collection is, with its properties; undefined if it is not for messages.
function entity(info) {
  const option = Object.keys(kinds).find(o => info.options[o]);
  return option && { kind: kinds[option], ...info.options[option] };
}

// entities reads what collections of a database are, by their names.
export async function entities(db, names) {
  if (!names.length) return new Map();
  const { cursor } = await run(db, { listCollections: 1, filter: { name: { $in: names } } });
  return new Map(cursor.firstBatch.map(i => [i.name, entity(i)]));
}

// lookUp reads what collections of several databases are, by their namespaces. What the user
// may not see is left out.
export async function lookUp(list) {
  const found = new Map(),
    databases = new Map();
  for (const [db, name] of list.map(split)) databases.set(db, [...(databases.get(db) ?? []), name]);
  await Promise.all(
    [...databases].map(async ([db, names]) => {
      for (const [name, e] of await entities(db, names).catch(() => []))
        found.set(`${db}.${name}`, e);
    }),
  );
  return found;
}

// kindOf reads what one collection is, once while a page is shown, and in one question with
// all others that the page draws at the same time.
let page, batch, wanted;
const answers = new Map();
function kindOf(ns) {
  if (page !== state.page) answers.clear();
  page = state.page;
  if (answers.has(ns)) return answers.get(ns);
  wanted ??= [];
  wanted.push(ns);
  batch ??= Promise.resolve().then(() => {
    const list = wanted;
    batch = wanted = undefined;
    return lookUp(list);
  });
  const answer = batch.then(found => found.get(ns)?.kind);
  answers.set(ns, answer);
  return answer;
}

// kindChip says of a collection for messages what it is.
export function kindChip(ns, extra) {
  const word = el('span', {}, 'messages');
  kindOf(ns).then(kind => {
    if (kind) word.textContent = kind;
  });
  return chip('messageQueue', extra, word);
}

export const link = (db, name) => el('a', { href: path('queue', db, name) }, name);

// relations say what a queue or subscription has to do with others, and what is special to it.
export const relations = (db, e) =>
  [
    e.topic && ['of the topic ', link(db, e.topic)],
    e.deadLetterOf && ['dead letters of ', link(db, e.deadLetterOf)],
    e.forwardTo && ['forwards to ', link(db, e.forwardTo)],
    e.forwardDeadLetteredMessagesTo && [
      'dead letters go to ',
      link(db, e.forwardDeadLetteredMessagesTo),
    ],
    e.requiresSession && 'has sessions',
    e.requiresDuplicateDetection &&
      `drops duplicates within ${e.duplicateDetectionHistoryTimeWindow}`,
  ]
    .filter(Boolean)
    .map(r => el('span', {}, r));

// The numbers of messages as columns of a table. A topic has scheduled ones alone.
export const columns = states.map(([, name]) => ({ name, num: true }));
export const numbers = (messages, e) =>
  states.map(([k]) =>
    e?.kind === 'topic' && k !== 'scheduled'
      ? '–'
      : el(
          'span',
          { class: k === 'deadLettered' && num(messages[k]) ? 'bad' : '' },
          count(messages[k]),
        ),
  );
