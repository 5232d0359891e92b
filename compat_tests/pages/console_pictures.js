// The pictures of the web console for the documentation: each page at three widths in both
// colours, over a server whose clock stands still. Run by TestConsolePictures.
'use strict';
const assert = require('assert');
const path = require('path');
const { open } = require('./browser.js');

const { CONSOLE: site, OUT: out, BROWSER, PROFILE } = process.env;
const start = Date.UTC(2026, 0, 1);
const at = seconds => ({ $date: new Date(start + seconds * 1000).toISOString() });

async function run(db, command) {
  const r = await fetch(`${site}api/command`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ db, command }) });
  const reply = await r.json();
  assert.equal(reply.ok, 1, JSON.stringify(reply));
  return reply;
}

// A few collections of each kind. Numbers are spread by a fixed sequence.
let seed = 7;
const random = n => { seed = (seed * 48271) % 2147483647; return seed % n; };

async function fill() {
  const ttl = (name, field, seconds) => ({ createIndexes: name, indexes: [{ key: { [field]: 1 }, name: `${field}_1`, expireAfterSeconds: seconds }] });
  await run('shop', ttl('carts', 'touched', 3600));
  await run('shop', { insert: 'carts', documents: Array.from({ length: 140 }, (_, i) => ({ _id: `cart-${1000 + i}`, customer: ['anna', 'ben', 'carla', 'dmitri', 'eve'][i % 5], items: 1 + random(6), touched: at(-random(3600)) })) });
  await run('shop', ttl('vouchers', 'validUntil', 0));
  await run('shop', { insert: 'vouchers', documents: Array.from({ length: 60 }, (_, i) => ({ _id: i + 1, percent: 5 + random(20), validUntil: at(600 + random(600000)) })) });
  await run('web', { create: 'sessions', documentTtl: { default: 1800 }, onExpire: { deadLetterTo: 'ended' } });
  await run('web', { insert: 'sessions', documents: [...Array.from({ length: 90 }, (_, i) => ({ _id: `s${String(i).padStart(3, '0')}`, user: ['anna', 'ben', 'carla'][i % 3], ttl: 300 + random(3300) })), { _id: 'kiosk', user: 'lobby', ttl: -1 }, { _id: 'anna', user: 'anna' }] });
  await run('iot', { create: 'weather', timeseries: { timeField: 't', metaField: 'place', granularity: 'minutes' }, expireAfterSeconds: 86400 });
  for (const place of ['roof', 'cellar', 'garden']) await run('iot', { insert: 'weather', documents: Array.from({ length: 24 }, (_, i) => ({ t: at(-86000 + i * 3600), place, celsius: random(30) })) });
  await run('audit', { create: 'entries', clusteredIndex: { key: { _id: 1 }, unique: true }, expireAfterSeconds: 2592000 });
  await run('audit', { insert: 'entries', documents: Array.from({ length: 40 }, (_, i) => ({ _id: at(-2592000 + 400 + i * 86), by: 'eve' })) });
  await run('orders', { create: 'invoices', messageQueue: { defaultMessageTimeToLive: 'PT45M', deadLetteringOnMessageExpiration: true } });
  await run('orders', { mqSend: 'invoices', messages: Array.from({ length: 34 }, (_, i) => ({ order: 4711 + i, total: 10 + random(90), ...(i % 6 === 5 ? { _mq: { scheduledEnqueueTimeUtc: at(900 + i * 60) } } : i < 4 ? { _mq: { timeToLive: 60 * (i + 1) } } : {}) })) });
  await run('orders', { create: 'mails', messageQueue: { defaultMessageTimeToLive: 'P1D' } });
  await run('orders', { mqSend: 'mails', messages: Array.from({ length: 9 }, (_, i) => ({ to: `customer ${i}` })) });
}

// A topic with three subscriptions, one of them with sessions.
async function topics() {
  const rule = (name, filter, action) => ({ name, filter, ...(action && { action }) });
  const subscribe = (name, options) => run('orders', { create: name, messageSubscription: { topic: 'parcels', ...options } });
  await run('orders', { create: 'parcels', messageTopic: { defaultMessageTimeToLive: 'P1D', requiresDuplicateDetection: true } });
  await subscribe('tracking', {});
  await subscribe('customs', { deadLetteringOnMessageExpiration: true, rules: [rule('abroad', { country: { $nin: ['DE', 'AT'] } }, { $set: { checked: false } }), rule('dear', { value: { $gt: 1000 }, country: 'AT' })] });
  await subscribe('couriers', { requiresSession: true, forwardDeadLetteredMessagesTo: 'mails', rules: [rule('near', { country: { $in: ['DE', 'AT'] } })] });
  const parcel = i => ({ country: ['DE', 'AT', 'FR', 'JP'][i % 4], value: 50 * random(40), _mq: { sessionId: ['Anna', 'Ben', 'Carla'][i % 3], messageId: `parcel-${i}`, ...(i > 20 ? { scheduledEnqueueTimeUtc: at(1800 + 600 * i) } : {}) } });
  await run('orders', { mqSend: 'parcels', messages: Array.from({ length: 24 }, (_, i) => parcel(i)) });
  const { session } = await run('orders', { mqAcceptSession: 'couriers' });
  await run('orders', { mqSetSessionState: 'couriers', sessionToken: session.sessionToken, state: { delivered: 4 } });
}

