export interface Options {
  /** The binary; default: DUSKDB_BINARY, bin/ of this package, or built with Go from the repository around it. */
  binary?: string;
  /** Default: a free one. */
  port?: number;
  /** Default: ":memory:". */
  dbpath?: string;
  /** Where the clock stands, frozen; without it, it runs from the system's time. */
  now?: Date | number | string;
  /** Shows the face of a replica set of this name, for transactions and change streams. */
  replSet?: string;
  /** Server parameters, such as { ttlMonitorSleepSecs: 1 }. */
  parameters?: Record<string, string | number | boolean>;
  /** Further flags of duskdb. */
  args?: string[];
}

/** What an expiration pass deleted. */
export interface Deleted {
  ttl: number;
  clustered: number;
  timeseriesBuckets: number;
  documentTtl: number;
  messagesDropped: number;
  messagesDeadLettered: number;
  queuesDropped: number;
}

/** A DuskDB server that keeps its data in memory and whose clock is moved. */
export class DuskDBMemoryServer {
  private constructor();
  /** Starts a server on a free port. */
  static create(options?: Options): Promise<DuskDBMemoryServer>;
  readonly uri: string;
  readonly port: number;
  /** The URI with a database. */
  getUri(database?: string): string;
  /** Runs a command without a driver. */
  command(doc: Record<string, unknown>, database?: string): Promise<Record<string, any>>;
  /** The server's time. */
  now(): Promise<Date>;
  /** Moves the clock forward, and runs the expiration pass that has become due. */
  advance(milliseconds: number): Promise<Date>;
  /** Moves the clock to an instant that is not in its past. */
  set(date: Date | number | string): Promise<Date>;
  /** Stops the clock, or lets it run on. */
  freeze(frozen?: boolean): Promise<Date>;
  /** Runs an expiration pass now, and says what it deleted. */
  runPass(): Promise<Deleted>;
  /** Ends the server. May be called again. */
  stop(): Promise<void>;
}
