// mongo-express in a browser: what a person does with a database on a page.
// Run by TestMongoExpress.
'use strict';
const assert = require('assert');
const express = require('express');
const { MongoClient } = require('mongodb');
const mongoExpress = require('mongo-express/lib/middleware');
const settings = require('mongo-express/config.default');
const { check } = require('../node/checks.js');
const { open } = require('./browser.js');

// serve starts mongo-express on a free port.
async function serve(uri) {
  const config = {
    ...settings,
    useBasicAuth: false,
    mongodb: { ...settings.mongodb, connectionString: uri, admin: true },
    site: { ...settings.site, baseUrl: '/', cookieSecret: 'c', sessionSecret: 's' },
    options: { ...settings.options, console: false, logger: { skip: () => true } },
  };
  const app = express();
  app.use('/', await mongoExpress(config));
  const server = await new Promise(done => { const s = app.listen(0, '127.0.0.1', () => done(s)); });
  return `http://127.0.0.1:${server.address().port}/`;
}

async function seed(shop) {
  await shop.collection('carts').insertMany(Array.from({ length: 25 }, (_, i) => ({ _id: i, owner: `user${i % 5}`, total: i * 1.5 })));
  await shop.collection('carts').createIndex({ owner: 1 });
  await shop.collection('carts').createIndex({ touched: 1 }, { expireAfterSeconds: 3600 });
  await shop.createCollection('weather', { timeseries: { timeField: 'at', metaField: 'm' }, expireAfterSeconds: 86400 });
}

async function main() {
  const client = await MongoClient.connect(process.env.URI);
  const shop = client.db('shop');
  await seed(shop);
  const site = await serve(process.env.URI);
  const { browser, page } = await open(process.env.BROWSER, process.env.PROFILE);
  try {
    await databases(page, site);
    await documents(page, `${site}db/shop/`, shop);
    await queries(page, `${site}db/shop/carts`);
    await indexes(page, `${site}db/shop/carts`, shop);
    await collections(page, `${site}db/shop/`, shop);
  } finally {
    await browser.close();
  }
  console.log('done');
  process.exit(0); // mongo-express keeps its connections
}

async function databases(page, site) {
  await check('databases and the state of the server', async () => {
    await page.visit(site);
    await page.shot('databases');
    const names = await page.texts('h3 a');
    assert.ok(names.includes('shop'), names.join());
    const state = (await page.table('table')).flat();
    const after = name => state[state.indexOf(name) + 1];
    assert.match(after('MongoDB Version'), /^8\.2\./);
    assert.match(after('Current Connections'), /^[1-9]/);
    assert.match(after('Total Inserts'), /^[1-9]/);
  });

  await check('a new database', async () => {
    await page.visit(site);
    await page.fill('#database', 'fresh');
    await page.submit('.input-group-btn button');
    await page.visit(site);
    assert.ok((await page.texts('h3 a')).includes('fresh'));
  });

  await check('delete a database', async () => {
    await page.dialogue('button[database-name=fresh]', '#confirm-deletion');
    await page.fill('#confirmation-input', 'fresh');
    await page.submit('#confirm-deletion #delete');
    assert.ok(!(await page.texts('h3 a')).includes('fresh'));
  });
}

async function documents(page, db, shop) {
  await check('collections of a database', async () => {
    await page.visit(db);
    await page.shot('collections');
    const names = await page.texts('h3 a');
    assert.ok(names.includes('carts') && names.includes('weather'), names.join());
    const state = (await page.table('table')).flat();
    // Without the view that a time series is.
    assert.equal(state[state.indexOf('Collections (incl. system.namespaces)') + 1], '3');
  });

  await check('insert a document', async () => {
    await page.visit(db);
    await page.fill('#collection', 'notes');
    await page.submit('.input-group-btn button');
    await page.visit(`${db}notes`);
    await page.dialogue('button[data-target="#addDocument"]', '#addDocument');
    await page.write('#addDocument #document', '{"_id": "n1", "text": "written on a page", "n": 1, "at": ISODate("2026-01-02T03:04:05Z")}');
    await page.shot('insert');
    await page.submit('#addDocument button[type=submit]');
    assert.deepEqual(await shop.collection('notes').findOne(), { _id: 'n1', text: 'written on a page', n: 1, at: new Date('2026-01-02T03:04:05Z') });
    assert.ok((await page.table('.tableWrapper table')).flat().includes('written on a page'));
  });

  await check('an invalid document is refused on the page', async () => {
    await page.dialogue('button[data-target="#addDocument"]', '#addDocument');
    await page.write('#addDocument #document', '{"_id": ');
    await page.click('#addDocument button[type=submit]');
    await page.page.waitForSelector('#documentInvalidJSON');
    assert.equal(await shop.collection('notes').countDocuments(), 1);
  });

  await check('edit a document', async () => {
    await page.visit(`${db}notes`);
    await page.submit('.tableWrapper tbody tr');
    await page.shot('document');
    await page.write('#document', '{"_id": "n1", "text": "edited", "n": 2}');
    await page.submit('#documentEditForm button[type=submit]');
    await page.shot('edited');
    assert.deepEqual(await shop.collection('notes').findOne(), { _id: 'n1', text: 'edited', n: 2, at: new Date('2026-01-02T03:04:05Z') });
  });

  await check('delete a document', async () => {
    await page.visit(`${db}notes`);
    await page.dialogue('.deleteButtonDocument button', '#confirm-deletion-document');
    await page.submit('#confirm-deletion-document #delete');
    assert.equal(await shop.collection('notes').countDocuments(), 0);
    assert.ok((await page.texts('.well')).includes('No documents found.'));
  });
}

