// The web console over a collection of a million documents and two hundred collections without a
// policy: what the pages ask for and draw, and the browser's long tasks. Run by TestConsoleLarge.
'use strict';
const assert = require('assert');
const { check } = require('../node/checks.js');
const { open } = require('./browser.js');

const { CONSOLE: site, BROWSER, PROFILE } = process.env;
const documents = Number(process.env.DOCUMENTS);
const largest = 200_000; // bytes of a reply
const elements = 4000; // of a page

const says = (page, selector, text) =>
  page.page.waitForFunction((s, t) => document.querySelector(s)?.innerText.includes(t), {}, selector, text);
const press = (page, text) => page.click(`::-p-xpath(//button[normalize-space(.)="${text}"])`);

// watch notes the long tasks of the browser, and the length of each reply and how long it took.
async function watch(page) {
  const replies = [];
  page.page.on('response', async r => {
    if (!r.url().endsWith('/api/command')) return;
    const text = await r.text().catch(() => '');
    replies.push({ command: Object.keys(JSON.parse(r.request().postData()).command)[0], bytes: text.length });
  });
  await page.page.evaluateOnNewDocument(() => {
    window.longTasks = [];
    new PerformanceObserver(l => window.longTasks.push(...l.getEntries().map(e => e.duration))).observe({
      type: 'longtask',
      buffered: true,
    });
  });
  return replies;
}

// traced does something, and returns the processor time of the longest task of the page meanwhile, in
// milliseconds: unlike the long tasks that browsers tell of, it is the same on a busy machine.
async function traced(page, act) {
  let longest, tasks;
  await page.page.tracing.start({ categories: ['toplevel', 'disabled-by-default-devtools.timeline'] });
  try {
    await act();
  } finally {
    const { traceEvents: all } = JSON.parse(Buffer.from(await page.page.tracing.stop()).toString());
    const thread = e => `${e.pid}/${e.tid}`,
      frames = all.flatMap(e => e.args?.data?.frames ?? (e.args?.data?.processId ? [e.args.data] : [])),
      own = new Set([...frames.filter(f => f.url?.startsWith(site)).map(f => f.processId), ...all.filter(e => e.args?.data?.url?.startsWith(site)).map(e => e.pid)]),
      main = e => e.name === 'thread_name' && e.args.name === 'CrRendererMain' && own.has(e.pid), // the browser has pages of its own
      pages = new Set(all.filter(main).map(thread));
    longest = Math.max(0, ...all.filter(e => e.name === 'RunTask' && pages.has(thread(e))).map(e => (e.tdur ?? 0) / 1000));
    tasks = all.filter(e => e.name === 'RunTask' && e.tdur !== undefined && pages.has(thread(e))).length;
  }
  assert.ok(tasks > 0, 'the browser tells of no task');
  return longest;
}

async function main() {
  const { browser, page } = await open(BROWSER, PROFILE);
  page.page.setDefaultTimeout(60000);
  const replies = await watch(page);
  // step does something and says what it took. How long tasks take depends on the machine and
  // on what else runs on it; what is asked and drawn does not.
  const step = (name, act) =>
    check(name, async () => {
      await page.page.evaluate(() => window.longTasks?.splice(0));
      replies.length = 0;
      const begin = performance.now();
      const busiest = await traced(page, act);
      const took = performance.now() - begin,
        long = await page.page.evaluate(() => window.longTasks),
        drawn = await page.page.evaluate(() => document.querySelectorAll('*').length),
        most = Math.max(0, ...replies.map(r => r.bytes));
      const tasks = long.length ? `tasks above 50 ms: ${long.map(n => n.toFixed(0)).join(', ')} ms` : 'no task above 50 ms';
      console.log(`# ${name}: ${took.toFixed(0)} ms, ${replies.length} replies of ${most} bytes at most, ${drawn} elements, at most ${busiest.toFixed(0)} ms of processor time in a task, ${tasks}`);
      assert.ok(most <= largest, `a reply of ${most} bytes`);
      assert.ok(drawn <= elements, `${drawn} elements`);
      await page.whole();
    });
  const go = hash => page.page.evaluate(h => { location.hash = h; }, hash);
  const search = async (filter, sort) => {
    for (const [label, text] of [['Filter', filter], ['Sort', sort]])
      await page.page.$eval(`::-p-xpath(//label[starts-with(normalize-space(.), "${label}")]//input)`, (e, t) => { e.value = t; }, text);
    await press(page, 'Find');
  };
  const first = text => page.page.waitForFunction(t => document.querySelector('main .documents td:nth-child(3)')?.innerText === t, {}, text);
  try {
    for (const width of [1440, 360]) {
      await page.page.setViewport({ width, height: 900 });
      const at = `${width} px, `;
      await step(`${at}overview`, async () => {
        await page.visit('about:blank');
        await page.visit(site);
        await says(page, 'main', '1 collection in which something expires and 200 without a policy');
      });
      await step(`${at}collections without a policy`, async () => {
        await go('#/collections');
        await says(page, 'main', '200 collections');
        await press(page, 'Next');
        await says(page, 'main', '51 to 100');
      });
      await step(`${at}collection`, async () => {
        await go('#/collection/load/events');
        await says(page, 'main', `${documents.toLocaleString('en')} documents.`);
        await first('0');
      });
      await step(`${at}next page`, async () => {
        await press(page, 'Next');
        await first('25');
        await press(page, 'Previous');
        await first('0');
      });
      await step(`${at}JSON`, async () => {
        await press(page, 'JSON');
        await page.page.waitForSelector('main .documents pre');
        await press(page, 'Table');
        await first('0');
      });
      await step(`${at}filter with an index`, async () => {
        await search('{user: "user87"}', '');
        await says(page, 'main', 'match.');
        await first('87');
      });
      await step(`${at}sort by an index`, async () => {
        await search('', '{touched: -1}');
        await first(String(documents - 1));
      });
      await step(`${at}filter without an index ends by its time or finds`, async () => {
        await search('{total: {$gt: 975}, note: {$exists: false}}', '{_id: 1}');
        await page.page.waitForFunction(() =>
          [...document.querySelectorAll('.query .bad')].some(e => e.innerText.includes('No index helps')) ||
          document.querySelector('main .documents td:nth-child(3)')?.innerText === '976');
      });
      await step(`${at}what a TTL index would remove`, async () => {
        await page.page.evaluate(() => {
          const [field] = document.querySelectorAll('form.newest input');
          field.value = 'total';
          document.querySelector('form.newest button').click();
        });
        await says(page, 'dialog', 'No document has a date in “total”');
        await page.click('::-p-xpath(//dialog//button[.="Cancel"])');
      });
      await step(`${at}clear`, async () => {
        await press(page, 'Clear');
        await first('0');
      });
    }
  } finally {
    await browser.close();
  }
  console.log('done');
}

main().catch(e => {
  console.log(`not ok the console over many documents: ${String(e.stack).split('\n').join('\\n')}`);
  process.exit(1);
});
