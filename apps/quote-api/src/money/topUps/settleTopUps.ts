import {
  DomainError,
  type Hex,
  maxBigint,
  minBigint,
  type SqlTx,
  UpstreamUnavailableError,
} from '@causeway/core'
import {
  finalizeTopUp,
  lockTopUpCursor,
  moveFinalCursor,
  type ObservedTopUp,
  recordTopUp,
  type TopUpCursor,
  type TopUpEvent,
} from '@causeway/ledger'
import {
  listAsideIds,
  listDuePutAside,
  noteTry,
  putAside,
  takeFromAside,
} from '../../requests/work/putAsideStore.ts'
import type { TopUpChain } from './topUpChain.ts'
import { accountOf, orphanWhere, type TopUpPass, type TopUpWatcher, writeIfUnmoved } from './topUpPass.ts'

/**
 * Reads the final blocks `from` to `to` by quorum and books them in one commit, if the cursor has not moved
 * meanwhile:
 * 1. Transactions that cannot be read are put aside for `retryTopUps`.
 * 2. Pending top-ups up to `to`, also below `from`, that the reading does not have are orphaned. Those whose
 *    transaction is put aside, now or by an earlier pass, are decided by `retryTopUps`.
 * 3. Listed transfers are recorded; those that were not final before are credited or suspended.
 * 4. The cursor moves: `finalTo` to `to`, and `settledTo`, up to which nothing is read again, to `settledMax`
 *    at most, because the lists of younger blocks may still grow. To book a block again changes nothing.
 * @source F-76
 */
export async function settleRange(
  watcher: TopUpWatcher,
  cursor: TopUpCursor,
  { from, to, settledMax }: { readonly from: bigint; readonly to: bigint; readonly settledMax: bigint },
): Promise<TopUpPass> {
  const { chain, signal } = watcher
  // Read before the logs. If the chain changes in between, the next pass finds another hash at this height and halts.
  const finalHash = await chain.blockHash(to, 'quorum', signal)
  if (finalHash === undefined) throw new UpstreamUnavailableError('A final block is missing.')
  const unreadTransactions: Hex[] = []
  const topUps = await chain.topUps({ from, to }, 'quorum', signal, {
    // Final blocks are read as a whole, whatever failed before.
    isDue: () => true,
    add: (transaction) => unreadTransactions.push(transaction),
  })
  return writeIfUnmoved(watcher, cursor, async (tx, account) => {
    const { chainId } = account
    const { purpose } = watcher
    await putAside(
      tx,
      unreadTransactions.map((transactionId) => ({ chainId, transactionId, purpose, reason: 'unanswered' })),
    )
    const aside = await listAsideIds(tx, { chainId, purpose })
    const isGone = (event: TopUpEvent) =>
      event.blockNumber <= to && !aside.has(event.transactionHash) && !isAmong(event, topUps)
    const orphaned = await orphanWhere(tx, account, isGone)
    const settled = await settleTopUps(tx, topUps)
    // `settledTo` never goes back, even if the head did.
    const settledTo = maxBigint(cursor.settledTo, minBigint(to, settledMax))
    await moveFinalCursor(tx, account, { finalTo: to, finalHash, settledTo })
    return { seen: [], orphaned, ...settled, aside: unreadTransactions }
  })
}

function isAmong(event: TopUpEvent, topUps: readonly ObservedTopUp[]): boolean {
  return topUps.some(
    ({ transactionHash, blockHash, log }) =>
      transactionHash === event.transactionHash &&
      blockHash === event.blockHash &&
      log.logIndex === event.logIndex,
  )
}

/** Records final transfers, and credits or suspends those that were not final before. */
async function settleTopUps(
  tx: SqlTx,
  topUps: readonly ObservedTopUp[],
): Promise<Pick<TopUpPass, 'final' | 'conflicts'>> {
  const final: ObservedTopUp[] = []
  const conflicts: ObservedTopUp[] = []
  for (const topUp of topUps) {
    // `replace`: the transfer as a quorum lists it takes the place of one that was seen near the head.
    const { answer, eventId } = await recordTopUp(tx, topUp, { replace: true })
    // Else a final event has the transfer in another block or with other content, and stays as it is.
    const isRecorded = answer === 'seen' || answer === 'known'
    if (!isRecorded || eventId === undefined) conflicts.push(topUp)
    else if (await finalizeTopUp(tx, eventId, { rule: 'finalized', blockHash: topUp.blockHash }))
      final.push(topUp)
  }
  return { final, conflicts }
}

/** Transactions tried again in one run. */
const triesAtOnce = 2

/**
 * Reads transactions again that were put aside. One that can be read now and stands in a block up to
 * `finalTo` is settled like any other, and is no longer put aside; one without a transfer is, too. Every
 * other one waits for its next try, as all do while the account is halted.
 * @returns what was settled
 */
export async function retryTopUps(
  watcher: Omit<TopUpWatcher, 'fromBlock' | 'lateBlocks' | 'memory'>,
): Promise<Pick<TopUpPass, 'final' | 'conflicts'>> {
  const { chain, database, fence, purpose, signal } = watcher
  const settled: Pick<TopUpPass, 'final' | 'conflicts'>[] = []
  const due = await listDuePutAside(database, [chain.chainId], { purpose, limit: triesAtOnce })
  for (const transaction of due) {
    const topUps = await readAgain(chain, transaction.transactionId, signal)
    await database.transaction(async (tx) => {
      await fence(tx)
      const cursor = await lockTopUpCursor(tx, accountOf(chain))
      // Without a cursor no block is final yet.
      const finalTo = cursor?.finalTo ?? -1n
      const isFinal = topUps?.every(({ blockNumber }) => blockNumber <= finalTo) === true
      // `undefined`: the reason for which it was put aside stays.
      if (!isFinal || cursor?.haltedReason !== undefined) return noteTry(tx, transaction, undefined)
      await orphanWhere(
        tx,
        accountOf(chain),
        (event) => event.transactionHash === transaction.transactionId && !isAmong(event, topUps),
      )
      settled.push(await settleTopUps(tx, topUps))
      await takeFromAside(tx, transaction)
    })
  }
  return {
    final: settled.flatMap(({ final }) => final),
    conflicts: settled.flatMap(({ conflicts }) => conflicts),
  }
}

/** Top-ups of one transaction; undefined while it cannot be read, or is in no block. */
async function readAgain(
  chain: TopUpChain,
  transactionId: string,
  signal: AbortSignal,
): Promise<readonly ObservedTopUp[] | undefined> {
  try {
    // CAST: a transaction of an EVM chain is named by its hash.
    return await chain.topUpsIn(transactionId as Hex, signal)
  } catch (error) {
    if (error instanceof DomainError) return undefined
    throw error
  }
}
