/** One row as the driver returns it; `numeric` and `bigint` columns arrive as `bigint`. */
export type SqlRow = Readonly<Record<string, unknown>>

/**
 * One open SQL transaction. Packages that write (ledger, orders) take one and never own a pool, so
 * that an app can put the effects of several of them into one commit.
 */
export interface SqlTx {
  /** Runs one statement with `$1…` parameters. @throws the driver's error, SQLSTATE in `code` */
  query<Row extends SqlRow = SqlRow>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>
}

/** Owns connections. Implemented once per process by the app's database module. */
export interface SqlDatabase {
  /**
   * Commits when `work` resolves and rolls back when it rejects.
   * @throws UpstreamUnavailableError when no connection can be had in time
   */
  transaction<T>(work: (tx: SqlTx) => Promise<T>): Promise<T>
  /** One statement in its own implicit transaction. */
  query<Row extends SqlRow = SqlRow>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>
}
