// The documents of a collection, a page at a time: which go first, or those that a filter finds.
import { el, fill, changed, run, num, count, plural, empty, failure, pager } from './lib.js';
import { queryBox } from './querybox.js';
import { line, fieldsOf, scalar } from './shell.js';
import { rows, largest } from './listing.js';

const shown = 25; // documents of a page
const reach = 10_000; // documents that pages lead to; a filter finds the others
const named = 1000; // documents that the forecast names, at most
const small = 2000; // documents that are sorted by their expiry without a filter, at most
const patience = 5000; // ms that a search may take
const sortTooLarge = 292; // the code of an error

const remembered = new Map(); // what was asked of the last collections
const remember = 20;

// asked is what the user has asked of a collection; it is there again when they return to it.
function asked(ns) {
  const was = remembered.get(ns) ?? { filter: '', sort: '', view: 'table', at: 0 };
  remembered.delete(ns);
  remembered.set(ns, was);
  if (remembered.size > remember) remembered.delete(remembered.keys().next().value);
  return was;
}

// The reply has of each document its expiry, its size and, unless it is too large, the document.
const projection = {
  _id: 0,
  at: { $meta: 'expiresAt' },
  size: { $bsonSize: '$$ROOT' },
  doc: { $cond: [{ $lte: [{ $bsonSize: '$$ROOT' }, largest] }, '$$ROOT', { _id: '$_id' }] },
};
const bySoonest = { at: { $meta: 'expiresAt' } };

// documents makes the list of the documents of a place {db, name, info, policies, indexes}.
// update draws it anew.
export function documents(place) {
  const { db, name } = place,
    want = asked(`${db}.${name}`),
    names = new Set(place.indexes.flatMap(i => Object.keys(i.key))),
    filter = queryBox('Filter', () => names, { value: want.filter, placeholder: '{user: "anna"}' }),
    sort = queryBox('Sort', () => names, { value: want.sort, placeholder: '{total: -1}' }),
    title = el('h2', {}),
    told = el('p', { class: 'muted small', role: 'status' }),
    list = el('div', { class: 'documents' });
  let query = { filter: filter.read() || undefined, sort: sort.read() || undefined },
    turn = 0;

  async function update() {
    if (query.failed) return; // until the user asks for something else
    const mine = ++turn; // only the answer to the last question counts
    try {
      const total = num((await run(db, { count: name })).n),
        page = await read(place, want, query, total);
      if (mine !== turn) return;
      for (const d of page.docs) collect(names, d.doc);
      draw(total, page);
    } catch (e) {
      if (mine === turn) await refuse(e, mine);
    }
  }
  // refuse shows an error: that of a query at the field that has caused it.
  async function refuse(e, mine) {
    if (e.code === undefined || !(query.filter || query.sort)) {
      changed(list, e.message);
      told.textContent = '';
      return fill(list, failure(e));
    }
    const { sort: order } = query,
      is =
        order && (!query.filter || e.code === sortTooLarge || (await sortFails(db, name, order)));
    if (mine !== turn) return;
    blank();
    (is ? sort : filter).fail(hint(e));
  }
  // blank shows nothing until something else is asked: what was found before is no answer to a
  // question with a mistake in it.
  function blank() {
    turn++;
    query = { failed: true };
    changed(list, 'nothing');
    told.textContent = '';
    fill(list, empty('Nothing is shown: there is a mistake in the query above.'));
  }
  function draw(total, page) {
    title.textContent = page.order === 'soonest' ? 'Documents, soonest first' : 'Documents';
    told.textContent = summary(total, page, query);
    if (!changed(list, [page, want.view])) return;
    fill(
      list,
      page.docs.length
        ? rows(place, page.docs, want.view, sortBy)
        : empty(total ? 'No document is found.' : 'There are no documents.'),
      turning(want, page, at => go({ at })),
    );
  }
  const go = change => {
    Object.assign(want, change);
    return update();
  };
  async function search() {
    const f = filter.read(),
      s = sort.read();
    if (f === false || s === false) return blank();
    const mine = { filter: f?.size ? f : undefined, sort: s?.size ? s : undefined };
    query = mine;
    await go({ filter: filter.input.value, sort: sort.input.value, at: 0 });
    if (!mine.filter || query !== mine) return;
    mine.found = await matches(db, name, mine.filter).catch(() => undefined);
    if (query === mine) await update();
  }
  function sortBy(field) {
    sort.input.value = line({ [field]: query.sort?.get(field) === 1 ? -1 : 1 });
    return search();
  }
  return {
    card: el(
      'section',
      { class: 'card' },
      el(
        'div',
        { class: 'row between' },
        title,
        views(want, view => go({ view })),
      ),
      searchForm(filter, sort, search),
      told,
      list,
    ),
    update,
  };
}

