// The first page: what falls due, and where.
import {
  el,
  fill,
  changed,
  admin,
  state,
  num,
  count,
  ms,
  bytes,
  chip,
  when,
  span,
  split,
  path,
  empty,
  table,
  families,
  failure,
  plural,
  removes,
} from './lib.js';
import { also, refresh, watch, ownPicker, parts } from './outlook.js';
import { timeline } from './charts.js';
import { tryIt } from './tryit.js';
import { kindChip } from './entities.js';
import { finder } from './collections.js';

export async function overview() {
  const page = state.page,
    list = collections();
  also(list.wanted());
  const first = Promise.withResolvers();
  const stats = el('div', { class: 'grid' }),
    health = el('section', { class: 'card', hidden: true }),
    chart = timeline(parts),
    legend = el('div', { class: 'legend' });
  const leave = watch(async (f, error) => {
    if (state.page !== page) return leave();
    if (error) {
      first.reject(error);
      changed(stats, error.message);
      return fill(stats, failure(error));
    }
    first.resolve(f);
    draw(f);
    const status = await admin({ serverStatus: 1, metrics: 0 }).catch(() => undefined);
    if (status && state.page === page) condition(health, status);
  });
  const draw = f => {
    const begin = performance.now(),
      all = f.totals.policies.filter(removes);
    const sum = key => all.reduce((n, p) => n + num(p[key]), 0),
      next = Math.min(...all.map(p => p.next));
    const cards = [
      [count(sum('pending')), 'will expire'],
      [count(sum('overdue')), 'overdue', sum('overdue') ? 'bad' : ''],
      [Number.isFinite(next) ? when(next) : '–', 'next due'],
      [f.nextPass ? when(ms(f.nextPass)) : 'off', 'next pass'],
    ];
    if (changed(stats, [sum('pending'), sum('overdue'), next, f.nextPass]))
      fill(
        stats,
        cards.map(([b, text, kind]) =>
          el('div', { class: 'card stat' }, el('b', { class: kind }, b), el('span', {}, text)),
        ),
      );
    chart.show(f.totals.policies, ms(f.now), f.seconds * 1000);
    fill(
      legend,
      ...[...new Set(all.map(p => p.policy))].map(p =>
        el('span', { class: `p-${p}` }, el('span', { class: 'dot' }), ' ', families[p]),
      ),
    );
    list.show(f);
    performance.measure('overview', { start: begin });
  };
  refresh();
  const { totals } = await first.promise;
  if (!num(totals.collections) && !num(totals.without)) return tryIt(true);
  return [
    el(
      'div',
      {},
      el('h1', {}, 'What expires, and when'),
      el(
        'p',
        { class: 'muted' },
        'All collections, queues, topics and time series of this server.',
      ),
    ),
    stats,
    el(
      'section',
      { class: 'card' },
      el('div', { class: 'row between' }, el('h2', {}, 'Falling due'), ownPicker()),
      chart,
      legend,
    ),
    list.card,
    health,
  ];
}

// condition shows the server's condition: its age, memory and disk against their limits.
function condition(box, s) {
  const e = s.storageEngine ?? {},
    facts = [
      ['DuskDB', state.session.version ?? ''],
      ['Up for', span(num(s.uptimeMillis))],
      ['Storage engine', e.name],
      [
        'Memory',
        ...(use(e.memoryUsedBytes, e.memoryLimitBytes, 'of its limit') ?? [
          `${bytes(num(s.mem?.resident) * 1048576)}, without a limit`,
        ]),
      ],
      num(e.fileBytes) > 0 && ['Log', bytes(e.fileBytes)],
      e.fsTotalBytes && ['Disk', ...use(e.fsUsedBytes, e.fsTotalBytes, 'of the file system')],
      ['Connections', count(s.connections?.current)],
    ].filter(Boolean);
  box.hidden = false;
  if (
    !changed(
      box,
      facts.map(f => [f[0], f[1], f[2]?.getAttribute('value')]),
    )
  )
    return;
  fill(
    box,
    el('h2', {}, 'The server'),
    el(
      'dl',
      { class: 'facts' },
      facts.map(([name, text, meter]) =>
        el('div', {}, el('dt', {}, name), el('dd', {}, text, meter)),
      ),
    ),
  );
}

// use shows a number of bytes against a limit.
function use(used, limit, what) {
  if (!num(limit)) return undefined;
  const share = num(used) / num(limit);
  return [
    `${bytes(used)} of ${bytes(limit)}`,
    el('meter', {
      min: 0,
      max: 1,
      high: 0.8,
      low: 0.6,
      optimum: 0,
      value: share.toFixed(3),
      'aria-label': `${Math.round(share * 100)} % ${what}`,
    }),
  ];
}

// collections is the table of collections, what falls due first at the top. The server sends
// only the page that is shown, so that an update takes as long with ten thousand collections
// as with a hundred.
function collections() {
  const title = el('h2', {}),
    body = el('div', {});
  const ask = () => {
    also(controls.wanted());
    return refresh();
  };
  const controls = finder(
    [
      ['nextDue', 'Next due first'],
      ['due', 'Most due in this time'],
      ['pending', 'Most pending'],
      ['overdue', 'Most overdue'],
      ['bytes', 'Largest'],
      ['ns', 'By name'],
    ],
    ask,
  );
  const draw = f => {
    const total = num(f.totals.collections),
      part = f.collections;
    if (changed(title, [total, f.totals.without]))
      fill(title, heading(total, num(f.totals.without)));
    if (!controls.show(total, num(f.totals.found), part.length)) return;
    if (!changed(body, part.map(essence))) return;
    fill(body, part.length ? rows(part) : nothing(total));
  };
  return {
    card: el(
      'section',
      { class: 'card' },
      el('div', { class: 'row between' }, title, controls.tools),
      body,
      controls.pager,
    ),
    wanted: controls.wanted,
    show: draw,
  };
}

// heading says how many collections there are, also those of which nothing expires.
const heading = (total, without) => [
  `${plural(total, 'collection')} in which something expires`,
  without > 0 && [
    ' and ',
    el('a', { href: '#/collections' }, `${count(without)} without a policy`),
  ],
];

// essence is what the table shows of a collection.
const essence = c => [
  c.ns,
  c.bytes,
  c.policies.map(p => [p.policy, p.pending, p.overdue, p.nextDue]),
];

const nothing = total =>
  total
    ? empty('No collection has this name.')
    : empty('Nothing expires yet. ', el('a', { href: '#/try' }, 'Try an example'), '.');

function rows(part) {
  return table(
    [
      'Collection',
      'Policies',
      ...['Pending', 'Overdue', 'Next due', 'Size'].map(name => ({ name, num: true })),
    ],
    part.map(c => {
      const p = c.policies.filter(removes),
        sum = key => p.reduce((n, x) => n + num(x[key]), 0),
        next = Math.min(...p.map(x => x.next));
      return [
        el('a', { href: path(c.messages ? 'queue' : 'collection', ...split(c.ns)) }, c.ns),
        el(
          'span',
          {},
          [...new Set(p.map(x => x.policy))].map(x =>
            x === 'messageQueue' ? kindChip(c.ns) : chip(x),
          ),
        ),
        count(sum('pending')),
        el('span', { class: sum('overdue') ? 'bad' : '' }, count(sum('overdue'))),
        Number.isFinite(next) ? when(next) : '–',
        bytes(c.bytes),
      ];
    }),
    'Collections in which something expires',
  );
}
