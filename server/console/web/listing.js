// How documents are shown: as the rows of a table, or as indented JSON. What decides their expiry
// comes first.
import { el, ms, num, state, short, iso, when, path, button, table } from './lib.js';
import { pretty, line, fieldsOf, scalar } from './shell.js';
import { why } from './why.js';

export const largest = 16 << 10; // bytes of a document that is listed whole
const columns = 6; // fields of the table
const lines = 40; // of a document in the list

// rows shows documents in one of the views. sortBy is called with the field of a head.
export const rows = (place, docs, view, sortBy) =>
  view === 'json' ? docs.map(d => asJSON(place, d)) : asTable(place, docs, sortBy);

const cut = (text, n) => (text.length > n ? `${text.slice(0, n)}…` : text);

// cell is a value as the table shows it: what is short is not broken.
function cell(v) {
  if (v === undefined) return '';
  if (v?.$date) return el('span', { class: 'whole' }, iso(ms(v)));
  const text = cut(scalar(v) === undefined ? line(v) : short(v), 80);
  return el('span', { class: text.length > 20 ? 'value' : 'whole' }, text);
}

// life shows when a document goes, and what remains of its life.
export function life(place, { at, doc }) {
  const t = ms(at);
  if (t === undefined) return el('span', { class: 'muted' }, 'never');
  const left = t - state.now,
    all = lifetime(place, doc);
  return el(
    'span',
    { class: left <= 0 ? 'bad' : undefined },
    when(t),
    all && left > 0
      ? el('meter', {
          class: 'life',
          min: 0,
          max: 1,
          value: Math.min(1, left / all).toFixed(3),
          'aria-label': `${Math.round((100 * Math.min(all, left)) / all)} % of its life remain`,
        })
      : '',
  );
}

// lifetime is how long a document lives if one policy alone says so, in milliseconds.
function lifetime({ policies }, doc) {
  if (policies.length !== 1) return undefined;
  const [p] = policies,
    seconds = p.policy === 'documentTtl' ? num(doc.ttl ?? p.seconds) : p.seconds;
  return seconds > 0 ? seconds * 1000 : undefined;
}

// link leads to a document. What a view makes may have no _id.
const link = ({ db, name }, id) =>
  id === undefined
    ? '–'
    : el(
        'a',
        { class: 'mono', href: path('collection', db, name, JSON.stringify(id)) },
        cut(short(id), 60),
      );
const because = ({ db, name, info }, id) =>
  id !== undefined &&
  info.type !== 'view' &&
  button('Why?', () => why(db, name, id), { 'aria-label': `Why does ${short(id)} expire?` });

// columnsOf chooses the fields of the table: those that decide the expiry, the most frequent
// others, and what has no column of its own.
function columnsOf({ deciding }, docs) {
  const often = new Map();
  for (const { doc } of docs)
    for (const [k] of fieldsOf(doc)) often.set(k, (often.get(k) ?? 0) + 1);
  const first = deciding.filter(f => often.has(f) && f !== '_id');
  const rest = [...often.keys()]
    .filter(k => k !== '_id' && !first.includes(k))
    .sort((a, b) => often.get(b) - often.get(a));
  return { first, fields: rest.slice(0, columns), more: rest.slice(columns) };
}

// asTable shows documents as rows: when they go, the field that decides it, and the others.
function asTable(place, docs, sortBy) {
  const chosen = columnsOf(place, docs),
    expires = place.policies.length > 0;
  const head = name => ({
    name,
    head: button(name, () => sortBy(name), {
      class: 'quiet head',
      title: `Sort by ${name}`,
      'aria-label': `Sort by ${name}`,
    }),
  });
  const heads = [
    expires && 'Expires',
    ...[...chosen.first, '_id', ...chosen.fields].map(head),
    chosen.more.length > 0 && 'More',
    '',
  ];
  return table(
    heads.filter(h => h !== false),
    docs.map(d => [...(expires ? [life(place, d)] : []), ...cells(place, d, chosen)]),
    'Documents',
  );
}

// cells are a document's cells behind the first.
function cells(place, { size, doc }, { first, fields, more }) {
  const large = num(size) > largest,
    marked = (is, content) => el('span', { class: is ? 'decides' : undefined }, content);
  return [
    ...first.map(f => (doc[f] === undefined ? '' : marked(true, cell(doc[f])))),
    marked(place.deciding.includes('_id'), link(place, doc._id)),
    ...fields.map((f, i) =>
      large && !i ? el('span', { class: 'muted' }, 'too large to list') : cell(doc[f]),
    ),
    ...(more.length ? [el('span', { class: 'muted' }, others(doc, more))] : []),
    because(place, doc._id),
  ];
}

// others says which further fields a document has.
function others(doc, more) {
  const has = more.filter(f => doc[f] !== undefined);
  return has.length ? cut(has.join(', '), 60) : '';
}

// asJSON shows a document as indented JSON.
function asJSON(place, { at, size, doc }) {
  return el(
    'article',
    { class: 'json' },
    el(
      'div',
      { class: 'row between' },
      link(place, doc._id),
      place.policies.length > 0 && life(place, { at, doc }),
      because(place, doc._id),
    ),
    num(size) > largest
      ? el('p', { class: 'muted' }, 'This document is too large to be listed: open it.')
      : json(place, doc, lines),
  );
}

// json is a document as indented JSON, the fields that decide its expiry first and highlighted.
export function json({ deciding }, doc, most = Infinity) {
  const all = fieldsOf(doc),
    first = deciding.flatMap(f => all.filter(([k]) => k === f)),
    order = [...first, ...all.filter(([k]) => !deciding.includes(k))];
  const texts = order.map(
    ([k, v], i) => `  ${JSON.stringify(k)}: ${pretty(v, '  ')}${i < order.length - 1 ? ',' : ''}\n`,
  );
  const kept = firstLines(texts, most);
  return el(
    'pre',
    {},
    '{\n',
    kept.map((text, i) =>
      el('span', { class: deciding.includes(order[i][0]) ? 'decides' : undefined }, dates(text)),
    ),
    kept.join('').length < texts.join('').length && '  …\n',
    '}',
  );
}

// firstLines is the beginning of several texts.
function firstLines(texts, most) {
  const out = [];
  let left = most;
  for (const text of texts) {
    if (left <= 0) break;
    const lines = text.split(/(?<=\n)/);
    out.push(lines.slice(0, left).join(''));
    left -= lines.length;
  }
  return out;
}

// dates keeps each date on one line.
const dates = text =>
  text
    .split(/(ISODate\("[^"]*"\))/)
    .map((part, i) => (i % 2 ? el('span', { class: 'whole' }, part) : part));
