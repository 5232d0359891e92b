'use strict';

const crypto = require('node:crypto');

/**
 * Logs in with SCRAM-SHA-256 (RFC 7677): run sends a command on the connection that is logged in.
 */
async function login(run, { username, password, database = 'admin' }) {
  const nonce = crypto.randomBytes(24).toString('base64');
  const name = username.replace(/=/g, '=3D').replace(/,/g, '=2C');
  const bare = `n=${name},r=${nonce}`;
  const first = await run({ saslStart: 1, mechanism: 'SCRAM-SHA-256', payload: Buffer.from(`n,,${bare}`), options: { skipEmptyExchange: true }, $db: database });
  const challenge = first.payload.toString();
  const { r, s, i } = fields(challenge);
  if (!r.startsWith(nonce)) throw new Error('the server has changed the nonce');
  const salted = crypto.pbkdf2Sync(password.normalize('NFKC'), Buffer.from(s, 'base64'), Number(i), 32, 'sha256');
  const withoutProof = `c=biws,r=${r}`;
  const text = `${bare},${challenge},${withoutProof}`;
  const clientKey = hmac(salted, 'Client Key');
  const signature = hmac(crypto.createHash('sha256').update(clientKey).digest(), text);
  const proof = Buffer.from(clientKey.map((byte, at) => byte ^ signature[at])).toString('base64');
  const last = await run({ saslContinue: 1, conversationId: first.conversationId, payload: Buffer.from(`${withoutProof},p=${proof}`), $db: database });
  if (fields(last.payload.toString()).v !== hmac(hmac(salted, 'Server Key'), text).toString('base64')) throw new Error('the server does not know the password');
}

/** The fields of a SCRAM message: name=value, separated by commas. */
function fields(message) {
  return Object.fromEntries(message.split(',').map((field) => [field[0], field.slice(2)]));
}

function hmac(key, text) {
  return crypto.createHmac('sha256', key).update(text).digest();
}

module.exports = { login };
