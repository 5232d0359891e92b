/// <reference types="node" />
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import type { EventEmitter } from 'node:events';

/** A duration with its unit: '61m', '1h30m', '90s', '1500ms', '2d', or { hours: 1, minutes: 1 }. */
export type Duration = string | DurationParts;

export interface DurationParts {
  days?: number;
  hours?: number;
  minutes?: number;
  seconds?: number;
  milliseconds?: number;
}

/** Returns a duration in milliseconds. */
export function milliseconds(duration: Duration): number;

/** What receives the server's log: true is standard error. */
export type Logs = boolean | ((line: string) => void) | NodeJS.WritableStream;

/** Parameters of the server, such as { ttlMonitorSleepSecs: 1 }. */
export type Parameters = Record<string, string | number | boolean>;

export interface Options {
  /** Path of the binary. Default: DUSKDB_BINARY, the package of this platform, duskdb on the PATH, or in a clone of the repository a build with Go. */
  binary?: string;
  /** Port to listen on. Default: a free one. */
  port?: number;
  /** Address to listen on. Default: 127.0.0.1. */
  ip?: string;
  /** Data directory. Default: ":memory:", which stores nothing on disk. */
  dbpath?: string;
  /** The time at which the clock stands still, such as '2026-01-01T00:00:00Z'. Without it, the clock starts at the system's time and runs. */
  now?: Date | string;
  /** Starts a replica set of this name with one member, for clients that require a replica set. */
  replSet?: string;
  /** Creates a user with the role root, and requires logins. */
  auth?: { username: string; password: string };
  /** Server parameters. */
  parameters?: Parameters;
  /** Passes the server's log on. Default: false. */
  logs?: Logs;
  /** Milliseconds that the start may take. Default: 30000. */
  launchTimeout?: number;
  /** Options of the child process, except where its output goes: see logs. */
  spawn?: Omit<SpawnOptions, 'stdio'>;
  /** More flags for duskdb. */
  args?: string[];
}

/** Numbers of what an expiration pass deleted. */
export interface Deleted {
  ttl: number;
  clustered: number;
  timeseriesBuckets: number;
  documentTtl: number;
  messagesDropped: number;
  messagesDeadLettered: number;
  queuesDropped: number;
}

/** jest, vi, sinon, or mock of node:test. */
export type FakeTimers =
  | { useFakeTimers(...args: any[]): any }
  | { timers: { enable(options?: any): void; setTime(milliseconds: number): void; reset(): void } };

