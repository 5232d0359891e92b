// What all pages use: elements, calls of the server, and how values are shown.

export const state = { session: {}, now: 0 };

// el makes an element: el('a', {href: '#', onclick: fn}, 'text', child).
export function el(tag, props, ...children) {
  const svg = ['svg', 'rect', 'path', 'line', 'text', 'title', 'g'].includes(tag);
  const e = svg
    ? document.createElementNS('http://www.w3.org/2000/svg', tag)
    : document.createElement(tag);
  for (const [k, v] of Object.entries(props ?? {})) {
    if (v === undefined || v === null || v === false) continue;
    if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
    else if (['value', 'disabled', 'checked', 'hidden'].includes(k)) e[k] = v;
    else e.setAttribute(k, v === true ? '' : v);
  }
  e.append(...children.flat(3).filter(c => c !== undefined && c !== null && c !== false));
  return e;
}

// sameness is what tells a control from the others of its element, also after it was made anew.
const sameness = c =>
  [c.tagName, c.id, c.href, c.getAttribute('aria-label'), c.innerText].join('\n');

// fill replaces the content of an element. A control in it that has the focus keeps it: a
// page that updates itself must not take it from somebody who uses the keyboard.
export function fill(e, ...children) {
  const at = document.activeElement,
    held = at !== e && e.contains(at) && sameness(at);
  e.replaceChildren(...children.flat(4).filter(c => c !== undefined && c !== null && c !== false));
  if (held)
    [...e.querySelectorAll('a, button, input, select, textarea')]
      .find(c => sameness(c) === held)
      ?.focus({ preventScroll: true });
}

export class ServerError extends Error {
  constructor(reply, status) {
    super(reply.errmsg ?? 'The server gave no answer.');
    this.code = reply.code;
    this.status = status;
  }
}

// The token of the session is in the reply to the login alone. It stays in this tab, so that
// pages of other ports of this host, to which browsers send the same cookies, do not get it.
export const token = {
  get: () => sessionStorage.getItem('token') ?? 'none',
  set: t => sessionStorage.setItem('token', t),
  drop: () => sessionStorage.removeItem('token'),
};
export const own = () => ({ 'X-CSRF-Token': token.get() });

// greet asks what the console may do and who has logged in.
export async function greet() {
  state.session = await (await fetch('/api/session', { headers: own() })).json();
}

// text is JSON in which documents may be Maps, which keep the order of their fields.
export function text(v) {
  if (Array.isArray(v)) return `[${v.map(text)}]`;
  if (v === null || typeof v !== 'object') return JSON.stringify(v);
  const fields = v instanceof Map ? [...v] : Object.entries(v);
  return `{${fields.filter(([, x]) => x !== undefined).map(([k, x]) => `${JSON.stringify(k)}:${text(x)}`)}}`;
}

// send sends JSON to the console, and returns the status and text of the answer.
async function send(path, body) {
  let response;
  try {
    response = await fetch(path, {
      method: 'POST',
      body: text(body),
      headers: { 'Content-Type': 'application/json', ...own() },
    });
    return { ok: response.ok, status: response.status, answer: await response.text() };
  } catch {
    throw new ServerError({ errmsg: response ? incomplete : 'The server cannot be reached.' }, 0);
  }
}
const incomplete = 'The answer of the server is incomplete.';

// post sends JSON to the console, and returns the answer.
export async function post(path, body) {
  const { ok, status, answer } = await send(path, body);
  let reply;
  try {
    reply = JSON.parse(answer);
  } catch {
    throw new ServerError({ errmsg: incomplete }, 0);
  }
  if ([401, 403].includes(status) && state.session.user) {
    await greet();
    if (!state.session.user) dispatchEvent(new Event('hashchange')); // the session has ended
  }
  if (!ok || !reply.ok) throw new ServerError(reply, status);
  return reply;
}

