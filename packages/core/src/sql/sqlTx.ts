/** One row as the driver returns it; `numeric` and `bigint` columns arrive as `bigint`. */
export type SqlRow = Readonly<Record<string, unknown>>

/**
 * One open SQL transaction. Packages that write (ledger, orders) take one and never own a pool, so
 * that an app can put the effects of several of them into one commit.
 */
export interface SqlTx {
  /** Runs one statement with `$1…` parameters. @throws the driver's error, SQLSTATE in `code` */
  query<Row extends SqlRow = SqlRow>(
    text: string,
    values?: readonly unknown[],
    options?: QueryOptions,
  ): Promise<readonly Row[]>
}

/** Transaction that `SqlDatabase.transaction` opens: several statements, one commit. */
export interface SqlWriteTx extends SqlTx {
  /**
   * Sends one statement without waiting for its result. Later statements follow on the wire and see its effects. If it
   * fails, the transaction fails with its error and commits nothing.
   */
  send(text: string, values?: readonly unknown[]): void
}

export type TransactionOptions = {
  /**
   * Set it when the first statement is a `query` that changes no row (it may lock some). It is then sent together with
   * `begin`, which saves a round trip. Were `begin` refused, the query would run outside a transaction.
   * Default false.
   */
  readonly opensWithRead?: boolean
  /** Every statement sees what the first one saw, and none may write. Default false. */
  readonly isSnapshot?: boolean
}

/** Owns connections. Implemented once per process by the app's database module. */
export interface SqlDatabase {
  /**
   * Commits when `work` resolves and rolls back when it rejects.
   * @throws UpstreamUnavailableError when no connection can be had in time
   */
  transaction<T>(work: (tx: SqlWriteTx) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** One statement in its own implicit transaction. */
  query<Row extends SqlRow = SqlRow>(
    text: string,
    values?: readonly unknown[],
    options?: QueryOptions,
  ): Promise<readonly Row[]>
}

export type QueryOptions = {
  /** The database plans the statement anew for its values, instead of using a prepared plan. Default false. */
  readonly isPlannedEachTime?: boolean
}
