import type { QueryOptions, SqlRow, SqlWriteTx, TransactionOptions } from '@causeway/core'
import type pg from 'pg'

/** Sends one statement before it returns, without waiting for earlier answers. Answers come in the same order. */
export type RunStatement = <Row extends SqlRow>(
  text: string,
  values?: readonly unknown[],
  options?: QueryOptions,
) => Promise<pg.QueryResult<Row>>

/** The rollback failed too: the connection is in an unknown state and must not be used again. */
export class UnfinishedTransaction extends Error {}

/**
 * Runs `work` between `begin` and `commit` on one connection, with as few round trips as possible.
 * @param options.opensWithRead the first statement is a read, so it is sent together with `begin`; a write
 * would take effect alone if `begin` failed
 * @param options.isSnapshot all statements read one snapshot and write nothing
 * @param options.begin SQL that opens the transaction; may also set time limits for it
 * @throws UnfinishedTransaction, the error of a statement, or what `work` throws
 */
export async function runTransaction<T>(
  run: RunStatement,
  work: (tx: SqlWriteTx) => Promise<T>,
  {
    opensWithRead = false,
    isSnapshot = false,
    begin = 'begin',
  }: TransactionOptions & { readonly begin?: string | undefined } = {},
): Promise<T> {
  const begun = handleLater(run(isSnapshot ? `${begin}; ${snapshot}` : begin))
  if (!opensWithRead) await begun
  let isBegun = !opensWithRead
  let isOpen = true
  /** Statements of `send`, whose answers nobody awaits before the commit. */
  const sent: Promise<unknown>[] = []
  const refuseWhenEnded = () => {
    if (!isOpen) throw new Error('this transaction has ended')
  }
  const tx: SqlWriteTx = {
    async query<Row extends SqlRow>(...queryArguments: Parameters<SqlWriteTx['query']>) {
      refuseWhenEnded()
      const answer = handleLater(run<Row>(...queryArguments))
      await begun
      isBegun = true
      return (await answer).rows
    },
    send(text, values) {
      refuseWhenEnded()
      if (!isBegun) throw new Error('this transaction opens with a read')
      sent.push(handleLater(run(text, values)))
    },
  }
  try {
    const result = await work(tx)
    isOpen = false
    const { command } = await run('commit')
    // PostgreSQL answers the commit of a failed transaction with ROLLBACK, not with an error.
    if (command !== 'COMMIT') throw new Error('the transaction had failed and was rolled back')
    return result
  } catch (error) {
    isOpen = false
    const cause = (await firstFailure(sent)) ?? error
    await run('rollback').catch(() => {
      throw new UnfinishedTransaction('rollback failed', { cause })
    })
    throw cause
  }
}

const snapshot = 'set transaction isolation level repeatable read, read only'

/** Keeps a rejection that is handled later, or never, from counting as unhandled. */
function handleLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

/** The first error of the sent statements: all statements after one that failed fail only because of it. */
async function firstFailure(sent: readonly Promise<unknown>[]): Promise<unknown> {
  const results = await Promise.allSettled(sent)
  return results.find((result) => result.status === 'rejected')?.reason
}
