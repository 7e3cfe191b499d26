import { type Hex, maxBigint, minBigint, UpstreamUnavailableError } from '@causeway/core'
import {
  haltTopUps,
  listFinalTopUps,
  listSeenTopUps,
  moveLiveCursor,
  type ObservedTopUp,
  openTopUpCursor,
  recordTopUp,
  type TopUpCursor,
  type TopUpEvent,
} from '@causeway/ledger'
import { heightBelow } from '../../chainReadings/blockCursor.ts'
import { settleRange } from './settleTopUps.ts'
import { accountOf, orphanWhere, type TopUpPass, type TopUpWatcher, writeIfUnmoved } from './topUpPass.ts'

/** Blocks of one range, which is written in one transaction. */
const rangeBlocksMax = 2_000n
/** Blocks below the last scanned one that each live scan reads again. */
const overlapBlocks = 64n
/** Final events looked at when a final block changed: older ones lie below any credible fork. */
const haltedEventsMax = 1_000

/**
 * One pass of the watcher's job: settles final blocks by quorum, then records new transfers near the head as
 * pending. Only the final part credits money, and it relies on nothing that the other part saw. Each range is
 * written with its cursor in one transaction. If block `finalTo` has another hash than before, nothing is
 * read or credited until an operator resumes. The cursor has three heights, none above the next:
 * - Up to `settledTo` nothing is read again.
 * - Up to `finalTo` top-ups are credited. Those blocks above `settledTo` are read again while lists may grow.
 * - Up to `scannedTo` top-ups are pending.
 * @throws UpstreamUnavailableError, UpstreamDisagreementError; what was committed before stays
 */
export async function watchTopUps(watcher: TopUpWatcher): Promise<TopUpPass> {
  const { chain, database, fromBlock } = watcher
  const account = accountOf(chain)
  let cursor = await database.transaction(async (tx) => {
    await watcher.fence(tx)
    return openTopUpCursor(tx, account, fromBlock)
  })
  const pass: TopUpPass = { seen: [], final: [], orphaned: 0, conflicts: [], aside: [], cursor }
  if (cursor.haltedReason !== undefined) return pass
  const halted = await haltIfFinalBlockChanged(watcher, cursor)
  if (halted !== undefined) return { ...pass, cursor: halted }

  let result = pass
  const finalHeight = await chain.finalHeight(watcher.signal)
  const head = await chain.head(watcher.signal)
  const settledMax = heightBelow(head, watcher.lateBlocks)
  // Final blocks above `settledTo` are read again until their lists are complete, even without a new final block.
  const isUnsettled = cursor.finalTo < finalHeight || cursor.settledTo < minBigint(settledMax, finalHeight)
  for (let from = cursor.settledTo + 1n; isUnsettled && from <= finalHeight; from += rangeBlocksMax) {
    const to = minBigint(from + rangeBlocksMax - 1n, finalHeight)
    const settled = await settleRange(watcher, cursor, { from, to, settledMax })
    cursor = settled.cursor
    result = joinPasses(result, settled)
  }
  return joinPasses(result, await scanLive(watcher, cursor, head))
}

/**
 * Records new transfers above the final blocks as pending, and orphans pending ones whose block was replaced.
 * The cursor moves to the end of the range; where the head fell back it moves back too, so that the new
 * blocks are read.
 */
async function scanLive(watcher: TopUpWatcher, cursor: TopUpCursor, head: bigint): Promise<TopUpPass> {
  const { chain, database, lateBlocks, signal } = watcher
  const firstToReread = cursor.scannedTo + 1n - maxBigint(lateBlocks, overlapBlocks)
  const from = maxBigint(firstToReread, cursor.finalTo + 1n)
  const to = minBigint(head, from + rangeBlocksMax - 1n)
  const waiting = await database.transaction((tx) => listSeenTopUps(tx, accountOf(chain)))
  const canonical = await canonicalHashes(watcher, waiting)
  const { isDue, lookLater } = watcher.memory
  const unreadable = { isDue: (transaction: Hex) => isDue(transaction, 'live'), add: lookLater }
  const topUps = from > to ? [] : await chain.topUps({ from, to }, 'any', signal, unreadable)
  return writeIfUnmoved(watcher, cursor, async (tx, account) => {
    const orphaned = await orphanWhere(tx, account, (event) => {
      const hash = canonical.get(event.blockNumber)
      return hash !== undefined && hash !== event.blockHash
    })
    const seen: ObservedTopUp[] = []
    for (const topUp of topUps) {
      const { answer } = await recordTopUp(tx, topUp, { replace: false })
      if (answer === 'seen') seen.push(topUp)
    }
    await moveLiveCursor(tx, account, to)
    return { seen, final: [], orphaned, conflicts: [], aside: [] }
  })
}

/** Hashes that the heights of pending events have now; a height without a block is left out, and proves nothing. */
async function canonicalHashes(
  { chain, signal }: TopUpWatcher,
  events: readonly TopUpEvent[],
): Promise<ReadonlyMap<bigint, Hex>> {
  const hashes = new Map<bigint, Hex>()
  for (const height of new Set(events.map(({ blockNumber }) => blockNumber))) {
    const hash = await chain.blockHash(height, 'any', signal)
    if (hash !== undefined) hashes.set(height, hash)
  }
  return hashes
}

/**
 * Halts this account's top-ups if its last final block has another hash: finality failed, or endpoints lied. Wallets that
 * were credited by dropped blocks are frozen. An operator decides how to go on.
 * @returns the halted cursor; undefined if the block is unchanged
 */
async function haltIfFinalBlockChanged(
  watcher: TopUpWatcher,
  cursor: TopUpCursor,
): Promise<TopUpCursor | undefined> {
  const { chain, signal } = watcher
  if (cursor.finalHash === undefined) return undefined
  const hash = await chain.blockHash(cursor.finalTo, 'quorum', signal)
  if (hash === undefined) throw new UpstreamUnavailableError('A chain is behind its own final block.')
  if (hash === cursor.finalHash) return undefined
  const eventIds = await droppedFinalEvents(watcher, cursor)
  const reason = `final block ${cursor.finalTo} changed`
  const { cursor: halted } = await writeIfUnmoved(watcher, cursor, async (tx, account) => {
    await haltTopUps(tx, account, { reason, eventIds })
    return { seen: [], final: [], orphaned: 0, conflicts: [], aside: [] }
  })
  return halted
}

/** Ids of settled top-ups whose blocks are gone: from the newest down to the first that is still there. */
async function droppedFinalEvents(
  { chain, database, signal }: TopUpWatcher,
  cursor: TopUpCursor,
): Promise<readonly bigint[]> {
  // Listed from the newest block down.
  const events = await database.transaction((tx) =>
    listFinalTopUps(tx, accountOf(chain), { from: 0n, to: cursor.finalTo, limit: haltedEventsMax }),
  )
  const dropped: bigint[] = []
  for (const event of events) {
    if ((await chain.blockHash(event.blockNumber, 'quorum', signal)) === event.blockHash) break
    dropped.push(event.id)
  }
  return dropped
}

function joinPasses(a: TopUpPass, b: TopUpPass): TopUpPass {
  return {
    seen: [...a.seen, ...b.seen],
    final: [...a.final, ...b.final],
    orphaned: a.orphaned + b.orphaned,
    conflicts: [...a.conflicts, ...b.conflicts],
    aside: [...a.aside, ...b.aside],
    cursor: b.cursor,
  }
}
