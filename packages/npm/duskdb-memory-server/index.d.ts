export interface Options {
  /** Path of the binary. Default: DUSKDB_BINARY, bin/ of this package, or a build with Go if the package is in a clone of the repository. */
  binary?: string;
  /** Port to listen on. Default: a free one. */
  port?: number;
  /** Data directory. Default: ":memory:", which stores nothing on disk. */
  dbpath?: string;
  /** The time at which the clock stands still. Without it, the clock starts at the system's time and runs. */
  now?: Date | number | string;
  /** Starts a replica set of this name with one member, for clients that require a replica set. */
  replSet?: string;
  /** Server parameters, such as { ttlMonitorSleepSecs: 1 }. */
  parameters?: Record<string, string | number | boolean>;
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

/** A DuskDB server that keeps its data in memory and whose clock tests can move. */
export class DuskDBMemoryServer {
  private constructor();
  /** Starts a server on a free port. */
  static create(options?: Options): Promise<DuskDBMemoryServer>;
  readonly uri: string;
  readonly port: number;
  /** Returns the URI with a database name. */
  getUri(database?: string): string;
  /** Runs a command without a driver and returns the reply. */
  command(doc: Record<string, unknown>, database?: string): Promise<Record<string, any>>;
  /** Returns the server's time. */
  now(): Promise<Date>;
  /** Moves the clock forward, runs the expiration pass if one has become due, and returns the new time. */
  advance(milliseconds: number): Promise<Date>;
  /** Moves the clock to a time that is not before the server's time. */
  set(date: Date | number | string): Promise<Date>;
  /** Stops the clock, or lets it run again. */
  freeze(frozen?: boolean): Promise<Date>;
  /** Runs an expiration pass now and returns the numbers of what it deleted. */
  runPass(): Promise<Deleted>;
  /** Stops the server. Further calls do nothing. */
  stop(): Promise<void>;
}
