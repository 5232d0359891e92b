// Values as people write them in mongosh, such as {total: {$gt: 5}, at: ISODate("2026-01-01")}.
// A document is a Map, which keeps the order of its fields; a value that JSON does not know is
// the document that stands for it in extended JSON.
import { state } from './lib.js';

const deepest = 180; // levels; the server takes 200

// TextError says what is wrong with a text, and where.
export class TextError extends Error {
  constructor(message, at) {
    super(`${message} at character ${at + 1}`);
    this.at = at;
  }
}

// parse reads a value.
export function parse(text) {
  const p = new Parser(text),
    v = p.value();
  p.end();
  return v;
}

// parseDocument reads a document, whose outer braces may be missing.
export function parseDocument(text) {
  const p = new Parser(text);
  if (p.peek() !== '{') return p.fields(undefined);
  const v = p.value();
  p.end();
  return v;
}

// Parser reads values from the place at of a text.
export class Parser {
  constructor(text, at = 0) {
    this.text = text;
    this.at = at;
    this.depth = 0;
  }

  fail(message, at = this.at) {
    throw new TextError(message, at);
  }

  // match takes what a sticky expression matches.
  match(expression) {
    expression.lastIndex = this.at;
    const found = expression.exec(this.text);
    if (found) this.at += found[0].length;
    return found;
  }

