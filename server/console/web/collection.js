import {
  el,
  fill,
  changed,
  run,
  state,
  ms,
  num,
  count,
  iso,
  short,
  chip,
  when,
  button,
  empty,
  table,
  plural,
  failure,
  every,
} from './lib.js';
import { outlook, picker, parts } from './outlook.js';
import { timeline } from './charts.js';

// collection shows the documents of a collection by when they go, and one of them, if an
// address names it.
export async function collection(db, name, id) {
  const [info] = (await run(db, { listCollections: 1, filter: { name } })).cursor.firstBatch;
  if (!info) return empty(`There is no collection ${db}.${name}.`);
  const list = el('section', { class: 'card' }),
    chart = timeline(parts),
    one = id && (await single(db, name, JSON.parse(id)));
  const update = async () => {
    try {
      const f = await run(db, {
        expirationStats: name,
        horizonSeconds: outlook.seconds,
        buckets: parts,
        list: 100,
      });
      state.now = ms(f.now);
      chart.show(
        f.collections.flatMap(c => c.policies),
        state.now,
        outlook.seconds * 1000,
      );
      const [n, docs] = await documents(db, name, info, f);
      if (changed(list, [n, docs]))
        fill(list, el('h2', {}, 'Documents, what goes first'), rows(db, name, n, docs));
    } catch (e) {
      changed(list, e.message);
      fill(list, failure(e));
    }
  };
  await update();
  const page = state.page,
    events = ['clockmoved', 'horizon'],
    moved = () => {
      if (state.page === page) update();
      else events.forEach(e => removeEventListener(e, moved));
    };
  events.forEach(e => addEventListener(e, moved));
  setTimeout(() => every(5000, update));
  const indexes =
    info.type === 'view' ? [] : (await run(db, { listIndexes: name })).cursor.firstBatch;
  return [
    el(
      'div',
      {},
      el('p', { class: 'muted small' }, db),
      el('h1', {}, name),
      el('p', {}, policies(info, indexes)),
    ),
    one,
    el(
      'section',
      { class: 'card' },
      el('div', { class: 'row between' }, el('h2', {}, 'Falling due'), picker()),
      chart,
    ),
    list,
    !state.session.readOnly &&
      info.type !== 'view' &&
      el(
        'section',
        { class: 'card' },
        el('h2', {}, 'When documents expire'),
        forms(db, name, info, indexes),
      ),
  ].filter(Boolean);
}

function policies(info, indexes) {
  const out = [],
    o = info.options;
  if (o.documentTtl)
    out.push(
      chip(
        'documentTtl',
        num(o.documentTtl.default) < 0
          ? 'on, no default'
          : `${o.documentTtl.default} s after the last write`,
      ),
    );
  if (o.timeseries && o.expireAfterSeconds !== undefined)
    out.push(chip('timeseries', `${num(o.expireAfterSeconds)} s`));
  if (o.clusteredIndex && o.expireAfterSeconds !== undefined)
    out.push(chip('clustered', `${num(o.expireAfterSeconds)} s`));
  for (const i of indexes)
    if (i.expireAfterSeconds !== undefined && !i.clustered && i.name !== '_ts_1')
      out.push(chip('ttl', `${Object.keys(i.key)[0]} + ${num(i.expireAfterSeconds)} s`));
  if (o.onExpire)
    out.push(
      el('span', { class: 'small muted' }, `expired documents move to ${o.onExpire.deadLetterTo}`),
    );
  return out.length
    ? out
    : el('span', { class: 'muted' }, 'No document of this collection expires.');
}

const small = 2000; // documents that a page may sort by their expiry

// documents reads what falls due first; in a small collection also what never expires. Those
// of a large one are named by the forecast; a large time series is read by its time.
async function documents(db, name, info, f) {
  const n = num((await run(db, { count: name })).n),
    projection = { __at: { $meta: 'expiresAt' } };
  let filter = {},
    sort = { __at: { $meta: 'expiresAt' } };
  if (n > small && info.type === 'timeseries') sort = { [info.options.timeseries.timeField]: 1 };
  else if (n > small) filter = { _id: { $in: (f.due ?? []).map(d => d._id) } };
  return [
    n,
    (await run(db, { find: name, filter, projection, sort, limit: 100, batchSize: 100 })).cursor
      .firstBatch,
  ];
}

// single shows one document, as the page of expirations links to those that have moved.
async function single(db, name, id) {
  const [doc] = (await run(db, { find: name, filter: { _id: id }, limit: 1 })).cursor.firstBatch;
  return el(
    'section',
    { class: 'card', 'aria-label': `The document ${short(id)}` },
    el('h2', {}, short(id)),
    doc
      ? el('pre', {}, JSON.stringify(doc, null, 2))
      : el('p', { class: 'muted' }, 'This document is not there any more.'),
  );
}

function rows(db, name, n, docs) {
  if (!docs.length)
    return empty(n ? 'None of the documents is about to expire.' : 'There are no documents.');
  return [
    el(
      'p',
      { class: 'muted small' },
      docs.length < n ? `The first ${docs.length} of ${count(n)}.` : plural(n, 'document') + '.',
    ),
    table(
      ['_id', 'Expires', 'Document', ''],
      docs.map(d => {
        const { _id, __at, ...rest } = d,
          at = ms(__at);
        const overdue = at !== undefined && at <= state.now;
        return [
          el('span', { class: 'mono' }, short(_id)),
          at === undefined
            ? el('span', { class: 'muted' }, 'never')
            : el('span', { class: overdue ? 'bad' : '' }, when(at)),
          el('code', { class: 'doc' }, JSON.stringify(rest)),
          button('Why?', () => why(db, name, _id), {
            'aria-label': `Why does ${short(_id)} expire?`,
          }),
        ];
      }),
      'Documents by when they expire',
    ),
  ];
}

