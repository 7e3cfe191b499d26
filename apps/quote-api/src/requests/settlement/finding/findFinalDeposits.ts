import type { SqlTx } from '@causeway/core'
import { describeFinalChange, judgeFinal, lateBlocksOf } from '@causeway/families'
import { finalRange, heightBelow } from '../../../chainReadings/blockCursor.ts'
import type { ReadMemory } from '../../../chainReadings/readMemory.ts'
import type { Run } from '../../../jobs/runJobs.ts'
import { stopChain } from '../../stops/stopStore.ts'
import type { DepositPass } from '../chain/settlementChain.ts'
import { type DepositCursor, moveFinalCursor, readDepositCursor } from '../deposits/depositCursor.ts'
import { doubtDeposits, insertPaidSwaps } from '../deposits/depositStore.ts'
import { type FindingContext, keepRead, observeAside, readTransactions } from './foundDeposits.ts'
import {
  createTimeCheck,
  type FindingChain,
  type ListedBlocks,
  listBlocks,
  stepsOf,
  toBlockCursor,
} from './listBlocks.ts'

/**
 * Reads final blocks once more, because the first lists may have been incomplete, and moves past them for
 * good, range by range up to the newest final block. Each range begins behind `finalTo` of the cursor, whose
 * hash is compared first. If it has changed, the chain is stopped until an operator's `go`, and `stopAt`
 * moves the cursor back without a hash: the next range reads the changed blocks, compared with nothing.
 * @param newest.memory the memory of `findNewDeposits` too: what was read for good there is not read again
 * @throws UpstreamUnavailableError, UpstreamDisagreementError; what was committed before stays
 */
export async function findFinalDeposits(
  context: FindingContext,
  chain: FindingChain,
  newest: { readonly head: bigint; readonly memory: ReadMemory },
  run: Run,
): Promise<void> {
  const { head, memory } = newest
  const { database } = context
  const { fence, signal } = run
  const steps = stepsOf(chain)
  const heights = { head, finalHeight: await chain.finalHeight(signal) }
  for (;;) {
    const cursor = await readDepositCursor(database, chain.chain.chainId)
    if (cursor === undefined || signal.aborted) return
    const range = finalRange(toBlockCursor(cursor, steps), heights, steps)
    if (range === undefined) return
    const listed = await listBlocks(chain, range, signal)
    // The endpoints do not have the end of the range yet, so a later look reads it.
    if (listed.pass.last === undefined) return
    const change = finalChange(cursor, listed.pass)
    if (change === undefined) await keepFinalBlocks(context, chain, { listed, memory }, run)
    else
      await database.transaction(async (tx) => {
        await fence(tx)
        await stopAt(tx, chain, { end: range.known, reason: change })
      })
  }
}

/** Reads the transactions of listed final blocks, stores their deposits, and moves the cursor, in one commit. */
async function keepFinalBlocks(
  context: FindingContext,
  chain: FindingChain,
  { listed, memory }: { readonly listed: ListedBlocks; readonly memory: ReadMemory },
  { fence, signal }: Run,
): Promise<void> {
  const { pass, to, isWhole } = listed
  const { chainId } = chain.chain
  // Transactions that were read for good are left out; those that wait for another look are read now.
  const due = pass.transactions.filter((transactionId) => memory.isDue(transactionId, 'final'))
  const hasTime = createTimeCheck(memory)
  // A whole block, whose events endpoints refuse to list, is read transaction by transaction: for a second.
  // (F-77)
  const mayRead = () => !isWhole || hasTime()
  const read = await readTransactions(chain, due, signal, mayRead)
  const { found, aside, settled, empty, gone, failed, unread } = read
  // Lists of events name only successful transactions, so an endpoint without the receipt of one is late. A
  // whole block also names those that failed, so there `gone` proves nothing.
  const lateTransactions = stepsOf(chain).lateBlocks > 0n && !isWhole ? gone : []
  const unansweredTransactions = [
    ...failed.map(({ transactionId }) => transactionId),
    ...lateTransactions,
    ...unread,
  ]
  const putAside = [
    ...aside,
    ...unansweredTransactions.map((transactionId) => ({ transactionId, reason: 'unanswered' as const })),
  ]
  await context.database.transaction(async (tx) => {
    await fence(tx)
    // Only the block's own time counts, because the user is not to blame for a late list.
    await keepRead(context, tx, chainId, { found, aside: putAside }, () => undefined)
    await insertPaidSwaps(tx, chainId, pass.paidSwaps)
    await moveFinalCursor(tx, chainId, { finalTo: to, finalHash: pass.last?.hash })
  })
  observeAside(context, chainId, putAside)
  // The unanswered transactions are put aside now, so the retries read them.
  for (const transactionId of [...settled, ...empty, ...unansweredTransactions]) memory.settle(transactionId)
}

/** Compares the last final block with its stored hash. @returns how it changed; undefined if it did not */
function finalChange(
  { finalTo, finalHash }: Pick<DepositCursor, 'finalTo' | 'finalHash'>,
  { known }: Pick<DepositPass, 'known'>,
): string | undefined {
  if (finalTo === undefined || finalHash === undefined || known === undefined) return undefined
  const verdict = judgeFinal({ number: finalTo, hash: finalHash }, known.hash)
  return verdict.kind === 'unchanged' ? undefined : `final ${describeFinalChange(verdict.contradiction)}`
}

/**
 * Checks whether a chain ends below its own final block, by more than endpoints may lag. Pure.
 * @returns the reason to stop it; undefined if it does not end there
 * @source rule O-68
 */
export function endsBelowFinal(
  { chain: { config } }: Pick<FindingChain, 'chain'>,
  cursor: Pick<DepositCursor, 'finalTo' | 'finalHash'> | undefined,
  head: bigint,
): string | undefined {
  const { finalTo, finalHash } = cursor ?? {}
  // Without its hash, `finalTo` is no block that was seen final.
  if (finalTo === undefined || finalHash === undefined) return undefined
  if (head + lateBlocksOf(config) >= finalTo) return undefined
  return `the chain ends at block ${head}, below its final block ${finalTo}`
}

/**
 * Stops a chain whose final blocks changed, and has its deposits compared with the chain again.
 * @param change.end height of the block that changed, or of the last one of a chain that became shorter
 */
export async function stopAt(
  tx: SqlTx,
  chain: Pick<FindingChain, 'chain' | 'steps'>,
  { end, reason }: { readonly end: bigint; readonly reason: string },
): Promise<void> {
  const { chainId, key } = chain.chain
  await stopChain(tx, { chainId, name: key, actor: 'quote-api', reason })
  // Blocks below `end` may have changed too, so they are read again.
  const finalTo = heightBelow(end, stepsOf(chain).rewindBlocks)
  await moveFinalCursor(tx, chainId, { finalTo, finalHash: undefined })
  await doubtDeposits(tx, chainId)
}
