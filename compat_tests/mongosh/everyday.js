// Everyday work with the shell's helpers. Run by TestMongoshEveryday.

const shop = db.getSiblingDB('shop');

check('identity', () => {
  assert.match(db.version(), /^8\.2\./);
  assert.equal(db.hello().isWritablePrimary, true);
  assert.equal(db.hello().maxWireVersion, 27);
  assert.equal(db.runCommand({ ping: 1 }).ok, 1);
});

check('createCollection and show collections', () => {
  assert.equal(shop.createCollection('orders').ok, 1);
  assert.deepEqual(shop.getCollectionNames(), ['orders']);
  rejects(48, () => shop.createCollection('orders', { capped: true, size: 4096 }));
  use('shop');
  const shown = JSON.stringify(show('collections'));
  assert.match(shown, /orders/);
  assert.match(JSON.stringify(show('dbs')), /shop/);
  use('test');
});

check('insertMany, find and cursors', () => {
  const docs = [];
  for (let i = 0; i < 500; i++) docs.push({ _id: i, item: 'item' + (i % 10), qty: i, at: new Date(2026, 0, 1 + i % 28) });
  assert.equal(shop.orders.insertMany(docs).acknowledged, true);
  assert.equal(shop.orders.countDocuments(), 500);
  assert.equal(shop.orders.estimatedDocumentCount(), 500);
  assert.deepEqual(shop.orders.find({ qty: { $gte: 497 } }).sort({ qty: -1 }).toArray().map(d => d._id), [499, 498, 497]);
  assert.equal(shop.orders.find().batchSize(7).toArray().length, 500);
  assert.equal(shop.orders.find({ item: 'item3' }).skip(40).limit(20).itcount(), 10);
  assert.equal(shop.orders.findOne({ _id: 7 }, { qty: 1 }).qty, 7);
  assert.deepEqual(shop.orders.distinct('item').length, 10);
  const it = shop.orders.find().batchSize(2);
  it.next();
  it.close();
});

check('duplicate key', () => {
  rejects(11000, () => shop.orders.insertOne({ _id: 1 }));
});

check('update, replace, delete, findAndModify', () => {
  const up = shop.orders.updateMany({ item: 'item1' }, { $inc: { qty: 1000 }, $push: { tags: { $each: ['a', 'b'] } } });
  assert.deepEqual([up.matchedCount, up.modifiedCount], [50, 50]);
  assert.equal(shop.orders.updateOne({ _id: 9000 }, { $set: { qty: 1 } }, { upsert: true }).insertedId, 9000);
  assert.equal(shop.orders.replaceOne({ _id: 9000 }, { qty: 2 }).modifiedCount, 1);
  assert.equal(shop.orders.findOneAndUpdate({ _id: 9000 }, { $mul: { qty: 5 } }, { returnDocument: 'after' }).qty, 10);
  assert.equal(shop.orders.findAndModify({ query: { _id: 9000 }, update: { $set: { qty: 3 } } }).qty, 10);
  assert.equal(shop.orders.findOneAndReplace({ _id: 9000 }, { qty: 4 }).qty, 3);
  assert.equal(shop.orders.findOneAndDelete({ _id: 9000 }).qty, 4);
  assert.equal(shop.orders.deleteMany({ item: 'item1' }).deletedCount, 50);
  assert.equal(shop.orders.deleteOne({ _id: 499 }).deletedCount, 1);
});

check('indexes', () => {
  assert.equal(shop.orders.createIndex({ item: 1, qty: -1 }), 'item_1_qty_-1');
  assert.deepEqual(shop.orders.createIndexes([{ at: 1 }, { qty: 1 }], { sparse: true }), ['at_1', 'qty_1']);
  assert.deepEqual(shop.orders.getIndexes().map(i => i.name), ['_id_', 'item_1_qty_-1', 'at_1', 'qty_1']);
  assert.deepEqual(shop.orders.getIndexKeys()[1], { item: 1, qty: -1 });
  assert.equal(shop.orders.hideIndex('qty_1').hidden_new, true);
  assert.equal(shop.orders.unhideIndex('qty_1').hidden_new, false);
  assert.equal(shop.orders.dropIndex('at_1').nIndexesWas, 4);
  rejects(27, () => shop.orders.dropIndex('at_1'));
});

