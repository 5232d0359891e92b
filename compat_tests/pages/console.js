// The web console in a browser: the README's kinds of expiry by the slider, queues, and
// the accessibility of every page. Run by TestConsole.
'use strict';
const assert = require('assert');
const { check } = require('../node/checks.js');
const { open } = require('./browser.js');

const site = process.env.CONSOLE;

// run runs a command as the pages do.
async function run(db, command) {
  const r = await fetch(`${site}api/command`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ db, command }) });
  const reply = await r.json();
  assert.equal(reply.ok, 1, JSON.stringify(reply));
  return reply;
}
const total = async name => (await run('try', { count: name })).n;

// go shows a page and waits until it has loaded.
async function go(page, hash) {
  await page.page.evaluate(h => { location.hash = h; }, hash);
  await page.page.waitForFunction(() => document.querySelector('main h1'));
  await page.page.waitForFunction(() => !document.querySelector('main').innerText.includes('Loading'));
}
const press = (page, text) => page.click(`::-p-xpath(//button[normalize-space(.)="${text}"])`);
// answer presses a button of a dialog, which closes when its command has succeeded: until
// then the page behind it takes no clicks.
async function answer(page, kind) {
  await page.click(`dialog button.${kind}`);
  await page.page.waitForFunction(() => !document.querySelector('dialog'));
}
const says = (page, selector, text) => page.page.waitForFunction((s, t) => document.querySelector(s)?.innerText.includes(t), {}, selector, text);

// fits fails if the page is wider than the window.
async function fits(page, width) {
  const wide = await page.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `${width} px: the page is ${wide} px too wide`);
}

// drag moves the slider to a part of its length, and looks at the preview before it lets go.
async function drag(page, part, expected) {
  const box = await (await page.page.$('#clock input[type=range]')).boundingBox();
  const y = box.y + box.height / 2;
  await page.page.mouse.move(box.x + 8, y);
  await page.page.mouse.down();
  await page.page.mouse.move(box.x + 8 + (box.width - 16) * part, y, { steps: 6 });
  await says(page, '#clock-preview', expected);
  return () => page.page.mouse.up();
}
// example runs the example of a card of the page Try it.
async function example(page, text) {
  await go(page, '#/try');
  await page.page.evaluate(t => [...document.querySelectorAll('main .card')].find(c => c.innerText.includes(t)).querySelector('button').click(), text);
}
const scale = (page, text) => page.click(`::-p-xpath(//*[@id="clock"]//button[.="${text}"])`);

async function flavours(page) {
  await check('an empty server shows the examples', async () => {
    await page.visit(site);
    await says(page, 'h1', 'See time at work');
    await page.page.waitForFunction(() => document.querySelector('#clock .marks').innerText.includes('+1 h'));
  });
  await check('a TTL index by the slider', async () => {
    await press(page, 'Run'); // the first card
    await says(page, 'h1', 'carts');
    await says(page, 'main', 'anna');
    const drop = await drag(page, 0.8, '2 documents would expire');
    assert.equal(await total('carts'), 3, 'the preview must not remove anything');
    await drop();
    await says(page, '#clock', 'removed or moved 2 documents');
    assert.equal(await total('carts'), 1);
  });
  await check('Escape lets go without a jump', async () => {
    const before = (await run('admin', { testClock: 1 })).offsetMillis;
    const drop = await drag(page, 0.9, 'would expire');
    await page.page.keyboard.press('Escape');
    await drop();
    await new Promise(done => setTimeout(done, 200));
    assert.equal((await run('admin', { testClock: 1 })).offsetMillis, before);
  });
  await check('document TTL by the keyboard', async () => {
    await example(page, 'Document TTL');
    await says(page, 'h1', 'sessions');
    await scale(page, 'Hour');
    await page.page.focus('#clock input[type=range]');
    for (let i = 0; i < 4; i++) await page.page.keyboard.press('PageUp'); // 40 % of an hour
    await says(page, '#clock-preview', 'would expire');
    await page.page.keyboard.press('Enter');
    await says(page, '#clock', 'Jumped 24 min');
    assert.equal(await total('sessions'), 2);
  });
  await check('a time series goes by buckets', async () => {
    await example(page, 'time series');
    await says(page, 'h1', 'weather24h');
    await press(page, '+1 d');
    await says(page, '#clock', 'Jumped 1 d');
    assert.equal(await total('weather24h'), 1);
    await press(page, '+1 h');
    await says(page, '#clock', 'Jumped 1 h');
    await press(page, '+1 min');
    await says(page, '#clock', 'Jumped 1 min');
    assert.equal(await total('weather24h'), 0);
  });
  await check('why a document goes', async () => {
    await go(page, '#/collection/try/sessions');
    await press(page, 'Why?');
    await says(page, 'dialog', 'ttl is -1'); // the one that is left
    await page.shot('why');
    await page.page.keyboard.press('Escape');
  });
}

