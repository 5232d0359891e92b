// What the engine's scopes begin with: BSON in JavaScript. Bytes cross the
// border to the server as strings of the characters U+0000 to U+00FF. A document
// is a view of its bytes until a script changes it, so that what goes in
// unchanged comes out byte by byte. $native is for the prelude; $entry for the
// server.
(function (global, ask) {
  "use strict";

  // Names that a client's stored functions and variables may hide.
  const {
    Array, BigInt, Date: RealDate, Error, Float64Array, Function, Map, Number, Object, Proxy, Reflect, RegExp, Set, String, Symbol, TypeError, Uint8Array, WeakMap,
    decodeURIComponent, encodeURIComponent, escape, eval: indirectEval, parseInt, undefined, unescape,
  } = global;
  const char = String.fromCharCode, {apply, construct} = Reflect;
  const T = {
    double: 1, string: 2, doc: 3, array: 4, bin: 5, undef: 6, oid: 7, bool: 8, date: 9, none: 10, regex: 11, ptr: 12, code: 13,
    symbol: 14, scope: 15, int: 16, ts: 17, long: 18, dec: 19, max: 127, min: 255, ref: 200,
  };
  const protos = new Map();

  // --- errors with a code ---

  const codes = new WeakMap();
  const fail = (code, message) => {
    const e = new Error(message);
    codes.set(e, code);
    throw e;
  };

  // --- numbers and text in bytes ---

  const octets = new Uint8Array(8), doubles = new Float64Array(octets.buffer);
  const i32 = (s, p) => s.charCodeAt(p) | s.charCodeAt(p + 1) << 8 | s.charCodeAt(p + 2) << 16 | s.charCodeAt(p + 3) << 24;
  const u32 = (s, p) => i32(s, p) >>> 0;
  const word = (n) => char(n & 255, n >> 8 & 255, n >> 16 & 255, n >>> 24);
  const f64 = (s, p) => {
    for (let i = 0; i < 8; i++) octets[i] = s.charCodeAt(p + i);
    return doubles[0];
  };
  const put64 = (n) => {
    doubles[0] = n;
    return char(octets[0], octets[1], octets[2], octets[3], octets[4], octets[5], octets[6], octets[7]);
  };
  const long = (b) => word(Number(BigInt.asIntN(32, b))) + word(Number(BigInt.asIntN(32, b >> 32n)));
  const wide = /[^\x00-\x7f]/, lone = /[\ud800-\udfff]/;
  const utf8 = (s) => wide.test(s) ? unescape(encodeURIComponent(lone.test(s) ? s.toWellFormed() : s)) : s;
  const broken = (s) => {
    let out = "";
    for (let i = 0; i < s.length; i++) out += s.charCodeAt(i) < 128 ? s[i] : "\ufffd";
    return out;
  };
  const text = (s) => {
    if (!wide.test(s)) return s;
    try { return decodeURIComponent(escape(s)); } catch { return broken(s); }
  };

  // --- values of types that JavaScript lacks ---

  class Scalar {
    #type; #sub; #data;
    constructor(type, sub, data) {
      this.#type = type;
      this.#sub = sub;
      this.#data = data;
      Object.setPrototypeOf(this, protos.get(type));
    }
    static is(v) { return typeof v === "object" && v !== null && #type in v; }
    static type(v) { return v.#type; }
    static sub(v) { return v.#sub; }
    static data(v) { return v.#data; }
  }
  const scalar = (v) => {
    if (!Scalar.is(v)) throw new TypeError("not a BSON value");
    return v;
  };
  const hexOf = (data) => {
    let s = "";
    for (let i = 0; i < data.length; i++) s += (data.charCodeAt(i) + 256).toString(16).slice(1);
    return s;
  };
  const ofHex = (hex) => {
    if (!/^([0-9a-fA-F]{2})*$/.test(hex)) fail(2, "invalid hex string");
    let s = "";
    for (let i = 0; i < hex.length; i += 2) s += char(parseInt(hex.slice(i, i + 2), 16));
    return s;
  };

  // --- views ---

  const sizes = (type, s, p) => {
    switch (type) {
      case T.double: case T.date: case T.ts: case T.long: return 8;
      case T.string: case T.code: case T.symbol: return 4 + i32(s, p);
      case T.doc: case T.array: case T.scope: return i32(s, p);
      case T.bin: return 5 + i32(s, p);
      case T.oid: return 12;
      case T.bool: return 1;
      case T.regex: return s.indexOf("\0", s.indexOf("\0", p) + 1) + 1 - p;
      case T.ptr: return 4 + i32(s, p) + 12;
      case T.int: return 4;
      case T.dec: return 16;
    }
    return 0;
  };

  // each calls f(name, type, position of the value, position of the element,
  // position of the next one) until it returns true.
  const each = (s, start, f) => {
    const end = start + i32(s, start) - 1;
    for (let p = start + 4; p < end;) {
      const type = s.charCodeAt(p), z = s.indexOf("\0", p + 1), value = z + 1, next = value + sizes(type, s, value);
      if (f(s.slice(p + 1, z), type, value, p, next)) return;
      p = next;
    }
  };

  const views = new WeakMap();
  class View {
    constructor(s, start) {
      this.s = s;
      this.start = start;
      this.seen = null; // objects that were looked at, by their positions
      this.copied = false;
      this.target = null;
    }
    // find returns the value of a field, or this view itself if it has no such field.
    find(name) {
      const s = this.s, end = this.start + i32(s, this.start) - 1, want = utf8(name);
      for (let p = this.start + 4; p < end;) {
        const type = s.charCodeAt(p), z = s.indexOf("\0", p + 1);
        if (z - p - 1 === want.length && s.startsWith(want, p + 1)) return this.value(type, z + 1, p);
        p = z + 1 + sizes(type, s, z + 1);
      }
      return this;
    }
    value(type, at, element) {
      if (this.seen !== null && this.seen.has(element)) return this.seen.get(element);
      const v = decode(type, this.s, at);
      if (typeof v === "object" && v !== null || typeof v === "function") {
        if (this.seen === null) this.seen = new Map();
        this.seen.set(element, v);
      }
      return v;
    }
    names() {
      const out = new Set();
      each(this.s, this.start, (name) => { out.add(text(name)); });
      return Array.from(out);
    }
    // copy makes the target an ordinary object with all fields.
    copy() {
      if (this.copied) return;
      this.copied = true;
      each(this.s, this.start, (name, type, at, element) => {
        name = text(name);
        if (!Object.prototype.hasOwnProperty.call(this.target, name))
          Object.defineProperty(this.target, name, {value: this.value(type, at, element), writable: true, enumerable: true, configurable: true});
      });
      this.seen = null;
    }
    wasInt(name) {
      let is = false;
      const want = utf8(name);
      each(this.s, this.start, (n, type) => {
        if (n !== want) return false;
        is = type === T.int;
        return true;
      });
      return is;
    }
    // The traps of the proxy.
    get(target, name, receiver) {
      if (!this.copied && typeof name === "string") {
        const v = this.find(name);
        if (v !== this) return v;
      }
      return Reflect.get(target, name, receiver);
    }
    has(target, name) {
      return !this.copied && typeof name === "string" && this.find(name) !== this || Reflect.has(target, name);
    }
    ownKeys(target) { return this.copied ? Reflect.ownKeys(target) : this.names(); }
    getOwnPropertyDescriptor(target, name) {
      if (!this.copied && typeof name === "string") {
        const v = this.find(name);
        return v === this ? undefined : {value: v, writable: true, enumerable: true, configurable: true};
      }
      return Reflect.getOwnPropertyDescriptor(target, name);
    }
    set(target, name, v, receiver) {
      this.copy();
      return Reflect.set(target, name, v, views.get(receiver) === this ? target : receiver);
    }
    defineProperty(target, name, descriptor) {
      this.copy();
      return Reflect.defineProperty(target, name, descriptor);
    }
    deleteProperty(target, name) {
      this.copy();
      return Reflect.deleteProperty(target, name);
    }
    preventExtensions(target) {
      this.copy();
      return Reflect.preventExtensions(target);
    }
  }

  const isRef = (s, start) => {
    let n = 0;
    each(s, start, (name, type) => {
      if (n === 0 && !(name === "$ref" && type === T.string) || n === 1 && name !== "$id") return true;
      return ++n === 2;
    });
    return n === 2;
  };
  const newView = (s, start) => {
    const v = new View(s, start);
    v.target = s.charCodeAt(start + 5) === 36 && isRef(s, start) ? Object.create(protos.get(T.ref)) : {};
    const proxy = new Proxy(v.target, v);
    views.set(proxy, v); // a view that knew its proxy would never be freed
    return proxy;
  };

  const decode = (type, s, p) => {
    switch (type) {
      case T.double: return f64(s, p);
      case T.string: case T.symbol: return text(s.slice(p + 4, p + 3 + i32(s, p)));
      case T.doc: return newView(s, p);
      case T.array: {
        const a = [];
        each(s, p, (name, t, at) => { a.push(decode(t, s, at)); });
        return a;
      }
      case T.bin: return new Scalar(type, s.charCodeAt(p + 4), s.slice(p + 5, p + 5 + i32(s, p)));
      case T.oid: return new Scalar(type, 0, s.slice(p, p + 12));
      case T.bool: return s.charCodeAt(p) !== 0;
      case T.date: return new RealDate(i32(s, p + 4) * 4294967296 + u32(s, p));
      case T.regex: {
        const z = s.indexOf("\0", p);
        return new RegExp(text(s.slice(p, z)), text(s.slice(z + 1, s.indexOf("\0", z + 1))));
      }
      case T.ptr: {
        const n = i32(s, p), o = Object.create(protos.get(T.ptr));
        o.ns = text(s.slice(p + 4, p + 3 + n));
        o.id = new Scalar(T.oid, 0, s.slice(p + 4 + n, p + 16 + n));
        return o;
      }
      case T.code: return evaluate(text(s.slice(p + 4, p + 3 + i32(s, p))));
      case T.scope: return evaluate(text(s.slice(p + 8, p + 7 + i32(s, p + 4))));
      case T.int: return i32(s, p);
      case T.ts: case T.long: return new Scalar(type, 0, s.slice(p, p + 8));
      case T.dec: return new Scalar(type, 0, s.slice(p, p + 16));
      case T.min: case T.max: return new Scalar(type, 0, "");
    }
    return null;
  };

  const evaluate = (source) => {
    const f = indirectEval("(" + source + ")");
    if (typeof f !== "function") fail(10232, "not a function");
    return f;
  };

  // --- from JavaScript to BSON ---

  const mostBytes = 34 << 20, mostDepth = 150;
  let written = 0;
  const element = (type, name, payload) => {
    written += payload.length + name.length + 2;
    if (written > mostBytes) fail(10334, "object to insert exceeds the maximum size");
    return char(type) + name + "\0" + payload;
  };
  const stringOf = (s) => {
    s = utf8(s);
    return word(s.length + 1) + s + "\0";
  };
  const finish = (parts) => {
    const body = parts.join("");
    return word(body.length + 5) + body + "\0";
  };

  // encodeView copies the bytes of what was not looked into.
  const encodeView = (v, depth) => {
    if (v.seen === null) return v.s.slice(v.start, v.start + i32(v.s, v.start));
    const parts = [];
    each(v.s, v.start, (name, type, at, from, next) => {
      const inner = type === T.doc || type === T.array ? v.seen.get(from) : undefined;
      parts.push(inner === undefined ? v.s.slice(from, next) : encode(name, inner, false, depth + 1));
    });
    return finish(parts);
  };
  const encodeObject = (o, depth) => {
    const v = views.get(o);
    if (v !== undefined && !v.copied) return encodeView(v, depth);
    const parts = [];
    for (const name of Object.keys(o)) {
      if (name.includes("\0")) fail(16985, "JavaScript property (name) contains a null char which is not allowed in BSON. ");
      const item = o[name];
      parts.push(encode(utf8(name), item, typeof item === "number" && v !== undefined && v.wasInt(name), depth + 1));
    }
    return finish(parts);
  };
  const encodeArray = (a, depth) => {
    const parts = [];
    if (a.length > mostBytes / 8) fail(10334, "object to insert exceeds the maximum size");
    for (let i = 0; i < a.length; i++) parts.push(encode(String(i), a[i], false, depth + 1));
    return finish(parts);
  };
  const encodeCode = (name, o, depth) => {
    if (typeof o.code !== "string") fail(2, "code must be a string");
    if (typeof o.scope !== "object" || o.scope === null) return element(T.code, name, stringOf(o.code));
    const body = stringOf(o.code) + encodeObject(o.scope, depth + 1);
    return element(T.scope, name, word(body.length + 4) + body);
  };
  const timeOf = RealDate.prototype.getTime, flagsOf = Object.getOwnPropertyDescriptor(RegExp.prototype, "flags").get;
  const isDate = (o) => { try { timeOf.call(o); return true; } catch { return false; } };
  const encodeOther = (name, o, depth) => {
    if (Scalar.is(o)) {
      const data = Scalar.data(o), type = Scalar.type(o);
      return element(type, name, type === T.bin ? word(data.length) + char(Scalar.sub(o)) + data : data);
    }
    if (isDate(o)) {
      const ms = timeOf.call(o);
      return element(T.date, name, long(ms === ms ? BigInt(ms) : -(2n ** 63n)));
    }
    if (o instanceof RegExp) return element(T.regex, name, utf8(String(o.source)) + "\0" + utf8(String(flagsOf.call(o))) + "\0");
    if (Array.isArray(o)) return element(T.array, name, encodeArray(o, depth));
    const proto = Object.getPrototypeOf(o);
    if (proto !== null && proto === protos.get(T.ptr)) {
      if (!Scalar.is(o.id) || Scalar.type(o.id) !== T.oid) fail(2, "DBPointer requires an ObjectId");
      return element(T.ptr, name, stringOf(String(o.ns)) + Scalar.data(o.id));
    }
    if (proto !== null && proto === protos.get(T.code)) return encodeCode(name, o, depth);
    return element(T.doc, name, encodeObject(o, depth));
  };
  const encode = (name, v, int32, depth) => {
    if (depth > mostDepth) fail(17279, "Exceeded depth limit of 150 when converting js object to BSON. Do you have a cycle?");
    switch (typeof v) {
      case "number": return int32 && v === (v | 0) ? element(T.int, name, word(v)) : element(T.double, name, put64(v));
      case "string": return element(T.string, name, stringOf(v));
      case "boolean": return element(T.bool, name, v ? "\x01" : "\0");
      case "bigint": return element(T.long, name, long(v));
      case "undefined": return element(depth === 0 ? T.none : T.undef, name, "");
      case "function": return element(T.code, name, stringOf(String(v)));
      case "object": return v === null ? element(T.none, name, "") : encodeOther(name, v, depth);
    }
    return fail(16662, "unable to convert JavaScript property to mongo element " + name.slice(0, 40));
  };
  const encoded = (name, v) => {
    written = 0;
    return encode(name, v, false, 0);
  };

  // --- functions with arguments ---

  // The engine's bind copies all arguments in each call, to memory that does not count
  // as the script's.
  const nativeBind = Function.prototype.bind, hasInstance = Symbol.hasInstance;
  const bind = function bind(self, ...bound) {
    const f = this, target = apply(nativeBind, f, bound.length === 0 ? [self] : [self, ...bound.slice(0, f.length)]);
    const proxy = new Proxy(target, {
      apply(_, __, args) { return apply(f, self, [...bound, ...args]); },
      construct(_, args, newTarget) { return construct(f, [...bound, ...args], newTarget === proxy ? f : newTarget); },
      get(_, name, receiver) { return name === hasInstance ? (o) => o instanceof f : Reflect.get(target, name, receiver); },
    });
    return proxy;
  };
  Object.defineProperty(bind, "length", {value: 1, configurable: true});
  Object.defineProperty(bind, "prototype", {value: undefined, writable: false});
  Object.defineProperty(Function.prototype, "bind", {value: bind, writable: true, enumerable: false, configurable: true});

  // --- the time that scripts see ---

  const now = () => Number(ask(10, ""));
  function ServerDate(...args) {
    if (!new.target) return new RealDate(now()).toString();
    return construct(RealDate, args.length === 0 ? [now()] : args, new.target);
  }
  Object.defineProperty(ServerDate, "name", {value: "Date", configurable: true});
  Object.defineProperty(ServerDate, "length", {value: 7, configurable: true});
  for (const name of ["parse", "UTC"])
    Object.defineProperty(ServerDate, name, {value: RealDate[name], writable: true, enumerable: false, configurable: true});
  Object.defineProperty(ServerDate, "now", {value: now, writable: true, enumerable: false, configurable: true});
  Object.defineProperty(ServerDate, "prototype", {value: RealDate.prototype, writable: false});
  Object.defineProperty(RealDate.prototype, "constructor", {value: ServerDate, writable: true, enumerable: false, configurable: true});
  Object.defineProperty(global, "Date", {value: ServerDate, writable: true, enumerable: false, configurable: true});

  // --- for the prelude ---

  const wrappers = [(f) => f];
  const make = (type, sub, data) => new Scalar(type, sub, data);
  global.$native = {
    proto(type, prototype) { protos.set(type, prototype); },
    make(type, sub, hex) { return make(type, sub, ofHex(hex)); },
    type(v) { return Scalar.is(v) ? Scalar.type(v) : 0; },
    sub(v) { return Scalar.sub(scalar(v)); },
    len(v) { return Scalar.data(scalar(v)).length; },
    hex(v) { return hexOf(Scalar.data(scalar(v))); },
    word(v, i) {
      const data = Scalar.data(scalar(v));
      if (data.length < 4 * i + 4) throw new TypeError("not a BSON value");
      return u32(data, 4 * i);
    },
    num(v) {
      const data = Scalar.data(scalar(v));
      switch (Scalar.type(v)) {
        case T.long: return i32(data, 4) * 4294967296 + u32(data, 0);
        case T.int: return i32(data, 0);
      }
      throw new TypeError("not a number of BSON");
    },
    long(hi, lo) { return make(T.long, 0, word(lo | 0) + word(hi | 0)); },
    int(_, n) { return make(T.int, 0, word(n | 0)); },
    timestamp(t, i) { return make(T.ts, 0, word(i | 0) + word(t | 0)); },
    ask(question, s) {
      if (s.length > mostBytes / 2) throw new TypeError("the argument is too long");
      const answer = ask(question, utf8(String(s)));
      return typeof answer === "string" ? text(answer) : null;
    },
    bson(question, ...values) {
      const parts = values.map((v, i) => encoded(String(i), v === undefined ? null : v));
      return Number(ask(question, finish(parts)));
    },
    gc() {},
    fail,
    wrapper(wrap, f) { wrappers[wrap] = f; },
  };

  // --- for the server ---

  const functions = [];
  // Names that are not defined stand without quotes in MongoDB's messages.
  const unquoted = (s) => s.replace(/^((?:ReferenceError: )?)'([^']*)' is not defined$/, "$1$2 is not defined");
  const report = (e) => {
    written = 0;
    const parts = [], put = (name, f) => {
      try { parts.push(encode(name, String(f()), false, 1)); } catch {} // what cannot be told is left out
    };
    const isError = e instanceof Error, code = isError && codes.get(e) || 0;
    parts.push(element(T.int, "code", word(code)), element(T.bool, "error", isError ? "\x01" : "\0"));
    put("text", () => unquoted(String(e)));
    if (isError) {
      put("message", () => unquoted(String(e.message)));
      put("stack", () => e.stack);
    }
    return "E" + finish(parts);
  };
  const guarded = (f) => (...args) => {
    try { return f(...args); } catch (e) { return report(e); }
  };
  global.$entry = {
    fn: guarded((source, wrap) => {
      const f = indirectEval(source);
      if (typeof f !== "function") fail(10232, "not a function");
      return "H" + (functions.push(wrappers[wrap](f)) - 1);
    }),
    set: guarded((doc) => {
      each(doc, 0, (name, type, at) => {
        Object.defineProperty(global, text(name), {value: decode(type, doc, at), writable: true, enumerable: true, configurable: true});
        return true;
      });
      return "";
    }),
    call: guarded((handle, self, args, truth) => {
      const list = [];
      let me;
      if (self !== null) me = newView(self, 0);
      if (args !== null) each(args, 0, (name, type, at) => { list.push(decode(type, args, at)); });
      if (truth) {
        global.obj = me;
        return apply(functions[handle], me, list) ? "T" : "F";
      }
      return "R" + finish([encoded("", apply(functions[handle], me, list))]);
    }),
  };
})(globalThis, $ask);
delete globalThis.$ask;
