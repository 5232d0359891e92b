import {
  el,
  fill,
  changed,
  run,
  state,
  ms,
  num,
  count,
  short,
  when,
  button,
  ask,
  empty,
  table,
  plural,
  path,
  split,
  tabs,
  failure,
  every,
  say,
} from './lib.js';
import { short as forecast } from './outlook.js';

const kinds = [
  ['active', 'Active'],
  ['scheduled', 'Scheduled'],
  ['deferred', 'Deferred'],
  ['locked', 'Locked'],
  ['deadLettered', 'Dead letters'],
];

const shown = 100; // queues of a page

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
    const all = await Promise.all(
        f.collections.map(async c => ({ ...c, oldest: await oldest(...split(c.ns)) })),
      ),
      found = num(f.totals.found);
    if (
      !changed(
        list,
        all.map(c => [c.ns, c.messages, c.oldest]),
      )
    )
      return;
    const turn = (text, by, off) =>
      button(
        text,
        () => {
          at += by;
          return update();
        },
        { disabled: off },
      );
    fill(
      list,
      all.length
        ? table(
            [
              'Queue',
              ...kinds.map(([, name]) => ({ name, num: true })),
              { name: 'Oldest active', num: true },
            ],
            all.map(c => [
              el('a', { href: path('queue', ...split(c.ns)) }, c.ns),
              ...kinds.map(([k]) =>
                el(
                  'span',
                  { class: k === 'deadLettered' && num(c.messages[k]) ? 'bad' : '' },
                  count(c.messages[k]),
                ),
              ),
              c.oldest === undefined ? '–' : when(c.oldest),
            ]),
            'Queues',
          )
        : empty('There are no queues. ', el('a', { href: '#/try' }, 'Try an example'), '.'),
      found > shown &&
        el(
          'div',
          { class: 'row' },
          turn('Previous', -shown, !at),
          el(
            'span',
            { class: 'muted small' },
            `${at + 1} to ${at + all.length} of ${count(found)}`,
          ),
          turn('Next', shown, at + shown >= found),
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
    el('div', {}, el('h1', {}, 'Queues'), el('p', { class: 'muted' }, 'Messages by state.')),
    list,
  ];
}

// oldest is since when the first active message has waited; undefined if nothing waits, or
// the user may not read messages.
async function oldest(db, name) {
  const [m] = (await run(db, { mqPeek: name, state: 'active' }).catch(() => ({ messages: [] })))
    .messages;
  return m && ms(m._mq.enqueuedTimeUtc);
}

let tab = 'active';

