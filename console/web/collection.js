import { el, fill, run, admin, state, ms, num, count, iso, short, chip, when, button, ask, empty, table, plural, removes, failure, timeline } from './lib.js';

// collection shows the documents of a collection by when they go.
export async function collection(db, name) {
  const [info] = (await run(db, { listCollections: 1, filter: { name } })).cursor.firstBatch;
  if (!info) return empty(`There is no collection ${db}.${name}.`);
  const list = el('section', { class: 'card' }), chart = el('section', { class: 'card' });
  const update = async () => {
    try {
      const f = await run(db, { expirationStats: name, horizonSeconds: 3600, buckets: 48, list: 100 });
      state.now = ms(f.now);
      fill(chart, el('h2', {}, 'Falling due within an hour'), timeline(f.collections, state.now, 3600000, 48));
      fill(list, el('h2', {}, 'Documents, what goes first'), await documents(db, name, info, f));
    } catch (e) { fill(list, failure(e)); }
  };
  await update();
  const page = state.page, moved = () => { if (state.page === page) update(); else removeEventListener('clockmoved', moved); };
  addEventListener('clockmoved', moved);
  const indexes = info.type === 'view' ? [] : (await run(db, { listIndexes: name })).cursor.firstBatch;
  return [el('div', {}, el('p', { class: 'muted small' }, db), el('h1', {}, name), el('p', {}, policies(info, indexes))), chart, list,
    !state.session.readOnly && info.type !== 'view' && el('section', { class: 'card' }, el('h2', {}, 'When documents expire'), forms(db, name, info, indexes, update))].filter(Boolean);
}

function policies(info, indexes) {
  const out = [], o = info.options;
  if (o.documentTtl) out.push(chip('documentTtl', num(o.documentTtl.default) < 0 ? 'on, no default' : `${o.documentTtl.default} s after the last write`));
  if (o.timeseries && o.expireAfterSeconds !== undefined) out.push(chip('timeseries', `${num(o.expireAfterSeconds)} s`));
  if (o.clusteredIndex && o.expireAfterSeconds !== undefined) out.push(chip('clustered', `${num(o.expireAfterSeconds)} s`));
  for (const i of indexes) if (i.expireAfterSeconds !== undefined && !i.clustered && i.name !== '_ts_1') out.push(chip('ttl', `${Object.keys(i.key)[0]} + ${num(i.expireAfterSeconds)} s`));
  if (o.onExpire) out.push(el('span', { class: 'small muted' }, `expired documents move to ${o.onExpire.deadLetterTo}`));
  return out.length ? out : el('span', { class: 'muted' }, 'No document of this collection expires.');
}

// documents lists what falls due first; in a small collection also what never expires.
async function documents(db, name, info, f) {
  const n = num((await run(db, { count: name })).n), projection = { __at: { $meta: 'expiresAt' } }, sort = { __at: { $meta: 'expiresAt' } };
  const filter = n > 2000 && info.type !== 'timeseries' ? { _id: { $in: (f.due ?? []).map(d => d._id) } } : {};
  const docs = (await run(db, { find: name, filter, projection, sort, limit: 100, batchSize: 100 })).cursor.firstBatch;
  if (!docs.length) return empty(n ? 'None of the documents is about to expire.' : 'There are no documents.');
  return [el('p', { class: 'muted small' }, docs.length < n ? `The first ${docs.length} of ${count(n)}.` : plural(n, 'document') + '.'),
    table(['_id', 'Expires', 'Document', ''], docs.map(d => {
      const { _id, __at, ...rest } = d, at = ms(__at);
      const overdue = at !== undefined && at <= state.now;
      return [el('span', { class: 'mono' }, short(_id)), at === undefined ? el('span', { class: 'muted' }, 'never') : el('span', { class: overdue ? 'bad' : '' }, when(at)),
        el('code', { class: 'doc' }, JSON.stringify(rest)), button('Why?', () => why(db, name, _id), { 'aria-label': `Why does ${short(_id)} expire?` })];
    }), 'Documents by when they expire')];
}

