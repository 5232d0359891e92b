// The page of a collection, of its parts, and of one of its documents.
import { el, fill, run, state, ms, empty, every, failure, path, button, drawn } from './lib.js';
import { outlook, ownPicker, parts } from './outlook.js';
import { timeline } from './charts.js';
import { documents } from './documents.js';
import { single } from './document.js';
import { indexesOf, indexList } from './indexes.js';
import { policiesOf, chips, forms } from './policies.js';
import { may } from './rights.js';

// collection shows the documents of a collection, or one of them if an address names it.
export const collection = (db, name, id) => page(db, name, { id });

// policy is the page of a collection, at the form that sets a policy.
export const policy = (db, name) => page(db, name, { part: 'policy' });

// indexes is the page of a collection, at its indexes.
export const indexes = (db, name) => page(db, name, { part: 'indexes' });

async function page(db, name, { id, part }) {
  const [info] = (await run(db, { listCollections: 1, filter: { name } })).cursor.firstBatch;
  if (!info) return empty(`There is no collection ${db}.${name}.`);
  const indexes = await indexesOf(db, info),
    policies = policiesOf(info, indexes),
    place = {
      db,
      name,
      info,
      part,
      indexes,
      policies,
      deciding: [...new Set(policies.map(p => p.field?.split('.')[0]))], // a date may be within one
    };
  const head = el(
    'div',
    {},
    el('p', { class: 'muted small' }, db),
    el('h1', {}, name),
    el('p', {}, chips(policies, info)),
  );
  if (id !== undefined)
    return [
      head,
      await single(place, JSON.parse(id)),
      el('p', {}, el('a', { href: path('collection', db, name) }, `All documents of ${name}`)),
    ];
  return all(place, head);
}

// all is the page of a collection with its documents.
async function all(place, head) {
  const { info } = place,
    list = documents(place),
    falling = place.policies.length > 0 && fallingDue(place),
    update = () => Promise.all([list.update(), falling && falling.update()]);
  await update();
  follow(update);
  setTimeout(() => every(5000, update));
  const rest =
      info.type !== 'view' &&
      el('div', { class: 'parts' }, el('p', { class: 'muted' }, 'Loading …')),
    last = rest && complete(place, head, rest);
  if (place.part) await last; // that the address names
  return [head, falling && falling.card, list.card, rest].filter(Boolean);
}

// complete puts the indexes and forms in their place, when the documents have been drawn.
async function complete(place, head, rest) {
  try {
    const [table, card] = await Promise.all([indexList(place), settings(place), drawn()]);
    if (card && !place.policies.length) head.append(shortcut(card));
    fill(rest, table, card);
  } catch (e) {
    fill(rest, failure(e));
  }
}

// shortcut leads to the forms at the end of the page.
function shortcut(card) {
  return button('Set a policy …', () => {
    const first = preferred(card);
    card.scrollIntoView({ block: 'start' });
    first.focus({ preventScroll: true });
  });
}

// preferred is the field that somebody looks for who wants documents to expire.
const preferred = card =>
  card.querySelector('form.newest input') ?? card.querySelector('input, select');

// follow updates the page when the clock or the horizon has changed.
function follow(update) {
  const page = state.page,
    events = ['clockmoved', 'horizon'],
    moved = () => {
      if (state.page === page) update();
      else events.forEach(e => removeEventListener(e, moved));
    };
  events.forEach(e => addEventListener(e, moved));
}

// fallingDue is the chart of what falls due in the collection.
function fallingDue({ db, name }) {
  const chart = timeline(parts),
    note = el('div', {});
  const update = async () => {
    try {
      const f = await run(db, {
        expirationStats: name,
        horizonSeconds: outlook.seconds,
        buckets: parts,
      });
      state.now = ms(f.now);
      chart.show(
        f.collections.flatMap(c => c.policies),
        state.now,
        outlook.seconds * 1000,
      );
      fill(note);
    } catch (e) {
      fill(note, failure(e));
    }
  };
  const card = el(
    'section',
    { class: 'card' },
    el('div', { class: 'row between' }, el('h2', {}, 'Falling due'), ownPicker()),
    chart,
    note,
  );
  return { card, update };
}

// settings is the card with the forms that change the policies, for who may change them.
async function settings(place) {
  const { db, name } = place,
    [collMod, createIndex] = await Promise.all([
      may(db, name, 'collMod'),
      may(db, name, 'createIndex'),
    ]),
    list = forms(place, { collMod, createIndex });
  if (!list.length) return undefined;
  const card = el(
    'section',
    { class: 'card' },
    el('h2', {}, 'When documents expire'),
    el('div', { class: 'forms' }, list),
  );
  if (place.part === 'policy') preferred(card).dataset.land = '';
  return card;
}
