// What scripts of MongoDB find in their global scope: the types of BSON and
// the helpers that the manual lists. $native is taken away at the end.
(function (global, native) {
  "use strict";

  // Names that a client's stored functions and variables may hide.
  const {Array, BigInt, Date, Error, Map, Math, Number, Object, RegExp, String, TypeError, parseFloat, parseInt, undefined} = global;
  const {apply} = global.Reflect;

  const T = {bin: 5, oid: 7, ptr: 12, code: 13, int: 16, ts: 17, long: 18, dec: 19, max: 127, min: 255, ref: 200};
  const Q = {print: 1, sleep: 2, md5: 3, parse: 4, format: 5, compare: 6, random: 7, size: 8, version: 9};

  // hide defines what for…in does not show.
  const hide = (o, members) => {
    for (const name of Object.keys(members))
      Object.defineProperty(o, name, {value: members[name], writable: true, enumerable: false, configurable: true});
  };
  const getter = (o, name, get) => Object.defineProperty(o, name, {get, enumerable: false, configurable: true});
  const type = (code, constructor, methods) => {
    hide(constructor.prototype, methods);
    native.proto(code, constructor.prototype);
    hide(global, {[constructor.name]: constructor});
    return constructor;
  };
  const self = (v, code, name) => {
    if (native.type(v) !== code) throw new TypeError(name + " called on an object of another type");
    return v;
  };
  const hex32 = (n) => (n >>> 0).toString(16).padStart(8, "0");
  const swap = (hex) => hex.match(/../g).reverse().join("");
  const quote = (s) => tojson(String(s));

  // --- numbers ---

  const bigOf = (v) => (BigInt(native.word(v, 1)) << 32n) | BigInt(native.word(v, 0));
  const longOfBig = (b) => native.long(Number((b >> 32n) & 0xffffffffn), Number(b & 0xffffffffn));
  const min64 = -(2n ** 63n), max64 = 2n ** 63n - 1n;

  const longFrom = (args) => {
    const [v, top, bottom] = args;
    if (args.length === 0) return native.long(0, 0);
    if (args.length === 3) return native.long(top, bottom);
    if (args.length !== 1) throw new Error("NumberLong needs 0, 1 or 3 arguments");
    switch (native.type(v)) {
      case T.long: return native.long(native.word(v, 1), native.word(v, 0));
      case T.int: return longOfBig(BigInt(native.num(v)));
    }
    if (typeof v === "number") {
      if (v !== v) return native.long(0, 0);
      const n = Math.trunc(v);
      return longOfBig(n >= 9223372036854775807 ? max64 : n <= -9223372036854775808 ? min64 : BigInt(n));
    }
    if (typeof v === "bigint") return longOfBig(v);
    if (typeof v === "string") {
      if (!/^\s*[-+]?\d+\s*$/.test(v)) throw new Error('could not convert "' + v + '" to NumberLong');
      const b = BigInt(v.trim().replace(/^\+/, ""));
      if (b < min64 || b > max64) throw new Error('could not convert "' + v + '" to NumberLong');
      return longOfBig(b);
    }
    throw new Error("argument to NumberLong must be a number, a string or a NumberLong");
  };

  const NumberLong = type(T.long, function NumberLong(...args) { return longFrom(args); }, {
    toNumber() { return native.num(self(this, T.long, "NumberLong")); },
    valueOf() { return native.num(self(this, T.long, "NumberLong")); },
    toString() {
      const b = BigInt.asIntN(64, bigOf(self(this, T.long, "NumberLong")));
      return b >= -9007199254740992n && b <= 9007199254740992n ? "NumberLong(" + b + ")" : 'NumberLong("' + b + '")';
    },
    tojson() { return this.toString(); },
    toJSON() { return {$numberLong: String(BigInt.asIntN(64, bigOf(this)))}; },
    exactValueString() { return String(BigInt.asIntN(64, bigOf(this))); },
    compare(other) {
      const a = BigInt.asIntN(64, bigOf(this)), b = BigInt.asIntN(64, bigOf(self(other, T.long, "NumberLong")));
      return a < b ? -1 : a > b ? 1 : 0;
    },
  });
  getter(NumberLong.prototype, "floatApprox", function () { return native.num(this); });
  getter(NumberLong.prototype, "top", function () { return native.word(this, 1); });
  getter(NumberLong.prototype, "bottom", function () { return native.word(this, 0); });

  const NumberInt = type(T.int, function NumberInt(...args) {
    const v = args[0];
    if (args.length > 1) throw new Error("NumberInt needs 0 or 1 arguments");
    return native.int(0, args.length === 0 ? 0 : native.type(v) === T.long ? native.word(v, 0) : Number(v));
  }, {
    toNumber() { return native.num(self(this, T.int, "NumberInt")); },
    valueOf() { return native.num(self(this, T.int, "NumberInt")); },
    toString() { return "NumberInt(" + native.num(self(this, T.int, "NumberInt")) + ")"; },
    tojson() { return this.toString(); },
    toJSON() { return native.num(this); },
  });

  const NumberDecimal = type(T.dec, function NumberDecimal(...args) {
    let v = args.length === 0 ? "0" : args[0];
    if (args.length > 1) throw new Error("NumberDecimal needs 0 or 1 arguments");
    switch (native.type(v)) {
      case T.dec: return native.make(T.dec, 0, native.hex(v));
      case T.long: v = v.exactValueString(); break;
      case T.int: v = native.num(v); break;
    }
    const bytes = native.ask(Q.parse, String(v));
    if (bytes === null) throw new Error("Failed to parse string to Decimal128: " + v);
    return native.make(T.dec, 0, bytes);
  }, {
    toString() { return 'NumberDecimal("' + native.ask(Q.format, native.hex(self(this, T.dec, "NumberDecimal"))) + '")'; },
    tojson() { return this.toString(); },
    toJSON() { return {$numberDecimal: native.ask(Q.format, native.hex(this))}; },
  });

  // --- identifiers and bytes ---

  let counter = 0;
  const ObjectId = type(T.oid, function ObjectId(...args) {
    let s = args[0];
    if (args.length > 1) throw new Error("ObjectId needs 0 or 1 arguments");
    if (args.length === 0 || s === undefined) s = native.ask(Q.random, String(counter++));
    if (native.type(s) === T.oid) s = native.hex(s);
    s = String(s);
    if (s.length !== 24) throw new Error("invalid object id: length");
    if (!/^[0-9a-fA-F]{24}$/.test(s)) throw new Error("invalid object id: not hex");
    return native.make(T.oid, 0, s);
  }, {
    isObjectId: true,
    toString() { return 'ObjectId("' + native.hex(self(this, T.oid, "ObjectId")) + '")'; },
    tojson() { return this.toString(); },
    toJSON() { return {$oid: native.hex(this)}; },
    valueOf() { return native.hex(self(this, T.oid, "ObjectId")); },
    getTimestamp() { return new Date(parseInt(this.str.slice(0, 8), 16) * 1000); },
    equals(other) { return this.str === (other && other.str); },
  });
  getter(ObjectId.prototype, "str", function () { return native.hex(self(this, T.oid, "ObjectId")); });
  ObjectId.fromDate = function (date) {
    if (!date) throw new Error("date missing or undefined");
    if (!(date instanceof Date)) throw new Error("Cannot create ObjectId from " + typeof date + ": " + tojson(date));
    return ObjectId(hex32(Math.floor(date.getTime() / 1000)) + "0000000000000000");
  };

  const digits64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const base64 = (hex) => {
    const out = [];
    for (let i = 0; i < hex.length; i += 6) {
      const part = hex.slice(i, i + 6), n = parseInt(part.padEnd(6, "0"), 16);
      out.push(digits64[n >> 18], digits64[(n >> 12) & 63], part.length > 2 ? digits64[(n >> 6) & 63] : "=", part.length > 4 ? digits64[n & 63] : "=");
    }
    return out.join("");
  };
  const unbase64 = (s) => {
    if (s.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(s)) throw new Error("invalid base64: " + s);
    const out = [];
    for (let i = 0; i < s.length; i += 4) {
      let n = 0, pad = 0;
      for (let j = 0; j < 4; j++) {
        const d = s[i + j] === "=" ? (pad++, 0) : digits64.indexOf(s[i + j]);
        n = n * 64 + d;
      }
      out.push(n.toString(16).padStart(6, "0").slice(0, 6 - 2 * pad));
    }
    return out.join("");
  };

  const BinData = type(T.bin, function BinData(...args) {
    if (args.length !== 2) throw new Error("BinData takes 2 arguments -- BinData(subtype,data)");
    const sub = Number(args[0]);
    if (!(sub >= 0 && sub <= 255)) throw new Error("invalid BinData subtype -- range is 0..255 see bsonspec.org");
    if (typeof args[1] !== "string") throw new Error("BinData data must be a String");
    return native.make(T.bin, sub, unbase64(args[1]));
  }, {
    subtype() { return native.sub(self(this, T.bin, "BinData")); },
    length() { return native.len(self(this, T.bin, "BinData")); },
    base64() { return base64(native.hex(self(this, T.bin, "BinData"))); },
    hex() { return native.hex(self(this, T.bin, "BinData")); },
    toString() {
      const hex = native.hex(self(this, T.bin, "BinData")), sub = native.sub(this);
      if (sub === 4 && hex.length === 32) return 'UUID("' + hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5") + '")';
      return "BinData(" + sub + ',"' + base64(hex) + '")';
    },
    tojson() { return this.toString(); },
    toJSON() { return {$binary: base64(native.hex(this)), $type: native.sub(this).toString(16).padStart(2, "0")}; },
  });
  getter(BinData.prototype, "type", function () { return native.sub(this); });
  getter(BinData.prototype, "len", function () { return native.len(this); });

  const fromHex = (name, sub, s, n) => {
    if (typeof s !== "string" || !/^([0-9a-fA-F]{2})*$/.test(s) || (n && s.length !== n)) throw new Error(name + " needs a string of " + (n || "an even number of") + " hexadecimal digits");
    return native.make(T.bin, sub, s);
  };
  hide(global, {
    UUID(s) { return fromHex("UUID", 4, s === undefined ? native.ask(Q.random, "uuid") : String(s).replace(/-/g, ""), 32); },
    MD5(s) { return fromHex("MD5", 5, s, 32); },
    HexData(sub, s) { return fromHex("HexData", Number(sub), s); },
  });

  // --- the other types ---

  const Timestamp = type(T.ts, function Timestamp(...args) {
    if (args.length === 0) return native.timestamp(0, 0);
    if (args.length === 1 && native.type(args[0]) === T.ts) return args[0];
    if (args.length !== 2) throw new Error("Timestamp needs 0 or 2 arguments");
    const [t, i] = args.map(Number);
    if (!(t >= 0 && t <= 4294967295)) throw new Error("Timestamp time must be a number between 0 and 4294967295");
    if (!(i >= 0 && i <= 4294967295)) throw new Error("Timestamp increment must be a number between 0 and 4294967295");
    return native.timestamp(t, i);
  }, {
    getTime() { return this.t; },
    getInc() { return this.i; },
    toString() { return "Timestamp(" + this.t + ", " + this.i + ")"; },
    tojson() { return this.toString(); },
    toJSON() { return {$timestamp: {t: this.t, i: this.i}}; },
  });
  getter(Timestamp.prototype, "t", function () { return native.word(self(this, T.ts, "Timestamp"), 1); });
  getter(Timestamp.prototype, "i", function () { return native.word(self(this, T.ts, "Timestamp"), 0); });

  const extreme = (code, constructor, name, key) => type(code, constructor, {
    toString() { return "[object " + name + "]"; },
    tojson() { return "{ " + key + " : 1 }"; },
    toJSON() { return {[key]: 1}; },
  });
  extreme(T.min, function MinKey() { return native.make(T.min, 0, ""); }, "MinKey", "$minKey");
  extreme(T.max, function MaxKey() { return native.make(T.max, 0, ""); }, "MaxKey", "$maxKey");

  const DBPointer = type(T.ptr, function DBPointer(ns, id) {
    if (arguments.length !== 2) throw new Error("DBPointer needs 2 arguments");
    if (typeof ns !== "string") throw new Error("DBPointer 1st parameter must be a string");
    if (native.type(id) !== T.oid) throw new Error("DBPointer 2nd parameter must be an ObjectId");
    const o = Object.create(DBPointer.prototype);
    o.ns = ns;
    o.id = id;
    return o;
  }, {
    getCollection() { return this.ns; },
    getId() { return this.id; },
    toString() { return "DBPointer(" + tojson(this.ns) + ", " + tojson(this.id) + ")"; },
    tojson() { return this.toString(); },
  });

  const DBRef = type(T.ref, function DBRef(ref, id, db) {
    if (arguments.length < 2 || arguments.length > 3) throw new Error("DBRef needs 2 or 3 arguments");
    if (typeof ref !== "string") throw new Error("DBRef 1st parameter must be a string");
    const o = Object.create(DBRef.prototype);
    o.$ref = ref;
    o.$id = id;
    if (db !== undefined) o.$db = db;
    return o;
  }, {
    getDb() { return this.$db || undefined; },
    getCollection() { return this.$ref; },
    getRef() { return this.$ref; },
    getId() { return this.$id; },
    toString() { return "DBRef(" + tojson(this.$ref) + ", " + tojson(this.$id) + (this.$db ? ", " + tojson(this.$db) : "") + ")"; },
    tojson() { return this.toString(); },
  });

  const Code = type(T.code, function Code(code, scope) {
    const o = Object.create(Code.prototype);
    o.code = arguments.length === 0 ? "" : typeof code === "function" ? code.toString() : code;
    if (scope !== undefined) o.scope = scope;
    return o;
  }, {
    toString() { return "Code({" + (this.code === undefined ? "" : '"code":' + quote(this.code)) + (this.scope ? ',"scope":' + tojsononeline(this.scope) : "") + "})"; },
    tojson() { return this.toString(); },
  });

  // --- additions to the language's own objects ---

  hide(Date, {
    timeFunc(f, times, ...args) {
      const start = Date.now();
      for (let i = 0; i < (times || 1); i++) f(...args);
      return Date.now() - start;
    },
  });
  hide(Date.prototype, {
    tojson() {
      const two = (n) => String(n).padStart(2, "0"), ms = this.getUTCMilliseconds();
      return 'ISODate("' + String(this.getUTCFullYear()).padStart(4, "0") + "-" + two(this.getUTCMonth() + 1) + "-" + two(this.getUTCDate()) + "T" +
        two(this.getUTCHours()) + ":" + two(this.getUTCMinutes()) + ":" + two(this.getUTCSeconds()) + (ms ? "." + String(ms).padStart(3, "0") : "") + 'Z")';
    },
  });
  hide(global, {
    ISODate(text) {
      if (!text) return new Date();
      const m = /^(\d{4})-?(\d{2})-?(\d{2})(?:[T ](\d{2})(?::?(\d{2})(?::?(\d{2}(?:\.\d+)?))?)?(?:Z|([+-])(\d{2}):?(\d{2})?)?)?/.exec(text);
      if (!m) throw new Error("invalid ISO date: " + text);
      const seconds = parseFloat(m[6] || "0"), whole = Math.floor(seconds), offset = (m[7] === "-" ? -1 : 1) * ((+m[8] || 0) * 60 + (+m[9] || 0));
      const month = +m[2], day = +m[3], hour = +(m[4] || 0), minute = +(m[5] || 0);
      if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 24 || minute > 59 || whole > 59) throw new Error("invalid ISO date: " + text);
      const date = new Date(0);
      date.setUTCFullYear(+m[1], month - 1, day);
      date.setUTCHours(hour, minute - offset, whole, Math.round((seconds - whole) * 1000));
      return date;
    },
  });
  hide(RegExp.prototype, {tojson: RegExp.prototype.toString});
  hide(RegExp, {escape(text) { return text.replace(/[-[\]{}()*+?.,\\^$|#\s]/g, "\\$&"); }});

  const sum = (a) => {
    if (a.length === 0) return null;
    let s = a[0];
    for (let i = 1; i < a.length; i++) s += a[i];
    return s;
  };
  hide(Array, {
    contains(a, x) {
      if (!Array.isArray(a)) throw new Error("The first argument to Array.contains must be an array");
      for (let i = 0; i < a.length; i++) if (a[i] == x) return true;
      return false;
    },
    unique(a) {
      const u = [];
      for (let i = 0; i < a.length; i++) if (!Array.contains(u, a[i])) u.push(a[i]);
      return u;
    },
    shuffle(a) {
      for (let i = 0; i < a.length - 1; i++) {
        const j = i + Math.floor(Math.random() * (a.length - i));
        [a[i], a[j]] = [a[j], a[i]];
      }
      return a;
    },
    sum,
    avg(a) { return a.length === 0 ? null : sum(a) / a.length; },
    stdDev(a) {
      const avg = Array.avg(a);
      let s = 0;
      for (let i = 0; i < a.length; i++) s += (a[i] - avg) ** 2;
      return Math.sqrt(s / a.length);
    },
    tojson(a, indent, nolint) {
      const separator = nolint ? " " : "\n", inner = nolint ? "" : (indent || "") + "\t";
      if (a.length === 0) return "[ ]";
      let s = "[" + separator;
      for (let i = 0; i < a.length; i++) s += inner + tojson(a[i], inner, nolint) + (i < a.length - 1 ? "," + separator : "");
      return s + separator + (nolint ? "" : indent || "") + "]";
    },
  });

  const extend = (to, from, deep) => {
    for (const k in from) {
      let v = from[k];
      if (deep && typeof v === "object" && v !== null && native.type(v) === 0 && !(v instanceof Date))
        v = extend(typeof v.length === "number" ? [] : {}, v, true);
      to[k] = v;
    }
    return to;
  };
  hide(Object, {
    extend,
    merge(to, from, deep) { return extend(extend({}, to, deep), from, deep); },
    keySet(o) {
      const keys = [];
      for (const k in o) if (!(k in Object.getPrototypeOf(o) && o[k] === Object.getPrototypeOf(o)[k])) keys.push(k);
      return keys;
    },
    bsonsize(o) { return bsonsize(o); },
  });
  hide(String.prototype, {
    ltrim: String.prototype.trimStart,
    rtrim: String.prototype.trimEnd,
    pad(n, right, ch) { return right ? this.padEnd(n, ch === undefined ? " " : ch) : this.padStart(n, ch === undefined ? " " : ch); },
  });
  hide(Number.prototype, {
    toPercentStr() { return (this * 100).toFixed(2) + "%"; },
    zeroPad(n) { return String(this).padStart(n, "0"); },
  });
  const HashMap = Map;
  hide(HashMap.prototype, {
    put(key, value) {
      const k = typeof key === "object" ? tojson(key) : key, old = this.get(k);
      this.set(k, value);
      return old === undefined ? null : old;
    },
  });

  // --- free functions ---

  const escapes = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"};
  const quoted = (s) => '"' + s.replace(/["\\\u0000-\u001f]/g, (c) => escapes[c] || "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0")) + '"';

  const tojsonObject = (x, indent, nolint) => {
    if (typeof x !== "object") throw new Error("tojsonObject needs object, not [" + typeof x + "]");
    indent = indent || "";
    if (typeof x.tojson === "function" && x.tojson !== tojson) return x.tojson(indent, nolint);
    if (x.constructor && typeof x.constructor.tojson === "function" && x.constructor.tojson !== tojson) return x.constructor.tojson(x, indent, nolint);
    if (x instanceof Error) return x.toString();
    const ending = nolint ? " " : "\n", inner = nolint ? indent : indent + "\t", fields = [];
    for (const k in x) {
      const v = x[k];
      if (v === Object.prototype[k] || typeof v === "function" && Object.getPrototypeOf(x)[k] === v) continue;
      fields.push(inner + quoted(k) + " : " + tojson(v, inner, nolint));
    }
    return "{" + ending + fields.join("," + ending) + ending + inner.substring(1) + "}";
  };
  const tojson = (x, indent, nolint) => {
    if (x === null) return "null";
    if (x === undefined) return "undefined";
    switch (typeof x) {
      case "string": return quoted(x);
      case "number":
      case "boolean": return String(x);
      case "bigint": return 'NumberLong("' + x + '")';
      case "function": return x.toString();
      case "object": {
        const s = tojsonObject(x, indent, nolint);
        return (nolint == null || nolint === true) && s.length < 80 && (indent == null || indent.length === 0) ? s.replace(/[\t\r\n]+/gm, " ") : s;
      }
    }
    throw new Error("tojson can't handle type " + typeof x);
  };
  const tojsononeline = (x) => tojson(x, " ", true);
  const print = (...args) => { native.ask(Q.print, args.map(String).join(" ")); };
  const bsonsize = (o) => {
    if (o === null || typeof o !== "object") throw new Error("bsonsize needs an object");
    return native.bson(Q.size, o);
  };
  const doassert = (msg) => { throw new Error(typeof msg === "function" ? msg() : msg); };
  const assert = (b, msg) => {
    if (!b) doassert(msg == null ? "assert failed" : "assert failed : " + (typeof msg === "function" ? msg() : msg));
  };
  const eq = (a, b) => a == b || a != null && b != null && typeof a === "object" && tojson(a) === tojson(b);
  hide(assert, {
    eq(a, b, msg) { if (!eq(a, b)) doassert("[" + tojson(a) + "] != [" + tojson(b) + "] are not equal" + (msg ? " : " + msg : "")); },
    neq(a, b, msg) { if (eq(a, b)) doassert("[" + a + "] == [" + b + "] are equal" + (msg ? " : " + msg : "")); },
  });

  hide(global, {
    tojson, tojsononeline, tojsonObject, print, assert, doassert, bsonsize,
    printjson(x) { print(tojson(x)); },
    printjsononeline(x) { print(tojsononeline(x)); },
    isString(x) { return typeof x === "string"; },
    isNumber(x) { return typeof x === "number"; },
    isObject(x) { return typeof x === "object"; },
    hex_md5(s) { return native.ask(Q.md5, String(s)); },
    sleep(ms) { native.ask(Q.sleep, String(Number(ms))); },
    version() { return native.ask(Q.version, ""); },
    gc() { native.gc(); },
    bsonWoCompare(a, b) { return native.bson(Q.compare, a, b); },
    argumentsToArray(a) { return Array.from(a); },
    friendlyEqual(a, b) { return eq(a, b); },
    _isWindows() { return false; },
    _isAddressSanitizerActive() { return false; },
  });

  // --- what the server makes of functions ---

  let emitted = [];
  const emit = (...args) => {
    if (args.length !== 2) native.fail(31220, "emit takes 2 args");
    emitted.push({k: args[0] === undefined ? null : args[0], v: args[1]});
  };
  hide(global, {emit});

  // Emits: it returns what a map function emits. Whatever else is called emit, the
  // map function finds this one.
  native.wrapper(1, (f) => {
    hide(global, {emit});
    return function () {
      emitted = [];
      apply(f, this, []);
      const all = emitted;
      emitted = [];
      return all;
    };
  });
  // Fold: it calls accumulate(state, ...args) for each array of arguments.
  native.wrapper(2, (f) => function (state, calls) {
    for (let i = 0; i < calls.length; i++) state = f(state, ...calls[i]);
    return state;
  });
  // Merge: it calls merge(state, other) for each other.
  native.wrapper(3, (f) => function (state, calls) {
    for (let i = 0; i < calls.length; i++) state = f(state, calls[i]);
    return state;
  });
})(globalThis, $native);
delete globalThis.$native;