// why shows what the server says of one document.
async function why(db, name, id) {
  const r = await run(db, { explainExpiry: name, _id: id });
  const lines = r.policies.map(p => el('div', { class: 'note' }, chip(p.policy, p.index), p.never ? el('p', {}, 'Never: ', p.never) : [
    el('p', { class: 'mono' }, p.formula), el('table', {}, el('tbody', {}, [
      ...Object.entries(p.from).map(([k, v]) => [k, v?.$date ? iso(ms(v)) : String(num(v))]), ['expires', iso(ms(p.expiresAt))],
      p.invisibleFrom ? ['visible', `until ${iso(ms(p.invisibleFrom))}`] : ['visible', 'until a pass removes it'],
      p.removedBy && ['removed', `by a pass that begins at ${iso(ms(p.removedBy))} at the latest`], p.movesTo && ['moves to', p.movesTo],
    ].filter(Boolean).map(([k, v]) => el('tr', {}, el('th', { scope: 'row' }, k), el('td', {}, v)))))]));
  const d = el('dialog', { 'aria-label': `When ${short(id)} expires` }, el('h2', {}, short(id)), lines.length ? lines : el('p', {}, 'No policy applies to this collection.'), button('Close', () => d.close(), { class: 'primary' }));
  d.addEventListener('close', () => d.remove());
  document.body.append(d);
  d.showModal();
}

// forms change the policies: those of document TTL have the three states of Cosmos DB.
function forms(db, name, info, indexes, update) {
  const out = [], o = info.options;
  const done = async command => { await run(db, command); dispatchEvent(new HashChangeEvent('hashchange')); };
  const seconds = (label, value) => { const input = el('input', { type: 'number', min: 0, value: value ?? 3600, 'aria-label': label }); return input; };
  const add = (title, input, text, act) => out.push(el('form', { class: 'inline', onsubmit: e => e.preventDefault() }, el('label', {}, title, input), button(text, act)));
  if (o.timeseries || o.clusteredIndex) {
    const s = seconds('Seconds', num(o.expireAfterSeconds ?? 86400));
    add(o.timeseries ? 'Keep measurements for (seconds)' : 'Keep documents after the date in _id for (seconds)', s, 'Set', () => done({ collMod: name, expireAfterSeconds: Number(s.value) }));
    if (o.expireAfterSeconds !== undefined) out.push(button('Keep them for ever', () => done({ collMod: name, expireAfterSeconds: 'off' })));
  }
  if (!o.timeseries) {
    const now = !o.documentTtl ? 'off' : num(o.documentTtl.default) < 0 ? 'own' : 'default';
    const how = el('select', {}, [['off', 'Off'], ['own', 'On, no default'], ['default', 'On, seconds after the last write']].map(([v, t]) => el('option', { value: v, selected: v === now }, t)));
    const s = seconds('Default in seconds', now === 'default' ? o.documentTtl.default : 3600);
    s.hidden = now !== 'default';
    how.onchange = () => { s.hidden = how.value !== 'default'; };
    if (!o.capped) out.push(el('form', { class: 'inline', onsubmit: e => e.preventDefault() }, el('label', {}, 'Document TTL', how), s, button('Set', () => done({ collMod: name, documentTtl: how.value === 'off' ? 'off' : { default: how.value === 'own' ? -1 : Number(s.value) } }))));
    for (const i of indexes.filter(i => i.expireAfterSeconds !== undefined && !i.clustered && i.name !== '_ts_1')) {
      const t = seconds('Seconds', num(i.expireAfterSeconds));
      add(`TTL index ${i.name} (seconds)`, t, 'Set', () => done({ collMod: name, index: { name: i.name, expireAfterSeconds: Number(t.value) } }));
    }
    const field = el('input', { placeholder: 'createdAt', 'aria-label': 'Date field' }), t = seconds('Seconds');
    out.push(el('form', { class: 'inline', onsubmit: e => e.preventDefault() }, el('label', {}, 'New TTL index on the date in', field), el('label', {}, 'Seconds', t), button('Create', () => done({ createIndexes: name, indexes: [{ key: { [field.value]: 1 }, name: `${field.value}_1`, expireAfterSeconds: Number(t.value) }] }))));
  }
  const to = el('input', { value: o.onExpire?.deadLetterTo ?? '', placeholder: 'delete them' });
  add('Move expired documents to', to, 'Set', () => done({ collMod: name, onExpire: to.value ? { deadLetterTo: to.value } : 'off' }));
  return el('div', { class: 'grid wide' }, out);
}
