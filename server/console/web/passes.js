import {
  el,
  fill,
  changed,
  admin,
  state,
  ms,
  num,
  count,
  span,
  when,
  every,
  table,
  failure,
  button,
  empty,
  say,
  chip,
  bytes,
  path,
  split,
  families,
} from './lib.js';
import { monitor } from './outlook.js';
import { spark } from './charts.js';
import { removedBy } from './clock.js';

const keep = 120,
  series = {};
const push = (name, v) => {
  (series[name] ??= []).push(v);
  if (series[name].length > keep) series[name].shift();
};
let before,
  slowest,
  asked = -Infinity;

const meanRead =
  'rate(duskdb_command_duration_seconds_sum{class="reads"}[1m]) / ' +
  'rate(duskdb_command_duration_seconds_count{class="reads"}[1m])';
const meanWrite =
  'rate(duskdb_command_duration_seconds_sum{class="writes"}[1m]) / ' +
  'rate(duskdb_command_duration_seconds_count{class="writes"}[1m])';

// The charts of the page: their series, title, query, and the text of a value.
const charts = [
  [
    'removed',
    'Removed per second',
    'sum(rate(duskdb_expiry_removed_total[1m]))',
    v => v.toFixed(1),
  ],
  [
    'delay',
    'Mean time from expiry to removal',
    'sum(rate(duskdb_expiry_lag_seconds_sum[1m])) / sum(rate(duskdb_expiry_lag_seconds_count[1m]))',
    v => span(v),
  ],
  ['memory', 'Memory in use', 'duskdb_memory_used_bytes', v => bytes(v)],
  ['log', 'Size of the log', 'duskdb_storage_file_bytes', v => bytes(v)],
  [
    'growth',
    'Growth of the log per second',
    'deriv(duskdb_storage_file_bytes[5m])',
    v => `${v < 0 ? '−' : ''}${bytes(Math.abs(v))}`,
  ],
  [
    'reads',
    'Reads per second',
    'rate(duskdb_command_duration_seconds_count{class="reads"}[1m])',
    v => v.toFixed(1),
  ],
  ['read', 'Mean time of a read', meanRead, v => span(v)],
  [
    'writes',
    'Writes per second',
    'rate(duskdb_command_duration_seconds_count{class="writes"}[1m])',
    v => v.toFixed(1),
  ],
  ['write', 'Mean time of a write', meanWrite, v => span(v)],
];
const lagQuery =
  'histogram_quantile(0.99, sum by (policy, le) (rate(duskdb_expiry_lag_seconds_bucket[5m])))';
const slowQuery =
  'histogram_quantile(0.99, sum by (class, le) (rate(duskdb_command_duration_seconds_bucket[5m])))';

const copies = promql =>
  button(
    'Copy PromQL',
    async () => {
      await navigator.clipboard.writeText(promql);
      say('Copied');
    },
    { class: 'quiet small', title: promql },
  );
const head = (title, promql) =>
  el('div', { class: 'row between head' }, el('h2', {}, title), copies(promql));

// chartCard is made once and then changed, so that its button can be clicked at any time.
function chartCard([key, title, promql, text]) {
  const value = el('b', {}),
    drawing = spark(title);
  return {
    key,
    card: el('section', { class: 'card' }, head(title, promql), value, drawing),
    draw() {
      value.textContent = series[key]?.length ? text(series[key].at(-1)) : '–';
      drawing.show(series[key] ?? []);
    },
  };
}

