import { el, fill, forecast, admin, state, ms, num, count, span, when, every, spark, table, failure, button, empty, say, chip, bytes } from './lib.js';

const keep = 120, series = {};
const push = (name, v) => { (series[name] ??= []).push(v); if (series[name].length > keep) series[name].shift(); };
let before;

// passes shows what the monitor did, and how busy the server is.
export async function passes() {
  const stats = el('div', { class: 'grid' }), charts = el('div', { class: 'grid wide' }), last = el('section', { class: 'card' }), slow = el('section', { class: 'card' });
  const update = async () => {
    try {
      const [f, s, ops] = await Promise.all([forecast({ buckets: 1 }), admin({ serverStatus: 1 }), admin({ currentOp: 1 }).catch(() => ({ inprog: [] }))]);
      state.now = ms(f.now);
      const m = s.metrics, e = m.expiration, at = performance.now();
      const totals = { removed: num(m.ttl.deletedDocuments) + num(e.documentTtl.purged) + num(e.messageQueue.expiredDropped) + num(e.messageQueue.expiredDeadLettered), writes: num(s.opLatencies?.writes?.ops), reads: num(s.opLatencies?.reads?.ops), readMicros: num(s.opLatencies?.reads?.latency), writeMicros: num(s.opLatencies?.writes?.latency) };
      if (before) {
        const t = (at - before.at) / 1000, d = k => totals[k] - before.totals[k];
        push('removed', d('removed') / t); push('reads', d('reads') / t); push('writes', d('writes') / t);
        push('read', d('reads') ? d('readMicros') / d('reads') / 1000 : 0); push('write', d('writes') ? d('writeMicros') / d('writes') / 1000 : 0);
      }
      before = { at, totals };
      fill(stats, ...[[count(m.ttl.passes), 'passes'], [count(totals.removed), 'documents removed'], [count(e.messageQueue.expiredDeadLettered), 'messages dead-lettered'], [f.nextPass ? when(ms(f.nextPass)) : 'off', 'next pass']].map(([b, t]) => el('div', { class: 'card stat' }, el('b', {}, b), el('span', {}, t))));
      fill(charts, ...[
        ['removed', 'Removed per second', 'rate(duskdb_expiry_total{kind=~"deletedDocuments|purged|expired.*"}[1m])', v => v.toFixed(1)],
        ['reads', 'Reads per second', 'rate(duskdb_command_duration_seconds_count{class="reads"}[1m])', v => v.toFixed(1)], ['read', 'Mean time of a read', 'rate(duskdb_command_duration_seconds_sum{class="reads"}[1m]) / rate(duskdb_command_duration_seconds_count{class="reads"}[1m])', v => span(v)],
        ['writes', 'Writes per second', 'rate(duskdb_command_duration_seconds_count{class="writes"}[1m])', v => v.toFixed(1)], ['write', 'Mean time of a write', 'rate(duskdb_command_duration_seconds_sum{class="writes"}[1m]) / rate(duskdb_command_duration_seconds_count{class="writes"}[1m])', v => span(v)],
      ].map(([k, title, promql, text]) => el('section', { class: 'card' }, el('div', { class: 'row between' }, el('h2', {}, title), button('Copy PromQL', async () => { await navigator.clipboard.writeText(promql); say('Copied'); }, { class: 'quiet', title: promql })), el('b', {}, text(series[k]?.at(-1) ?? 0)), spark(series[k] ?? [], title))));
      const l = f.lastPass, took = (f.recentPassMillis ?? []).map(Number).sort((a, b) => a - b), q = p => took.length ? span(took[Math.min(took.length - 1, Math.floor(p * took.length))]) : '–';
      fill(last, el('h2', {}, 'The last pass'), l?.at ? el('div', { class: 'scroll' }, el('table', {}, el('tbody', {}, Object.entries(l).flatMap(([k, v]) => flat(k, v)).map(([k, v]) => el('tr', {}, el('th', { scope: 'row' }, k), el('td', { class: 'num' }, v)))))) : empty('No pass has run yet.'), el('p', { class: 'muted small' }, `Recent passes took ${q(.5)} (median), ${q(.9)} (90 %), ${q(1)} at most.`));
      const busy = ops.inprog.filter(o => o.active && o.command && !o.command.currentOp && !o.command.serverStatus && !o.command.getMore).sort((a, b) => num(b.microsecs_running) - num(a.microsecs_running)).slice(0, 10);
      fill(slow, el('h2', {}, 'Running operations'), busy.length ? table(['Operation', 'Collection', { name: 'Running for', num: true }], busy.map(o => [Object.keys(o.command)[0], o.ns ?? '', span(num(o.microsecs_running) / 1000)]), 'Running operations') : el('p', { class: 'muted' }, 'None but this page.'));
    } catch (e) { fill(stats, failure(e)); }
  };
  await update();
  setTimeout(() => every(2000, update));
  return [el('h1', {}, 'Passes and metrics'), stats, charts, el('div', { class: 'grid wide' }, last, slow)];
}

function flat(k, v) {
  if (v?.$date) return [[k, when(ms(v))]];
  if (v && typeof v === 'object' && !v.$numberLong) return Object.entries(v).flatMap(([x, y]) => flat(`${k}.${x}`, y));
  return [[k, typeof v === 'number' && !Number.isInteger(v) ? v.toFixed(2) : count(v)]];
}
