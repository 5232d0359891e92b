// Mongoose: what its schemas ask of a server. Run by TestMongoose.
'use strict';
const assert = require('assert');
const mongoose = require('mongoose');
const { check } = require('./checks.js');

const { Schema } = mongoose;

async function main() {
  await mongoose.connect(process.env.URI, { dbName: 'odm' });
  const admin = mongoose.connection.getClient().db('admin');

  await check('TTL index of a schema', async () => {
    const Token = mongoose.model('Token', new Schema({ at: { type: Date, expires: '1h' } }));
    await Token.init();
    assert.equal((await Token.collection.indexes())[1].expireAfterSeconds, 3600);
    await Token.create({ at: new Date() }, { at: new Date(Date.now() + 7200e3) });
    await admin.command({ testClock: 1, advanceSeconds: 3601 });
    assert.equal(await Token.countDocuments(), 1);
  });

  await check('time series of a schema', async () => {
    const Reading = mongoose.model('Reading', new Schema({ at: Date, meta: Object, v: Number }, {
      timeseries: { timeField: 'at', metaField: 'meta', granularity: 'minutes' }, expireAfterSeconds: 86400, autoCreate: false,
    }));
    await Reading.createCollection();
    await Reading.insertMany([{ at: new Date('2020-01-01'), meta: { s: 1 }, v: 1 }, { at: new Date('2099-01-01'), meta: { s: 1 }, v: 2 }]);
    assert.equal(await Reading.countDocuments(), 2);
    await admin.command({ runExpirationPass: 1 });
    assert.deepEqual((await Reading.find()).map(r => r.v), [2]);
  });

  await check('clustered collection of a schema', async () => {
    const Event = mongoose.model('Event', new Schema({ _id: Date, what: String }, {
      clusteredIndex: { key: { _id: 1 }, unique: true, name: 'clustered' }, autoCreate: false,
    }));
    await Event.createCollection({ expireAfterSeconds: 60 });
    await Event.create({ _id: new Date('2020-01-01'), what: 'old' }, { _id: new Date('2099-01-01'), what: 'new' });
    await admin.command({ runExpirationPass: 1 });
    assert.deepEqual((await Event.find()).map(e => e.what), ['new']);
  });

  await check('autoIndex storm', async () => {
    const models = [];
    for (let i = 0; i < 20; i++) {
      const s = new Schema({ a: { type: String, index: true }, b: { type: Number, unique: true }, at: { type: Date, expires: 60 } });
      s.index({ a: 1, b: -1 });
      models.push(mongoose.model(`Storm${i}`, s));
    }
    await Promise.all(models.map(m => m.init()));
    await Promise.all(models.map(m => m.syncIndexes()));
    for (const m of models) assert.equal((await m.collection.indexes()).length, 5);
    assert.deepEqual(await models[0].diffIndexes(), { toDrop: [], toCreate: [] });
  });

  await check('an index without TTL and one with TTL 0', async () => {
    const model = (name, index) => {
      const s = new Schema({ at: Date }, { autoIndex: false });
      s.index({ at: 1 }, index);
      return mongoose.model(name, s, 'sessions');
    };
    const models = { plain: model('PlainSession', {}), zero: model('ZeroSession', { expireAfterSeconds: 0 }), hour: model('HourSession', { expireAfterSeconds: 3600 }) };
    for (const [was, before] of Object.entries(models)) {
      for (const [is, now] of Object.entries(models)) {
        if (was === is) continue;
        await before.syncIndexes();
        await assert.rejects(now.createIndexes(), { code: 85, message: /^An equivalent index already exists with the same name but different options\. Requested index: / }, `${was}, then ${is}`);
        assert.deepEqual(await now.syncIndexes(), ['at_1']);
        assert.deepEqual(await now.diffIndexes(), { toDrop: [], toCreate: [] });
        await now.createIndexes();
      }
    }
    await models.zero.syncIndexes();
    await models.zero.create({ at: new Date(0) }, { at: new Date('2099-01-01') });
    await admin.command({ runExpirationPass: 1 });
    assert.equal(await models.zero.countDocuments(), 1);
  });

  await check('populate', async () => {
    const Author = mongoose.model('Author', new Schema({ name: String }));
    const Book = mongoose.model('Book', new Schema({ title: String, author: { type: Schema.Types.ObjectId, ref: 'Author' } }));
    const author = await Author.create({ name: 'Ada' });
    await Book.create({ title: 'One', author }, { title: 'Two', author });
    const books = await Book.find().sort('title').populate('author');
    assert.deepEqual(books.map(b => [b.title, b.author.name]), [['One', 'Ada'], ['Two', 'Ada']]);
  });

  await check('discriminators', async () => {
    const Shape = mongoose.model('Shape', new Schema({ name: String }, { discriminatorKey: 'kind' }));
    const Circle = Shape.discriminator('Circle', new Schema({ radius: Number }));
    Shape.discriminator('Square', new Schema({ side: Number }));
    await Circle.create({ name: 'c', radius: 2 });
    await Shape.create({ kind: 'Square', name: 's', side: 3 });
    assert.equal(await Circle.countDocuments(), 1);
    assert.equal(await Shape.countDocuments(), 2);
    assert.equal((await Shape.findOne({ name: 'c' })).radius, 2);
  });

  await check('validation, versions and lean', async () => {
    const Doc = mongoose.model('Doc', new Schema({ tags: [String], n: { type: Number, min: 1 } }, { timestamps: true, optimisticConcurrency: true }));
    const d = await Doc.create({ tags: ['a'], n: 1 });
    const other = await Doc.findById(d._id);
    d.tags.push('b');
    await d.save();
    other.tags = ['z'];
    await assert.rejects(other.save(), { name: 'VersionError' });
    await assert.rejects(Doc.create({ n: 0 }), { name: 'ValidationError' });
    assert.deepEqual((await Doc.findOne().lean()).tags, ['a', 'b']);
    assert.equal((await Doc.bulkWrite([{ updateOne: { filter: {}, update: { $inc: { n: 1 } } } }])).modifiedCount, 1);
  });

  await mongoose.disconnect();
  console.log('done');
}

main().catch(e => { console.error(e); process.exit(1); });