// queue shows one queue: its messages by state, and what can be done with them. An address
// may name the state, and a message by its number.
export async function queue(db, name, which, number) {
  if (kinds.some(([k]) => k === which)) tab = which;
  const stats = el('div', { class: 'grid' }),
    bar = el('div', {}),
    list = el('div', { role: 'tabpanel', 'aria-labelledby': `tab-${tab}` }),
    held = new Map();
  const from = el('input', {
      type: 'number',
      min: 1,
      placeholder: '1',
      value: number ?? '',
      'aria-label': 'From number',
    }),
    end = el('input', { type: 'checkbox' }),
    writes = !state.session.readOnly;
  const choose = id => {
    tab = id;
    draw();
    refresh();
    requestAnimationFrame(() => document.getElementById(`tab-${id}`)?.focus());
  };
  const draw = () => {
    fill(bar, tabs('Messages by state', kinds, tab, choose));
    list.setAttribute('aria-labelledby', `tab-${tab}`);
    requestAnimationFrame(() =>
      document
        .getElementById(`tab-${tab}`)
        ?.scrollIntoView({ block: 'nearest', inline: 'nearest' }),
    );
  };
  const refresh = async () => {
    try {
      const mine = tab;
      const [s, { messages }, first] = await Promise.all([
        run(db, { mqStats: name }),
        run(db, {
          mqPeek: name,
          state: tab,
          maxMessages: 50,
          fromEnd: end.checked,
          ...(from.value ? { fromSequenceNumber: Number(from.value) } : {}),
        }),
        oldest(db, name),
      ]);
      if (mine !== tab) return;
      fill(
        stats,
        ...kinds.map(([k, text]) =>
          el(
            'div',
            { class: 'card stat' },
            el('b', {}, count(s[k])),
            el('span', {}, text.toLowerCase()),
          ),
        ),
        el(
          'div',
          { class: 'card stat' },
          el('b', {}, first === undefined ? '–' : when(first)),
          el('span', {}, 'oldest active'),
        ),
      );
      if (changed(list, [tab, messages, [...held.keys()]]))
        fill(
          list,
          messages.length
            ? table(
                ['Number', 'Message', tab === 'deadLettered' ? 'Why' : 'Expires', 'Deliveries', ''],
                messages.map(row),
                'Messages',
              )
            : empty('No messages in this state.'),
        );
    } catch (e) {
      changed(list, e.message);
      fill(list, failure(e));
    }
  };
  const act = async (command, text) => {
    const r = await run(db, command);
    say(text);
    await refresh();
    return r;
  };
  const row = m => {
    const { _id, _mq, ...rest } = m,
      n = num(_mq.sequenceNumber),
      token = held.get(n),
      at = ms(_mq.expiresAtUtc),
      actions = [];
    if (writes && tab === 'deadLettered')
      actions.push(
        button('Resubmit', () =>
          act({ mqResubmit: name, sequenceNumbers: [n] }, `${n} resubmitted`),
        ),
        button('Edit …', () => edit(n, rest)),
      );
    if (writes && tab === 'scheduled')
      actions.push(
        button(
          'Cancel',
          () => act({ mqCancelScheduled: name, sequenceNumber: n }, `${n} cancelled`),
          { class: 'danger' },
        ),
      );
    if (writes && token)
      for (const [text, c] of [
        ['Complete', 'mqComplete'],
        ['Abandon', 'mqAbandon'],
        ['Defer', 'mqDefer'],
        ['Dead-letter', 'mqDeadLetter'],
      ])
        actions.push(
          button(text, () => {
            held.delete(n);
            return act(
              {
                [c]: name,
                lockToken: token,
                ...(c === 'mqDeadLetter' ? { reason: 'Console' } : {}),
              },
              text,
            );
          }),
        );
    return [
      String(n),
      [
        el('span', { class: 'mono small muted' }, short(_id)),
        el('code', { class: 'doc' }, JSON.stringify(rest)),
      ],
      tab === 'deadLettered'
        ? [
            el('b', {}, _mq.deadLetterReason ?? '–'),
            el('div', { class: 'small muted' }, _mq.deadLetterErrorDescription ?? ''),
          ]
        : tab === 'scheduled'
          ? el('span', {}, 'active ', when(ms(_mq.scheduledEnqueueTimeUtc)))
          : at === undefined
            ? el('span', { class: 'muted' }, 'never')
            : when(at),
      String(_mq.deliveryCount),
      el('span', { class: 'row' }, actions),
    ];
  };
  function edit(n, fields) {
    const text = el(
        'textarea',
        { 'aria-label': 'Fields of the message' },
        JSON.stringify(fields, null, 2),
      ),
      live = el('input', { placeholder: 'as before, or PT5M' });
    ask(
      `Resubmit message ${n}`,
      [el('label', {}, 'Fields', text), el('label', {}, 'Time to live', live), el('p', {})],
      'Resubmit',
      async () => {
        const set = JSON.parse(text.value),
          unset = Object.keys(fields).filter(k => !(k in set));
        await act(
          {
            mqResubmit: name,
            sequenceNumbers: [n],
            set,
            unset,
            ...(live.value ? { timeToLive: live.value } : {}),
          },
          `${n} resubmitted`,
        );
      },
    );
  }
  const all = async () => {
    const n = num((await run(db, { mqStats: name })).deadLettered);
    ask(
      'Resubmit all dead letters?',
      el(
        'p',
        {},
        `${plural(n, 'dead letter')} would return to the end of ${name} as new messages. Locked ones stay.`,
      ),
      `Resubmit ${count(n)}`,
      () => act({ mqResubmit: name, all: true }, 'Resubmitted'),
    );
  };
  const purge = async () => {
    const state = tab,
      n = num((await run(db, { mqPurge: name, state, dryRun: true })).purged);
    ask(
      'Purge messages?',
      el(
        'p',
        {},
        `${plural(n, 'message')} of the state “${kinds.find(k => k[0] === state)[1].toLowerCase()}” would be deleted for good.`,
      ),
      `Delete ${count(n)}`,
      () => act({ mqPurge: name, state }, 'Purged'),
      true,
    );
  };
  const receive = async () => {
    const {
      messages: [m],
    } = await run(db, { mqReceive: name, mode: 'peekLock' });
    if (!m) return say('There is no message to receive.');
    held.set(num(m._mq.sequenceNumber), m._mq.lockToken);
    choose('locked');
  };
  const send = () => {
    const text = el('textarea', { 'aria-label': 'Message' }, '{"task": "example"}'),
      live = el('input', { placeholder: 'default of the queue, or PT5M' });
    ask(
      'Send a message',
      [el('label', {}, 'Message', text), el('label', {}, 'Time to live', live), el('p', {})],
      'Send',
      () => {
        const m = JSON.parse(text.value);
        if (live.value) m._mq = { timeToLive: live.value };
        return act({ mqSend: name, messages: [m] }, 'Sent');
      },
    );
  };
  from.onchange = end.onchange = refresh;
  draw();
  await refresh();
  setTimeout(() => every(3000, refresh));
  return [
    el('div', {}, el('p', { class: 'muted small' }, db), el('h1', {}, name)),
    stats,
    el(
      'section',
      { class: 'card' },
      el(
        'div',
        { class: 'row between' },
        el(
          'form',
          {
            class: 'inline',
            onsubmit: e => {
              e.preventDefault();
              refresh();
            },
          },
          el('label', {}, 'From number', from),
          el('label', { class: 'row' }, end, el('span', {}, 'newest first')),
        ),
        writes &&
          el(
            'div',
            { class: 'row' },
            button('Send …', send),
            button('Receive one', receive),
            button('Resubmit all …', all),
            button('Purge …', purge, { class: 'danger' }),
          ),
      ),
      bar,
      list,
    ),
  ];
}