async function queues(page) {
  await check('dead letters are resubmitted, edited and purged', async () => {
    await example(page, 'queue with dead');
    await says(page, 'h1', 'jobs');
    await says(page, 'main', 'resize');
    await press(page, '+1 h');
    await says(page, '#clock', 'removed or moved');
    await press(page, 'Dead letters');
    await says(page, 'main', 'TTLExpiredException');
    await page.shot('dead-letters');
    await press(page, 'Edit …');
    await page.page.waitForSelector('dialog textarea');
    await page.page.$eval('dialog textarea', e => { e.value = '{"task": "edited"}'; });
    await answer(page, 'primary');
    await press(page, 'Active');
    await says(page, '[role=tabpanel]', 'edited');
    await press(page, 'Resubmit all …');
    await answer(page, 'primary');
    await says(page, '[role=tabpanel]', 'crop');
    await press(page, 'Purge …');
    await says(page, 'dialog', '2 messages');
    await answer(page, 'danger');
    await says(page, '[role=tabpanel]', 'No messages');
    assert.equal(await total('jobs'), 0);
  });
  await check('arrows move between the tabs', async () => {
    await page.page.focus('[role=tab][aria-selected=true]');
    await page.page.keyboard.press('ArrowRight');
    await page.page.waitForFunction(() => document.activeElement?.id === 'tab-scheduled');
  });
}

const buttons = page => page.page.$$eval('main button', all => all.map(b => b.innerText.trim()));
// rowOf is the row of the tables of the page that begins with a name.
const rowOf = async (page, name) => (await page.table('main')).find(r => r[0] === name);
const showsRow = (page, name, ...cells) => page.page.waitForFunction((n, wanted) => {
  const row = [...document.querySelectorAll('main tr')].find(r => r.children[0].innerText.trim() === n);
  return row && wanted.every(w => row.innerText.includes(w));
}, {}, name, cells);

