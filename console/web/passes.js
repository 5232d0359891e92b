import { el, fill, changed, forecast, admin, run, state, ms, num, count, span, when, every, spark, table, failure, button, empty, say, chip, bytes, path, split } from './lib.js';

const keep = 120, series = {};
const push = (name, v) => { (series[name] ??= []).push(v); if (series[name].length > keep) series[name].shift(); };
let before, slowest, asked = -Infinity;

// The charts of the page: their series, title, query, and the text of a value.
const charts = [
  ['removed', 'Removed per second', 'sum(rate(duskdb_expiry_removed_total[1m]))', v => v.toFixed(1)],
  ['log', 'Size of the log', 'duskdb_storage_file_bytes', v => bytes(v)],
  ['growth', 'Growth of the log per second', 'deriv(duskdb_storage_file_bytes[5m])', v => `${v < 0 ? '−' : ''}${bytes(Math.abs(v))}`],
  ['reads', 'Reads per second', 'rate(duskdb_command_duration_seconds_count{class="reads"}[1m])', v => v.toFixed(1)],
  ['read', 'Mean time of a read', 'rate(duskdb_command_duration_seconds_sum{class="reads"}[1m]) / rate(duskdb_command_duration_seconds_count{class="reads"}[1m])', v => span(v)],
  ['writes', 'Writes per second', 'rate(duskdb_command_duration_seconds_count{class="writes"}[1m])', v => v.toFixed(1)],
  ['write', 'Mean time of a write', 'rate(duskdb_command_duration_seconds_sum{class="writes"}[1m]) / rate(duskdb_command_duration_seconds_count{class="writes"}[1m])', v => span(v)],
];
const lagQuery = 'histogram_quantile(0.99, sum by (policy, le) (rate(duskdb_expiry_lag_seconds_bucket[5m])))';
const slowQuery = 'histogram_quantile(0.99, sum by (class, le) (rate(duskdb_command_duration_seconds_bucket[5m])))';

const copies = promql => button('Copy PromQL', async () => { await navigator.clipboard.writeText(promql); say('Copied'); }, { class: 'quiet', title: promql });
const head = (title, promql) => el('div', { class: 'row between head' }, el('h2', {}, title), copies(promql));

// chartCard is made once and then changed, so that its button can be clicked at any time.
function chartCard([key, title, promql, text]) {
  const value = el('b', {}), drawing = el('div', {});
  return { key, card: el('section', { class: 'card' }, head(title, promql), value, drawing), draw() { value.textContent = text(series[key]?.at(-1) ?? 0); fill(drawing, spark(series[key] ?? [], title)); } };
}

// monitor asks for the passes alone: of a database in which nothing expires, as the reply for
// all databases is long on a server with many collections.
const monitor = () => run('local', { expirationStats: 1, buckets: 1 }).catch(() => forecast({ buckets: 1 }));

