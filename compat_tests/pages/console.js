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
    await page.click('dialog button.primary');
    await press(page, 'Active');
    await says(page, '[role=tabpanel]', 'edited');
    await press(page, 'Resubmit all …');
    await page.click('dialog button.primary');
    await says(page, '[role=tabpanel]', 'crop');
    await press(page, 'Purge …');
    await says(page, 'dialog', '2 messages');
    await page.click('dialog button.danger');
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
    assert.equal(cards.length, 7);
    assert.deepEqual(cards.filter(([, b]) => b !== 'Copy PromQL'), []);
    await page.page.bringToFront();
    for (const [title, query] of [['From expiry to removal', 'histogram_quantile(0.99, sum by (policy, le) (rate(duskdb_expiry_lag_seconds_bucket[5m])))'], ['Size of the log', 'duskdb_storage_file_bytes']]) {
      await page.page.evaluate(t => [...document.querySelectorAll('main .card')].find(c => c.querySelector('h2')?.innerText === t).querySelector('button').click(), title);
      await page.page.waitForFunction(async q => await navigator.clipboard.readText() === q, {}, query);
    }
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
    if (!process.env.QUICK) await access(page);
  } finally {
    await browser.close();
  }
  console.log('done');
}

main().catch(e => { console.log(`not ok the console: ${String(e.stack).split('\n').join('\\n')}`); process.exit(1); });