async function queries(page, carts) {
  await check('leafing through documents', async () => {
    await page.visit(carts);
    await page.shot('documents');
    assert.equal((await page.table('.tableWrapper table')).length, 11); // with the head
    await page.visit(`${carts}?skip=20`);
    assert.equal((await page.table('.tableWrapper table')).length, 6);
  });

  await check('a simple search', async () => {
    await page.visit(carts);
    await page.fill('#key', 'owner');
    await page.fill('#value', 'user3');
    await page.submit('#simple button[type=submit]');
    const owners = (await page.table('.tableWrapper table')).slice(1).map(r => r[1]);
    assert.deepEqual(owners, Array(5).fill('user3'));
  });

  await check('a query, a projection and a pipeline', async () => {
    await page.visit(`${carts}?query=${encodeURIComponent('{total: {$gte: 30}}')}&projection=${encodeURIComponent('{owner: 0}')}`);
    await page.shot('query');
    const table = await page.table('.tableWrapper table');
    assert.deepEqual(table[0], ['_id', 'total']);
    assert.equal(table.length, 6);
    const pipeline = '[{$group: {_id: "$owner", sum: {$sum: "$total"}}}, {$sort: {_id: 1}}]';
    await page.visit(`${carts}?runAggregate=on&query=${encodeURIComponent(pipeline)}`);
    await page.shot('pipeline');
    assert.deepEqual((await page.table('.tableWrapper table')).slice(1).map(r => r[1]), ['75', '82.5', '90', '97.5', '105']);
  });
}

async function indexes(page, carts, shop) {
  await check('indexes and statistics of a collection', async () => {
    await page.visit(carts);
    const rows = await page.table('#indexes');
    assert.deepEqual(rows.slice(1).map(r => r[0]), ['_id_', 'owner_1', 'touched_1']);
    assert.match(rows[3].join(' '), /touched\s+ASC.*expireAfterSeconds:\s+3600/);
    for (const r of rows.slice(1)) assert.match(r[2], /^[1-9].*(Bytes|KB|MB)$/i);
    const state = (await page.table('.stats table')).flat();
    const after = name => state[state.indexOf(name) + 1];
    assert.equal(after('Documents'), '25');
    assert.equal(after('Indexes'), '3');
    assert.match(after('Total doc size'), /^[1-9]/);
  });

  await check('a new index', async () => {
    await page.dialogue('button[data-target="#addIndex"]', '#addIndex');
    await page.write('#addIndex #index', '{"total": -1}');
    await page.submit('#addIndex button[type=submit]');
    assert.ok(await shop.collection('carts').indexExists('total_-1'));
  });

  await check('drop an index', async () => {
    await page.visit(carts);
    await page.submit('#indexes a[href*="total_-1"]');
    assert.equal(await shop.collection('carts').indexExists('total_-1'), false);
  });
}

async function collections(page, db, shop) {
  await check('compact', async () => {
    await page.visit(`${db}carts`);
    await page.submit('a[href*="/compact/"]');
  });

  await check('exports', async () => {
    const text = path => page.page.evaluate(u => fetch(u).then(r => r.text()), path);
    const lines = (await text(`${db}export/carts`)).trim().split('\n');
    assert.equal(lines.length, 25);
    assert.equal(JSON.parse(await text(`${db}expArr/carts`)).length, 25);
    assert.match(await text(`${db}expCsv/carts`), /"?_id"?,"?owner"?,"?total"?\r?\n/);
  });

  await check('rename a collection', async () => {
    await page.visit(`${db}notes`);
    await page.fill('#collection', 'remarks');
    await page.submit('form.form-inline button[type=submit]');
    assert.deepEqual((await shop.listCollections({ name: /^(notes|remarks)$/ }).toArray()).map(c => c.name), ['remarks']);
  });

  await check('delete a collection', async () => {
    await page.visit(db);
    await page.dialogue('button[collection-name=remarks]', '#confirm-deletion');
    await page.fill('#confirmation-input', 'remarks');
    await page.submit('#confirm-deletion #delete');
    await page.shot('last');
    assert.equal((await shop.listCollections({ name: 'remarks' }).toArray()).length, 0);
  });
}

main().catch(e => { console.error(e); process.exit(1); });
