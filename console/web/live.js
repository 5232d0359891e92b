import { el, state, ms, span, iso, chip, short, path, split, empty, button } from './lib.js';

const most = 200;
let source;

// live shows expirations and moves as they happen. However many come, the page draws once
// for each frame, and keeps the newest.
export async function live() {
  const list = el('div', {}, empty('Waiting for something to expire …')), note = el('span', { class: 'muted small', role: 'status' }, 'connecting …');
  const page = state.page;
  let waiting = [], total = 0, drawn = false, paused = false;
  source?.close();
  source = new EventSource('/api/events?only=expirations');
  source.onopen = () => { note.textContent = 'connected'; };
  source.onerror = () => { note.textContent = source.readyState === EventSource.CLOSED ? 'the stream was refused: reading all changes needs the privilege changeStream on all databases' : 'interrupted, trying again …'; };
  source.onmessage = e => {
    if (state.page !== page) return source.close();
    total++;
    waiting.push(e.data);
    if (waiting.length > most) waiting = waiting.slice(-most);
    if (!drawn && !paused) { drawn = true; requestAnimationFrame(draw); }
  };
  const draw = () => {
    drawn = false;
    if (!total) return;
    list.querySelector('.empty')?.remove();
    list.prepend(...waiting.reverse().map(text => event(JSON.parse(text))));
    waiting = [];
    while (list.children.length > most) list.lastChild.remove();
    note.textContent = `${total.toLocaleString('en')} since this page was opened`;
  };
  const pause = button('Pause', () => { paused = !paused; pause.textContent = paused ? 'Resume' : 'Pause'; if (!paused) draw(); });
  return [el('div', { class: 'row between' }, el('div', {}, el('h1', {}, 'Live'), note), pause), el('section', { class: 'card' }, list)];
}

function event(e) {
  const x = e.expiration, ns = `${e.ns?.db}.${e.ns?.coll ?? ''}`, due = ms(x.dueAt), removed = ms(x.removedAt);
  const moved = x.cause === 'deadLettered' || x.movedTo;
  const target = x.movedTo ? split(x.movedTo.includes('.') ? x.movedTo : `${e.ns.db}.${x.movedTo}`) : [e.ns?.db, `${e.ns?.coll}.deadletterqueue`];
  return el('div', { class: 'event new' }, el('time', { class: 'muted', datetime: iso(removed) }, iso(removed).slice(11, 19)),
    el('div', {}, chip(x.policy, x.index), el('a', { href: path('collection', e.ns?.db ?? '', e.ns?.coll ?? '') }, ns), ' ', el('span', { class: 'mono' }, e.documentKey ? short(e.documentKey._id) : e.operationType), ' ',
      moved ? ['moved to ', x.movedTo || x.policy !== 'messageQueue' ? el('a', { href: path('collection', ...target) }, target.join('.')) : el('a', { href: path('queue', e.ns.db, e.ns.coll) }, 'the dead letters')] : 'removed'),
    el('span', { class: 'muted small' }, `${span(removed - due)} after it was due`));
}