check('explain', () => {
  const plan = shop.orders.find({ item: 'item2', qty: { $gt: 100 } }).explain();
  assert.match(JSON.stringify(plan.queryPlanner.winningPlan), /IXSCAN/);
  const stats = shop.orders.explain('executionStats').find({ item: 'item2' }).finish().executionStats;
  assert.equal(stats.nReturned, 50);
  assert.equal(stats.totalKeysExamined, 50);
  assert.match(JSON.stringify(shop.orders.explain().aggregate([{ $match: { unindexed: 1 } }])), /COLLSCAN/);
  assert.equal(shop.orders.explain().count({ item: 'item2' }).ok, 1);
  assert.equal(shop.orders.explain().update({ _id: 1 }, { $set: { a: 1 } }).ok, 1);
  assert.equal(shop.orders.explain().remove({ _id: 1 }).ok, 1);
});

check('aggregate', () => {
  const got = shop.orders.aggregate([
    { $match: { item: { $in: ['item2', 'item3'] } } },
    { $group: { _id: '$item', n: { $sum: 1 }, most: { $max: '$qty' } } },
    { $sort: { _id: 1 } },
  ]).toArray();
  assert.deepEqual(got, [{ _id: 'item2', n: 50, most: 492 }, { _id: 'item3', n: 50, most: 493 }]);
  shop.orders.aggregate([{ $match: { item: 'item2' } }, { $out: 'copies' }]);
  assert.equal(shop.copies.countDocuments(), 50);
  assert.equal(shop.aggregate([{ $documents: [{ a: 1 }] }]).toArray()[0].a, 1);
});

check('views', () => {
  assert.equal(shop.createView('big', 'orders', [{ $match: { qty: { $gte: 450 } } }, { $project: { qty: 1 } }]).ok, 1);
  assert.equal(shop.big.countDocuments(), shop.orders.countDocuments({ qty: { $gte: 450 } }));
  rejects(166, () => shop.big.insertOne({ a: 1 }));
  assert.equal(shop.getCollectionInfos({ name: 'big' })[0].type, 'view');
  assert.equal(shop.big.drop(), true);
});

check('bulkWrite', () => {
  const r = shop.bulk.bulkWrite([
    { insertOne: { document: { _id: 1, n: 1 } } },
    { updateOne: { filter: { _id: 2 }, update: { $set: { n: 2 } }, upsert: true } },
    { replaceOne: { filter: { _id: 1 }, replacement: { n: 9 } } },
    { deleteOne: { filter: { _id: 2 } } },
  ]);
  assert.deepEqual([r.insertedCount, r.upsertedCount, r.modifiedCount, r.deletedCount], [1, 1, 1, 1]);
  const b = shop.bulk.initializeUnorderedBulkOp();
  b.insert({ _id: 3 });
  b.find({ _id: 1 }).updateOne({ $inc: { n: 1 } });
  assert.equal(b.execute().modifiedCount, 1);
  assert.equal(shop.bulk.findOne({ _id: 1 }).n, 10);
});

check('validate and statistics', () => {
  const v = shop.orders.validate({ full: true });
  assert.deepEqual([v.valid, v.nrecords], [true, 449]);
  assert.equal(shop.orders.stats().count, 449);
  assert.equal(shop.orders.stats().nindexes, 3);
  assert.ok(shop.orders.dataSize() > 0);
  assert.ok(shop.orders.totalIndexSize() >= 0);
  assert.equal(shop.stats().db, 'shop');
  assert.equal(shop.orders.isCapped(), false);
  assert.equal(shop.orders.latencyStats().length, 1);
});

check('capped', () => {
  shop.createCollection('ring', { capped: true, size: 100000, max: 3 });
  for (let i = 0; i < 5; i++) shop.ring.insertOne({ i });
  assert.deepEqual(shop.ring.find().toArray().map(d => d.i), [2, 3, 4]);
  assert.equal(shop.ring.isCapped(), true);
});

check('rename and drop', () => {
  assert.equal(shop.copies.renameCollection('renamed').ok, 1);
  assert.equal(shop.renamed.countDocuments(), 50);
  assert.equal(shop.renamed.drop(), true);
  rejects(26, () => shop.renamed.renameCollection('again'));
});

check('schema validation', () => {
  shop.createCollection('people', { validator: { $jsonSchema: { required: ['name'], properties: { age: { bsonType: 'int' } } } } });
  rejects(121, () => shop.people.insertOne({ age: 1 }));
  assert.equal(shop.people.insertOne({ name: 'x', age: 3 }).acknowledged, true);
  assert.equal(shop.runCommand({ collMod: 'people', validationLevel: 'off' }).ok, 1);
  assert.equal(shop.people.insertOne({ age: 'free' }).acknowledged, true);
});

check('dropDatabase', () => {
  const other = db.getSiblingDB('passing');
  other.c.insertOne({});
  assert.equal(other.dropDatabase().ok, 1);
  assert.equal(db.getMongo().getDBNames().includes('passing'), false);
});

print('done');
