// The list of queues, topics and subscriptions.
import {
  el,
  fill,
  changed,
  run,
  state,
  ms,
  num,
  count,
  chip,
  when,
  empty,
  table,
  path,
  split,
  failure,
  every,
  pager,
} from './lib.js';
import { short as forecast } from './outlook.js';
import { create } from './create.js';
import { columns, numbers, lookUp, relations, link } from './entities.js';

const shown = 100; // queues of a page
const linked = 8; // subscriptions that are named beside their topic

export async function queues() {
  let at = 0;
  const list = el('section', { class: 'card' });
  const update = async () => {
    const f = await forecast({
      buckets: 1,
      targets: ['messageQueue'],
      sortBy: 'ns',
      top: shown,
      skip: at,
    });
    state.now = ms(f.now);
    const all = await details(f.collections),
      found = num(f.totals.found);
    if (
      !changed(
        list,
        all.map(c => [c.ns, c.messages, c.oldest, c.what, c.subscriptions]),
      )
    )
      return;
    const turn = by => () => {
      at += by;
      return update();
    };
    fill(
      list,
      all.length
        ? table(
            ['Name', 'What it is', ...columns, { name: 'Oldest active', num: true }],
            all.map(c => [
              el('a', { href: path('queue', ...split(c.ns)) }, c.ns),
              what(c),
              ...numbers(c.messages, c.what),
              c.oldest === undefined ? '–' : when(c.oldest),
            ]),
            'Queues, topics and subscriptions',
          )
        : empty('There are no queues. ', el('a', { href: '#/try' }, 'Try an example'), '.'),
      found > shown &&
        pager(
          at && turn(-shown),
          `${at + 1} to ${at + all.length} of ${count(found)}`,
          at + shown < found && turn(shown),
        ),
    );
  };
  await update();
  setTimeout(() =>
    every(3000, () =>
      update().catch(e => {
        changed(list, e.message);
        fill(list, failure(e));
      }),
    ),
  );
  return [
    el(
      'div',
      {},
      el('h1', {}, 'Queues'),
      el('p', { class: 'muted' }, 'Queues, topics and their subscriptions: messages by state.'),
      await create('queue'),
    ),
    list,
  ];
}

// details reads of each collection what it is, of topics the subscriptions, and of the others
// since when a message has waited.
async function details(collections) {
  const found = await lookUp(collections.map(c => c.ns));
  return Promise.all(
    collections.map(async c => {
      const [db, name] = split(c.ns),
        what = found.get(c.ns);
      if (what?.kind !== 'topic') return { ...c, what, oldest: await oldest(db, name) };
      const stats = await run(db, { mqStats: name }).catch(() => ({}));
      return { ...c, what, subscriptions: stats.subscriptions ?? [] };
    }),
  );
}

// what says what a collection is, and what it has to do with others.
function what({ ns, what, subscriptions }) {
  const [db] = split(ns),
    more = (subscriptions ?? []).length - linked;
  return [
    chip('messageQueue', undefined, what?.kind),
    ...(what ? relations(db, what) : []).map(r => el('div', { class: 'small' }, r)),
    subscriptions &&
      el(
        'div',
        { class: 'small' },
        subscriptions.length ? 'subscriptions ' : 'no subscriptions',
        subscriptions.slice(0, linked).map((s, i) => [i ? ', ' : '', link(db, s)]),
        more > 0 && ` and ${count(more)} more`,
      ),
  ].filter(Boolean);
}

// oldest is since when the first active message has waited; undefined if nothing waits, or
// the user may not read messages.
export async function oldest(db, name) {
  const [m] = (await run(db, { mqPeek: name, state: 'active' }).catch(() => ({ messages: [] })))
    .messages;
  return m && ms(m._mq.enqueuedTimeUtc);
}