// passes shows what the monitor did, and how busy the server is.
export async function passes() {
  const stats = el('div', { class: 'grid' }),
    cards = charts.map(chartCard),
    busy = el('section', { class: 'card' }),
    recent = el('div', {});
  const lags = el('div', {}),
    slow = el('div', {});
  const update = async () => {
    try {
      const [f, s, ops] = await Promise.all([
        monitor(),
        admin({ serverStatus: 1 }),
        admin({ currentOp: 1 }).catch(() => ({ inprog: [] })),
      ]);
      state.now = ms(f.now);
      const m = s.metrics,
        e = m.expiration,
        at = performance.now();
      const totals = {
        removed:
          num(m.ttl.deletedDocuments) +
          num(e.documentTtl.purged) +
          num(e.messageQueue.expiredDropped) +
          num(e.messageQueue.expiredDeadLettered),
        writes: num(s.opLatencies?.writes?.ops),
        reads: num(s.opLatencies?.reads?.ops),
        readMicros: num(s.opLatencies?.reads?.latency),
        writeMicros: num(s.opLatencies?.writes?.latency),
        lags: 0,
        lagMillis: 0,
      };
      const size = num(s.storageEngine?.fileBytes);
      push('log', size);
      push('memory', num(s.storageEngine?.memoryUsedBytes));
      for (const l of Object.values(e.lag ?? {})) {
        totals.lags += num(l.count);
        totals.lagMillis += num(l.totalMillis);
      }
      if (before) {
        const t = (at - before.at) / 1000,
          d = k => totals[k] - before.totals[k];
        push('removed', d('removed') / t);
        push('reads', d('reads') / t);
        push('writes', d('writes') / t);
        push('growth', (size - before.size) / t);
        if (d('lags')) push('delay', d('lagMillis') / d('lags'));
        if (d('reads')) push('read', d('readMicros') / d('reads') / 1000);
        if (d('writes')) push('write', d('writeMicros') / d('writes') / 1000);
      }
      before = { at, totals, size };
      fill(
        stats,
        ...[
          [count(m.ttl.passes), 'passes'],
          [count(totals.removed), 'documents removed'],
          [count(e.messageQueue.expiredDeadLettered), 'messages dead-lettered'],
          [f.nextPass ? when(ms(f.nextPass)) : 'off', 'next pass'],
        ].map(([b, t]) => el('div', { class: 'card stat' }, el('b', {}, b), el('span', {}, t))),
      );
      for (const c of cards) {
        c.card.hidden =
          (!size && (c.key === 'log' || c.key === 'growth')) ||
          (c.key === 'memory' && !series.memory.some(Boolean));
        c.draw();
      }
      drawLags(lags, e.lag ?? {});
      drawPasses(recent, f);
      const under = ops.inprog
        .filter(
          o =>
            o.active &&
            o.command &&
            !o.command.currentOp &&
            !o.command.serverStatus &&
            !o.command.getMore,
        )
        .sort((a, b) => num(b.microsecs_running) - num(a.microsecs_running))
        .slice(0, 10);
      fill(
        busy,
        el('h2', {}, 'Running operations'),
        under.length
          ? table(
              ['Operation', 'Collection', { name: 'Running for', num: true }],
              under.map(o => [
                Object.keys(o.command)[0],
                o.ns ?? '',
                span(num(o.microsecs_running) / 1000),
              ]),
              'Running operations',
            )
          : el('p', { class: 'muted' }, 'None but this page.'),
      );
      await drawSlow(slow);
    } catch (e) {
      fill(stats, failure(e));
    }
  };
  await update();
  setTimeout(() => every(2000, update));
  return [
    el('h1', {}, 'Passes and metrics'),
    stats,
    el(
      'div',
      { class: 'grid wide' },
      cards.map(c => c.card),
    ),
    el('section', { class: 'card' }, head('From expiry to removal', lagQuery), lags),
    el('section', { class: 'card' }, el('h2', {}, 'The last passes'), recent),
    el('section', { class: 'card' }, head('Slow operations', slowQuery), slow),
    busy,
  ];
}

