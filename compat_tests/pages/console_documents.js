// The documents of a collection in the web console: found, read, changed; and what creates
// collections. Run by TestConsoleDocuments.
'use strict';
const assert = require('assert');
const { check } = require('../node/checks.js');
const { open } = require('./browser.js');

const site = process.env.CONSOLE;

// run runs a command as the pages do; canonical: the reply has the types of all values.
async function run(db, command, canonical) {
  const r = await fetch(`${site}api/command${canonical ? '?json=canonical' : ''}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ db, command }),
  });
  const reply = await r.json();
  assert.equal(Number(reply.ok.$numberDouble ?? reply.ok), 1, JSON.stringify(reply));
  return reply;
}

async function go(page, hash) {
  await page.page.evaluate(h => {
    location.hash = h;
  }, hash);
  await loaded(page);
}
const loaded = page =>
  page.page.waitForFunction(() => document.querySelector('main h1') && !document.querySelector('main').innerText.includes('Loading'));
// told waits for what the page says it has done, and until it has been drawn anew.
const told = async (page, text) => {
  await says(page, 'main .note.good', text);
  await loaded(page);
};
const button = text => `::-p-xpath(//button[normalize-space(.)="${text}"])`;
const press = (page, text) => page.click(button(text));
const says = (page, selector, text) =>
  page.page.waitForFunction((s, t) => document.querySelector(s)?.innerText.includes(t), {}, selector, text);
const field = label => `::-p-xpath(//label[starts-with(normalize-space(.), "${label}")]//input)`;
const rows = page => page.page.$$eval('main .documents tbody tr', all => all.map(r => [...r.children].map(c => c.innerText.trim())));
const waitForRows = (page, n) =>
  page.page.waitForFunction(k => document.querySelectorAll('main .documents tbody tr').length === k, {}, n);

// enter replaces the text of a field, as somebody does who types.
async function enter(page, label, text) {
  const input = await page.page.waitForSelector(field(label), { visible: true });
  await input.evaluate(e => {
    e.focus();
    e.select();
  });
  await page.page.keyboard.press('Backspace');
  await input.type(text);
  return input;
}
const find = async (page, filter, sort = '') => {
  await enter(page, 'Filter', filter);
  await enter(page, 'Sort', sort);
  await page.page.keyboard.press('Escape'); // names that are offered
  await press(page, 'Find');
};
const errorOf = (page, label) =>
  page.page.$eval(field(label), e => ({
    text: document.getElementById(e.getAttribute('aria-describedby')).innerText,
    invalid: e.getAttribute('aria-invalid'),
    at: e.selectionStart,
    focused: document.activeElement === e,
  }));

// alerts are the texts that are read out: errors, and what was last said.
const alerts = page =>
  page.page.$$eval('[role=alert], #live', all => all.map(e => e.innerText.trim()).filter(Boolean));

const start = Date.UTC(2026, 0, 1, 0, 10);
const at = seconds => ({ $date: new Date(start + seconds * 1000).toISOString() });

async function fill() {
  await run('shop', {
    createIndexes: 'carts',
    indexes: [
      { key: { touched: 1 }, name: 'touched_1', expireAfterSeconds: 3600 },
      { key: { user: 1 }, name: 'user_1', unique: false, sparse: true },
    ],
  });
  const cart = i => ({
    _id: i,
    user: `user${i % 100}`,
    total: i * 1.5,
    address: { city: i % 2 ? 'Ulm' : 'Bonn' },
    touched: at(-i),
  });
  for (let from = 0; from < 3000; from += 1000)
    await run('shop', { insert: 'carts', documents: Array.from({ length: 1000 }, (_, i) => cart(from + i)) });
  await run('shop', { insert: 'carts', documents: [{ _id: 'large', touched: at(-3599), text: 'x'.repeat(20000) }] });
  for (let i = 0; i < 200; i++) await run('many', { insert: `plain${i}`, documents: [{ i }] });
  await run('shop', { insert: 'tokens', documents: Array.from({ length: 50 }, (_, i) => ({ _id: i, createdAt: at(0) })) });
}

async function overview(page) {
  await check('the overview says how many collections have no policy, and leads to them', async () => {
    await page.visit(site);
    await says(page, 'main', '1 collection in which something expires and 201 without a policy');
    await page.click('::-p-xpath(//a[.="201 without a policy"])');
    await says(page, 'h1', 'Collections without a policy');
    const cells = () => page.table('main');
    assert.deepEqual((await cells())[1].slice(0, 2), ['many.plain0', '1']);
    assert.equal((await cells()).length, 51);
    await press(page, 'Next');
    await says(page, 'main', '51 to 100 of 201');
    await page.page.select('main select', 'bytes');
    await page.page.waitForFunction(() => document.querySelector('main td').innerText === 'shop.tokens');
    await page.page.type('main input[type=search]', 'PLAIN19');
    await page.page.waitForFunction(() => document.querySelectorAll('main tbody tr').length === 11);
    await page.click('::-p-xpath(//a[.="many.plain199"])');
    await says(page, 'main', 'No document of this collection expires.');
    await page.whole();
  });
  await check('an error of the server is not left when it has gone', async () => {
    await go(page, '#/');
    const broken = r => commandOf(r)?.expirationStats && { ok: 0, code: 1, errmsg: 'the forecast is broken' };
    await answered(page, broken, async () => {
      await says(page, 'main .grid', 'the forecast is broken');
      await says(page, '#clock', 'the forecast is broken');
    });
    await says(page, 'main .grid', 'will expire');
    await page.page.waitForFunction(() => !document.querySelector('#clock').innerText.includes('broken'));
  });
  await check('there is one range selector, and nothing is shown twice', async () => {
    await go(page, '#/');
    assert.equal((await page.page.$$('[aria-label="How far to look ahead"]')).length, 1);
    assert.equal((await page.page.$$('#clock svg, #clock select')).length, 0);
    await page.page.focus('#clock input[type=range]');
    for (let i = 0; i < 5; i++) await page.page.keyboard.press('PageUp');
    await page.page.waitForSelector('main .f-gone'); // the chart shows what a jump would pass
    await page.page.keyboard.press('Escape');
    await page.page.waitForFunction(() => !document.querySelector('main .f-gone'));
  });
}

// tooWide lists what is wider than its place. A table scrolls, and a chart is cut.
const tooWide = page =>
  page.page.$$eval('main *, dialog *', all =>
    all
      .filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline')
      .filter(e => !e.closest('.scroll, .drawn, pre, textarea, input, select, [role=tablist], .visually-hidden'))
      .map(e => `${e.tagName}.${e.className}: ${e.innerText.slice(0, 60)}`),
  );
const widths = [360, 768, 1440];

// commandOf is the command that a request of the page sends.
const commandOf = r => (r.url().endsWith('/api/command') ? JSON.parse(r.postData()).command : undefined);

// answered does something while other replies than the server's are given to requests: those that
// reply returns.
async function answered(page, reply, act) {
  await page.page.setRequestInterception(true);
  const answer = r => {
    const given = reply(r);
    if (given) r.respond({ status: 200, contentType: 'application/json', body: JSON.stringify(given) });
    else r.continue();
  };
  page.page.on('request', answer);
  try {
    await act();
  } finally {
    page.page.off('request', answer);
    await page.page.setRequestInterception(false);
  }
}

// Long names and texts, in every place that shows them.
async function long(page) {
  const name = 'a'.repeat(60), // without a place to break
    field = 'b'.repeat(90);
  await check('a long version stays in its place', async () => {
    const session = { ...(await (await fetch(`${site}api/session`)).json()), version: `0.1.0-dev-${'c0ffee'.repeat(9)}` };
    await answered(page, r => r.url().endsWith('/api/session') && session, async () => {
      await page.page.reload({ waitUntil: 'load' });
      await go(page, '#/');
      await says(page, 'main .facts', 'c0ffee');
      for (const width of widths) {
        await page.page.setViewport({ width, height: 900 });
        assert.deepEqual([width, ...(await tooWide(page))], [width]);
        await page.shot(`version-${width}`);
      }
    });
    await page.page.reload({ waitUntil: 'load' });
  });
  await check('so do long names and values', async () => {
    await run(name, {
      createIndexes: name,
      indexes: [{ key: { [field]: 1 }, name: `${field}_1`, expireAfterSeconds: 3600, partialFilterExpression: { [field]: { $exists: true } } }],
    });
    await run(name, { insert: name, documents: [{ _id: name + field, [field]: at(0), text: field + field }] });
    await run(name, { insert: field, documents: [{ _id: 1 }] });
    await run(name, { create: `q${name}`, messageQueue: {} });
    await run(name, { insert: `q${name}`, documents: [{ text: field }] });
    for (const hash of ['#/', '#/collections', `#/collection/${name}/${name}`, `#/collection/${name}/${name}/"${name + field}"`, '#/queues', `#/queue/${name}/q${name}`])
      for (const width of widths) {
        await page.page.setViewport({ width, height: 900 });
        await go(page, hash);
        assert.deepEqual([hash, width, ...(await tooWide(page))], [hash, width]);
        await page.shot(`long-${width}`);
      }
    await go(page, `#/collection/${name}/${name}`);
    await press(page, 'Why?');
    await page.page.waitForSelector('dialog');
    assert.deepEqual(await tooWide(page), []);
    await page.page.keyboard.press('Escape');
    await run(name, { drop: name });
    await run(name, { drop: field });
    await run(name, { drop: `q${name}` });
    await page.whole();
  });
}

async function list(page) {
  await check('documents as a table, what decides their expiry first', async () => {
    await go(page, '#/collection/shop/carts');
    await says(page, 'main', 'Documents, soonest first');
    await waitForRows(page, 25);
    const heads = await page.page.$$eval('main .documents th', all => all.map(h => h.innerText));
    assert.deepEqual(heads.slice(0, 3), ['Expires', 'touched', '_id']);
    const [large, first] = await rows(page);
    assert.deepEqual([large[0], large[2], large[3]], ['in 1 s', 'large', 'too large to list']);
    assert.deepEqual(first.slice(0, 3), ['in 10 min', '2025-12-31 23:20:01Z', '2999']);
    assert.ok(await page.page.$('main .documents td .decides .whole'));
    assert.match(await page.page.$eval('main .documents tr:nth-child(2) meter', m => m.getAttribute('aria-label')), /^17 % of its life/);
  });
  await check('no date is broken, at any width, in both views', async () => {
    for (const view of ['JSON', 'Table'])
      for (const width of widths) {
        await page.page.setViewport({ width, height: 900 });
        await press(page, view);
        await page.page.waitForSelector(view === 'JSON' ? 'main .documents pre' : 'main .documents table');
        const broken = await page.page.$$eval('main .documents .whole', all => all.filter(e => e.getClientRects().length > 1).length);
        assert.equal(broken, 0, `${view} at ${width} px`);
        const wide = await page.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${view} at ${width} px is ${wide} px too wide`);
        await page.shot(`documents-${view}-${width}`);
      }
  });
  await check('documents as indented JSON begin with the field that decides', async () => {
    await press(page, 'JSON');
    await page.page.waitForSelector('main .documents pre');
    const text = await page.page.$eval('main .documents pre', e => e.innerText);
    assert.match(text, /^\{\n {2}"touched": ISODate\("2025-12-31T23:20:01.000Z"\),\n {2}"_id": 2999,/);
    assert.match(text, /"address": \{\n {4}"city": "Ulm"\n {2}\}/);
    await press(page, 'Table');
  });
  await check('a date within an embedded document decides as well', async () => {
    await run('nested', { createIndexes: 'docs', indexes: [{ key: { 'meta.touched': 1 }, name: 't', expireAfterSeconds: 3600 }] });
    await run('nested', { insert: 'docs', documents: [{ _id: 1, a: 1, meta: { touched: { $date: '2030-01-01T00:00:00Z' } } }] });
    await go(page, '#/collection/nested/docs');
    await waitForRows(page, 1);
    const heads = await page.page.$$eval('main .documents th', all => all.map(h => h.innerText));
    assert.deepEqual(heads.slice(0, 4), ['Expires', 'meta', '_id', 'a']);
    await go(page, '#/collection/nested/docs/1');
    const text = await page.page.$eval('main pre', e => e.innerText);
    assert.match(text, /^\{\n {2}"meta": \{\n {4}"touched": ISODate\("2030-01-01T00:00:00.000Z"\)\n {2}\},\n {2}"_id": 1,/);
    assert.match(await page.page.$eval('main pre .decides', e => e.innerText), /"touched"/);
    await run('nested', { drop: 'docs' });
    await go(page, '#/collection/shop/carts');
  });
  await check('pages of a large collection, in the order of the forecast', async () => {
    await waitForRows(page, 25);
    await press(page, 'Next');
    await says(page, 'main .documents', '26 to 50');
    assert.equal((await rows(page))[0][2], '2975');
    await press(page, 'Previous');
    await says(page, 'main .documents', '1 to 25');
  });
}

async function filters(page) {
  await check('a filter finds documents, and says how many', async () => {
    await find(page, '{user: "user87"}');
    await says(page, 'main', '30 documents match.');
    await waitForRows(page, 25);
    assert.equal((await rows(page))[0][2], '2987'); // soonest first
  });
  await check('a filter may be written as in mongosh', async () => {
    for (const [text, n] of [
      ["'address.city': 'Ulm', user: /^USER1$/i", 25],
      ['{touched: {$gte: ISODate("2026-01-01T00:09:51Z"),}, /* the newest */}', 10],
      ['{total: {$in: [NumberLong(3), Double("1.5"), NumberDecimal("4.5")]}}', 3],
      ['{$expr: {$gt: ["$total", 3 * 1500 - 15]}}', 9],
      ['', 25],
    ]) {
      await find(page, text);
      await waitForRows(page, n);
      assert.equal((await errorOf(page, 'Filter')).text, '', text);
    }
  });
  await check('names are completed by the keys', async () => {
    const input = await enter(page, 'Filter', '{add');
    assert.equal(await input.evaluate(e => e.getAttribute('aria-expanded')), 'true');
    assert.deepEqual(await page.texts('.hints li'), ['address', 'address.city']);
    await page.page.keyboard.press('ArrowDown');
    await page.page.keyboard.press('ArrowDown');
    assert.equal(await page.page.$eval('.hints [aria-selected=true]', e => e.innerText), 'address.city');
    const active = await input.evaluate(e => document.getElementById(e.getAttribute('aria-activedescendant')).innerText);
    assert.equal(active, 'address.city');
    await page.page.keyboard.press('Enter');
    assert.equal(await input.evaluate(e => e.value), '{"address.city": ');
    await input.type('{$e');
    assert.deepEqual((await page.texts('.hints li')).slice(0, 2), ['$elemMatch', '$eq']);
    await page.click('::-p-xpath(//li[.="$eq"])');
    await input.type('"Bonn"}}');
    await page.page.keyboard.press('Enter'); // sends the form
    await says(page, 'main', '1,500 documents match.');
    await page.whole();
  });
  await check('a text that is wrong is marked in place', async () => {
    await find(page, '{user: "a", total: }');
    const e = await errorOf(page, 'Filter');
    assert.deepEqual(e, { text: 'a value is missing at character 20', invalid: 'true', at: 19, focused: true });
    for (const [text, want] of [
      ['{a: 1, a: 2}', 'the field “a” is there twice at character 8'],
      ['{a: Foo()}', '“Foo” is not known at character 5'],
      ['{a: ObjectId("xyz")}', 'ObjectId cannot have this argument at character 5'],
      ['{a: "b', 'the string does not end at character 5'],
      ['{a: 1} b', '“b” is not expected at character 8'],
      [`{a: ${'['.repeat(300)}`, 'more than 180 levels at character 184'],
    ]) {
      await page.page.$eval(field('Filter'), (i, t) => { i.value = t; }, text);
      await press(page, 'Find');
      assert.equal((await errorOf(page, 'Filter')).text, want);
    }
  });
  // mistaken expects that a query with a mistake has no answer, also after an update of the page.
  const mistaken = async () => {
    await says(page, 'main .documents', 'Nothing is shown: there is a mistake in the query above.');
    await page.page.evaluate(() => dispatchEvent(new Event('clockmoved')));
    await page.page.waitForNetworkIdle({ idleTime: 100, concurrency: 1 });
    assert.deepEqual(await rows(page), []);
    assert.doesNotMatch(await page.page.$eval('main', e => e.innerText), /match\.|documents?\./);
  };
  await check('what was found before is not left below a mistake', async () => {
    for (const [filter, sort] of [['{user: }', ''], ['', '{user: }'], ['{user: {$bad: 1}}', ''], ['', '{$bad: 1}']]) {
      await find(page, '{user: "user87"}');
      await says(page, 'main', '30 documents match.');
      await page.refused([400, 500, 200], async () => {
        await find(page, filter, sort);
        await mistaken();
      });
    }
    await find(page, '{user: "user86"}');
    await says(page, 'main', '30 documents match.');
    assert.equal((await errorOf(page, 'Filter')).text + (await errorOf(page, 'Sort')).text, '');
  });
  await check("an error of the server is shown in place, with MongoDB's message", async () => {
    await find(page, '{user: {$foo: 1}}');
    await page.page.waitForFunction(() => document.querySelector('.query .bad').innerText === 'unknown operator: $foo');
    assert.equal((await errorOf(page, 'Filter')).invalid, 'true');
    await find(page, '', '{user: "up"}');
    await page.page.waitForFunction(() => [...document.querySelectorAll('.query .bad')].some(e => e.innerText.includes('Illegal key in $sort specification')));
    for (const [filter, sort, wrong, right] of [
      ['{user: "user1"}', '{$bad: 1}', 'Sort', 'Filter'],
      ['{sort: {$bad: 1}}', '{user: 1}', 'Filter', 'Sort'],
      ['{$sort: 1}', '{user: 1}', 'Filter', 'Sort'],
    ]) {
      await find(page, filter, sort);
      await page.page.waitForFunction(() => document.querySelectorAll('.query input[aria-invalid=true]').length === 1);
      assert.notEqual((await errorOf(page, wrong)).text, '', `${filter} ${sort}`);
      assert.equal((await errorOf(page, right)).text, '', `${filter} ${sort}`);
    }
    page.faults.length = 0;
    await find(page, '{user: "user1"}', '{user: 1}');
    await says(page, 'main', '30 documents match.');
    assert.deepEqual(await alerts(page), []);
  });
  await check('any order, also by the heads of the table', async () => {
    await find(page, '{user: /^user8/}', '{total: -1}');
    await page.page.waitForFunction(() => document.querySelector('main .documents td:nth-child(3)')?.innerText === '2989');
    assert.equal(await page.page.$eval('main .documents', e => e.closest('.card').querySelector('h2').innerText), 'Documents');
    await page.click('button[aria-label="Sort by total"]');
    await page.page.waitForFunction(() => document.querySelector('main .documents td:nth-child(3)')?.innerText === '8');
    assert.equal(await page.page.$eval(field('Sort'), e => e.value), '{total: 1}');
    await press(page, 'Next');
    await says(page, 'main .documents', '26 to 50');
  });
  await check('what was asked is there again on the way back', async () => {
    await page.click('main .documents td a');
    await says(page, 'main', 'All documents of carts');
    await page.click('::-p-xpath(//a[.="All documents of carts"])');
    await says(page, 'main .documents', '26 to 50');
    await press(page, 'Clear');
    await says(page, 'main', 'Documents, soonest first');
  });
}

async function others(page) {
  await check('views and time series are read alike', async () => {
    await run('shop', { create: 'cities', viewOn: 'carts', pipeline: [{ $group: { _id: '$address.city', n: { $sum: 1 } } }, { $match: { _id: 'Ulm' } }, { $project: { _id: 0 } }] });
    await run('shop', { create: 'weather', timeseries: { timeField: 't', metaField: 'place' }, expireAfterSeconds: 7200 });
    await run('shop', { insert: 'weather', documents: [{ t: at(0), place: 'roof', celsius: 5 }, { t: at(60), place: 'cellar', celsius: 9 }] });
    await go(page, '#/collection/shop/cities');
    await waitForRows(page, 1);
    assert.deepEqual(await rows(page), [['–', '1500', '']]);
    await find(page, '{n: {$lt: 5}}');
    await says(page, 'main', 'No document is found.');
    await go(page, '#/collection/shop/weather');
    await waitForRows(page, 2);
    const [first] = await rows(page);
    assert.deepEqual([first[1], first[3], first[4]], ['2026-01-01 00:10:00Z', 'roof', '5']);
    await find(page, '{place: "cellar"}', '{celsius: -1}');
    await waitForRows(page, 1);
    await page.click('main .documents td a');
    await says(page, 'main pre', '"celsius": 9');
    await page.whole();
  });
}

// All types of values, in an order that a JavaScript object would not keep.
const typed = {
  _id: { $oid: '0123456789abcdef01234567' },
  2026: { $numberInt: '1' },
  1999: { $numberLong: '2' },
  whole: { $numberDouble: '3.0' },
  part: { $numberDouble: '3.25' },
  exact: { $numberDecimal: '1.10' },
  when: { $date: { $numberLong: '1767225600123' } },
  bits: { $binary: { base64: 'AQI=', subType: '80' } },
  uuid: { $binary: { base64: 'c//SZESzTGmQ6OfR38A11A==', subType: '04' } },
  like: { $regularExpression: { pattern: 'a/b', options: 'i' } },
  stamp: { $timestamp: { t: 5, i: 6 } },
  low: { $minKey: 1 },
  list: [{ $numberInt: '1' }, { a: null }, true],
  text: 'a "quoted" line\nand a \\ ISODate("2026")',
  far: { $date: { $numberLong: '-62135596800000' } },
  nan: { $numberDouble: 'NaN' },
};
const order = ['_id', '2026', '1999', ...Object.keys(typed).filter(k => !/^\d|^_id/.test(k))];
const typedText = `{${order.map(k => `${JSON.stringify(k)}: ${JSON.stringify(typed[k])}`).join(', ')}}`;
const stored = async () => {
  const r = await fetch(`${site}api/command?json=canonical`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ db: 'shop', command: { find: 'types', projection: { changed: 0 } } }),
  });
  return /"firstBatch":\[(.*)\],"id"/.exec(await r.text())[1];
};

async function single(page) {
  await check('one document, with why it goes', async () => {
    await go(page, '#/collection/shop/carts/2999');
    await says(page, 'main h2', '2999');
    await says(page, 'main', 'touched + 3600 s');
    await says(page, 'main', 'in 10 min');
    assert.match(await page.page.$eval('main pre', e => e.innerText), /^\{\n {2}"touched": ISODate/);
    await page.shot('document');
  });
  await check('an edit keeps types and order', async () => {
    await fetch(`${site}api/command`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: `{"db": "shop", "command": {"insert": "types", "documents": [${typedText}]}}`,
    });
    const before = await stored();
    await go(page, `#/collection/shop/types/${encodeURIComponent(JSON.stringify(typed._id))}`);
    await press(page, 'Edit …');
    await page.page.waitForSelector('dialog textarea');
    await page.page.$eval('dialog textarea', e => {
      e.value = e.value.replace(/\n\}$/, ',\n  changed: true // by hand\n}');
    });
    await press(page, 'Save');
    await says(page, 'main pre', '"changed": true');
    assert.equal(await stored(), before);
    await page.page.waitForFunction(() => !document.querySelector('dialog'));
  });
  await check('a text that is no document is not saved', async () => {
    await press(page, 'Edit …');
    await page.page.waitForSelector('dialog textarea');
    await page.page.$eval('dialog textarea', e => { e.value = '{a: }'; });
    await press(page, 'Save');
    await says(page, 'dialog [role=alert]', 'a value is missing at character 5');
    await page.page.keyboard.press('Escape');
    await page.page.waitForFunction(() => !document.querySelector('dialog'));
  });
  await check('what was changed meanwhile is not overwritten', async () => {
    await press(page, 'Edit …');
    await page.page.waitForSelector('dialog textarea');
    await run('shop', { update: 'types', updates: [{ q: {}, u: { $set: { changed: 'elsewhere' } } }] });
    await press(page, 'Save');
    await says(page, 'dialog [role=alert]', 'was changed or removed meanwhile');
    await page.page.keyboard.press('Escape');
    await page.page.waitForFunction(() => !document.querySelector('dialog'));
    assert.equal((await run('shop', { find: 'types' })).cursor.firstBatch[0].changed, 'elsewhere');
  });
  await check('a document is deleted', async () => {
    await press(page, 'Delete …');
    await says(page, 'dialog', 'would be deleted from shop.types for good');
    await page.click('dialog button.danger');
    await says(page, 'main', 'There are no documents.');
    assert.equal((await run('shop', { count: 'types' })).n, 0);
  });
  await check('a document that is gone, and one that is too large to be listed', async () => {
    await go(page, '#/collection/shop/carts/"nobody"');
    await says(page, 'main', 'not there any more');
    await go(page, '#/collection/shop/carts/"large"');
    await says(page, 'main pre', 'xxxxx');
    await page.whole();
  });
}

// sent presses a button and returns the commands that the page sends for it.
async function sent(page, act) {
  const commands = [];
  const note = r => {
    if (r.url().endsWith('/api/command')) commands.push(JSON.parse(r.postData()));
  };
  page.page.on('request', note);
  await act();
  page.page.off('request', note);
  return commands;
}
const shownCommand = (page, begin) =>
  page.page.$$eval('.sends', (all, b) => all.map(e => e.innerText).find(t => t.includes(b)), begin);

// question is what a dialog asks, and the button that goes on.
const question = async page => {
  await page.page.waitForSelector('dialog .row button');
  return page.page.$eval('dialog', d => [[...d.querySelectorAll(':scope > p')].map(p => p.innerText).join(' '), d.querySelector('.row button').innerText]);
};
const cancel = async page => {
  await page.click('::-p-xpath(//dialog//button[.="Cancel"])'); // the clock has another
  await page.page.waitForFunction(() => !document.querySelector('dialog'));
};
const setSeconds = (page, label, seconds) => enter(page, label, String(seconds));
// inForm presses the button of the form that has a label.
const inForm = (page, label) =>
  page.page.evaluate(l => [...document.querySelectorAll('form.command')].find(f => f.innerText.includes(l)).querySelector('button').click(), label);
const indexNames = async name => (await run('shop', { listIndexes: name })).cursor.firstBatch.map(i => i.name).join(' ');

// Before a policy is set, the page says what it would remove at once, and what would never go.
async function policies(page) {
  const dated = (n, seconds) => Array.from({ length: n }, (_, i) => ({ _id: i, createdAt: at(seconds - i) }));
  await check('a TTL index that makes documents overdue asks before', async () => {
    await run('shop', { insert: 'logins', documents: [...dated(300, -3301), { _id: 'later', createdAt: at(0) }] });
    await go(page, '#/collection/shop/logins');
    await enter(page, 'New TTL index', 'createdAt');
    await inForm(page, 'New TTL index');
    assert.deepEqual(await question(page), ['1 of 301 documents is already past this time and would be removed.', 'Create and remove 1']);
    await cancel(page);
    assert.equal(await indexNames('logins'), '_id_');
    await page.page.evaluate(() => [...document.querySelectorAll('form.newest input')].at(-1).select());
    await page.page.type('form.newest input[type=number]', '60');
    await inForm(page, 'New TTL index');
    assert.deepEqual(await question(page), ['300 of 301 documents are already past this time and would be removed.', 'Create and remove 300']);
    await page.click('dialog button.danger');
    await told(page, 'The TTL index createdAt_1 was created');
    assert.equal(await indexNames('logins'), '_id_ createdAt_1');
    await run('admin', { runExpirationPass: 1 });
    assert.equal((await run('shop', { count: 'logins' })).n, 1);
  });
  await check('so do other seconds of a TTL index, and expired documents that move', async () => {
    await run('shop', { insert: 'logins', documents: dated(7, -30) });
    await run('shop', { collMod: 'logins', onExpire: { deadLetterTo: 'old' } });
    await page.page.reload({ waitUntil: 'load' });
    await go(page, '#/collection/shop/logins');
    await setSeconds(page, 'TTL index createdAt_1', 10);
    await inForm(page, 'TTL index createdAt_1');
    assert.deepEqual(await question(page), ['7 of 8 documents are already past this time and would move to old.', 'Set and move 7']);
    await page.click('dialog button.danger');
    await told(page, 'Documents of logins now expire 10 s after the date in createdAt.');
    await setSeconds(page, 'TTL index createdAt_1', 3600); // longer: nothing to ask
    await inForm(page, 'TTL index createdAt_1');
    await told(page, 'Documents of logins now expire 1 h after the date in createdAt.');
    await enter(page, 'Move expired documents to', 'older');
    await inForm(page, 'Move expired documents to');
    await told(page, 'Expired documents of logins move to older from now on.');
  });
  await check('so does document TTL', async () => {
    await run('shop', { insert: 'visits', documents: [{ _id: 1 }, { _id: 2, ttl: -1 }, { _id: 3, ttl: 5000 }] });
    await run('admin', { testClock: 1, advanceSeconds: 100 });
    await go(page, '#/collection/shop/visits');
    await page.page.select('main .forms select', 'default');
    await setSeconds(page, 'Seconds', 100);
    await inForm(page, 'Document TTL');
    assert.deepEqual(await question(page), ['1 of 3 documents is already past this time and would be removed.', 'Set and remove 1']);
    await cancel(page);
    assert.equal((await run('shop', { count: 'visits' })).n, 3);
    await page.page.select('main .forms select', 'own');
    await inForm(page, 'Document TTL');
    await told(page, 'a document expires if it has a “ttl” of its own');
    await page.page.select('main .forms select', 'off');
    await inForm(page, 'Document TTL');
    await told(page, 'Document TTL of visits is off.');
  });
  await check('so do the seconds of clustered collections and time series', async () => {
    await run('shop', { create: 'entries', clusteredIndex: { key: { _id: 1 }, unique: true } });
    await run('shop', { insert: 'entries', documents: [{ _id: at(-7200) }, { _id: at(0) }, { _id: 'text' }] });
    await run('shop', { create: 'celsius', timeseries: { timeField: 't' } });
    await run('shop', { insert: 'celsius', documents: [{ t: at(-90000) }, { t: at(-89990) }, { t: at(0) }] });
    await go(page, '#/collection/shop/entries');
    await setSeconds(page, 'Keep documents', 3600);
    await inForm(page, 'Keep documents');
    assert.deepEqual(await question(page), [
      '1 of 3 documents is already past this time and would be removed. Only 2 of 3 documents have a date in “_id”. The others would not expire.',
      'Set and remove 1',
    ]);
    await page.click('dialog button.danger');
    await told(page, 'Documents of entries now expire 1 h after their date.');
    await inForm(page, 'Keep them for ever');
    await told(page, 'Documents of entries are kept for ever now.');
    await go(page, '#/collection/shop/celsius');
    await setSeconds(page, 'Keep measurements', 3600);
    await inForm(page, 'Keep measurements');
    assert.deepEqual(await question(page), ['2 of 3 documents are already past this time and would be removed.', 'Set and remove 2']);
    await page.click('dialog button.danger');
    await told(page, 'Measurements of celsius now expire 1 h after their date.');
  });
  await check('a field without dates is said in words', async () => {
    await run('shop', { insert: 'notes', documents: [{ _id: 1, at: at(0) }, { _id: 2, at: '2026-01-01' }, { _id: 3 }] });
    await go(page, '#/collection/shop/notes');
    await enter(page, 'New TTL index', 'text');
    await inForm(page, 'New TTL index');
    assert.deepEqual(await question(page), ['No document has a date in “text”: nothing would expire.', 'Create anyway']);
    await cancel(page);
    await enter(page, 'New TTL index', 'at');
    await inForm(page, 'New TTL index');
    assert.deepEqual(await question(page), ['Only 1 of 3 documents has a date in “at”. The others would not expire.', 'Create anyway']);
    await page.click('dialog button.primary');
    await told(page, 'The TTL index at_1 was created');
  });
  await check('the dialog that creates a TTL index on a collection that is there asks, too', async () => {
    await run('shop', { insert: 'codes', documents: dated(3, -9000) });
    await go(page, '#/collections');
    await press(page, 'Create …');
    await enter(page, 'Database', 'shop');
    await enter(page, 'Name', 'codes');
    await enter(page, 'Field with the date', 'createdAt');
    await page.page.keyboard.press('Enter');
    await page.page.waitForFunction(() => document.querySelectorAll('dialog').length === 2);
    await says(page, 'dialog:last-of-type', '3 of 3 documents are already past this time and would be removed.');
    await page.click('dialog:last-of-type button.danger');
    await says(page, 'h1', 'codes');
    await told(page, 'The TTL index createdAt_1 was created');
    await page.page.waitForFunction(() => !document.querySelector('dialog'));
  });
  await check('of a collection that is too large, the first documents are counted', async () => {
    const limits = [];
    const slow = r => {
      const c = commandOf(r);
      if (!c?.explainExpiry) return undefined;
      limits.push(c.limit);
      return limits.length === 1 ? { ok: 0, code: 50, errmsg: 'operation exceeded time limit' } : { ok: 1, examined: 10000, dated: 0, overdue: 0, complete: false };
    };
    await answered(page, slow, async () => {
      await go(page, '#/collection/shop/notes');
      await enter(page, 'New TTL index', 'other');
      await inForm(page, 'New TTL index');
      assert.deepEqual(await question(page), ['None of the first 10,000 documents has a date in “other”: they would not expire.', 'Create anyway']);
      assert.deepEqual(limits, [1_000_000, 10_000]);
      await cancel(page);
    });
  });
  await check('the error of a form stands in this form, until it is mended', async () => {
    await go(page, '#/collection/shop/notes');
    await page.refused([200, 400], async () => {
      await enter(page, 'New TTL index', '$bad');
      await inForm(page, 'New TTL index');
      await page.page.waitForSelector('main .forms .note.bad');
    });
    assert.ok(await page.page.$('main form.newest > .note.bad'));
    assert.equal((await alerts(page)).length, 1);
    await enter(page, 'New TTL index', 'good');
    assert.deepEqual(await alerts(page), []);
    page.faults.length = 0;
  });
  await check('the list of collections without a policy leads to the form', async () => {
    await go(page, '#/collections');
    await page.page.type('main input[type=search]', 'plain17');
    await page.page.waitForFunction(() => document.querySelectorAll('main tbody tr').length === 11);
    await page.click('a[aria-label="Set a policy for many.plain17"]');
    await says(page, 'h1', 'plain17');
    await page.page.waitForFunction(() => document.activeElement === document.querySelector('form.newest input'));
    const top = await page.page.$eval('form.newest', e => e.getBoundingClientRect().top);
    assert.ok(top > 0 && top < 900, `the form is at ${top} px`);
    await page.page.evaluate(() => { document.activeElement.blur(); scrollTo(0, 0); });
    await press(page, 'Set a policy …');
    await page.page.waitForFunction(() => document.activeElement === document.querySelector('form.newest input'));
    await page.whole();
  });
}

async function forms(page) {
  await check('indexes with their sizes', async () => {
    await go(page, '#/collection/shop/carts');
    await says(page, 'main', 'Indexes');
    const table = await page.table('main');
    const [, keys, properties, size] = table.find(r => r[0] === 'touched_1');
    assert.deepEqual([keys, properties], ['{touched: 1}', 'expires after 3600 s']);
    assert.match(size, /^\d+ kB$/);
    assert.equal(table.find(r => r[0] === 'user_1')[2], 'sparse');
    await says(page, 'main', '3,001 documents with');
  });
  await check('a TTL index by a form that shows its command', async () => {
    await go(page, '#/collection/shop/tokens');
    await enter(page, 'New TTL index', 'createdAt');
    const form = 'db.getSiblingDB("shop").runCommand({createIndexes: "tokens", indexes: [{key: {createdAt: 1}, name: "createdAt_1", expireAfterSeconds: 3600}]})';
    assert.equal(await shownCommand(page, 'createIndexes'), form);
    const commands = await sent(page, async () => {
      await page.page.keyboard.press('Enter');
      await says(page, 'h1 + p', 'createdAt + 3600 s');
    });
    await told(page, 'The TTL index createdAt_1 was created: documents of tokens expire 1 h after the date in createdAt.');
    await page.click('::-p-xpath(//a[.="Show the index"])');
    await page.page.waitForFunction(() => document.activeElement.innerText === 'Indexes');
    assert.equal((await page.page.$$('main .note.good')).length, 0); // it was said
    await go(page, '#/collection/shop/tokens');
    assert.deepEqual(commands.find(c => c.command.createIndexes), {
      db: 'shop',
      command: { createIndexes: 'tokens', indexes: [{ key: { createdAt: 1 }, name: 'createdAt_1', expireAfterSeconds: 3600 }] },
    });
    await says(page, 'main', 'in 1 h');
  });
  await policies(page);
  await check('document TTL by a form that shows its command', async () => {
    await go(page, '#/collection/many/plain0');
    await page.page.select('main .forms select', 'default');
    assert.equal(await shownCommand(page, 'documentTtl'), 'db.getSiblingDB("many").runCommand({collMod: "plain0", documentTtl: {default: 3600}})');
    await press(page, 'Set');
    await says(page, 'h1 + p', '3600 s after the last write');
    await says(page, 'main', 'Documents, soonest first');
    await told(page, 'Document TTL of plain0 is on: documents expire 1 h after their last write.');
  });
  await check('a queue, and collections that expire, by a dialog that shows its command', async () => {
    await go(page, '#/queues');
    await press(page, 'Create …');
    await enter(page, 'Database', 'work');
    await enter(page, 'Name', 'jobs');
    await enter(page, 'Time to live', 'PT10M');
    await page.click(field('Expired messages'));
    assert.equal(
      await shownCommand(page, 'messageQueue'),
      'db.getSiblingDB("work").runCommand({create: "jobs", messageQueue: {defaultMessageTimeToLive: "PT10M", deadLetteringOnMessageExpiration: true}})',
    );
    await page.page.focus(field('Name'));
    await page.page.keyboard.press('Enter');
    await says(page, 'h1', 'jobs');
    await says(page, 'main', 'Dead letters');
    await go(page, '#/collections');
    await press(page, 'Create …');
    await page.page.select('dialog select', 'documentTtl');
    await enter(page, 'Name', 'sessions');
    await page.page.keyboard.press('Enter');
    await says(page, 'h1', 'sessions');
    await says(page, 'h1 + p', '3600 s after the last write');
    await page.whole();
  });
}

const example = (page, text) =>
  page.page.evaluateHandle(t => [...document.querySelectorAll('main .card')].find(c => c.innerText.includes(t)), text);
// edited runs an example with another text.
async function edited(page, text) {
  await go(page, '#/try');
  const card = await example(page, 'A TTL index');
  await card.evaluate((c, t) => {
    c.querySelector('textarea').value = t;
    [...c.querySelectorAll('button')].find(b => b.innerText === 'Run').click();
  }, text);
  return card;
}

async function examples(page) {
  await check('an example is changed and run', async () => {
    await edited(page, 'db.mine.createIndex({at: 1}, {expireAfterSeconds: 60});\ndb.mine.insertMany([{_id: "x", at: new Date(Date.now() - 30 * 1000)}])');
    await says(page, 'h1', 'mine');
    await says(page, 'main', 'at + 60 s');
    await page.page.waitForFunction(() => /in (29|30) s/.test(document.querySelector('main .documents').innerText));
  });
  await check('what it reads is shown', async () => {
    await edited(page, 'db.mine.updateOne({_id: "x"}, {$set: {n: 1}})\ndb.mine.find({}, {at: 0})\ndb.mine.countDocuments()');
    await says(page, 'main [role=status]', '"n": 1');
  });
  await check('a mistake is shown where it is, and Reset undoes it', async () => {
    const card = await edited(page, 'db.mine.insertOne({a: 1)\n');
    await says(page, 'main', '“,” or “}” is missing at character 24');
    assert.equal(await page.page.evaluate(() => document.activeElement.selectionStart), 23);
    await edited(page, 'db.mine.frobnicate()');
    await says(page, 'main', '“frobnicate” is not known here');
    await edited(page, 'db.mine.insertOne({_id: "x"})');
    await says(page, 'main', 'E11000 duplicate key error');
    await (await example(page, 'A TTL index')).evaluate(c => [...c.querySelectorAll('button')].find(b => b.innerText === 'Reset').click());
    assert.match(await (await example(page, 'A TTL index')).evaluate(c => c.querySelector('textarea').value), /^db\.carts\.createIndex/);
    await card.dispose();
    await page.whole();
  });
}

async function main() {
  const { browser, page } = await open(process.env.BROWSER, process.env.PROFILE);
  try {
    await page.page.setViewport({ width: 1440, height: 900 });
    await run('admin', { testClock: 1, set: at(0), freeze: true });
    await fill();
    await overview(page);
    await long(page);
    await page.page.setViewport({ width: 1440, height: 900 });
    await list(page);
    await filters(page);
    await others(page);
    await single(page);
    await forms(page);
    await examples(page);
    await check('charts without data say so', async () => {
      await page.page.reload({ waitUntil: 'load' });
      await go(page, '#/passes');
      const text = await page.page.$eval('main', e => e.innerText);
      assert.match(text, /Mean time from expiry to removal\s+Copy PromQL\s+–/);
      assert.ok(await page.page.$$eval('main .card svg text', all => all.some(t => t.textContent === 'no data yet')));
    });
  } finally {
    await browser.close();
  }
  console.log('done');
}

main().catch(e => {
  console.log(`not ok the documents of the console: ${String(e.stack).split('\n').join('\\n')}`);
  process.exit(1);
});
