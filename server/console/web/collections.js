// The list of the collections without a policy, among which is the one whose TTL index was
// forgotten.
import {
  el,
  fill,
  changed,
  state,
  ms,
  num,
  count,
  plural,
  bytes,
  path,
  split,
  empty,
  table,
  failure,
  every,
} from './lib.js';
import { short } from './outlook.js';
import { create } from './create.js';
import { mayAnywhere } from './rights.js';

const shown = 50; // collections of a page: drawing them takes less than 50 ms

// finder makes the controls of a list of collections that the server pages: a search by name,
// orders, and the turning of pages. ask is called when something has changed.
export function finder(orders, ask) {
  let page = 0;
  const where = el('span', { class: 'muted small', role: 'status' }),
    turn = by => {
      page += by;
      ask();
    },
    back = el('button', { type: 'button', onclick: () => turn(-1) }, 'Previous'),
    on = el('button', { type: 'button', onclick: () => turn(1) }, 'Next'),
    restart = () => {
      page = 0;
      ask();
    };
  const find = el('input', {
    type: 'search',
    'aria-label': 'Find a collection by its name',
    placeholder: 'Find …',
    oninput: restart,
  });
  const order = el(
    'select',
    { 'aria-label': 'Order of the collections', onchange: restart },
    orders.map(([v, t]) => el('option', { value: v }, t)),
  );
  const tools = el('div', { class: 'row' }, find, order),
    pager = el('div', { class: 'row' }, back, where, on);
  return {
    tools,
    pager,
    wanted: () => ({
      top: shown,
      skip: page * shown,
      search: find.value,
      sortBy: order.value || orders[0][0],
    }),
    // show notes how many there are. It reports whether the page is still there.
    show(total, found, part) {
      if (page && !part) {
        page = Math.max(0, Math.ceil(found / shown) - 1);
        ask();
        return false;
      }
      tools.hidden = total < 2 && !find.value;
      pager.hidden = found <= shown;
      back.disabled = page === 0;
      on.disabled = (page + 1) * shown >= found;
      where.textContent = `${count(page * shown + 1)} to ${count(page * shown + part)} of ${count(found)}`;
      return true;
    },
  };
}

// withoutPolicy is the page of the collections without a policy.
export async function withoutPolicy() {
  const page = state.page,
    title = el('h2', {}),
    body = el('div', {}),
    sets = (await mayAnywhere('createIndex')) || (await mayAnywhere('collMod'));
  let turn = 0;
  const update = async () => {
    const mine = ++turn;
    try {
      const f = await short({ buckets: 1, without: true, ...controls.wanted() });
      if (mine === turn && state.page === page) draw(f);
    } catch (e) {
      changed(body, e.message);
      fill(body, failure(e));
    }
  };
  const controls = finder(
    [
      ['ns', 'By name'],
      ['bytes', 'Largest'],
    ],
    update,
  );
  const draw = f => {
    const total = num(f.totals.without),
      part = f.collections;
    state.now = ms(f.now);
    title.textContent = plural(total, 'collection');
    if (!controls.show(total, num(f.totals.found), part.length)) return;
    if (!changed(body, part)) return;
    fill(
      body,
      part.length
        ? rows(part, sets)
        : empty(total ? 'No collection has this name.' : 'Each collection has a policy.'),
    );
  };
  await update();
  setTimeout(() => every(5000, update));
  return [
    el(
      'div',
      {},
      el('h1', {}, 'Collections without a policy'),
      el(
        'p',
        { class: 'muted' },
        'No document of these collections expires: is a TTL index missing?',
      ),
    ),
    el(
      'section',
      { class: 'card' },
      el('div', { class: 'row between' }, title, controls.tools),
      body,
      controls.pager,
      await create(),
    ),
  ];
}

// policyLink leads to the forms that set a policy.
const policyLink = ns =>
  el(
    'a',
    { href: path('policy', ...split(ns)), 'aria-label': `Set a policy for ${ns}` },
    'Set a policy',
  );

const rows = (part, sets) =>
  table(
    [
      'Collection',
      ...['Documents', 'Size'].map(name => ({ name, num: true })),
      ...(sets ? [''] : []),
    ],
    part.map(c => [
      el('a', { href: path('collection', ...split(c.ns)) }, c.ns),
      c.documents === undefined ? 'time series' : count(c.documents),
      bytes(c.bytes),
      ...(sets ? [policyLink(c.ns)] : []),
    ]),
    'Collections without a policy',
  );