// views is the choice of how documents are shown.
function views(want, choose) {
  const box = el('div', { class: 'row', role: 'group', 'aria-label': 'How documents are shown' });
  const draw = () =>
    fill(
      box,
      [
        ['table', 'Table'],
        ['json', 'JSON'],
      ].map(([id, text]) =>
        el(
          'button',
          {
            type: 'button',
            'aria-pressed': String(id === want.view),
            onclick() {
              choose(id);
              draw();
            },
          },
          text,
        ),
      ),
    );
  draw();
  return box;
}

// searchForm is the form with the filter and the order. A search may begin while another runs.
function searchForm(filter, sort, search) {
  const find = event => {
    event.preventDefault();
    filter.close();
    sort.close();
    search();
  };
  const clear = event => {
    filter.input.value = sort.input.value = '';
    find(event);
  };
  return el(
    'form',
    { class: 'search', onsubmit: find },
    filter.box,
    sort.box,
    el(
      'div',
      { class: 'row' },
      el('button', { class: 'primary' }, 'Find'),
      el('button', { type: 'button', onclick: clear }, 'Clear'),
    ),
  );
}

// turning leads to the other pages, as far as they go.
function turning({ at }, page, go) {
  const next = at + shown;
  if (!at && !page.more) return undefined;
  return [
    pager(
      at > 0 && (() => go(at - shown)),
      `${count(at + 1)} to ${count(at + page.docs.length)}`,
      page.more && next < page.reach && (() => go(next)),
    ),
    page.more &&
      next >= page.reach &&
      el('p', { class: 'muted small' }, `Pages end here: ${endOf(page)}.`),
  ];
}

// matches counts the documents that a filter finds, as far as pages lead.
const matches = async (db, name, query) =>
  num((await run(db, { count: name, query, limit: reach + 1, maxTimeMS: patience })).n);

// sortFails reports whether it is the order of a query that the server refuses: it is asked for
// the order of nothing.
const sortFails = (db, name, sort) =>
  run(db, { find: name, filter: { $alwaysFalse: 1 }, sort, limit: 1 }).then(
    () => false,
    () => true,
  );

const hint = e =>
  e.code === 50
    ? `${e.message}. No index helps, or too little: search for a field with an index.`
    : e.message;

// endOf says how to come to what lies behind the last page.
const endOf = page =>
  page.reach === named
    ? 'the forecast names the first thousand. Sort by a field, such as {_id: 1}, to see the others'
    : 'a filter finds the other documents';

// summary says how many documents there are, or match as far as that is known.
function summary(total, page, { filter, found }) {
  if (!filter)
    return `${plural(total, 'document')}${page.idle ? ', of which none is about to expire' : ''}.`;
  if (found === undefined) return '';
  return found > reach
    ? `More than ${count(reach)} documents match.`
    : `${plural(found, 'document matches', 'documents match')}.`;
}

// read reads a page. In what order: as the user has asked; else what goes first at the top. That
// of a large collection without a filter is in the forecast, and a large time series is in the
// order of its time.
async function read(place, want, query, total) {
  const { db, name, policies, info } = place,
    large = total > small && !query.filter,
    ask = options => find(db, name, { filter: query.filter, sort: query.sort, ...options });
  if (query.sort || !policies.length) return { ...(await ask({ skip: want.at })), order: 'given' };
  if (!large) return { ...(await ask({ sort: bySoonest, skip: want.at })), order: 'soonest' };
  if (info.type === 'timeseries')
    return {
      ...(await ask({ sort: { [info.options.timeseries.timeField]: 1 }, skip: want.at })),
      order: 'soonest',
    };
  const due = await forecast(db, name, Math.min(named, want.at + shown + 1)),
    ids = due?.slice(want.at).map(d => d._id);
  if (!due?.length)
    return { ...(await ask({ skip: want.at })), order: 'given', idle: due !== undefined };
  const page = await ask({ filter: { _id: { $in: ids.slice(0, shown) } }, sort: bySoonest });
  return {
    ...page,
    more: ids.length > shown || due.length === named,
    reach: named,
    order: 'soonest',
  };
}

// forecast names the documents that go first; nothing for who may not see forecasts.
async function forecast(db, name, list) {
  try {
    return (await run(db, { expirationStats: name, buckets: 1, list })).due;
  } catch (e) {
    if (e.code === 13) return undefined;
    throw e;
  }
}

// find reads the documents of a page, and whether there are more.
async function find(db, name, { filter = {}, sort = {}, skip = 0 }) {
  const { cursor } = await run(db, {
      find: name,
      filter,
      sort,
      skip,
      projection,
      limit: shown + 1,
      batchSize: shown + 1,
      maxTimeMS: patience,
    }),
    docs = cursor.firstBatch;
  return { docs: docs.slice(0, shown), more: docs.length > shown, reach };
}

// collect notes the names of the fields of a document, for what is being written.
function collect(names, doc) {
  for (const [k, v] of fieldsOf(doc)) {
    if (names.size > 500) return;
    names.add(k);
    if (v && typeof v === 'object' && !Array.isArray(v) && scalar(v) === undefined)
      for (const [inner] of fieldsOf(v)) names.add(`${k}.${inner}`);
  }
}