// textOf runs a command, and returns the reply as text with the types of all values.
export async function textOf(db, command) {
  const { ok, status, answer } = await send('/api/command?json=canonical', { db, command });
  const failed = !ok || /"ok":(0|\{"\$numberDouble":"0)/.test(answer);
  if (failed) throw new ServerError(JSON.parse(answer), status);
  return answer;
}

export const run = (db, command) => post('/api/command', { db, command });
export const admin = command => run('admin', command);

// Values in relaxed extended JSON.
export function ms(v) {
  if (v === undefined || v === null) return undefined;
  const d = v.$date ?? v;
  return typeof d === 'string' ? Date.parse(d) : Number(d.$numberLong ?? d);
}
export const date = t => ({ $date: { $numberLong: String(Math.round(t)) } });
export const num = v => Number(v?.$numberLong ?? v ?? 0);
// count groups the digits of a whole number. The browser's own formats take tens of milliseconds
// to load.
export const count = n => String(num(n)).replace(/\B(?=(\d{3})+$)/g, ',');
export const plural = (n, one, many = one + 's') => `${count(n)} ${n === 1 ? one : many}`;
export function iso(t) {
  return t === undefined || Number.isNaN(t)
    ? '–'
    : Math.abs(t) > 8.64e15
      ? 'never'
      : new Date(t).toISOString().replace('T', ' ').replace('.000Z', 'Z');
}
export function span(t) {
  const s = Math.abs(t) / 1000;
  for (const [size, unit] of [
    [86400, 'd'],
    [3600, 'h'],
    [60, 'min'],
  ])
    if (s >= size) return `${(s / size).toFixed(s / size < 10 && s % size ? 1 : 0)} ${unit}`;
  return s < 0.01
    ? `${Number(Math.abs(t).toFixed(2))} ms`
    : s < 1
      ? `${Math.round(Math.abs(t))} ms`
      : `${s < 10 ? s.toFixed(1).replace('.0', '') : Math.round(s)} s`;
}
export const relative = t =>
  t === undefined
    ? '–'
    : Math.abs(t - state.now) < 500
      ? 'now'
      : t > state.now
        ? `in ${span(t - state.now)}`
        : `${span(t - state.now)} ago`;
export function bytes(n) {
  n = num(n);
  for (const u of ['B', 'kB', 'MB', 'GB']) {
    if (n < 1024) return `${n < 10 && u !== 'B' ? n.toFixed(1) : Math.round(n)} ${u}`;
    n /= 1024;
  }
  return `${n.toFixed(1)} TB`;
}
export function short(v) {
  if (v?.$oid) return v.$oid;
  if (v?.$date) return iso(ms(v));
  if (v?.$uuid) return v.$uuid;
  return typeof v === 'string' ? v : JSON.stringify(v);
}
export const when = t =>
  el(
    'time',
    { title: iso(t), datetime: t === undefined ? undefined : iso(t).replace(' ', 'T') },
    relative(t),
  );
// retime shows the present distance of the times on the page.
export function retime() {
  for (const t of document.querySelectorAll('main time[datetime]'))
    t.textContent = relative(Date.parse(t.dateTime));
}
// changed reports whether a value differs from the last one under a key, so that what a
// user is about to click is not drawn again without need.
const shownBefore = new WeakMap();
export function changed(element, value) {
  const text = JSON.stringify(value);
  if (shownBefore.get(element) === text) {
    retime();
    return false;
  }
  shownBefore.set(element, text);
  return true;
}
export const split = ns => [ns.slice(0, ns.indexOf('.')), ns.slice(ns.indexOf('.') + 1)];
export const path = (...parts) => '#/' + parts.map(encodeURIComponent).join('/');

export const families = {
  ttl: 'TTL index',
  partialTimeseries: 'partial time series',
  clustered: 'clustered',
  timeseries: 'time series',
  documentTtl: 'document TTL',
  messageQueue: 'messages',
};
export const chip = (policy, extra, word = families[policy] ?? policy) =>
  el('span', { class: `chip p-${policy}` }, el('span', {}, word, extra ? ` ${extra}` : ''));
// removes reports whether the events of a policy remove something; ends of locks do not.
export const removes = p => p.lane !== 'lock' && p.lane !== 'schedule';

// say has a text read out. It is gone with the next action.
export function say(text) {
  document.getElementById('live').textContent = text;
}
for (const event of ['pointerdown', 'keydown', 'hashchange'])
  addEventListener(event, () => say(''), true);

// tell shows a text, and where it leads to, at the top of the page that comes next.
export function tell(...text) {
  state.told = text;
}
export const failure = e => el('p', { class: 'note bad', role: 'alert' }, e.message);
export const empty = (...text) => el('div', { class: 'empty' }, ...text);

// table makes a table that becomes a list of cards on narrow screens.
export function table(heads, rows, caption) {
  return el(
    'div',
    { class: 'scroll' },
    el(
      'table',
      { class: 'stack' },
      el('caption', { class: 'visually-hidden' }, caption),
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          heads.map(h =>
            el('th', { scope: 'col', class: h.num ? 'num' : undefined }, h.head ?? h.name ?? h),
          ),
        ),
      ),
      el(
        'tbody',
        {},
        rows.map(cells =>
          el(
            'tr',
            {},
            cells.map((c, i) =>
              el(
                'td',
                {
                  class: heads[i].num ? 'num' : undefined,
                  'data-label': heads[i].name ?? heads[i],
                },
                Array.isArray(c) ? el('div', {}, c) : c,
              ),
            ),
          ),
        ),
      ),
    ),
  );
}

