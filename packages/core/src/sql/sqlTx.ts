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

/** Transaction that `transaction` opens: several statements, one commit. */
export interface SqlWriteTx extends SqlTx {
  /**
   * Sends one statement and waits for nothing: what comes next follows on the wire and sees its effects. Its
   * error is the transaction's, which then commits nothing.
   */
  send(text: string, values?: readonly unknown[]): void
}

export type TransactionOptions = {
  /**
   * The first statement is a `query` that changes no row (it may lock some). It leaves together with `begin`,
   * a round trip less; were `begin` refused, it would run in a transaction of its own. Default false.
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
  /** The plan is made for the values each time, and none is remembered. Default false. */
  readonly isPlannedEachTime?: boolean
}