async function topics(page) {
  await check('a topic shows its subscriptions with their rules and numbers', async () => {
    await example(page, 'topic with two');
    await says(page, 'h1', 'orders');
    await says(page, 'main', '2 subscriptions');
    await page.shot('topic');
    assert.deepEqual(await rowOf(page, 'bills'), ['bills', '$Default: all messages', '2', '0', '0', '0', '0']);
    assert.deepEqual(await rowOf(page, 'large'), ['large', 'large: total > 100', '1', '0', '0', '0', '0']);
    assert.deepEqual((await buttons(page)).filter(b => /…|Receive/.test(b)), ['Send …', 'Purge …']);
  });
  await check('what is sent to a topic reaches the subscriptions that select it', async () => {
    await press(page, 'Send …');
    await page.page.waitForSelector('dialog textarea');
    await page.page.$eval('dialog textarea', e => { e.value = '{"total": 500}'; });
    await answer(page, 'primary');
    await showsRow(page, 'bills', '\t3\t');
    await showsRow(page, 'large', '\t2\t');
  });
  await check('a topic keeps scheduled messages, which can be cancelled', async () => {
    const { now } = await run('admin', { testClock: 1 });
    await run('try', { mqSend: 'orders', messages: [{ later: true, _mq: { scheduledEnqueueTimeUtc: { $date: new Date(Date.parse(now.$date) + 9000000).toISOString() } } }] });
    await says(page, 'main', 'active in 2.5 h');
    await page.click('::-p-xpath(//main//button[.="Cancel"])'); // the clock has another
    await says(page, 'main', 'No messages');
    assert.equal((await run('try', { mqStats: 'orders' })).scheduled, 0);
  });
  await check('a subscription shows its topic and rules, receives, and does not send', async () => {
    await page.click('::-p-xpath(//main//a[.="large"])');
    await says(page, 'h1', 'large');
    await says(page, 'main', 'of the topic orders');
    assert.deepEqual(await rowOf(page, 'large'), ['large', 'total > 100', 'nothing']);
    assert.ok(!(await buttons(page)).includes('Send …'));
    await press(page, 'Receive one');
    await says(page, '[role=tabpanel]', '"total":300');
    await says(page, '[role=tabpanel]', 'sent as number 2');
    await page.shot('subscription');
    await press(page, 'Complete');
    await says(page, '[role=tabpanel]', 'No messages');
    await page.click('::-p-xpath(//main//a[.="orders"])');
    await says(page, 'h1', 'orders');
  });
  await check('rules are said in words', async () => {
    const rules = [
      [{ correlationFilter: { region: 'eu', at: { $date: '2026-01-01T00:00:00Z' } } }, 'region = "eu" and at = 2026-01-01 00:00:00Z', 'nothing'],
      [{ filter: { n: { $gte: 5, $lt: { $numberLong: '9' } }, kind: { $in: ['a', 'b'] } } }, 'n ≥ 5 and n < 9 and kind is one of ["a","b"]', 'nothing'],
      [{ filter: { $or: [{ x: { $exists: false } }, { x: null }] } }, 'x does not exist or x = null', 'nothing'],
      [{ filter: { $or: [{ a: 1, b: 2 }, { $and: [{ c: { $ne: 3 } }, { d: 4 }] }], e: 5 } }, '(a = 1 and b = 2 or (c ≠ 3 and d = 4)) and e = 5', 'nothing'],
      [{ filter: { name: { $regularExpression: { pattern: '^a', options: 'i' } }, of: { a: 1 } }, action: { $set: { big: true, by: 'rule' }, $unset: { name: 1 } } }, 'name matches /^a/i and of = {"a":1}', 'set big = true, by = "rule", remove name'],
      [{ filter: { $expr: { $gt: ['$a', '$b'] } }, action: { $inc: { n: 1 } } }, '{"$expr":{"$gt":["$a","$b"]}}', '{"$inc":{"n":1}}'],
      [{ filter: { tags: { $size: 2 } } }, 'tags: {"$size":2}', 'nothing'],
      [{ filter: {} }, 'all messages', 'nothing'],
      [{ filter: false }, 'no message', 'nothing'],
    ];
    await run('try', { create: 'picky', messageSubscription: { topic: 'orders', rules: rules.map(([r], i) => ({ name: `r${i}`, ...r })) } });
    await go(page, '#/queue/try/picky');
    for (const [i, [, selects, then]] of rules.entries()) assert.deepEqual(await rowOf(page, `r${i}`), [`r${i}`, selects, then]);
    await page.shot('rules');
    await go(page, '#/queue/try/orders');
    await showsRow(page, 'picky', 'and 6 more');
    await run('try', { collMod: 'picky', messageSubscription: { rules: [] } });
    await showsRow(page, 'picky', 'no rules');
    await run('try', { drop: 'picky' });
    await says(page, 'main', '2 subscriptions');
  });
  await check('the list of queues says what each is, and where it forwards to', async () => {
    await run('try', { create: 'inbox', messageQueue: { forwardTo: 'jobs', forwardDeadLetteredMessagesTo: 'orders' } });
    await go(page, '#/queues');
    await page.shot('kinds');
    const of = async name => (await rowOf(page, `try.${name}`)).map(c => c.replace(/\s+/g, ' '));
    assert.equal((await of('jobs'))[1], 'queue');
    assert.deepEqual((await of('orders')).slice(1, 7), ['topic subscriptions bills, large', '–', '0', '–', '–', '–']);
    assert.equal((await of('large'))[1], 'subscription of the topic orders');
    assert.equal((await of('inbox'))[1], 'queue forwards to jobs dead letters go to orders');
    const links = await page.page.$$eval('main td a', all => all.map(a => a.hash));
    for (const name of ['orders', 'bills', 'large', 'jobs']) assert.ok(links.filter(l => l === `#/queue/try/${name}`).length > 1, `no link to ${name}`);
  });
  await check('a queue that forwards says where to, and receives nothing', async () => {
    await go(page, '#/queue/try/inbox');
    await says(page, 'main', 'forwards to jobs');
    assert.ok(!(await buttons(page)).includes('Receive one'));
    await press(page, 'Send …');
    await answer(page, 'primary');
    await page.click('::-p-xpath(//main//a[.="jobs"])');
    await says(page, 'h1', 'jobs');
    await press(page, 'Active');
    await says(page, '[role=tabpanel]', 'sent as number 1');
    await run('try', { mqPurge: 'jobs' });
  });
  await check('the overview names topics and subscriptions', async () => {
    await go(page, '#/');
    await showsRow(page, 'try.orders', 'topic');
    await showsRow(page, 'try.large', 'subscription');
    await showsRow(page, 'try.jobs', 'queue');
  });
  await check('the clock takes the messages of subscriptions', async () => {
    await press(page, '+1 h');
    for (const name of ['try.large', 'try.bills']) await showsRow(page, name, '\t0\t0\t–'); // nothing pending
    assert.equal(await total('large') + await total('bills'), 0);
  });
}

