'use strict';

const assert = require('node:assert/strict');
const { mock, test } = require('node:test');
const { DuskDBMemoryServer } = require('../index.js');

test('both clocks move together', async (t) => {
  const server = await DuskDBMemoryServer.create();
  t.after(() => server.stop());
  await server.command({ createIndexes: 'carts', indexes: [{ key: { at: 1 }, name: 'at_1', expireAfterSeconds: 3600 }] }, 'shop');
  const clocks = await server.fakeTimers(mock);
  const before = new Date();
  assert.deepEqual(await server.now(), before);
  await server.command({ insert: 'carts', documents: [{ at: before }] }, 'shop');
  await clocks.advance('59m');
  assert.equal((await server.command({ count: 'carts' }, 'shop')).n, 1);
  const now = await clocks.advance({ minutes: 2 });
  assert.equal(now - before, 3_660_000);
  assert.deepEqual(new Date(), now);
  assert.deepEqual(await server.now(), now);
  assert.equal((await server.command({ count: 'carts' }, 'shop')).n, 0);
  await clocks.set(new Date(now.getTime() + 5));
  assert.equal(Date.now(), now.getTime() + 5);
  await clocks.restore();
  assert.ok(Date.now() < now.getTime());
  await clocks.restore();
  const words = { message: 'the clocks have been restored: call fakeTimers again' };
  await assert.rejects(clocks.advance('1h'), words);
  await assert.rejects(clocks.set('2099-01-01'), words);
  assert.ok((await server.now()) < new Date('2099-01-01'));
});

test('what has no fake timers', async (t) => {
  const server = await DuskDBMemoryServer.create();
  t.after(() => server.stop());
  for (const fakes of [{}, undefined, null, t]) await assert.rejects(server.fakeTimers(fakes), { name: 'TypeError', message: 'fakeTimers takes jest, vi, sinon, or mock of node:test' });
  assert.equal((await server.command({ testClock: 1 })).frozen, false);
});
