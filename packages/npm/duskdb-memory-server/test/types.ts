// Compiled, not run: the declarations allow what works, and nothing else.
import {
  DuskDBMemoryServer, MongoMemoryReplSet, MongoMemoryServer, MongoMemoryServerStates, milliseconds,
  type Duration, type MongoMemoryServerOpts,
} from 'duskdb-memory-server';

export async function flat(): Promise<void> {
  await using server = await DuskDBMemoryServer.create({ now: new Date(0), logs: (line: string) => line.length, launchTimeout: 5000 });
  const moved: Date = await server.advance('61m');
  await server.advance({ hours: 1, minutes: 1 });
  // @ts-expect-error a number has no unit
  await server.advance(3661);
  // @ts-expect-error there is no such unit
  await server.advance({ minute: 1 });
  // @ts-expect-error nor has a number of a date
  await server.set(1_700_000_000);
  const deleted: number = (await server.runPass()).ttl;
  console.log(moved, deleted, server.uri.length + server.port, server.process.pid);
  const whole: number = milliseconds('1h30m' satisfies Duration);
  console.log(whole);
}

export async function both(vi: { useFakeTimers(config?: object): void }): Promise<Date> {
  const server = await DuskDBMemoryServer.create();
  await using clocks = await server.fakeTimers(vi);
  return clocks.advance('1s');
}

export async function compatible(): Promise<string> {
  const opts: MongoMemoryServerOpts = {
    instance: { dbName: 'shop', port: 27017, storageEngine: 'wiredTiger', args: ['--quiet'] },
    binary: { version: '8.0.0', systemBinary: '/usr/bin/duskdb' },
    auth: { enable: true, extraUsers: [{ createUser: 'a', pwd: 'b', roles: [{ role: 'read', db: 'shop' }] }] },
  };
  await using server = new MongoMemoryServer(opts);
  server.on('stateChange', (state) => console.log(state === MongoMemoryServerStates.running));
  await server.start(true);
  await server.stop({ doCleanup: false, force: false });
  const port: number | undefined = server.instanceInfo?.port;
  console.log(port);
  // @ts-expect-error one member
  await MongoMemoryReplSet.create({ replSet: { count: 3 } });
  const set = await MongoMemoryReplSet.create({ replSet: { count: 1, name: 'rs', auth: true } });
  return set.getUri('shop', '127.0.0.1');
}