// passes shows what the monitor did, and how busy the server is.
export async function passes() {
  const stats = el('div', { class: 'grid' }), cards = charts.map(chartCard), last = el('section', { class: 'card' }), busy = el('section', { class: 'card' });
  const lags = el('div', {}), slow = el('div', {});
  const update = async () => {
    try {
      const [f, s, ops] = await Promise.all([monitor(), admin({ serverStatus: 1 }), admin({ currentOp: 1 }).catch(() => ({ inprog: [] }))]);
      state.now = ms(f.now);
      const m = s.metrics, e = m.expiration, at = performance.now();
      const totals = { removed: num(m.ttl.deletedDocuments) + num(e.documentTtl.purged) + num(e.messageQueue.expiredDropped) + num(e.messageQueue.expiredDeadLettered), writes: num(s.opLatencies?.writes?.ops), reads: num(s.opLatencies?.reads?.ops), readMicros: num(s.opLatencies?.reads?.latency), writeMicros: num(s.opLatencies?.writes?.latency) };
      const size = num(s.storageEngine?.fileBytes);
      push('log', size);
      if (before) {
        const t = (at - before.at) / 1000, d = k => totals[k] - before.totals[k];
        push('removed', d('removed') / t); push('reads', d('reads') / t); push('writes', d('writes') / t); push('growth', (size - before.size) / t);
        push('read', d('reads') ? d('readMicros') / d('reads') / 1000 : 0); push('write', d('writes') ? d('writeMicros') / d('writes') / 1000 : 0);
      }
      before = { at, totals, size };
      fill(stats, ...[[count(m.ttl.passes), 'passes'], [count(totals.removed), 'documents removed'], [count(e.messageQueue.expiredDeadLettered), 'messages dead-lettered'], [f.nextPass ? when(ms(f.nextPass)) : 'off', 'next pass']].map(([b, t]) => el('div', { class: 'card stat' }, el('b', {}, b), el('span', {}, t))));
      for (const c of cards) { c.card.hidden = !size && (c.key === 'log' || c.key === 'growth'); c.draw(); }
      drawLags(lags, e.lag ?? {});
      const l = f.lastPass, took = (f.recentPassMillis ?? []).map(Number).sort((a, b) => a - b), q = p => took.length ? span(took[Math.min(took.length - 1, Math.floor(p * took.length))]) : '–';
      fill(last, el('h2', {}, 'The last pass'), l?.at ? el('div', { class: 'scroll' }, el('table', {}, el('tbody', {}, Object.entries(l).flatMap(([k, v]) => flat(k, v)).map(([k, v]) => el('tr', {}, el('th', { scope: 'row' }, k), el('td', { class: 'num' }, v)))))) : empty('No pass has run yet.'), el('p', { class: 'muted small' }, `Recent passes took ${q(.5)} (median), ${q(.9)} (90 %), ${q(1)} at most.`));
      const under = ops.inprog.filter(o => o.active && o.command && !o.command.currentOp && !o.command.serverStatus && !o.command.getMore).sort((a, b) => num(b.microsecs_running) - num(a.microsecs_running)).slice(0, 10);
      fill(busy, el('h2', {}, 'Running operations'), under.length ? table(['Operation', 'Collection', { name: 'Running for', num: true }], under.map(o => [Object.keys(o.command)[0], o.ns ?? '', span(num(o.microsecs_running) / 1000)]), 'Running operations') : el('p', { class: 'muted' }, 'None but this page.'));
      await drawSlow(slow);
    } catch (e) { fill(stats, failure(e)); }
  };
  await update();
  setTimeout(() => every(2000, update));
  return [el('h1', {}, 'Passes and metrics'), stats, el('div', { class: 'grid wide' }, cards.map(c => c.card)),
    el('section', { class: 'card' }, head('From expiry to removal', lagQuery), lags),
    el('section', { class: 'card' }, head('Slow operations', slowQuery), slow), el('div', { class: 'grid wide' }, last, busy)];
}

// drawLags shows how long after their expiry documents are removed.
function drawLags(box, lag) {
  if (!changed(box, lag)) return;
  const rows = Object.entries(lag).map(([policy, l]) => [chip(policy), count(l.count), ...['p50Millis', 'p90Millis', 'p99Millis'].map(k => span(num(l[k])))]);
  fill(box, rows.length ? table(['Policy', ...['Removed', '50 % within', '90 % within', '99 % within'].map(name => ({ name, num: true }))], rows, 'From expiry to removal, by policy') : empty('Nothing has been removed yet.'));
}

const slowShown = 10, slowEvery = 10000;

// drawSlow shows the last slow operations of the log. The log is long, so it is not read at
// every update.
async function drawSlow(box) {
  if (performance.now() - asked > slowEvery || !slowest) {
    asked = performance.now();
    try {
      const { log } = await admin({ getLog: 'global' });
      slowest = log.filter(line => line.includes('"Slow query"')).slice(-slowShown).reverse().map(line => JSON.parse(line));
    } catch (e) { slowest = e; }
  }
  if (slowest instanceof Error) return fill(box, el('p', { class: 'muted' }, `The log cannot be read: ${slowest.message}`));
  if (!changed(box, slowest)) return;
  const rows = slowest.map(({ time, ns, durationMillis, attr: a }) => [when(ms(a.ts) ?? Date.parse(time)), Object.keys(a.command ?? {})[0] ?? a.op, ns.includes('.') && !ns.includes('$cmd') ? el('a', { href: path('collection', ...split(ns)) }, ns) : ns,
    span(durationMillis), a.planSummary ?? '–', count(a.docsExamined ?? 0)]);
  fill(box, rows.length ? table(['When', 'Operation', 'Collection', { name: 'Took', num: true }, 'Plan', { name: 'Documents read', num: true }], rows, 'Slow operations, the last first') : el('p', { class: 'muted' }, 'The log has none. setProfilingLevel sets from how many milliseconds an operation counts as slow.'));
}

function flat(k, v) {
  if (v?.$date) return [[k, when(ms(v))]];
  if (v && typeof v === 'object' && !v.$numberLong) return Object.entries(v).flatMap(([x, y]) => flat(`${k}.${x}`, y));
  return [[k, typeof v === 'number' && !Number.isInteger(v) ? v.toFixed(2) : count(v)]];
}