// why shows what the server says of one document.
async function why(db, name, id) {
  const r = await run(db, { explainExpiry: name, _id: id });
  const lines = r.policies.map(p =>
    el(
      'div',
      { class: 'note' },
      chip(p.policy, p.index),
      p.never
        ? el('p', {}, 'Never: ', p.never)
        : [
            el('p', { class: 'mono' }, p.formula),
            el(
              'table',
              {},
              el(
                'tbody',
                {},
                [
                  ...Object.entries(p.from).map(([k, v]) => [
                    k,
                    v?.$date ? iso(ms(v)) : String(num(v)),
                  ]),
                  ['expires', iso(ms(p.expiresAt))],
                  p.invisibleFrom
                    ? ['visible', `until ${iso(ms(p.invisibleFrom))}`]
                    : ['visible', 'until a pass removes it'],
                  p.removedBy && [
                    'removed',
                    `by a pass that begins at ${iso(ms(p.removedBy))} at the latest`,
                  ],
                  p.movesTo && ['moves to', p.movesTo],
                ]
                  .filter(Boolean)
                  .map(([k, v]) => el('tr', {}, el('th', { scope: 'row' }, k), el('td', {}, v))),
              ),
            ),
          ],
    ),
  );
  const d = el(
    'dialog',
    { 'aria-label': `When ${short(id)} expires` },
    el('h2', {}, short(id)),
    lines.length ? lines : el('p', {}, 'No policy applies to this collection.'),
    button('Close', () => d.close(), { class: 'primary' }),
  );
  d.addEventListener('close', () => d.remove());
  document.body.append(d);
  d.showModal();
}

// forms change the policies: those of document TTL have the three states of Cosmos DB.
function forms(db, name, info, indexes) {
  const out = [],
    o = info.options;
  const done = async command => {
    await run(db, command);
    dispatchEvent(new HashChangeEvent('hashchange'));
  };
  const seconds = value => el('input', { type: 'number', min: 0, value: value ?? 3600 });
  const form = (labels, text, act) =>
    out.push(
      el(
        'form',
        { class: 'inline', onsubmit: e => e.preventDefault() },
        labels,
        button(text, act, { type: 'submit' }),
      ),
    );
  const add = (title, input, text, act) => form([el('label', {}, title, input)], text, act);
  if (o.timeseries || o.clusteredIndex) {
    const s = seconds(num(o.expireAfterSeconds ?? 86400));
    add(
      o.timeseries
        ? 'Keep measurements for (seconds)'
        : 'Keep documents after the date in _id for (seconds)',
      s,
      'Set',
      () => done({ collMod: name, expireAfterSeconds: Number(s.value) }),
    );
    if (o.expireAfterSeconds !== undefined)
      out.push(
        button('Keep them for ever', () => done({ collMod: name, expireAfterSeconds: 'off' })),
      );
  }
  if (!o.timeseries) {
    const now = !o.documentTtl ? 'off' : num(o.documentTtl.default) < 0 ? 'own' : 'default';
    const how = el(
      'select',
      {},
      [
        ['off', 'Off'],
        ['own', 'On, no default'],
        ['default', 'On, seconds after the last write'],
      ].map(([v, t]) => el('option', { value: v, selected: v === now }, t)),
    );
    const s = seconds(now === 'default' ? o.documentTtl.default : 3600);
    const after = el('label', { hidden: now !== 'default' }, 'Seconds', s);
    how.onchange = () => {
      after.hidden = how.value !== 'default';
    };
    if (!o.capped)
      form([el('label', {}, 'Document TTL', how), after], 'Set', () =>
        done({
          collMod: name,
          documentTtl:
            how.value === 'off' ? 'off' : { default: how.value === 'own' ? -1 : Number(s.value) },
        }),
      );
    for (const i of indexes.filter(
      i => i.expireAfterSeconds !== undefined && !i.clustered && i.name !== '_ts_1',
    )) {
      const t = seconds(num(i.expireAfterSeconds));
      add(`TTL index ${i.name} (seconds)`, t, 'Set', () =>
        done({ collMod: name, index: { name: i.name, expireAfterSeconds: Number(t.value) } }),
      );
    }
    const field = el('input', { placeholder: 'createdAt' }),
      t = seconds();
    form(
      [el('label', {}, 'New TTL index on the date in', field), el('label', {}, 'Seconds', t)],
      'Create',
      () =>
        done({
          createIndexes: name,
          indexes: [
            {
              key: { [field.value]: 1 },
              name: `${field.value}_1`,
              expireAfterSeconds: Number(t.value),
            },
          ],
        }),
    );
  }
  const to = el('input', { value: o.onExpire?.deadLetterTo ?? '', placeholder: 'delete them' });
  add('Move expired documents to', to, 'Set', () =>
    done({ collMod: name, onExpire: to.value ? { deadLetterTo: to.value } : 'off' }),
  );
  return el('div', { class: 'forms' }, out);
}