async function sessions(page) {
  const message = (sessionId, n) => ({ n, _mq: { sessionId } });
  await check('Receive one takes the next session, and its messages', async () => {
    await run('try', { create: 'chats', messageQueue: { requiresSession: true, requiresDuplicateDetection: true } });
    await run('try', { mqSend: 'chats', messages: [message('ann', 1), message('ben', 2), message('ann', 3)] });
    await go(page, '#/queue/try/chats');
    await says(page, 'main', 'has sessions');
    await press(page, 'Receive one');
    await says(page, 'main .note', 'You hold the session ann');
    await says(page, '[role=tabpanel]', '"n":1');
    await says(page, '[role=tabpanel]', 'session ann');
    await press(page, 'Receive one');
    await says(page, '[role=tabpanel]', '"n":3');
    await page.shot('session');
    for (const width of [360, 768, 1440]) {
      await page.page.setViewport({ width, height: 900 });
      await fits(page, width);
    }
    await press(page, 'Receive one');
    await says(page, 'main [role=status]', 'The session ann has no message to receive.');
  });
  await check('messages that were received are settled together', async () => {
    await page.click('button[aria-label="Complete all 2"]');
    await says(page, 'main [role=status]', '2 messages completed');
    await says(page, '[role=tabpanel]', 'No messages');
    assert.equal(await total('chats'), 1);
  });
  await check('the tab of sessions shows locks, states and messages', async () => {
    await run('try', { mqSend: 'chats', messages: [message('ann', 4)] });
    await press(page, 'Sessions');
    await showsRow(page, 'ann', 'held by you, ends in', 'no', '1');
    assert.deepEqual(await rowOf(page, 'ben'), ['ben', 'free', 'no', '1', 'Accept']);
    assert.ok(!(await buttons(page)).includes('Purge …'));
    await page.shot('sessions');
    await press(page, 'State …');
    await page.page.waitForSelector('dialog textarea');
    await page.page.$eval('dialog textarea', e => { e.value = '{"step": 2}'; });
    await answer(page, 'primary');
    await says(page, 'main .note', '{"step":2}');
    await showsRow(page, 'ann', 'yes');
    await press(page, 'Renew');
    await says(page, 'main [role=status]', 'held for longer');
    await press(page, 'Release');
    await says(page, 'main [role=status]', 'The session ann was released.');
    await showsRow(page, 'ann', 'free');
  });
  await check('a session is accepted by its name, and its messages return when it is released', async () => {
    await page.click('button[aria-label="Accept the session ben"]');
    await says(page, 'main .note', 'You hold the session ben');
    await press(page, 'Receive one');
    await says(page, '[role=tabpanel]', '"n":2');
    await press(page, 'Release');
    await says(page, '[role=tabpanel]', 'No messages');
    assert.deepEqual((await run('try', { mqSessions: 'chats' })).sessions.map(s => [s.sessionId, s.active]), [['ann', 1], ['ben', 1]]);
  });
  await check('a session whose lock has ended is let go', async () => {
    await press(page, 'Receive one');
    await says(page, 'main .note', 'You hold the session');
    await run('admin', { testClock: 1, advanceSeconds: 61 });
    await page.page.waitForFunction(() => document.querySelector('main .note').hidden);
    await says(page, '[role=tabpanel]', 'No messages');
  });
  await check('many sessions are shown by pages', async () => {
    await run('try', { mqSend: 'chats', messages: Array.from({ length: 60 }, (_, i) => message(`s${100 + i}`, i)) });
    await press(page, 'Sessions');
    await showsRow(page, 's147', 'free');
    assert.equal(await rowOf(page, 's148'), undefined);
    await press(page, 'Next');
    await showsRow(page, 's159', 'free');
    await says(page, 'main', 'page 2');
    await press(page, 'Previous');
    await showsRow(page, 'ann', 'free');
  });
  await check('a duplicate is dropped, and the page says so', async () => {
    await run('try', { mqPurge: 'chats' });
    for (const said of ['Sent', 'was dropped']) {
      await page.page.evaluate(() => scrollTo(0, 0)); // away from under the clock
      await press(page, 'Send …');
      await page.page.waitForSelector('dialog textarea');
      const [, session, id] = await page.page.$$('dialog input');
      await session.type('ann');
      await id.type('once');
      await answer(page, 'primary');
      await says(page, 'main [role=status]', said);
    }
    await press(page, 'Active');
    await says(page, '[role=tabpanel]', 'message id once');
    await run('try', { mqSend: 'chats', messages: [message('ben', 5)] });
  });
  await check('of several messages each is settled for itself', async () => {
    await run('try', { mqSend: 'jobs', messages: [{ task: 'kept' }, { task: 'gone' }] });
    await go(page, '#/queue/try/jobs');
    await press(page, 'Receive one');
    await says(page, '[role=tabpanel]', 'Complete');
    await press(page, 'Receive one');
    await page.page.waitForSelector('button[aria-label="Abandon all 2"]');
    await run('try', { delete: 'jobs', deletes: [{ q: { task: 'gone' }, limit: 1 }] });
    await page.click('button[aria-label="Abandon all 2"]');
    await says(page, 'main [role=status]', '1 message abandoned');
    await says(page, 'main .card > [role=alert]', '1 not abandoned: The lock supplied is invalid.');
    await run('try', { mqPurge: 'jobs' });
  });
}

