// Values and statements as mongosh writes them. relaxed.js reads the values.
import { Parser } from './relaxed.js';

// fieldsOf lists the fields of a document, which is a Map or an object.
export const fieldsOf = v => (v instanceof Map ? [...v] : Object.entries(v));
const isDocument = v => v !== null && typeof v === 'object' && !Array.isArray(v);
const quoted = JSON.stringify;

// dateText is a date as people read it; dates beyond the calendar of browsers are numbers.
function dateText(v) {
  const t = typeof v === 'string' ? Date.parse(v) : Number(isDocument(v) ? fieldsOf(v)[0][1] : v);
  return Math.abs(t) <= 8.64e15 ? `ISODate("${new Date(t).toISOString()}")` : `Date(${t})`;
}
const doubleText = v => (/^-?\d+\.\d+$/.test(v) && !/\.0$/.test(v) ? v : `Double("${v}")`);
const binaryText = v => {
  const { subType, base64 } = Object.fromEntries(fieldsOf(v));
  return `BinData(${parseInt(subType, 16)}, ${quoted(base64)})`;
};
const patternText = v => {
  const { pattern, options } = Object.fromEntries(fieldsOf(v));
  return pattern && !/[/\n]/.test(pattern)
    ? `/${pattern}/${options}`
    : `RegExp(${quoted(pattern)}, "${options}")`;
};
const stampText = v => {
  const { t, i } = Object.fromEntries(fieldsOf(v));
  return `Timestamp(${t}, ${i})`;
};

// The documents of extended JSON that stand for a value, and how mongosh writes it.
const wrappers = {
  $oid: v => `ObjectId("${v}")`,
  $date: dateText,
  $numberInt: String,
  $numberLong: v => `NumberLong("${v}")`,
  $numberDouble: doubleText,
  $numberDecimal: v => `NumberDecimal("${v}")`,
  $uuid: v => `UUID("${v}")`,
  $binary: binaryText,
  $regularExpression: patternText,
  $timestamp: stampText,
  $minKey: () => 'MinKey()',
  $maxKey: () => 'MaxKey()',
  $undefined: () => 'undefined',
};

// scalar is the text of a value that is neither a document nor an array.
export function scalar(v) {
  if (!isDocument(v)) return Array.isArray(v) ? undefined : quoted(v);
  const fields = fieldsOf(v);
  if (fields.length !== 1 || !Object.hasOwn(wrappers, fields[0][0])) return undefined;
  return wrappers[fields[0][0]](fields[0][1]);
}

// pretty is the text of a value, indented from its second line on.
export function pretty(v, indent = '') {
  const plain = scalar(v);
  if (plain !== undefined) return plain;
  const deeper = `${indent}  `,
    array = Array.isArray(v),
    parts = array
      ? v.map(x => pretty(x, deeper))
      : fieldsOf(v).map(([k, x]) => `${quoted(k)}: ${pretty(x, deeper)}`);
  const [open, close] = array ? ['[', ']'] : ['{', '}'];
  return parts.length
    ? `${open}\n${deeper}${parts.join(`,\n${deeper}`)}\n${indent}${close}`
    : open + close;
}

// line is the text of a value on one line, with names as people write them.
export function line(v) {
  const plain = scalar(v);
  if (plain !== undefined) return plain;
  if (Array.isArray(v)) return `[${v.map(line).join(', ')}]`;
  const name = k => (/^[A-Za-z_$][\w$]*$/.test(k) ? k : quoted(k));
  return `{${fieldsOf(v)
    .map(([k, x]) => `${name(k)}: ${line(x)}`)
    .join(', ')}}`;
}

const options = o => (o ? Object.fromEntries(o) : {});
const indexName = key => fieldsOf(key).flat().join('_');
const updates = (q, u, o, multi) => [{ q, u, multi, ...options(o) }];

// The methods of a database and of a collection, as commands.
const ofDatabase = {
  createCollection: (name, o) => ({ create: name, ...options(o) }),
  runCommand: command => command,
};
const ofCollection = {
  aggregate: (c, pipeline) => ({ aggregate: c, pipeline: pipeline ?? [], cursor: {} }),
  countDocuments: (c, query) => ({ count: c, query: query ?? {} }),
  createIndex: (c, key, o) => ({
    createIndexes: c,
    indexes: [{ key, name: indexName(key), ...options(o) }],
  }),
  deleteMany: (c, q) => ({ delete: c, deletes: [{ q: q ?? {}, limit: 0 }] }),
  deleteOne: (c, q) => ({ delete: c, deletes: [{ q: q ?? {}, limit: 1 }] }),
  drop: c => ({ drop: c }),
  find: (c, filter, projection) => ({
    find: c,
    filter: filter ?? {},
    projection: projection ?? {},
    limit: 20,
  }),
  getIndexes: c => ({ listIndexes: c }),
  insertMany: (c, documents) => ({ insert: c, documents }),
  insertOne: (c, document) => ({ insert: c, documents: [document] }),
  updateMany: (c, q, u, o) => ({ update: c, updates: updates(q, u, o, true) }),
  updateOne: (c, q, u, o) => ({ update: c, updates: updates(q, u, o, false) }),
};

const reading = ['aggregate', 'count', 'find', 'listIndexes'];

// statements reads statements such as db.carts.insertOne({a: 1}): the text of each, its command,
// the collection that it is about, and whether it reads.
export function statements(text) {
  const p = new Parser(text),
    out = [];
  for (;;) {
    while (p.take(';'));
    if (p.peek() === undefined) return out;
    out.push(statement(p));
  }
}

function statement(p) {
  const from = p.at;
  if (!p.match(/db\b/y)) p.fail('a statement that begins with “db.” is missing');
  const names = [];
  while (p.take('.')) names.push(p.match(/[A-Za-z_$][\w$]*/y)?.[0] ?? p.fail('a name is missing'));
  const method = names.pop(),
    on = names.join('.'),
    table = on ? ofCollection : ofDatabase;
  if (!method || !Object.hasOwn(table, method))
    p.fail(`“${method}” is not known here, but db.runCommand({…}) runs any command`, from);
  if (p.peek() !== '(') p.fail('“(” is missing');
  const args = p.list(')'),
    command = on ? table[method](on, ...args) : table[method](...args);
  if (!isDocument(command)) p.fail(`${method} needs a document`, from);
  const [[name, of]] = fieldsOf(command);
  return {
    text: p.text.slice(from, p.at),
    command,
    collection: typeof of === 'string' ? of : undefined,
    reads: reading.includes(name),
  };
}
