'use strict';

// The part of MongoDB's wire protocol that commands to a test server need: OP_MSG, one
// request at a time, and the BSON types of such documents.

const net = require('node:net');
const { login } = require('./scram.js');

const OP_MSG = 2013;

function encode(doc) {
  const parts = Object.entries(doc).map(([key, value]) => element(key, value));
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(4);
  head.writeInt32LE(body.length + 5);
  return Buffer.concat([head, body, Buffer.alloc(1)]);
}

function element(key, value) {
  const [type, payload] = typed(key, value);
  return Buffer.concat([Buffer.from([type]), Buffer.from(`${key}\0`), payload]);
}

function typed(key, value) {
  const b = Buffer.alloc(8);
  switch (typeof value) {
    case 'boolean': return [0x08, Buffer.from([value ? 1 : 0])];
    case 'bigint': b.writeBigInt64LE(value); return [0x12, b];
    case 'number':
      if (Number.isInteger(value) && Math.abs(value) < 2 ** 31) { b.writeInt32LE(value); return [0x10, b.subarray(0, 4)]; }
      b.writeDoubleLE(value);
      return [0x01, b];
    case 'string': {
      const text = Buffer.from(`${value}\0`);
      const size = Buffer.alloc(4);
      size.writeInt32LE(text.length);
      return [0x02, Buffer.concat([size, text])];
    }
  }
  if (value === null) return [0x0a, Buffer.alloc(0)];
  if (value instanceof Date) { b.writeBigInt64LE(BigInt(value.getTime())); return [0x09, b]; }
  if (Buffer.isBuffer(value)) {
    const head = Buffer.alloc(5); // length and subtype 0
    head.writeInt32LE(value.length);
    return [0x05, Buffer.concat([head, value])];
  }
  if (Array.isArray(value)) return [0x04, encode(Object.assign({}, value))];
  if (typeof value === 'object') return [0x03, encode(value)];
  throw new TypeError(`${key} has a value of the type ${typeof value}, which cannot be sent`);
}

function decode(buf, array = false) {
  const doc = {};
  let at = 4;
  while (buf[at] !== 0) {
    const type = buf[at];
    const end = buf.indexOf(0, at + 1);
    const key = buf.toString('utf8', at + 1, end);
    const [value, size] = read(type, buf.subarray(end + 1));
    doc[key] = value;
    at = end + 1 + size;
  }
  return array ? Object.values(doc) : doc;
}

function read(type, b) {
  switch (type) {
    case 0x01: return [b.readDoubleLE(), 8];
    case 0x02: { const n = b.readInt32LE(); return [b.toString('utf8', 4, 3 + n), 4 + n]; }
    case 0x03: { const n = b.readInt32LE(); return [decode(b.subarray(0, n)), n]; }
    case 0x04: { const n = b.readInt32LE(); return [decode(b.subarray(0, n), true), n]; }
    case 0x05: { const n = b.readInt32LE(); return [Buffer.from(b.subarray(5, 5 + n)), 5 + n]; }
    case 0x07: return [b.toString('hex', 0, 12), 12];
    case 0x08: return [b[0] === 1, 1];
    case 0x09: return [new Date(Number(b.readBigInt64LE())), 8];
    case 0x0a: return [null, 0];
    case 0x10: return [b.readInt32LE(), 4];
    case 0x11: return [b.readBigUInt64LE(), 8];
    case 0x12: return [Number(b.readBigInt64LE()), 8];
  }
  throw new TypeError(`a value of BSON type ${type} cannot be decoded; use a driver`);
}

function message(doc, id) {
  const body = encode(doc);
  const head = Buffer.alloc(21); // header, flags, kind 0
  head.writeInt32LE(21 + body.length, 0);
  head.writeInt32LE(id, 4);
  head.writeInt32LE(OP_MSG, 12);
  return Buffer.concat([head, body]);
}

/** A connection that sends one command after the other. */
class Connection {
  #socket;
  #got = Buffer.alloc(0);
  #waiting; // for a reply
  #requests = 0;

  constructor(host, port) {
    this.#socket = net.connect(port, host);
    this.#socket.on('data', (chunk) => this.#receive(chunk));
    this.#socket.on('error', (err) => this.#fail(err));
    this.#socket.on('close', () => this.#fail(new Error('the server closed the connection')));
  }

  /** Sends a command and returns the reply. */
  run(doc) {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(message(doc, ++this.#requests));
    });
  }

  close() { this.#socket.end(); }

  #receive(chunk) {
    this.#got = Buffer.concat([this.#got, chunk]);
    if (this.#got.length < 16 || this.#got.length < this.#got.readInt32LE(0)) return;
    const body = this.#got.subarray(21);
    this.#got = Buffer.alloc(0);
    try {
      const reply = decode(body);
      if (reply.ok === 1) this.#waiting?.resolve(reply);
      else this.#fail(Object.assign(new Error(reply.errmsg), { code: reply.code, codeName: reply.codeName }));
    } catch (err) {
      this.#fail(err);
    }
  }

  #fail(err) { this.#waiting?.reject(err); }
}

/** Opens a connection, logs in if there is a user, sends one command and returns the reply. */
async function command(host, port, doc, user) {
  const connection = new Connection(host, port);
  try {
    if (user) await login((step) => connection.run(step), user);
    return await connection.run(doc);
  } finally {
    connection.close();
  }
}

module.exports = { command, encode, decode };
