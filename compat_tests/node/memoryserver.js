// mongodb-memory-server with duskdb as the mongod that it starts: alone, with
// users, and as a replica set. Run by TestMongoMemoryServer. With the path of
// duskdb-memory-server in MEMORY_SERVER, its classes of the same names do the same.
'use strict';
const assert = require('assert');
const { MongoClient } = require('mongodb');
const { MongoMemoryServer, MongoMemoryReplSet } = require(process.env.MEMORY_SERVER || 'mongodb-memory-server-core');
const { check, rejects } = require('./checks.js');

// use runs fn with a client of a server, and stops both.
async function use(server, options, fn) {
  const client = await MongoClient.connect(server.getUri(), options);
  try {
    await fn(client);
  } finally {
    await client.close();
    await server.stop();
  }
}

async function main() {
  const auth = { enable: true, customRootName: 'root', customRootPwd: 'secret' };
  const root = { auth: { username: 'root', password: 'secret' }, authSource: 'admin' };

  await check('a server', async () => {
    const server = await MongoMemoryServer.create({ instance: { dbName: 'shop' } });
    await use(server, {}, async client => {
      const carts = client.db('shop').collection('carts');
      await carts.insertOne({ touched: new Date() });
      assert.equal(await carts.countDocuments(), 1);
    });
  });

  await check('a server whose clock moves', async () => {
    const server = await MongoMemoryServer.create({ instance: { args: ['--test-clock'] } });
    await use(server, {}, async client => {
      const carts = client.db('shop').collection('carts');
      await carts.createIndex({ touched: 1 }, { expireAfterSeconds: 3600 });
      await carts.insertOne({ touched: new Date() });
      await client.db('admin').command({ testClock: 1, advanceSeconds: 3661 });
      assert.equal(await carts.countDocuments(), 0);
    });
  });

  await check('users', async () => {
    const server = await MongoMemoryServer.create({ auth });
    await use(server, root, async client => {
      await client.db('shop').collection('carts').insertOne({});
      const stranger = await MongoClient.connect(server.getUri());
      await rejects(13, () => stranger.db('shop').collection('carts').findOne());
      await stranger.close();
    });
  });

  await check('a replica set', async () => {
    const set = await MongoMemoryReplSet.create({ replSet: { count: 1 } });
    await use(set, {}, async client => {
      const carts = client.db('shop').collection('carts');
      await client.withSession(session => session.withTransaction(() => carts.insertOne({ _id: 1 }, { session })));
      assert.equal(await carts.countDocuments(), 1);
    });
  });

  await check('a replica set with users', async () => {
    const set = await MongoMemoryReplSet.create({ replSet: { count: 1, auth } });
    await use(set, root, client => client.db('shop').collection('carts').insertOne({}));
  });

  console.log('done');
}

main();
