// The web console over a large server: ten thousand collections, and thousands of
// expirations a second. An update must not hold up the browser for 100 ms: the figures say
// what it takes on this machine. Run by TestConsoleLoad.
'use strict';
const assert = require('assert');
const { check } = require('../node/checks.js');
const { open } = require('./browser.js');

const { CONSOLE: site, SMALL: small, COLLECTIONS: collections, EVENTS: events } = process.env;

async function run(db, command) {
  const r = await fetch(`${site}api/command`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ db, command }) });
  const reply = await r.json();
  assert.equal(reply.ok, 1, JSON.stringify(reply).slice(0, 300));
  return reply;
}
const measures = (page, name) => page.page.evaluate(n => performance.getEntriesByName(n).map(m => m.duration), name);
const quantile = (list, q) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(q * list.length))];
const text = list => `${list.length} updates: median ${quantile(list, 0.5).toFixed(1)} ms, at most ${quantile(list, 1).toFixed(1)} ms`;

// update updates the overview by one of its buttons, and waits until it is drawn.
async function update(page, turn) {
  const before = (await measures(page, 'overview')).length;
  await page.page.evaluate(name => [...document.querySelectorAll('button')].find(b => b.innerText === name).click(), ['Day', 'Week', 'Hour'][turn % 3]);
  await page.page.waitForFunction(n => performance.getEntriesByName('overview').length > n, {}, before);
}

// opened opens the overview of a server, and counts the forecasts that it asks for and the
// length of the replies.
async function opened(page, address, n) {
  const asked = [];
  page.page.on('response', async r => {
    if (r.url().endsWith('/api/command') && r.request().postData()?.includes('expirationStats')) asked.push((await r.text().catch(() => '')).length);
  });
  await page.page.evaluateOnNewDocument(() => {
    window.longTasks = [];
    new PerformanceObserver(l => window.longTasks.push(...l.getEntries().map(e => e.duration))).observe({ type: 'longtask', buffered: true });
  });
  await page.page.bringToFront(); // a page behind another is not drawn
  await page.visit(address);
  await page.page.waitForFunction(k => document.querySelector('main')?.innerText.includes(`${Number(k).toLocaleString('en')} collections`), {}, n);
  return asked;
}

async function overview(page, other) {
  await check(`an update of the overview with ${collections} collections`, async () => {
    const asked = await opened(page, site, collections), few = await opened(other, small, 100);
    const first = await page.page.evaluate(() => window.longTasks.splice(0));
    if (first.length) console.log(`# the first page, tasks of more than 50 ms, ${text(first)}`);
    for (let i = 0; i < 12; i++) for (const p of [page, other]) {
      await p.page.bringToFront();
      await update(p, i);
    }
    const took = await measures(page, 'overview'), compared = await measures(other, 'overview'), long = await page.page.evaluate(() => window.longTasks);
    console.log(`# overview, ${text(took)}; with 100 collections, ${text(compared)}; ${long.length ? `tasks of more than 50 ms, ${text(long)}` : 'no task of more than 50 ms'}`);
    console.log(`# ${asked.length} forecasts of ${Math.max(...asked)} bytes at most; with 100 collections, ${few.length} of ${Math.max(...few)}`);
    // How long an update takes depends on the machine and on what else runs on it; how much
    // work it is does not depend on the number of collections.
    assert.ok(Math.max(...asked) < 3 * Math.max(...few), `a forecast of ${Math.max(...asked)} bytes, with 100 collections ${Math.max(...few)}`);
    // A button that is pressed during the periodic update replaces it, so that its answer is
    // not drawn: on a slow machine each update may have asked twice.
    assert.ok(asked.length <= 2 * took.length, `${asked.length} forecasts for ${took.length} updates`);
    assert.ok(quantile(took, 0.5) < 10 + 3 * quantile(compared, 0.5), `${text(took)}, with 100 collections ${text(compared)}`);
    await page.page.bringToFront();
  });
  await check('one page of the collections is shown, and others can be found', async () => {
    const rows = () => page.page.$$eval('main tbody tr', all => all.length);
    const cell = () => page.page.$eval('main tbody td', e => e.innerText);
    assert.equal(await rows(), 50);
    const first = await cell();
    await page.click('::-p-xpath(//button[normalize-space(.)="Next"])');
    await page.page.waitForFunction(f => document.querySelector('main tbody td').innerText !== f, {}, first);
    assert.equal(await rows(), 50);
    await page.page.type('main input[type=search]', `c${Number(collections) - 1}`);
    await page.page.waitForFunction(n => document.querySelector('main tbody td').innerText === n, {}, `load.c${Number(collections) - 1}`);
    assert.equal(await rows(), 1);
    const begin = Date.now();
    await page.page.evaluate(() => { const i = document.querySelector('main input[type=search]'); i.value = ''; i.dispatchEvent(new Event('input')); });
    await page.page.waitForFunction(() => document.querySelectorAll('main tbody tr').length === 50);
    assert.ok(Date.now() - begin < 5000);
  });
}

async function live(page) {
  await check(`the page of events while ${events} documents a second expire`, async () => {
    await page.page.evaluate(() => { location.hash = '#/live'; });
    await page.page.waitForFunction(() => document.querySelector('main')?.innerText.includes('connected'));
    await page.page.evaluate(() => { window.longTasks.length = 0; });
    const begin = Date.now(), seconds = 6;
    for (let second = 0; second < seconds; second++) {
      const documents = Array.from({ length: Number(events) }, () => ({ at: { $date: '2020-01-01T00:00:00Z' } }));
      await run('load', { insert: 'events', documents, ordered: false });
      await run('admin', { runExpirationPass: 1, targets: ['ttl'] });
      const left = begin + 1000 * (second + 1) - Date.now();
      if (left > 0) await new Promise(done => setTimeout(done, left));
    }
    const total = (seconds * Number(events)).toLocaleString('en');
    await page.page.waitForFunction(n => document.querySelector('main').innerText.includes(`${n} since`), {}, total);
    const elapsed = (Date.now() - begin) / 1000;
    const took = await measures(page, 'live'), long = await page.page.evaluate(() => window.longTasks);
    console.log(`# live, ${total} events in ${elapsed.toFixed(1)} s, ${text(took)}; ${long.length ? `tasks of more than 50 ms, ${text(long)}` : 'no task of more than 50 ms'}`);
    assert.ok(took.length <= 2 + elapsed * 5, `${took.length} updates in ${elapsed} s`);
    assert.ok(await page.page.$$eval('main .event', all => all.length) <= 200);
    assert.match(await page.page.$eval('main', e => e.innerText), /earlier events not shown/);
    await page.whole();
  });
}

async function main() {
  const { browser, page } = await open(process.env.BROWSER, process.env.PROFILE);
  try {
    page.page.setDefaultTimeout(60000);
    const other = await page.another();
    for (const p of [page, other]) await p.page.setViewport({ width: 1440, height: 900 });
    await overview(page, other);
    await other.page.close();
    await live(page);
  } finally {
    await browser.close();
  }
  console.log('done');
}

main().catch(e => { console.log(`not ok the console: ${String(e.stack).split('\n').join('\\n')}`); process.exit(1); });