// button runs an action, and shows its error beside it. Meanwhile it does nothing, but is not
// disabled: that would take the focus from it.
export function button(text, act, props = {}) {
  const b = el('button', { type: 'button', ...props }, text);
  b.addEventListener('click', async () => {
    if (b.ariaDisabled) return;
    const box = b.closest('form.command, .card, dialog, .clock, main'), // the action may draw the button anew
      focused = document.activeElement === b;
    b.ariaDisabled = 'true';
    mended(box);
    try {
      await act(b);
    } catch (e) {
      mended(box);
      box.append(failure(e)); // an alert: it is read out
    } finally {
      b.ariaDisabled = null;
      if (focused && document.activeElement === document.body) goOn();
    }
  });
  return b;
}
// mended takes away the error of the last action in a box.
export const mended = box => box.querySelector(':scope > .note.bad')?.remove();

// goOn gives the focus to what is near a control that is gone.
function goOn() {
  const near = document.querySelector('main [role=tab][aria-selected=true]');
  (near ?? document.getElementById('main')).focus({ preventScroll: true });
}

// ask opens a dialog; the result of ok, if it does not fail, closes it.
export function ask(title, content, okText, ok, danger) {
  const d = el('dialog', { 'aria-label': title });
  const go = button(
    okText,
    async () => {
      await ok();
      d.close();
    },
    { class: danger ? 'danger' : 'primary' },
  );
  d.append(
    el('h2', {}, title),
    ...[content].flat(),
    el(
      'div',
      { class: 'row' },
      go,
      // A second press of Enter must not delete anything.
      button('Cancel', () => d.close(), { autofocus: danger }),
    ),
  );
  d.addEventListener('close', () => d.remove());
  document.body.append(d);
  d.showModal();
}

// pager turns the pages of a list. Without a function there is no page on that side.
export const pager = (back, text, on) =>
  el(
    'div',
    { class: 'row' },
    button('Previous', () => back(), { disabled: !back }),
    el('span', { class: 'muted small' }, text),
    button('Next', () => on(), { disabled: !on }),
  );

// tabs makes the tabs of one page; arrows move between them.
export function tabs(label, names, current, choose) {
  const list = el('div', { role: 'tablist', 'aria-label': label });
  names.forEach(([id, text]) =>
    list.append(
      el(
        'button',
        {
          role: 'tab',
          type: 'button',
          id: `tab-${id}`,
          'aria-selected': String(id === current),
          tabindex: id === current ? '0' : '-1',
          onclick: () => choose(id),
        },
        text,
      ),
    ),
  );
  list.addEventListener('keydown', e => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!step) return;
    const i = names.findIndex(([id]) => id === current);
    choose(names[(i + step + names.length) % names.length][0]);
    e.preventDefault();
  });
  return list;
}

// breathe lets the browser do something else: a long reply was read, and is now drawn.
export const breathe = () => new Promise(done => setTimeout(done));

// drawn waits until the page has been drawn; a page behind another is not.
export const drawn = () =>
  new Promise(done => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, 100);
  });

// pause is how long to wait after an update: a server with very many collections is asked less often.
export const pause = (millis, begin) => Math.max(millis, 10 * (performance.now() - begin));

// every repeats an update while its page is shown, and never overlaps itself.
export function every(millis, update) {
  const page = state.page;
  const turn = async () => {
    if (state.page !== page) return;
    const begin = performance.now();
    if (!document.hidden) await update();
    setTimeout(turn, pause(millis, begin));
  };
  return turn();
}