// drawPasses shows what the last passes removed, and how long they took.
function drawPasses(box, f) {
  if (!changed(box, f.passes)) return;
  const took = (f.recentPassMillis ?? []).map(Number).sort((a, b) => a - b),
    q = p => span(took[Math.min(took.length - 1, Math.floor(p * took.length))]);
  const work = p =>
    Object.entries(p.policyMillis ?? {})
      .filter(([, t]) => t >= 0.05)
      .sort((a, b) => b[1] - a[1])
      .map(([policy, t]) => chip(policy, span(t)));
  fill(
    box,
    f.passes?.length
      ? [
          table(
            [
              'When',
              { name: 'Took', num: true },
              { name: 'Removed', num: true },
              'What',
              'Time by policy',
            ],
            f.passes.map(p => [
              when(ms(p.at)),
              span(num(p.tookMillis)),
              count(removedBy(p)),
              el('span', { class: 'small' }, kindsOf(p.deleted)),
              el('span', {}, work(p)),
            ]),
            'The last passes, newest first',
          ),
          el('p', { class: 'muted small' }, `They took ${q(0.5)} (median), ${q(1)} at most.`),
        ]
      : empty('No pass has run yet.'),
  );
}

// kinds are the names of what a pass removes.
const kinds = {
  ttl: families.ttl,
  clustered: families.clustered,
  timeseriesBuckets: 'buckets of time series',
  documentTtl: families.documentTtl,
  messagesDropped: 'dropped from queues',
  messagesDeadLettered: 'dead-lettered',
  queuesDropped: 'queues deleted',
};
const kindsOf = d =>
  Object.entries(d)
    .filter(([, n]) => num(n))
    .map(([k, n]) => `${count(n)} ${kinds[k] ?? k}`)
    .join(', ') || '–';

// drawLags shows how long after their expiry documents are removed.
function drawLags(box, lag) {
  if (!changed(box, lag)) return;
  const rows = Object.entries(lag).map(([policy, l]) => [
    chip(policy),
    count(l.count),
    ...['p50Millis', 'p90Millis', 'p99Millis'].map(k => span(num(l[k]))),
  ]);
  fill(
    box,
    rows.length
      ? table(
          [
            'Policy',
            ...['Removed', '50 % within', '90 % within', '99 % within'].map(name => ({
              name,
              num: true,
            })),
          ],
          rows,
          'From expiry to removal, by policy',
        )
      : empty('Nothing has been removed yet.'),
  );
}

const slowShown = 10,
  slowEvery = 10000;

// drawSlow shows the last slow operations of the log. The log is long, so it is not read at
// every update.
async function drawSlow(box) {
  if (performance.now() - asked > slowEvery || !slowest) {
    asked = performance.now();
    try {
      const { log } = await admin({ getLog: 'global' });
      slowest = log
        .filter(line => line.includes('"Slow query"'))
        .slice(-slowShown)
        .reverse()
        .map(line => JSON.parse(line));
    } catch (e) {
      slowest = e;
    }
  }
  if (slowest instanceof Error)
    return fill(box, el('p', { class: 'muted' }, `The log cannot be read: ${slowest.message}`));
  if (!changed(box, slowest)) return;
  const rows = slowest.map(({ time, ns, durationMillis, attr: a }) => [
    when(ms(a.ts) ?? Date.parse(time)),
    Object.keys(a.command ?? {})[0] ?? a.op,
    ns.includes('.') && !ns.includes('$cmd')
      ? el('a', { href: path('collection', ...split(ns)) }, ns)
      : ns,
    span(durationMillis),
    a.planSummary ?? '–',
    count(a.docsExamined ?? 0),
  ]);
  fill(
    box,
    rows.length
      ? table(
          [
            'When',
            'Operation',
            'Collection',
            { name: 'Took', num: true },
            'Plan',
            { name: 'Documents read', num: true },
          ],
          rows,
          'Slow operations, the last first',
        )
      : el(
          'p',
          { class: 'muted' },
          'The log has none. setProfilingLevel sets from how many milliseconds an operation counts as slow.',
        ),
  );
}
