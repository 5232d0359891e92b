import { el, fill, breathe, changed, forecast, admin, run, state, num, count, ms, bytes, chip, when, split, path, every, timeline, empty, table, families, failure, plural, removes } from './lib.js';
import { tryIt } from './tryit.js';

const horizons = [[3600, 'Hour'], [86400, 'Day'], [604800, 'Week']];
let horizon = 3600;

// overview is the first page: what falls due, and where.
export async function overview() {
  const first = await forecast({ horizonSeconds: horizon, buckets: 48 });
  if (!first.collections.length && !(await userCollections())) return tryIt(true);
  const stats = el('div', { class: 'grid' }), chart = el('div', {}), list = collections(), legend = el('div', { class: 'legend' });
  const pick = el('div', { class: 'row', role: 'group', 'aria-label': 'How far to look ahead' });
  const update = async () => {
    try {
      const [f, status] = await Promise.all([forecast({ horizonSeconds: horizon, buckets: 48 }), admin({ serverStatus: 1 }).catch(() => undefined)]);
      await breathe();
      state.now = ms(f.now);
      draw(f, status);
    } catch (e) { fill(stats, failure(e)); }
  };
  const draw = (f, status) => {
    const begin = performance.now();
    const all = f.collections.flatMap(c => c.policies).filter(removes);
    const sum = key => all.reduce((n, p) => n + num(p[key]), 0), next = Math.min(...all.map(p => p.next));
    fill(stats, ...[
      [count(sum('pending')), 'will expire'], [count(sum('overdue')), 'overdue', sum('overdue') ? 'bad' : ''], [Number.isFinite(next) ? when(next) : '–', 'next due'],
      [f.nextPass ? when(ms(f.nextPass)) : 'off', 'next pass'],
      status && [bytes(num(status.mem?.resident) * 1048576), 'memory of the process'],
    ].filter(Boolean).map(([b, text, kind]) => el('div', { class: 'card stat' }, el('b', { class: kind }, b), el('span', {}, text))));
    fill(chart, timeline(f.collections, state.now, horizon * 1000, 48));
    fill(legend, ...[...new Set(all.map(p => p.policy))].map(p => el('span', { class: `p-${p}` }, el('span', { class: 'dot' }), ' ', families[p])));
    list.show(f.collections);
    performance.measure('overview', { start: begin });
  };
  const choose = () => fill(pick, ...horizons.map(([s, text]) => el('button', { type: 'button', 'aria-pressed': String(s === horizon), onclick: () => { horizon = s; choose(); update(); } }, text)));
  choose();
  setTimeout(() => every(2000, update));
  state.now = ms(first.now);
  draw(first);
  return [el('div', {}, el('h1', {}, 'What expires, and when'), el('p', { class: 'muted' }, 'All collections, queues and time series of this server.')), stats,
    el('section', { class: 'card' }, el('div', { class: 'row between' }, el('h2', {}, 'Falling due'), pick), chart, legend), list.card];
}

const shown = 100; // collections of a page of the table

// collections is the table of collections, what falls due first at the top. Only one page of
// it is drawn, so that an update takes as long with ten thousand collections as with a hundred.
function collections() {
  let all = [], page = 0, wanted = '';
  const title = el('h2', {}), body = el('div', {}), where = el('span', { class: 'muted small', role: 'status' });
  const turn = by => { page += by; draw(); };
  const back = el('button', { type: 'button', onclick: () => turn(-1) }, 'Previous'), on = el('button', { type: 'button', onclick: () => turn(1) }, 'Next');
  const find = el('input', { type: 'search', 'aria-label': 'Find a collection by its name', placeholder: 'Find …', oninput: () => { wanted = find.value.toLowerCase(); page = 0; draw(); } });
  const pager = el('div', { class: 'row' }, back, where, on), tools = el('div', { class: 'row' }, find);
  const draw = () => {
    const found = all.filter(x => x.c.ns.toLowerCase().includes(wanted));
    page = Math.max(0, Math.min(page, Math.ceil(found.length / shown) - 1));
    const part = found.slice(page * shown, (page + 1) * shown);
    title.textContent = `${plural(all.length, 'collection')} in which something expires`;
    tools.hidden = all.length < 10;
    pager.hidden = found.length <= shown;
    back.disabled = page === 0;
    on.disabled = (page + 1) * shown >= found.length;
    where.textContent = `${count(page * shown + 1)} to ${count(page * shown + part.length)} of ${count(found.length)}`;
    if (!changed(body, part.map(({ c }) => [c.ns, c.bytes, c.policies.map(p => [p.policy, p.pending, p.overdue, p.nextDue])]))) return;
    fill(body, part.length ? rows(part) : all.length ? empty('No collection has this name.') : empty('Nothing expires yet. ', el('a', { href: '#/try' }, 'Try an example'), '.'));
  };
  return {
    card: el('section', { class: 'card' }, el('div', { class: 'row between' }, title, tools), body, pager),
    show(list) { all = list.map(c => ({ c, due: due(c) })).sort((a, b) => (a.due === b.due ? 0 : a.due - b.due) || (a.c.ns < b.c.ns ? -1 : 1)); draw(); },
  };
}

function rows(part) {
  return table(['Collection', 'Policies', ...['Pending', 'Overdue', 'Next due', 'Size'].map(name => ({ name, num: true }))], part.map(({ c }) => {
    const p = c.policies.filter(removes), sum = key => p.reduce((n, x) => n + num(x[key]), 0), next = Math.min(...p.map(x => x.next));
    return [el('a', { href: path(c.messages ? 'queue' : 'collection', ...split(c.ns)) }, c.ns), el('span', {}, [...new Set(p.map(x => x.policy))].map(x => chip(x))),
      count(sum('pending')), el('span', { class: sum('overdue') ? 'bad' : '' }, count(sum('overdue'))), Number.isFinite(next) ? when(next) : '–', bytes(c.bytes)];
  }), 'Collections in which something expires');
}
const due = c => Math.min(...c.policies.map(p => num(p.overdue) ? 0 : p.next));

async function userCollections() {
  const { databases } = await admin({ listDatabases: 1, nameOnly: true });
  for (const { name } of databases.filter(d => !['admin', 'config', 'local'].includes(d.name))) if ((await run(name, { listCollections: 1, nameOnly: true })).cursor.firstBatch.length) return true;
  return false;
}
