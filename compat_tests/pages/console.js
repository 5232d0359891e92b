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
const scale = (page, seconds) => page.page.select('#clock select', String(seconds));

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
    await go(page, '#/try');
    await page.page.evaluate(() => [...document.querySelectorAll('main .card')].find(c => c.innerText.includes('Document TTL')).querySelector('button').click());
    await says(page, 'h1', 'sessions');
    await scale(page, 3600);
    await page.page.focus('#clock input[type=range]');
    for (let i = 0; i < 4; i++) await page.page.keyboard.press('PageUp'); // 40 % of an hour
    await says(page, '#clock-preview', 'would expire');
    await page.page.keyboard.press('Enter');
    await says(page, '#clock', 'Jumped 24 min');
    assert.equal(await total('sessions'), 2);
  });
  await check('a time series goes by buckets', async () => {
    await go(page, '#/try');
    await page.page.evaluate(() => [...document.querySelectorAll('main .card')].find(c => c.innerText.includes('time series')).querySelector('button').click());
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
    await go(page, '#/try');
    await page.page.evaluate(() => [...document.querySelectorAll('main .card')].find(c => c.innerText.includes('queue with dead')).querySelector('button').click());
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
    assert.ok(rows.some(r => r[0] === 'messages dead-lettered' || r[0] === 'queue'), 'no row of the queue');
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
    await page.page.waitForFunction(() => document.querySelector('#clock select').value === '86400');
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
  for (const [name, hash] of [['overview', '#/'], ['collection', '#/collection/try/sessions'], ['queues', '#/queues'], ['queue', '#/queue/try/jobs'], ['live', '#/live'], ['passes', '#/passes'], ['try', '#/try']]) {
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
