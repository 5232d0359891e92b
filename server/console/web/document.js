// The page of one document: its content, why it goes, and what the user may do with it.
import { el, run, num, short, path, button, ask, bytes, textOf } from './lib.js';
import { parse, parseDocument, TextError } from './relaxed.js';
import { pretty } from './shell.js';
import { json, life } from './listing.js';
import { reasons } from './why.js';
import { may } from './rights.js';

const largest = 1 << 20; // bytes of a document that is shown

// single shows one document.
export async function single(place, id) {
  const { db, name } = place,
    found = await load(place, id);
  const head = el('h2', {}, short(id));
  if (!found)
    return card(id, head, el('p', { class: 'muted' }, 'This document is not there any more.'));
  const { doc, at, size } = found;
  if (!doc)
    return card(
      id,
      head,
      el('p', { class: 'muted' }, `The document has ${bytes(size)}: too much to be shown.`),
    );
  const actions = await allowed(place, doc, id);
  return card(
    id,
    el('div', { class: 'row between' }, head, el('div', { class: 'row' }, actions)),
    el('p', {}, 'Expires ', life(place, { at, doc: { ttl: plain(doc.get('ttl')) } })),
    json(place, doc),
    el('h3', {}, 'Why?'),
    await reasons(db, name, id).catch(e => el('p', { class: 'muted' }, e.message)),
  );
}

// plain is a number without its type.
const plain = v => (v instanceof Map ? [...v.values()][0] : v);

const card = (id, ...content) =>
  el('section', { class: 'card', 'aria-label': `The document ${short(id)}` }, ...content);

// load reads a document with all types of its values, unless it is too large.
async function load({ db, name }, id) {
  const command = {
    find: name,
    filter: { _id: id },
    limit: 1,
    projection: {
      _id: 0,
      at: { $meta: 'expiresAt' },
      size: { $bsonSize: '$$ROOT' },
      doc: { $cond: [{ $lte: [{ $bsonSize: '$$ROOT' }, largest] }, '$$ROOT', null] },
    },
  };
  const reply = parse(await textOf(db, command)),
    [row] = reply.get('cursor').get('firstBatch');
  if (!row) return undefined;
  const at = row.get('at')?.get('$date');
  return {
    doc: row.get('doc'),
    size: num(row.get('size').get('$numberInt')),
    at: at && Number(at.get('$numberLong')),
  };
}

// allowed makes the buttons for what the user may do. A measurement has no fixed place, and
// messages have a page of their own.
async function allowed({ db, name, info }, doc, id) {
  if (info.type !== 'collection' || Object.keys(info.options).some(o => o.startsWith('message')))
    return [];
  const [edits, removes] = await Promise.all([may(db, name, 'update'), may(db, name, 'remove')]);
  return [
    edits && button('Edit …', () => edit(db, name, doc)),
    removes && button('Delete …', () => remove(db, name, id), { class: 'danger' }),
  ].filter(Boolean);
}

const again = () => dispatchEvent(new HashChangeEvent('hashchange'));

// edit replaces a document, unless it was changed meanwhile.
function edit(db, name, doc) {
  const text = el(
    'textarea',
    { class: 'tall', spellcheck: 'false', 'aria-label': 'Document' },
    pretty(doc),
  );
  ask('Edit the document', [el('label', {}, 'Document', text)], 'Save', async () => {
    const u = written(text);
    const reply = await run(db, {
      update: name,
      updates: [{ q: { _id: doc.get('_id'), $expr: { $eq: ['$$ROOT', { $literal: doc }] } }, u }],
    });
    if (reply.writeErrors) throw new Error(reply.writeErrors[0].errmsg);
    if (!num(reply.n))
      throw new Error('The document was changed or removed meanwhile: load it again.');
    again();
  });
}

// written reads a document from a text, and puts the cursor where it is wrong.
function written(text) {
  try {
    return parseDocument(text.value);
  } catch (e) {
    if (e instanceof TextError) {
      text.focus();
      text.setSelectionRange(e.at, e.at + 1);
    }
    throw e;
  }
}

// remove deletes a document, and returns to its collection.
function remove(db, name, id) {
  ask(
    'Delete the document?',
    el('p', {}, `${short(id)} would be deleted from ${db}.${name} for good.`),
    'Delete',
    async () => {
      const reply = await run(db, { delete: name, deletes: [{ q: { _id: id }, limit: 1 }] });
      if (reply.writeErrors) throw new Error(reply.writeErrors[0].errmsg);
      location.hash = path('collection', db, name);
    },
    true,
  );
}
