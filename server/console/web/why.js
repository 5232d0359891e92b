// Why a document goes: what the server says of its policies.
import { el, run, ms, num, iso, short, chip, button } from './lib.js';

// reasons shows what the server says of one document, policy by policy.
export async function reasons(db, name, id) {
  const { policies } = await run(db, { explainExpiry: name, _id: id });
  return policies.length
    ? policies.map(reason)
    : el('p', {}, 'No policy applies to this collection.');
}

const reason = p =>
  el(
    'div',
    { class: 'note' },
    chip(p.policy, p.index),
    p.never
      ? el('p', {}, 'Never: ', p.never)
      : [
          el('p', { class: 'mono' }, p.formula),
          el(
            'table',
            {},
            el(
              'tbody',
              {},
              facts(p).map(([k, v]) =>
                el('tr', {}, el('th', { scope: 'row' }, k), el('td', {}, v)),
              ),
            ),
          ),
        ],
  );

const instant = t => el('span', { class: 'whole' }, iso(ms(t)));

const facts = p =>
  [
    ...Object.entries(p.from).map(([k, v]) => [k, v?.$date ? instant(v) : String(num(v))]),
    ['expires', instant(p.expiresAt)],
    ['visible', ['until ', p.invisibleFrom ? instant(p.invisibleFrom) : 'a pass removes it']],
    p.removedBy && [
      'removed',
      ['by a pass that begins at ', instant(p.removedBy), ' at the latest'],
    ],
    p.movesTo && ['moves to', p.movesTo],
  ].filter(Boolean);

// why opens a dialog with the reasons.
export async function why(db, name, id) {
  const d = el(
    'dialog',
    { 'aria-label': `When ${short(id)} expires` },
    el('h2', {}, short(id)),
    await reasons(db, name, id),
    button('Close', () => d.close(), { class: 'primary' }),
  );
  d.addEventListener('close', () => d.remove());
  document.body.append(d);
  d.showModal();
}