/** The server's clock and Date of this process, which stand still at the same instant. */
export interface Clocks extends AsyncDisposable {
  /** Moves both clocks forward and returns the new time. */
  advance(duration: Duration): Promise<Date>;
  /** Moves both clocks to a time that is not before theirs. */
  set(date: Date | string): Promise<Date>;
  /** Gives the process its Date back, and lets the server's clock run. */
  restore(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What tests do with a server besides connecting to it. */
export interface TestClock {
  /** Runs a command without a driver and returns the reply. */
  command(doc: Record<string, unknown>, database?: string): Promise<Record<string, any>>;
  /** Returns the server's time. */
  now(): Promise<Date>;
  /** Moves the clock forward, runs the expiration pass if one has become due, and returns the new time. */
  advance(duration: Duration): Promise<Date>;
  /** Moves the clock to a time that is not before the server's time. */
  set(date: Date | string): Promise<Date>;
  /** Stops the clock, or lets it run again. */
  freeze(frozen?: boolean): Promise<Date>;
  /** Stops the clock, and Date of this process at the same instant. */
  fakeTimers(fakes: FakeTimers): Promise<Clocks>;
  /** Runs an expiration pass now and returns the numbers of what it deleted. */
  runPass(): Promise<Deleted>;
}

// An interface beside a class of its name gives the class the members of TestClock.
export interface DuskDBMemoryServer extends TestClock {}
/** A DuskDB server that keeps its data in memory and whose clock tests can move. */
export class DuskDBMemoryServer implements AsyncDisposable {
  private constructor();
  /** Starts a server on a free port. */
  static create(options?: Options): Promise<DuskDBMemoryServer>;
  readonly uri: string;
  readonly port: number;
  /** The server's process. */
  readonly process: ChildProcess;
  /** Settles when the process has ended. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Returns the URI with a database name. */
  getUri(database?: string): string;
  /** Stops the server. Further calls do nothing. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

// From here on: the names and options of mongodb-memory-server.

export const MongoMemoryServerEvents: { readonly stateChange: 'stateChange' };
export const MongoMemoryServerStates: { readonly new: 'new'; readonly starting: 'starting'; readonly running: 'running'; readonly stopped: 'stopped' };
export const MongoMemoryReplSetEvents: { readonly stateChange: 'stateChange' };
export const MongoMemoryReplSetStates: { readonly init: 'init'; readonly running: 'running'; readonly stopped: 'stopped' };
export type MongoMemoryServerState = 'new' | 'starting' | 'running' | 'stopped';
export type MongoMemoryReplSetState = 'init' | 'running' | 'stopped';

export interface CreateUser {
  createUser: string;
  pwd: string;
  /** Default: "admin". */
  database?: string;
  roles: ({ role: string; db: string } | string)[];
  customData?: Record<string, unknown>;
  mechanisms?: ('SCRAM-SHA-1' | 'SCRAM-SHA-256')[];
  authenticationRestrictions?: { clientSource?: string | string[]; serverAddress?: string | string[] }[];
  digestPassword?: boolean;
}

export interface AutomaticAuth {
  /** Default: true. */
  enable?: boolean;
  /** Default: "mongodb-memory-server-root". */
  customRootName?: string;
  /** Default: "rootuser". */
  customRootPwd?: string;
  /** Users to create besides the root user. */
  extraUsers?: CreateUser[];
  /** No effect: users that are missing are always created. */
  force?: boolean;
  /** No effect: there is only one member. */
  keyfileContent?: string;
}

/** DuskDB's own options of an instance. */
export interface DuskDBInstanceOpts {
  /** The time at which the clock stands still. */
  now?: Date | string;
  parameters?: Parameters;
  logs?: Logs;
}

export interface MongoMemoryInstanceOpts extends DuskDBInstanceOpts {
  args?: string[];
  port?: number;
  ip?: string;
  /** "wiredTiger" keeps the data on disk, so that they survive stop({ doCleanup: false }); all others keep them in memory. */
  storageEngine?: string;
  dbPath?: string;
  dbName?: string;
  replSet?: string;
  /** Requires logins, without creating users. */
  auth?: boolean;
  launchTimeout?: number;
  /** No effect: there is only one member. */
  replicaMemberConfig?: Record<string, unknown>;
  /** Take a free port if the given one is taken. Default: true. */
  portGeneration?: boolean;
}

/** Nothing is downloaded: options of the download have no effect. */
export interface MongoBinaryOpts {
  /** Path of the binary of DuskDB. */
  systemBinary?: string;
  /** 8.0 makes the server behave as that version, any other as 8.2. */
  version?: string;
  /** No effect. */
  downloadDir?: string;
  /** No effect. */
  arch?: string;
  /** No effect. */
  os?: unknown;
  /** No effect. */
  platform?: string;
  /** No effect. */
  checkMD5?: boolean;
  /** No effect. */
  skipMD5?: boolean;
}

export interface Cleanup {
  /** Remove temporary data. Default: true. */
  doCleanup?: boolean;
  /** Remove a dbPath that was given, too. Default: false. */
  force?: boolean;
}

export interface DisposeOptions {
  /** Stop the server when await using ends. Default: true. */
  enabled?: boolean;
  cleanup?: Cleanup;
}

export interface MongoMemoryServerOpts {
  instance?: MongoMemoryInstanceOpts;
  binary?: MongoBinaryOpts;
  spawn?: Omit<SpawnOptions, 'stdio'>;
  auth?: AutomaticAuth;
  dispose?: DisposeOptions;
}

export interface MongoInstanceData {
  port: number;
  dbPath: string;
  dbName: string;
  ip: string;
  storageEngine: string;
  replSet?: string;
  tmpDir?: string;
  instance: { mongodProcess: ChildProcess };
}

export interface MongoMemoryServer extends TestClock {}
export class MongoMemoryServer extends EventEmitter implements AsyncDisposable {
  constructor(opts?: MongoMemoryServerOpts);
  static create(opts?: MongoMemoryServerOpts): Promise<MongoMemoryServer>;
  opts: MongoMemoryServerOpts;
  readonly auth?: Required<AutomaticAuth>;
  readonly state: MongoMemoryServerState;
  readonly instanceInfo: MongoInstanceData | undefined;
  /** The DuskDB server; an error unless it runs. */
  readonly duskdb: DuskDBMemoryServer;
  start(forceSamePort?: boolean): Promise<void>;
  stop(cleanup?: Cleanup | boolean): Promise<boolean>;
  cleanup(options?: Cleanup): Promise<void>;
  ensureInstance(): Promise<MongoInstanceData>;
  getUri(otherDb?: string, otherIp?: string): string;
  on(event: 'stateChange', listener: (state: MongoMemoryServerState) => void): this;
  once(event: 'stateChange', listener: (state: MongoMemoryServerState) => void): this;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ReplSetOpts extends DuskDBInstanceOpts {
  /** DuskDB is a replica set of one member: only 1 is accepted. */
  count?: 1;
  /** Default: "testset". */
  name?: string;
  dbName?: string;
  ip?: string;
  auth?: boolean | AutomaticAuth;
  args?: string[];
  /** Megabytes. */
  oplogSize?: number;
  spawn?: Omit<SpawnOptions, 'stdio'>;
  storageEngine?: string;
  launchTimeout?: number;
  /** No effect: there are no elections. */
  configSettings?: Record<string, unknown>;
}

export interface MongoMemoryReplSetOpts {
  instanceOpts?: [MongoMemoryInstanceOpts?];
  binary?: MongoBinaryOpts;
  replSet?: ReplSetOpts;
  dispose?: DisposeOptions;
}

export interface MongoMemoryReplSet extends TestClock {}
export class MongoMemoryReplSet extends EventEmitter implements AsyncDisposable {
  constructor(opts?: MongoMemoryReplSetOpts);
  static create(opts?: MongoMemoryReplSetOpts): Promise<MongoMemoryReplSet>;
  servers: MongoMemoryServer[];
  opts: MongoMemoryReplSetOpts;
  replSetOpts: ReplSetOpts;
  readonly state: MongoMemoryReplSetState;
  /** The DuskDB server; an error unless it runs. */
  readonly duskdb: DuskDBMemoryServer;
  start(): Promise<void>;
  stop(cleanup?: Cleanup | boolean): Promise<boolean>;
  cleanup(options?: Cleanup): Promise<void>;
  waitUntilRunning(): Promise<void>;
  getUri(otherDb?: string, otherIp?: string): string;
  on(event: 'stateChange', listener: (state: MongoMemoryReplSetState) => void): this;
  once(event: 'stateChange', listener: (state: MongoMemoryReplSetState) => void): this;
  [Symbol.asyncDispose](): Promise<void>;
}
