// The web console over a large server: ten thousand collections, and thousands of
// expirations a second. An update must not hold up the browser for 100 ms. Run by
// TestConsoleLoad.
'use strict';
const assert = require('assert');
const { check } = require('../node/checks.js');
const { open } = require('./browser.js');

const { CONSOLE: site, COLLECTIONS: collections, EVENTS: events } = process.env;

async function run(db, command) {
  const r = await fetch(`${site}api/command`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ db, command }) });
  const reply = await r.json();
  assert.equal(reply.ok, 1, JSON.stringify(reply).slice(0, 300));
  return reply;
}
const measures = (page, name) => page.page.evaluate(n => performance.getEntriesByName(n).map(m => m.duration), name);
const quantile = (list, q) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(q * list.length))];
const text = list => `${list.length} updates: median ${quantile(list, 0.5).toFixed(1)} ms, at most ${quantile(list, 1).toFixed(1)} ms`;

async function overview(page) {
  await check(`an update of the overview with ${collections} collections`, async () => {
    await page.page.evaluateOnNewDocument(() => {
      window.longTasks = [];
      new PerformanceObserver(l => window.longTasks.push(...l.getEntries().map(e => e.duration))).observe({ type: 'longtask', buffered: true });
    });
    await page.visit(site);
    await page.page.waitForFunction(n => document.querySelector('main')?.innerText.includes(`${Number(n).toLocaleString('en')} collections`), {}, collections);
    const first = await page.page.evaluate(() => window.longTasks.splice(0));
    if (first.length) console.log(`# the first page, tasks of more than 50 ms, ${text(first)}`);
    for (let i = 0; i < 9; i++) {
      const before = (await measures(page, 'overview')).length;
      await page.page.evaluate(name => [...document.querySelectorAll('main button')].find(b => b.innerText === name).click(), ['Day', 'Week', 'Hour'][i % 3]);
      await page.page.waitForFunction(n => performance.getEntriesByName('overview').length > n, {}, before);
    }
    const took = await measures(page, 'overview'), long = await page.page.evaluate(() => window.longTasks);
    console.log(`# overview, ${text(took)}; ${long.length ? `tasks of more than 50 ms, ${text(long)}` : 'no task of more than 50 ms'}`);
    assert.ok(quantile(took, 0.5) < 100, text(took));
    assert.ok(!long.length || quantile(long, 0.5) < 100, text(long));
  });
  await check('one page of the collections is shown, and others can be found', async () => {
    const rows = () => page.page.$$eval('main tbody tr', all => all.length);
    const cell = () => page.page.$eval('main tbody td', e => e.innerText);
    assert.equal(await rows(), 100);
    const first = await cell();
    await page.click('::-p-xpath(//button[normalize-space(.)="Next"])');
    await page.page.waitForFunction(f => document.querySelector('main tbody td').innerText !== f, {}, first);
    assert.equal(await rows(), 100);
    await page.page.type('main input[type=search]', `c${Number(collections) - 1}`);
    await page.page.waitForFunction(n => document.querySelector('main tbody td').innerText === n, {}, `load.c${Number(collections) - 1}`);
    assert.equal(await rows(), 1);
    const begin = Date.now();
    await page.page.evaluate(() => { const i = document.querySelector('main input[type=search]'); i.value = ''; i.dispatchEvent(new Event('input')); });
    await page.page.waitForFunction(() => document.querySelectorAll('main tbody tr').length === 100);
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
    assert.ok(quantile(took, 0.5) < 100, text(took));
    assert.ok(await page.page.$$eval('main .event', all => all.length) <= 200);
    assert.match(await page.page.$eval('main', e => e.innerText), /earlier events not shown/);
    await page.whole();
  });
}

async function main() {
  const { browser, page } = await open(process.env.BROWSER, process.env.PROFILE);
  try {
    page.page.setDefaultTimeout(60000);
    await page.page.setViewport({ width: 1440, height: 900 });
    await overview(page);
    await live(page);
  } finally {
    await browser.close();
  }
  console.log('done');
}

main().catch(e => { console.log(`not ok the console: ${String(e.stack).split('\n').join('\\n')}`); process.exit(1); });
