import { type SqlDatabase, UpstreamDisagreementError, UpstreamUnavailableError } from '@causeway/core'
import { putAsideReason } from '@causeway/families'
import type { Run } from '../../jobs/runJobs.ts'
import { listPutAside, putAside, type StoredPutAside, takeFromAside } from './putAsideStore.ts'

type TransactionRef = Pick<StoredPutAside, 'chainId' | 'transactionId'>

/**
 * Reads a transaction by its name. Where it cannot be read now it is put aside, so that its row pauses and no other one.
 * @throws PutAsideError as long as it is not to be tried again
 */
export type ReadApart = <Value>(
  transactionRef: TransactionRef,
  reading: () => Promise<Value>,
) => Promise<Value>

export class PutAsideError extends Error {}

const purpose = 'payment'

/**
 * Readings of one run, with what was put aside before it. @returns asideCount: so many rows may wait for it
 * @source F-75
 */
export async function openReadings(
  database: Pick<SqlDatabase, 'query' | 'transaction'>,
  { fence, signal }: Run,
): Promise<{ readonly read: ReadApart; readonly asideCount: number }> {
  const all = await listPutAside(database)
  const putAsideByKey = new Map(all.filter((one) => one.purpose === purpose).map((one) => [keyOf(one), one]))
  const read: ReadApart = async ({ chainId, transactionId }, reading) => {
    const transactionKey = { chainId, transactionId, purpose } as const
    const before = putAsideByKey.get(keyOf(transactionKey))
    if (before?.isDue === false) throw new PutAsideError()
    const value = await reading().catch(async (error: unknown) => {
      const reason = putAsideReason(error) ?? (isSilence(error) ? 'unanswered' : undefined)
      if (reason === undefined || signal.aborted) throw error
      await database.transaction(async (tx) => {
        await fence(tx)
        await putAside(tx, [{ ...transactionKey, reason }])
      })
      throw new PutAsideError(undefined, { cause: error })
    })
    if (before !== undefined) await database.transaction((tx) => takeFromAside(tx, transactionKey))
    return value
  }
  return { read, asideCount: putAsideByKey.size }
}

const keyOf = ({ chainId, transactionId }: TransactionRef) => `${chainId} ${transactionId}`

function isSilence(error: unknown): boolean {
  return error instanceof UpstreamUnavailableError || error instanceof UpstreamDisagreementError
}
