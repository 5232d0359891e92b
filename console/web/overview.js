import { el, fill, changed, forecast, admin, run, state, num, count, ms, bytes, chip, when, split, path, every, timeline, empty, table, families, failure, plural, removes } from './lib.js';
import { tryIt } from './tryit.js';

const horizons = [[3600, 'Hour'], [86400, 'Day'], [604800, 'Week']];
let horizon = 3600;

// overview is the first page: what falls due, and where.
export async function overview() {
  const first = await forecast({ horizonSeconds: horizon, buckets: 48 });
  if (!first.collections.length && !(await userCollections())) return tryIt(true);
  const stats = el('div', { class: 'grid' }), chart = el('div', {}), list = el('section', { class: 'card' }), legend = el('div', { class: 'legend' });
  const pick = el('div', { class: 'row', role: 'group', 'aria-label': 'How far to look ahead' });
  const update = async () => {
    try {
      const begin = performance.now();
      const [f, status] = await Promise.all([forecast({ horizonSeconds: horizon, buckets: 48 }), admin({ serverStatus: 1 }).catch(() => undefined)]);
      state.now = ms(f.now);
      draw(f, status);
      performance.measure('overview', { start: begin });
    } catch (e) { fill(stats, failure(e)); }
  };
  const draw = (f, status) => {
    const all = f.collections.flatMap(c => c.policies).filter(removes);
    const sum = key => all.reduce((n, p) => n + num(p[key]), 0), next = Math.min(...all.map(p => ms(p.nextDue) ?? Infinity));
    fill(stats, ...[
      [count(sum('pending')), 'will expire'], [count(sum('overdue')), 'overdue', sum('overdue') ? 'bad' : ''], [Number.isFinite(next) ? when(next) : '–', 'next due'],
      [f.nextPass ? when(ms(f.nextPass)) : 'off', 'next pass'],
      status && [bytes(num(status.mem?.resident) * 1048576), 'memory of the process'],
    ].filter(Boolean).map(([b, text, kind]) => el('div', { class: 'card stat' }, el('b', { class: kind }, b), el('span', {}, text))));
    fill(chart, timeline(f.collections, state.now, horizon * 1000, 48));
    fill(legend, ...[...new Set(all.map(p => p.policy))].map(p => el('span', { class: `p-${p}` }, el('span', { class: 'dot' }), ' ', families[p])));
    if (changed(list, f.collections.map(c => [c.ns, c.policies.map(p => [p.policy, p.pending, p.overdue, p.nextDue])]))) fill(list, el('h2', {}, plural(f.collections.length, 'collection'), ' in which something expires'), f.collections.length ? rows(f.collections) : empty('Nothing expires yet. ', el('a', { href: '#/try' }, 'Try an example'), '.'));
  };
  const choose = () => fill(pick, ...horizons.map(([s, text]) => el('button', { type: 'button', 'aria-pressed': String(s === horizon), onclick: () => { horizon = s; choose(); update(); } }, text)));
  choose();
  setTimeout(() => every(2000, update));
  state.now = ms(first.now);
  draw(first);
  return [el('div', {}, el('h1', {}, 'What expires, and when'), el('p', { class: 'muted' }, 'All collections, queues and time series of this server.')), stats,
    el('section', { class: 'card' }, el('div', { class: 'row between' }, el('h2', {}, 'Falling due'), pick), chart, legend), list];
}

const shown = 200; // of a table; more would only make it slow

function rows(collections) {
  const sorted = [...collections].sort((a, b) => due(a) - due(b)).slice(0, shown);
  return [table(['Collection', 'Policies', { name: 'Pending', num: true }, { name: 'Overdue', num: true }, { name: 'Next due', num: true }], sorted.map(c => {
    const p = c.policies.filter(removes), sum = key => p.reduce((n, x) => n + num(x[key]), 0), next = Math.min(...p.map(x => ms(x.nextDue) ?? Infinity));
    return [el('a', { href: path(c.messages ? 'queue' : 'collection', ...split(c.ns)) }, c.ns), el('span', {}, [...new Set(p.map(x => x.policy))].map(x => chip(x))),
      count(sum('pending')), el('span', { class: sum('overdue') ? 'bad' : '' }, count(sum('overdue'))), Number.isFinite(next) ? when(next) : '–'];
  }), 'Collections in which something expires'), collections.length > shown && el('p', { class: 'muted small' }, `The ${shown} that fall due first, of ${count(collections.length)}.`)].filter(Boolean);
}
const due = c => Math.min(...c.policies.map(p => num(p.overdue) ? 0 : ms(p.nextDue) ?? Infinity));

async function userCollections() {
  const { databases } = await admin({ listDatabases: 1, nameOnly: true });
  for (const { name } of databases.filter(d => !['admin', 'config', 'local'].includes(d.name))) if ((await run(name, { listCollections: 1, nameOnly: true })).cursor.firstBatch.length) return true;
  return false;
}
