// The page of a queue, topic or subscription.
import {
  el,
  fill,
  changed,
  admin,
  run,
  state,
  chip,
  ms,
  num,
  count,
  when,
  button,
  empty,
  tabs,
  failure,
  every,
} from './lib.js';
import { states, entities, relations } from './entities.js';
import { oldest } from './queues.js';
import { messageTable } from './messages.js';
import { received } from './received.js';
import { sessions } from './sessions.js';
import { subscriptions, rules } from './topic.js';
import { edit, resubmitAll, purge, send } from './dialogs.js';

// about reads what a collection is, or keeps to what it was: for who may not list collections
// it is a queue.
const about = (db, name, was = { kind: 'queue' }) =>
  entities(db, [name]).then(
    found => found.get(name),
    () => was,
  );

// kept are the states of messages that something has: a topic keeps scheduled ones alone.
const kept = e => states.filter(([k]) => e.kind !== 'topic' || k === 'scheduled');

// stats are the numbers at the top of the page.
const stats = (e, s, oldest) =>
  [
    ...kept(e).map(([k, text]) => [el('b', {}, count(s[k])), text]),
    e.kind === 'topic'
      ? [el('b', {}, count(s.subscriptions.length)), 'Subscriptions']
      : [el('b', { class: 'since' }, oldest === undefined ? '–' : when(oldest)), 'Oldest active'],
  ].map(([n, text]) => el('div', { class: 'card stat' }, n, el('span', {}, text.toLowerCase())));

// extent is the choice of which messages of a state are listed.
function extent(number, refresh) {
  const from = el('input', {
      type: 'number',
      min: 1,
      placeholder: '1',
      value: number ?? '',
      'aria-label': 'From number',
      onchange: refresh,
    }),
    end = el('input', { type: 'checkbox', onchange: refresh }),
    onsubmit = event => {
      event.preventDefault();
      refresh();
    };
  return {
    form: el(
      'form',
      { class: 'inline', onsubmit },
      el('label', {}, 'From number', from),
      el('label', { class: 'row' }, end, el('span', {}, 'newest first')),
    ),
    chosen: () => ({
      fromEnd: end.checked,
      ...(from.value ? { fromSequenceNumber: Number(from.value) } : {}),
    }),
  };
}

let lastTab = 'active'; // the tab of the queue that was shown before

// queue shows one queue: its messages by state, and what can be done with them. An address
// may name the state, and a message by its number.
export async function queue(db, name, which, number) {
  let e = await about(db, name);
  if (!e) return empty(`There is no queue ${db}.${name}.`);
  const names = [...kept(e), ...(e.requiresSession ? [['sessions', 'Sessions']] : [])],
    has = k => names.some(([id]) => id === k),
    topic = e.kind === 'topic',
    writes = !state.session.readOnly;
  if (has(which)) lastTab = which;
  let tab = has(lastTab) ? lastTab : names[0][0];
  const facts = el('p', { class: 'legend' }),
    numbers = el('div', { class: 'grid' }),
    bar = el('div', {}),
    buttons = el('div', { class: 'row' }),
    note = el('p', { class: 'small muted told', role: 'status' }),
    list = el('div', names.length > 1 ? { role: 'tabpanel' } : {}),
    more = topic ? subscriptions(db) : e.rules && rules();

  const refresh = async () => {
    try {
      const [now, s, first, is] = await Promise.all([
        admin({ hello: 1 }),
        run(db, { mqStats: name }),
        topic ? undefined : oldest(db, name),
        about(db, name, e),
      ]);
      state.now = ms(now.localTime);
      e = is ?? e;
      session.check();
      mine.expire(state.now);
      if (changed(facts, e)) {
        fill(facts, chip('messageQueue', undefined, e.kind), relations(db, e));
        drawBar();
      }
      fill(numbers, stats(e, s, first));
      await more?.show(topic ? s.subscriptions : e.rules);
      await (tab === 'sessions' ? session.show(list, () => tab === 'sessions') : showMessages(tab));
    } catch (error) {
      changed(list, error.message);
      fill(list, failure(error));
    }
  };
  const tell = text => {
    note.textContent = text;
  };
  const act = async (command, text) => {
    const reply = await run(db, command);
    tell(text);
    await refresh();
    return reply;
  };
  const q = { db, name, act, tell, refresh },
    mine = received(q),
    session = sessions(q, writes, mine.release),
    range = extent(number, refresh);

  const showMessages = async which => {
    const { messages } = await run(db, {
      mqPeek: name,
      state: which,
      maxMessages: 50,
      ...range.chosen(),
    });
    if (which !== tab || !changed(list, [which, messages, mine.numbers()])) return;
    fill(
      list,
      which === 'locked' && mine.together(),
      messages.length
        ? messageTable(messages, which, writes ? actions : () => [])
        : empty(topic ? 'No messages are scheduled.' : 'No messages in this state.'),
    );
  };
  const actions = (n, fields) => {
    if (tab === 'deadLettered')
      return [
        button('Resubmit', () =>
          act({ mqResubmit: name, sequenceNumbers: [n] }, `${n} resubmitted`),
        ),
        button('Edit …', () => edit(q, n, fields)),
      ];
    if (tab === 'scheduled')
      return button(
        'Cancel',
        () => act({ mqCancelScheduled: name, sequenceNumber: n }, `${n} cancelled`),
        { class: 'danger' },
      );
    return mine.buttons(n);
  };
  const receive = async () => {
    const m = e.requiresSession
      ? await session.receive()
      : (await run(db, { mqReceive: name, mode: 'peekLock' })).messages[0];
    if (!m) {
      if (!e.requiresSession) tell('There is no message to receive.');
      return refresh();
    }
    mine.add(m._mq, e.requiresSession);
    choose('locked');
    tell(`${num(m._mq.sequenceNumber)} received`);
  };

  const choose = id => {
    tab = lastTab = id;
    tell('');
    drawBar();
    refresh();
    requestAnimationFrame(() => document.getElementById(`tab-${id}`)?.focus());
  };
  // drawBar draws the tabs, and the buttons for what is shown.
  const drawBar = () => {
    if (names.length > 1) {
      fill(bar, tabs('Messages by state', names, tab, choose));
      list.setAttribute('aria-labelledby', `tab-${tab}`);
      requestAnimationFrame(() =>
        document
          .getElementById(`tab-${tab}`)
          ?.scrollIntoView({ block: 'nearest', inline: 'nearest' }),
      );
    }
    range.form.hidden = tab === 'sessions';
    if (!writes) return;
    fill(
      buttons,
      e.kind !== 'subscription' && !e.deadLetterOf && button('Send …', () => send(q, e)),
      !topic && !e.forwardTo && button('Receive one', receive),
      !topic && button('Resubmit all …', () => resubmitAll(q)),
      tab !== 'sessions' && button('Purge …', () => purge(q, tab), { class: 'danger' }),
    );
  };
  drawBar();
  await refresh();
  setTimeout(() => every(3000, refresh));
  return [
    el('div', {}, el('p', { class: 'muted small' }, db), el('h1', {}, name), facts),
    numbers,
    more?.card,
    el(
      'section',
      { class: 'card' },
      topic && el('h2', {}, 'Scheduled messages'),
      el('div', { class: 'row between' }, range.form, buttons),
      note,
      session.note,
      bar,
      list,
    ),
  ].filter(Boolean);
}