// Collections without a policy, among them one whose TTL index was forgotten.
async function without() {
  await run('shop', { insert: 'tokens', documents: Array.from({ length: 300 }, (_, i) => ({ token: `t${i}`, createdAt: at(-i) })) });
  for (const name of ['customers', 'prices', 'stock']) await run('shop', { insert: name, documents: [{ _id: 1 }] });
}

async function later() {
  for (let i = 0; i < 5; i++) await run('admin', { testClock: 1, advanceSeconds: 60 });
  const { messages: [m] } = await run('orders', { mqReceive: 'invoices', mode: 'peekLock' });
  await run('orders', { mqDeadLetter: 'invoices', lockToken: m._mq.lockToken, reason: 'AddressUnknown', description: 'The parcel came back.' });
  await run('orders', { mqReceive: 'invoices', mode: 'peekLock' });
  await run('shop', { insert: 'carts', documents: Array.from({ length: 12 }, (_, i) => ({ _id: `late-${i}`, customer: 'ben', items: 1, touched: at(-3600) })) }); // overdue
}

// The pages; DUSKDB_CONSOLE_PICTURES may name some of them.
const named = process.env.DUSKDB_CONSOLE_PICTURES.split(',');
const pages = [['overview', '#/'], ['collection', '#/collection/web/sessions'], ['document', '#/collection/web/sessions/%22s007%22'], ['without-policy', '#/collections'], ['queues', '#/queues'], ['queue', '#/queue/orders/invoices/deadLettered'], ['topic', '#/queue/orders/parcels'], ['sessions', '#/queue/orders/couriers/sessions'], ['live', '#/live'], ['passes', '#/passes'], ['try', '#/try']];

// show opens a page anew and waits until it stands.
async function show(page, hash) {
  await page.goto('about:blank');
  await page.goto(site + hash, { waitUntil: 'load' });
  await page.waitForFunction(() => document.querySelector('main h1') && !document.querySelector('main').innerText.includes('Loading'));
  if (hash === "#/passes") await new Promise(done => setTimeout(done, 4500)); // some points of the charts
}

// expire lets a few sessions and messages go while the page of expirations is open.
async function expire(page) {
  await page.waitForFunction(() => document.querySelector('main').innerText.includes('connected'));
  await run('web', { insert: 'sessions', documents: [{ ttl: 1 }, { ttl: 2 }, { ttl: 3 }] });
  await run('shop', { insert: 'carts', documents: Array.from({ length: 5 }, (_, i) => ({ _id: `gone-${seed}-${i}`, touched: at(-3590 + i) })) });
  await run('orders', { mqSend: 'invoices', messages: [{ order: 1, _mq: { timeToLive: 2 } }] });
  await run('admin', { testClock: 1, advanceSeconds: 4, runDuePasses: false });
  await run('admin', { runExpirationPass: 1 });
  random(2);
  await page.waitForFunction(() => document.querySelectorAll('main .event').length >= 8);
}

async function main() {
  const { browser, page: tab } = await open(BROWSER, PROFILE);
  const page = tab.page;
  try {
    await run('admin', { testClock: 1, freeze: true });
    await fill();
    await without();
    await later();
    await topics();
    for (const [name, hash] of pages.filter(([name]) => named.includes('1') || named.includes(name))) {
      await page.setViewport({ width: 1440, height: 900 });
      await show(page, hash);
      if (name === 'live') await expire(page);
      for (const scheme of ['light', 'dark']) for (const width of [1440, 768, 360]) {
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }, { name: 'prefers-reduced-motion', value: 'reduce' }]);
        await page.setViewport({ width, height: 900 });
        await new Promise(done => setTimeout(done, 300));
        await tab.whole();
        const height = Math.min(1600, await page.evaluate(() => document.documentElement.scrollHeight));
        await page.setViewport({ width, height }); // what is sticky stays at the top
        await new Promise(done => setTimeout(done, 150));
        await page.screenshot({ path: path.join(out, `${name}-${scheme}-${width}.png`) });
      }
    }
  } finally {
    await browser.close();
  }
  console.log('ok pictures');
  console.log('done');
}

main().catch(e => { console.log(`not ok pictures: ${String(e.stack).split('\n').join('\\n')}`); process.exit(1); });
