import type { QueryOptions, SqlRow, SqlWriteTx, TransactionOptions } from '@causeway/core'
import type pg from 'pg'

/** Puts one statement on the wire before it returns. Answers come in the order of the statements. */
export type RunStatement = <Row extends SqlRow>(
  text: string,
  values?: readonly unknown[],
  options?: QueryOptions,
) => Promise<pg.QueryResult<Row>>

/** The rollback failed too: the connection is in an unknown state and must not be used again. */
export class UnfinishedTransaction extends Error {}

/**
 * Runs `work` between `begin` and `commit` on one connection.
 * @param options.begin opens the transaction; may set what holds in it
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
  const begun = heard(run(isSnapshot ? `${begin}; ${snapshot}` : begin))
  if (!opensWithRead) await begun
  let isBegun = !opensWithRead
  let isOpen = true
  const sent: Promise<unknown>[] = []
  const refuseWhenEnded = () => {
    if (!isOpen) throw new Error('this transaction has ended')
  }
  const tx: SqlWriteTx = {
    async query<Row extends SqlRow>(...queryArguments: Parameters<SqlWriteTx['query']>) {
      refuseWhenEnded()
      const answer = heard(run<Row>(...queryArguments))
      await begun
      isBegun = true
      return (await answer).rows
    },
    send(text, values) {
      refuseWhenEnded()
      if (!isBegun) throw new Error('this transaction opens with a read')
      sent.push(heard(run(text, values)))
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

/** A promise whose rejection somebody looks at later, or never. */
function heard<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

/** Whatever was sent behind a statement that failed, fails because of it. */
async function firstFailure(sent: readonly Promise<unknown>[]): Promise<unknown> {
  const results = await Promise.allSettled(sent)
  return results.find((result) => result.status === 'rejected')?.reason
}
