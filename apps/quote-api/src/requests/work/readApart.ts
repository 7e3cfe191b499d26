import {
  type SqlDatabase,
  type SqlTx,
  UpstreamDisagreementError,
  UpstreamUnavailableError,
} from '@causeway/core'
import { putAsideReason } from '@causeway/families'
import type { Run } from '../../jobs/runJobs.ts'
import { listPutAside, putAside, type StoredPutAside, takeFromAside } from './putAsideStore.ts'

type TransactionRef = Pick<StoredPutAside, 'chainId' | 'transactionId'>

/**
 * Runs the reading of one transaction for `followWork`. If it cannot be read, the transaction is put aside, so that only its
 * own item pauses. @throws PutAsideError then, and until its pause is over
 */
export type ReadApart = <Value>(
  transactionRef: TransactionRef,
  reading: () => Promise<Value>,
) => Promise<Value>

/** Parts of a run that readings of chains need. */
export type Reads = { readonly signal: AbortSignal; readonly readApart: ReadApart }

/** The transaction is put aside; not an error of the run. */
export class PutAsideError extends Error {}

/** Purpose of all readings of `followWork`, also of those that look for the deposit of a sweep. */
const purpose = 'payment'

/**
 * Opens the readings of one run, which know the transactions that are put aside. @returns asideCount: the number of these
 * @source F-75
 */
export async function openReadings(
  database: Pick<SqlDatabase, 'query' | 'transaction'>,
  { fence, signal }: Run,
): Promise<{ readonly read: ReadApart; readonly asideCount: number }> {
  const payments = (await listPutAside(database)).filter((entry) => entry.purpose === purpose)
  const putAsideByKey = new Map(payments.map((entry) => [keyOf(entry), entry]))
  const store = (write: (tx: SqlTx) => Promise<void>) =>
    database.transaction(async (tx) => {
      await fence(tx)
      await write(tx)
    })
  const read: ReadApart = async ({ chainId, transactionId }, reading) => {
    const transactionKey = { chainId, transactionId, purpose } as const
    const earlierEntry = putAsideByKey.get(keyOf(transactionKey))
    if (earlierEntry?.isDue === false) throw new PutAsideError()
    const value = await reading().catch(async (error: unknown) => {
      const reason = putAsideReason(error) ?? (isUnanswered(error) ? 'unanswered' : undefined)
      if (reason === undefined || signal.aborted) throw error
      await store((tx) => putAside(tx, [{ ...transactionKey, reason }]))
      throw new PutAsideError(undefined, { cause: error })
    })
    if (earlierEntry !== undefined) await store((tx) => takeFromAside(tx, transactionKey))
    return value
  }
  return { read, asideCount: putAsideByKey.size }
}

const keyOf = ({ chainId, transactionId }: TransactionRef) => `${chainId} ${transactionId}`

function isUnanswered(error: unknown): boolean {
  return error instanceof UpstreamUnavailableError || error instanceof UpstreamDisagreementError
}