async function live(page) {
  await check('expirations appear as they happen', async () => {
    await go(page, '#/live');
    await says(page, 'main', 'connected');
    const now = (await run('admin', { testClock: 1 })).now;
    await run('try', { insert: 'carts', documents: [{ _id: 'late', touched: { $date: '2020-01-01T00:00:00Z' } }] });
    assert.ok(now);
    await run('admin', { runExpirationPass: 1 });
    await says(page, 'main', 'late');
    await page.shot('live');
  });
  await check('an event leads to what has moved', async () => {
    await run('try', { collMod: 'carts', onExpire: { deadLetterTo: 'abandoned' } });
    await run('try', { insert: 'carts', documents: [{ _id: 'kept', touched: { $date: '2020-01-01T00:00:00Z' } }] });
    await run('try', { mqSend: 'jobs', messages: [{ task: 'too late', _mq: { timeToLive: 1 } }] });
    await run('admin', { testClock: 1, advanceSeconds: 2 });
    await run('admin', { runExpirationPass: 1 });
    await says(page, 'main', 'kept');
    const links = () => page.page.$$eval('main .event', all => all.map(e => [e.innerText, [...e.querySelectorAll('a')].at(-1).href.replace(/.*#/, '#')]));
    await page.page.waitForFunction(() => [...document.querySelectorAll('main .event')].filter(e => e.innerText.includes('moved to')).length >= 2);
    const moved = (await links()).filter(([text]) => text.includes('moved to'));
    const [kept, late] = ['try.carts', 'try.jobs'].map(ns => moved.find(([text]) => text.includes(ns))[1]);
    await go(page, kept);
    await says(page, 'h1', 'abandoned');
    await says(page, 'main', '"reason": "TTLExpiredException"');
    await page.page.evaluate(h => { location.hash = h; }, late);
    await says(page, 'h1', 'jobs');
    await says(page, '[role=tab][aria-selected=true]', 'Dead letters');
    await says(page, '[role=tabpanel]', 'too late');
    await run('try', { mqPurge: 'jobs', state: 'deadLettered' });
    await run('try', { collMod: 'carts', onExpire: 'off' });
  });
  await check('an event of a subscription leads to where its dead letters are forwarded', async () => {
    await run('try', { create: 'short', messageSubscription: { topic: 'orders', defaultMessageTimeToLive: 1, deadLetteringOnMessageExpiration: true, forwardDeadLetteredMessagesTo: 'jobs' } });
    await go(page, '#/live');
    await says(page, 'main', 'connected');
    await run('try', { mqSend: 'orders', messages: [{ total: 7 }] });
    await run('admin', { testClock: 1, advanceSeconds: 2 });
    await run('admin', { runExpirationPass: 1 });
    await page.page.waitForFunction(() => [...document.querySelectorAll('main .event')].some(e => e.innerText.includes('try.short') && e.innerText.includes('subscription')));
    const to = await page.page.$$eval('main .event', all => [...all.find(e => e.innerText.includes('try.short')).querySelectorAll('a')].at(-1).hash);
    await page.page.evaluate(h => { location.hash = h; }, to);
    await says(page, 'h1', 'jobs');
    await says(page, '[role=tabpanel]', 'dead letter of short: TTLExpiredException');
    await run('try', { mqPurge: 'jobs' });
    await run('try', { drop: 'short' });
  });
  await check('pages that were left give their connection back', async () => {
    for (let i = 0; i < 8; i++) { // a browser has six connections for a server
      await page.page.goto('about:blank');
      await page.page.goto(`${site}#/live`);
      await says(page, 'main', 'connected');
    }
    await go(page, '#/try');
  });
}

async function passes(page) {
  await check('the delays of removals, the log and slow operations', async () => {
    const numbers = { $unwind: '$n' };
    await run('try', { aggregate: 'sessions', pipeline: [{ $limit: 1 }, { $set: { n: { $range: [0, 1000] } } }, numbers, { $set: { n: { $range: [0, 1000] } } }, numbers, { $match: { n: -1 } }], cursor: {} });
    const log = (await run('admin', { getLog: 'global' })).log.filter(l => l.includes('"Slow query"'));
    assert.ok(log.length, 'a million documents took less than 100 ms');
    await go(page, '#/passes');
    const rows = await page.table('main');
    const lag = rows.find(r => r[0] === 'TTL index' && r.length === 5);
    assert.ok(lag && Number(lag[1]) >= 3 && /\d (ms|s|min|h|d)$/.test(lag[4]), JSON.stringify(lag));
    assert.ok(rows.some(r => r[0] === 'messages dead-lettered' || r[0] === 'messages'), 'no row of messages');
    assert.ok(rows.some(r => r[1] === 'aggregate' && r[2] === 'try.sessions'), JSON.stringify(rows));
    const main = await page.page.$eval('main', e => e.innerText);
    assert.match(main, /Size of the log\s+(Copy PromQL)?\s*[\d.]+ (B|kB|MB)/);
  });
  await check('each chart has its PromQL to copy', async () => {
    await page.page.browserContext().overridePermissions(new URL(site).origin, ['clipboard-read', 'clipboard-write', 'clipboard-sanitized-write']);
    const cards = await page.page.$$eval('main .card:has(svg)', all => all.map(c => [c.querySelector('h2').innerText, c.querySelector('button')?.innerText]));
    assert.equal(cards.length, 9);
    assert.deepEqual(cards.filter(([, b]) => b !== 'Copy PromQL'), []);
    await page.page.bringToFront();
    for (const [title, query] of [['From expiry to removal', 'histogram_quantile(0.99, sum by (policy, le) (rate(duskdb_expiry_lag_seconds_bucket[5m])))'], ['Size of the log', 'duskdb_storage_file_bytes']]) {
      await page.page.evaluate(t => [...document.querySelectorAll('main .card')].find(c => c.querySelector('h2')?.innerText === t).querySelector('button').click(), title);
      await page.page.waitForFunction(async q => await navigator.clipboard.readText() === q, {}, query);
    }
    await page.whole();
  });
}

// tabTo presses the tabulator until an element has the focus whose name begins with a text.
// The place of the focus must be visible.
async function tabTo(page, name) {
  for (let i = 0; i < 120; i++) {
    await page.page.keyboard.press('Tab');
    const at = await page.page.evaluate(() => {
      const e = document.activeElement, s = getComputedStyle(e);
      return { name: (e.getAttribute('aria-label') ?? e.labels?.[0]?.innerText ?? e.innerText ?? '').trim(), ring: s.outlineStyle !== 'none' && s.outlineWidth !== '0px' };
    });
    if (!at.name.startsWith(name)) continue;
    assert.ok(at.ring, `the focus on ${at.name} cannot be seen`);
    return;
  }
  throw new Error(`the tabulator does not lead to ${name}`);
}

// The way through every page with the keys alone.
async function keyboard(page) {
  const keys = page.page.keyboard, press = async (...list) => { for (const k of list) await keys.press(k); };
  const follow = async (name, h1) => { await tabTo(page, name); await press('Enter'); await says(page, 'h1', h1); };
  await page.page.setViewport({ width: 1440, height: 900 });
  await check('keys alone, from the link to the page to an example', async () => {
    await page.visit('about:blank');
    await page.visit(site);
    await says(page, 'h1', 'What expires');
    await press('Tab');
    assert.equal(await page.page.evaluate(() => document.activeElement.innerText), 'Skip to the page');
    await press('Enter');
    await follow('Try it', 'Try it');
    await tabTo(page, 'Run pass'); // of the clock
    await tabTo(page, 'Run'); // the first card
    await press('Enter');
    await says(page, 'h1', 'carts');
    await says(page, 'main', 'anna');
  });
  await check('keys alone, why a document goes, another policy, and the horizon', async () => {
    await tabTo(page, 'Why does');
    await press('Enter');
    await says(page, 'dialog', 'touched');
    await press('Escape');
    await page.page.waitForFunction(() => !document.querySelector('dialog'));
    await tabTo(page, 'Document TTL');
    await press('ArrowDown', 'ArrowDown');
    await tabTo(page, 'Seconds');
    await keys.down('Control'); await press('a'); await keys.up('Control');
    await keys.type('900');
    await press('Enter'); // sends the form
    await says(page, 'main', 'document TTL 900 s');
    await tabTo(page, 'Day');
    await press('Enter');
    await page.page.waitForFunction(() => document.activeElement?.innerText === 'Day' && document.activeElement.getAttribute('aria-pressed') === 'true');
    await says(page, '#clock .marks', '+1 d');
    await tabTo(page, 'Hour');
    await press('Enter');
  });
  await check('keys alone, the slider of the clock', async () => {
    await tabTo(page, 'Move the clock forward');
    await press('PageUp', 'PageUp', 'PageUp', 'PageUp', 'PageUp');
    await says(page, '#clock-preview', 'would expire');
    await press('Escape');
    await page.page.waitForFunction(() => document.querySelector('#clock-preview').innerText === '');
    await press('PageUp', 'PageUp', 'PageUp', 'PageUp', 'PageUp');
    await says(page, '#clock-preview', 'would expire');
    await press('Enter');
    await says(page, '#clock', 'Jumped 30 min');
  });
  await check('keys alone, a queue', async () => {
    await follow('Queues', 'Queues');
    await follow('try.jobs', 'jobs');
    await tabTo(page, 'Send');
    await press('Enter');
    await says(page, 'dialog', 'Send a message');
    await tabTo(page, 'Send');
    await press('Enter');
    await page.page.waitForFunction(() => !document.querySelector('dialog'));
    await tabTo(page, 'Active');
    await press('ArrowRight');
    await page.page.waitForFunction(() => document.activeElement?.id === 'tab-scheduled');
    await press('ArrowLeft');
    await says(page, '[role=tabpanel]', 'example');
    await tabTo(page, 'Purge');
    await press('Enter');
    await says(page, 'dialog', '1 message');
    await tabTo(page, 'Delete 1');
    await press('Enter');
    await says(page, '[role=tabpanel]', 'No messages');
  });
  await check('keys alone, a session', async () => {
    await follow('Queues', 'Queues');
    await follow('try.chats', 'chats');
    await tabTo(page, 'Active');
    await press('ArrowLeft');
    await page.page.waitForFunction(() => document.activeElement?.id === 'tab-sessions');
    const onTab = () => page.page.waitForFunction(() => document.activeElement?.id === 'tab-sessions');
    await tabTo(page, 'Accept the session ben');
    await press('Enter');
    await says(page, 'main .note', 'You hold the session ben');
    await onTab();
    await keys.down('Shift'); await press('Tab', 'Tab'); await keys.up('Shift');
    await press('Enter'); // Renew
    await says(page, 'main [role=status]', 'held for longer');
    assert.equal(await page.page.evaluate(() => document.activeElement.innerText), 'Renew');
    await tabTo(page, 'Release');
    await press('Enter');
    await page.page.waitForFunction(() => document.querySelector('main .note').hidden);
    await onTab();
  });
  await check('keys alone, expirations, passes, the colours and the overview', async () => {
    await follow('Live', 'Live');
    await tabTo(page, 'Pause');
    await press('Enter');
    await page.page.waitForFunction(() => document.activeElement?.innerText === 'Resume');
    await follow('Passes', 'Passes');
    await tabTo(page, 'Copy PromQL');
    await tabTo(page, 'Switch between light and dark');
    const before = await page.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await press('Enter');
    assert.notEqual(await page.page.evaluate(() => getComputedStyle(document.body).backgroundColor), before);
    await press('Enter');
    await follow('Overview', 'What expires');
    await tabTo(page, 'Find a collection');
    await keys.type('SESS');
    await page.page.waitForFunction(() => document.querySelectorAll('main tbody tr').length === 1 && document.querySelector('main tbody').innerText.includes('try.sessions'));
    await tabTo(page, 'Order of the collections');
    await follow('try.sessions', 'sessions');
    await page.page.evaluate(() => { localStorage.removeItem('theme'); delete document.documentElement.dataset.theme; });
    await page.whole();
  });
}

// Every page, in both colours and three widths, without serious faults of accessibility.
async function access(page) {
  const axe = require('fs').readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
  for (const [name, hash] of [['overview', '#/'], ['without a policy', '#/collections'], ['collection', '#/collection/try/sessions'], ['document', '#/collection/try/sessions/2'], ['queues', '#/queues'], ['queue', '#/queue/try/jobs'], ['topic', '#/queue/try/orders'], ['subscription', '#/queue/try/large'], ['sessions', '#/queue/try/chats/sessions'], ['live', '#/live'], ['passes', '#/passes'], ['try', '#/try']]) {
    for (const scheme of ['light', 'dark']) {
      await check(`${name} is accessible in ${scheme} colours`, async () => {
        await page.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }, { name: 'prefers-reduced-motion', value: 'reduce' }]);
        for (const width of [360, 768, 1440]) {
          await page.page.setViewport({ width, height: 900 });
          await go(page, hash);
          await new Promise(done => setTimeout(done, 150));
          const wide = await page.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(wide <= 0, `${width} px: the page is ${wide} px too wide`);
          await page.shot(`${name}-${scheme}-${width}`);
        }
        await page.page.evaluate(axe);
        const { violations } = await page.page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa'] }));
        const serious = violations.filter(v => v.impact === 'serious' || v.impact === 'critical');
        assert.deepEqual(serious.map(v => `${v.id}: ${v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(' | ')}`), []);
        await page.whole();
      });
    }
  }
}

async function main() {
  const { browser, page } = await open(process.env.BROWSER, process.env.PROFILE);
  try {
    await page.page.setViewport({ width: 1440, height: 900 });
    await flavours(page);
    await queues(page);
    await topics(page);
    await sessions(page);
    await live(page);
    await passes(page);
    await keyboard(page);
    if (!process.env.QUICK) await access(page);
  } finally {
    await browser.close();
  }
  console.log('done');
}

main().catch(e => { console.log(`not ok the console: ${String(e.stack).split('\n').join('\\n')}`); process.exit(1); });
