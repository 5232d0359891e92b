import {
  el,
  fill,
  run,
  state,
  ms,
  span,
  iso,
  num,
  count,
  chip,
  short,
  path,
  plural,
  empty,
  button,
} from './lib.js';
import { follow } from './follow.js';
import { kindChip } from './entities.js';

const most = 200; // events on the page
const frame = 50; // events that the server sends at a time; of more it sends the newest and the count
let source;

// live shows expirations and moves as they happen. The server sends a few frames a second,
// however many events there are, and the page draws once for each.
export async function live() {
  const list = el('div', {}, empty('Waiting for something to expire …')),
    note = el('span', { class: 'muted small', role: 'status' }, 'connecting …'),
    totals = el('div', { class: 'row small' });
  const page = state.page,
    sums = {};
  let waiting = [],
    total = 0,
    drawn = false,
    paused = false;
  source?.close();
  source = follow(`/api/events?only=expirations&frame=${frame}`, {
    open: () => {
      note.textContent = 'connected';
    },
    interrupted: () => {
      note.textContent = 'interrupted, trying again …';
    },
    refused: () => {
      note.textContent =
        'the stream was refused: reading all changes needs the privilege changeStream on all databases';
    },
    message: data => (state.page === page ? take(JSON.parse(data)) : source.close()),
  });
  // A browser keeps a page that one has left, with its connections, of which it has six for a
  // server.
  for (const leaves of ['hashchange', 'pagehide'])
    addEventListener(leaves, () => source.close(), { once: true });
  const take = f => {
    total += f.events.length + num(f.leftOut);
    for (const [policy, n] of Object.entries(f.counts)) sums[policy] = (sums[policy] ?? 0) + num(n);
    if (num(f.leftOut)) waiting.push({ leftOut: num(f.leftOut) });
    waiting.push(...f.events);
    if (waiting.length > most) waiting = waiting.slice(-most);
    if (!drawn && !paused) {
      drawn = true;
      requestAnimationFrame(draw);
    }
  };
  const draw = () => {
    drawn = false;
    if (!total) return;
    const begin = performance.now();
    list.querySelector('.empty')?.remove();
    list.prepend(...waiting.reverse().map(x => (x.leftOut ? gap(x.leftOut) : event(x))));
    waiting = [];
    while (list.children.length > most) list.lastChild.remove();
    note.textContent = `${count(total)} since this page was opened`;
    fill(totals, ...Object.entries(sums).map(([policy, n]) => chip(policy, count(n))));
    performance.measure('live', { start: begin });
  };
  const pause = button('Pause', () => {
    paused = !paused;
    pause.textContent = paused ? 'Resume' : 'Pause';
    if (!paused) draw();
  });
  return [
    el('div', { class: 'row between' }, el('div', {}, el('h1', {}, 'Live'), note, totals), pause),
    el('section', { class: 'card' }, list),
  ];
}

const gap = n =>
  el(
    'div',
    { class: 'event' },
    el('span', {}),
    el('span', { class: 'muted' }, `… ${plural(n, 'earlier event')} not shown`),
  );

function event(e) {
  const x = e.expiration,
    { db, coll } = e.ns ?? {},
    due = ms(x.dueAt),
    removed = ms(x.removedAt),
    key = e.documentKey;
  const what =
    x.cause !== 'deadLettered'
      ? 'removed'
      : key
        ? el(
            'a',
            { href: path('moved', db, coll, JSON.stringify(key._id)) },
            'moved to the dead letters',
          )
        : 'moved to the dead letters';
  return el(
    'div',
    { class: 'event new' },
    el('time', { class: 'muted', datetime: iso(removed) }, iso(removed).slice(11, 19)),
    el(
      'div',
      {},
      x.policy === 'messageQueue' && coll
        ? kindChip(`${db}.${coll}`, x.index)
        : chip(x.policy, x.index),
      el(
        'a',
        { href: path(x.policy === 'messageQueue' ? 'queue' : 'collection', db ?? '', coll ?? '') },
        `${db}.${coll ?? ''}`,
      ),
      ' ',
      el('span', { class: 'mono' }, key ? short(key._id) : e.operationType),
      ' ',
      what,
    ),
    el('span', { class: 'muted small' }, `${span(removed - due)} after it was due`),
  );
}

// moved leads to a document that has expired and was kept: to the collection into which those
// of its collection move, to the dead letters of its queue, or to where these are forwarded.
export async function moved(db, coll, id) {
  const { messageQueue, messageSubscription, onExpire } = await options(db, coll);
  if (onExpire?.deadLetterTo) return go('collection', db, onExpire.deadLetterTo, id);
  const on = (messageQueue ?? messageSubscription)?.forwardDeadLetteredMessagesTo;
  const places = [[`${coll}.deadletterqueue`, coll, 'deadLettered'], on && [on, on, 'active']];
  for (const [from, to, state] of places.filter(Boolean)) {
    const find = { find: from, filter: { _id: JSON.parse(id) }, limit: 1 },
      [message] = (await run(db, find)).cursor.firstBatch;
    if (message) return go('queue', db, to, state, String(num(message._mq.sequenceNumber)));
  }
  return empty(
    'This message is not a dead letter any more. ',
    el('a', { href: path('queue', db, on ?? coll) }, 'Show the queue'),
    '.',
  );
}
async function options(db, name) {
  const { cursor } = await run(db, { listCollections: 1, filter: { name } });
  return cursor.firstBatch[0]?.options ?? {};
}
function go(...parts) {
  location.replace(path(...parts));
  return empty('Loading …');
}
