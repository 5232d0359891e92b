// The indexes of a collection, with their sizes.
import { el, run, num, bytes, plural, table } from './lib.js';
import { line } from './shell.js';

// indexesOf reads the indexes of a collection; a view has none.
export const indexesOf = async (db, info) =>
  info.type === 'view' ? [] : (await run(db, { listIndexes: info.name })).cursor.firstBatch;

// indexList is the table of the indexes. Who may not read the sizes sees none.
export async function indexList({ db, info, indexes, part }) {
  const stats = await run(db, { collStats: info.name }).catch(() => ({})),
    sizes = stats.indexSizes ?? {};
  const rows = indexes.map(i => [
    el('span', { class: 'mono' }, i.name),
    el('span', { class: 'mono' }, line(i.key)),
    properties(i),
    sizes[i.name] === undefined ? '–' : bytes(sizes[i.name]),
  ]);
  return el(
    'section',
    { class: 'card' },
    el('h2', part === 'indexes' ? { tabindex: -1, 'data-land': true } : {}, 'Indexes'),
    table(['Name', 'Keys', 'Properties', { name: 'Size', num: true }], rows, 'Indexes'),
    stats.size !== undefined &&
      el(
        'p',
        { class: 'muted small' },
        `${sizeOf(stats)}, in indexes ${bytes(stats.totalIndexSize)}.`,
      ),
  );
}

const sizeOf = s =>
  s.count === undefined ? bytes(s.size) : `${plural(s.count, 'document')} with ${bytes(s.size)}`;

// properties says what is special to an index.
function properties(i) {
  const out = [
    i.clustered && 'clustered',
    i.unique && 'unique',
    i.sparse && 'sparse',
    i.hidden && 'hidden',
    i.expireAfterSeconds !== undefined && `expires after ${num(i.expireAfterSeconds)} s`,
    i.partialFilterExpression && `only ${line(i.partialFilterExpression)}`,
    i.collation && `collation ${i.collation.locale}`,
  ].filter(Boolean);
  return out.join(', ') || '–';
}