  // peek returns the next character that is neither space nor part of a comment.
  peek() {
    this.match(/(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*/y);
    return this.text[this.at];
  }

  take(c) {
    if (this.peek() !== c) return false;
    this.at++;
    return true;
  }

  expect(c) {
    if (!this.take(c)) this.fail(`“${c}” is missing`);
  }

  end() {
    if (this.peek() !== undefined) this.fail(`“${this.text[this.at]}” is not expected`);
  }

  // value reads a value, also a sum of numbers.
  value() {
    return this.chain(['+', '-'], () => this.chain(['*', '/'], () => this.single()));
  }

  chain(operators, next) {
    let v = next();
    while (operators.includes(this.peek())) {
      const at = this.at,
        operator = this.text[this.at++],
        w = next();
      if (typeof v !== 'number' || typeof w !== 'number')
        this.fail('only numbers can be computed', at);
      v = { '+': v + w, '-': v - w, '*': v * w, '/': v / w }[operator];
    }
    return v;
  }

  single() {
    const c = this.peek();
    if (c === '{') return this.nested(() => this.document());
    if (c === '[') return this.nested(() => this.list(']'));
    if (c === '(') return this.nested(() => this.group());
    if (c === '"' || c === "'" || c === '`') return this.string();
    if (c === '/') return this.pattern();
    if (c === '-' || c === '+') return this.signed();
    if (c !== undefined && /[\d.]/.test(c)) return this.number();
    return this.word();
  }

  nested(read) {
    if (++this.depth > deepest) this.fail(`more than ${deepest} levels`);
    const v = read();
    this.depth--;
    return v;
  }

  group() {
    this.expect('(');
    const v = this.value();
    this.expect(')');
    return v;
  }

  document() {
    this.expect('{');
    return this.fields('}');
  }

  // fields reads the fields of a document up to a character, or to the end of the text.
  fields(close) {
    const out = new Map();
    while (this.peek() !== close) {
      const at = this.at,
        name = this.name();
      this.expect(':');
      if (out.has(name)) this.fail(`the field “${name}” is there twice`, at);
      out.set(name, this.value());
      if (!this.take(',') && this.peek() !== close)
        this.fail(
          close ? `“,” or “${close}” is missing` : `“${this.text[this.at]}” is not expected`,
        );
    }
    if (close) this.at++;
    return out;
  }

  name() {
    const c = this.peek();
    if (c === '"' || c === "'") return this.string();
    return (
      this.match(/[\p{L}_$][\p{L}\d_$.-]*|\d+/uy)?.[0] ??
      this.fail('the name of a field is missing')
    );
  }

  // list reads values up to a character, behind the one at hand.
  list(close) {
    this.at++;
    const out = [];
    while (!this.take(close)) {
      out.push(this.value());
      if (!this.take(',') && this.peek() !== close) this.fail(`“,” or “${close}” is missing`);
    }
    return out;
  }

  string() {
    const from = this.at,
      quote = this.text[from],
      body = new RegExp(`${quote}((?:[^${quote}\\\\]|\\\\[^])*)${quote}`, 'y'),
      found = this.match(body) ?? this.fail('the string does not end', from);
    return found[1].replace(/\\(u\{[\da-f]+\}|u[\da-f]{4}|x[\da-f]{2}|[^])/gi, (_, e) =>
      unescaped(e),
    );
  }

  pattern() {
    const found =
      this.match(/\/((?:[^/\\\n]|\\.)+)\/([a-z]*)/y) ?? this.fail('the pattern does not end');
    return { $regularExpression: { pattern: found[1], options: [...found[2]].sort().join('') } };
  }

  signed() {
    const minus = this.text[this.at++] === '-',
      at = this.at,
      v = this.single();
    if (v?.$numberLong && minus) return { $numberLong: `-${v.$numberLong}` };
    if (v?.$numberDouble === 'Infinity') return { $numberDouble: minus ? '-Infinity' : 'Infinity' };
    if (typeof v !== 'number') this.fail('a number is missing', at);
    return minus ? (v === 0 ? { $numberDouble: '-0.0' } : -v) : v;
  }

  number() {
    const text = this.match(/\d*\.?\d*(?:e[+-]?\d+)?/iy)[0],
      n = Number(text);
    if (Number.isNaN(n) || text === '.') this.fail('this is not a number');
    return Number.isInteger(n) && !Number.isSafeInteger(n) && /^\d{1,18}$|^[1-8]\d{18}$/.test(text)
      ? { $numberLong: text }
      : n;
  }

  // word reads a constant, or the call of a function.
  word() {
    const from = this.at;
    let name = this.match(/[A-Za-z_$][\w$]*(?:\.now)?/y)?.[0];
    if (!name) this.fail('a value is missing');
    if (name === 'new') {
      this.peek();
      name = this.match(/[A-Za-z]\w*/y)?.[0];
    }
    if (this.peek() === '(' && Object.hasOwn(calls, name)) return this.call(name, from);
    if (Object.hasOwn(words, name)) return words[name];
    return this.fail(`“${name ?? 'new'}” is not known`, from);
  }

  call(name, from) {
    const v = calls[name](...this.list(')'));
    return v ?? this.fail(`${name} cannot have this argument`, from);
  }
}

const escapes = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', 0: '\0', '\n': '' };
const unescaped = e =>
  e.length > 1 ? String.fromCodePoint(parseInt(e.replace(/[ux{}]/gi, ''), 16)) : (escapes[e] ?? e);

const words = {
  true: true,
  false: false,
  null: null,
  undefined: { $undefined: true },
  NaN: { $numberDouble: 'NaN' },
  Infinity: { $numberDouble: 'Infinity' },
  MinKey: { $minKey: 1 },
  MaxKey: { $maxKey: 1 },
};

// given is the text of an argument if it looks as it must.
const given = (v, pattern) => (pattern.test(String(v)) ? String(v) : undefined);
const wrapped = (name, v) => v && { [name]: v };
const whole = v => given(v?.$numberLong ?? v, /^-?\d+$/);
const decimal = v => given(v, /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$|^-?Infinity$|^NaN$/i);

// moment is a date: the time of the server, milliseconds, or a text in ISO 8601.
function moment(v) {
  const t = v === undefined ? state.now : typeof v === 'number' ? v : Date.parse(v);
  return Number.isFinite(t) ? { $date: { $numberLong: String(Math.round(t)) } } : undefined;
}
const binary = (type, base64) =>
  wrapped(
    '$binary',
    base64 !== undefined && { base64, subType: Number(type).toString(16).padStart(2, '0') },
  );

// The functions. They return nothing if they cannot have their arguments.
const calls = {
  ISODate: moment,
  Date: moment,
  'Date.now': () => Math.round(state.now),
  ObjectId: v => wrapped('$oid', given(v, /^[\da-f]{24}$/i)),
  NumberLong: v => wrapped('$numberLong', whole(v)),
  Long: v => wrapped('$numberLong', whole(v)),
  NumberInt: v => wrapped('$numberInt', whole(v)),
  Int32: v => wrapped('$numberInt', whole(v)),
  NumberDecimal: v => wrapped('$numberDecimal', decimal(v)),
  Decimal128: v => wrapped('$numberDecimal', decimal(v)),
  Double: v => wrapped('$numberDouble', decimal(v)),
  UUID: v => wrapped('$uuid', given(v, /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i)),
  BinData: binary,
  RegExp: (pattern, options = '') => wrapped('$regularExpression', { pattern, options }),
  Timestamp: (t, i) => wrapped('$timestamp', { t, i }),
  MinKey: () => ({ $minKey: 1 }),
  MaxKey: () => ({ $maxKey: 1 }),
};
