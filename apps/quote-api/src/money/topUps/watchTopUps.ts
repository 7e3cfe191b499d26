import {
  DomainError,
  type Hex,
  minBigint,
  type SqlDatabase,
  type SqlTx,
  UpstreamUnavailableError,
} from '@causeway/core'
import type { Fence } from '@causeway/database'
import type { ReadingPurpose } from '@causeway/families'
import {
  finalizeTopUp,
  haltTopUps,
  listFinalTopUps,
  listSeenTopUps,
  lockTopUpCursor,
  moveFinalCursor,
  moveLiveCursor,
  type ObservedTopUp,
  openTopUpCursor,
  orphanTopUp,
  recordTopUp,
  type TopUpAccount,
  type TopUpCursor,
  type TopUpEvent,
} from '@causeway/ledger'
import { heightBelow, type ReadMemory } from '../../chainReadings/blockCursor.ts'
import { listDuePutAside, noteTry, putAside, takeFromAside } from '../../requests/work/putAsideStore.ts'
import type { TopUpChain } from './topUpChain.ts'

/** What one pass over the chain did, for metrics and the log. */
export type TopUpPass = {
  /** Top-ups found near the head: shown as pending, not spendable. */
  readonly seen: readonly ObservedTopUp[]
  /** Top-ups that became final: credited, or put into suspense. */
  readonly final: readonly ObservedTopUp[]
  /** Pending top-ups that left the chain. */
  readonly orphaned: number
  /** Final transfers that differ from ones settled before. Nothing is changed; an operator must look. */
  readonly conflicts: readonly ObservedTopUp[]
  /** Transactions that cannot be read. They are put aside, and tried again apart from the others. */
  readonly aside: readonly Hex[]
  readonly cursor: TopUpCursor
}

/** What a pass works with. */
export type TopUpWatcher = {
  readonly chain: TopUpChain
  readonly database: SqlDatabase
  /** First block that may hold a top-up. */
  readonly fromBlock: bigint
  /** Newest blocks, of half a minute, whose transfers endpoints may list late. */
  readonly lateBlocks: bigint
  readonly fence: Fence
  readonly signal: AbortSignal
  /** Marks transactions of this account among all that are put aside. */
  readonly purpose: TopUpPurpose
  /** Kept from pass to pass. */
  readonly memory: Pick<ReadMemory, 'isDue' | 'lookLater'>
}

export type TopUpPurpose = Extract<ReadingPurpose, 'top-ups' | 'solver-top-ups'>

/** @source ledger-and-safety.md 1.7, Scanner */
const rangeBlocksMax = 2_000n
/** Blocks below the last scanned one that each live scan reads again. */
const overlapBlocks = 64n
/** Final events looked at when a final block changed: older ones lie below any credible fork. */
const haltedEventsMax = 1_000

/**
 * One pass of the watcher's job: settles final blocks by quorum, then records new transfers near the head as pending.
 * Only the final part credits money, and it relies on nothing that the other part saw. Each range is written with its
 * cursor in one transaction.
 * @throws UpstreamUnavailableError, UpstreamDisagreementError; what was committed before stays
 */
export async function watchTopUps(watcher: TopUpWatcher): Promise<TopUpPass> {
  const { chain, database, fromBlock } = watcher
  const account = accountOf(chain)
  let cursor = await database.transaction(async (tx) => {
    await watcher.fence(tx)
    return openTopUpCursor(tx, account, fromBlock)
  })
  const pass = {
    seen: [],
    final: [],
    orphaned: 0,
    conflicts: [],
    aside: [],
    cursor,
  } as const satisfies TopUpPass
  if (cursor.haltedReason !== undefined) return pass
  const halted = await haltIfFinalBlockChanged(watcher, cursor)
  if (halted !== undefined) return { ...pass, cursor: halted }

  let result: TopUpPass = pass
  const finalHeight = await chain.finalHeight(watcher.signal)
  const head = await chain.head(watcher.signal)
  const settledMax = heightBelow(head, watcher.lateBlocks)
  // Final blocks above `settledTo` are read again until their lists are complete, even without a new final block.
  const isDue = cursor.finalTo < finalHeight || cursor.settledTo < minBigint(settledMax, finalHeight)
  for (let next = cursor.settledTo + 1n; isDue && next <= finalHeight; next = cursor.finalTo + 1n) {
    const to = minBigint(next + rangeBlocksMax - 1n, finalHeight)
    const settled = await settleRange(watcher, cursor, { from: next, to, settledMax })
    cursor = settled.cursor
    result = joinPasses(result, settled)
  }
  return joinPasses(result, await scanLive(watcher, cursor, head))
}

export function accountOf({ chainId, target }: TopUpChain): TopUpAccount {
  return { chainId, custody: target.custody, token: target.token }
}

/**
 * Reads a final range by quorum and books it. Blocks above `settledMax` are read again later, as their lists may grow.
 * @source F-76
 */
async function settleRange(
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
    const orphaned = await orphanWhere(
      tx,
      account,
      (event) => event.blockNumber <= to && !isAmong(event, topUps),
    )
    const settled = await settleTopUps(tx, topUps)
    const settledTo = settledMax > cursor.settledTo ? minBigint(to, settledMax) : cursor.settledTo
    await moveFinalCursor(tx, account, { finalTo: to, finalHash, settledTo })
    return { seen: [], orphaned, ...settled, aside: unreadTransactions }
  })
}

/** Records final transfers, and credits or suspends those that were not final before. */
async function settleTopUps(
  tx: SqlTx,
  topUps: readonly ObservedTopUp[],
): Promise<Pick<TopUpPass, 'final' | 'conflicts'>> {
  const final: ObservedTopUp[] = []
  const conflicts: ObservedTopUp[] = []
  for (const topUp of topUps) {
    const { answer, eventId } = await recordTopUp(tx, topUp, { replace: true })
    const isSettled = answer === 'seen' || answer === 'known'
    if (!isSettled || eventId === undefined) conflicts.push(topUp)
    else if (await finalizeTopUp(tx, eventId, { rule: 'finalized', blockHash: topUp.blockHash }))
      final.push(topUp)
  }
  return { final, conflicts }
}

/** Transactions tried again in one run. */
const triesAtOnce = 2

/**
 * Reads transactions again that were put aside. One that can be read now, in a final block, is settled like any other.
 * @returns what was settled
 */
export async function retryTopUps(
  watcher: Omit<TopUpWatcher, 'fromBlock' | 'lateBlocks' | 'memory'>,
): Promise<Pick<TopUpPass, 'final' | 'conflicts'>> {
  const { chain, database, fence, purpose, signal } = watcher
  const { chainId } = chain
  const settled: Pick<TopUpPass, 'final' | 'conflicts'>[] = []
  for (const storedTransaction of await listDuePutAside(database, [chainId], {
    purpose,
    limit: triesAtOnce,
  })) {
    // CAST: a transaction of an EVM chain is named by its hash.
    const read = await chain
      .topUpsIn(storedTransaction.transactionId as Hex, signal)
      .catch((error: unknown) => {
        if (error instanceof DomainError) return undefined
        throw error
      })
    await database.transaction(async (tx) => {
      await fence(tx)
      const cursor = await lockTopUpCursor(tx, accountOf(chain))
      const isFinal = read?.every(({ blockNumber }) => blockNumber <= (cursor?.finalTo ?? -1n)) === true
      if (!isFinal || cursor?.haltedReason !== undefined) return noteTry(tx, storedTransaction, undefined)
      settled.push(await settleTopUps(tx, read))
      await takeFromAside(tx, storedTransaction)
    })
  }
  return {
    final: settled.flatMap(({ final }) => final),
    conflicts: settled.flatMap(({ conflicts }) => conflicts),
  }
}

/** Records new transfers above the final blocks as pending, and orphans pending ones whose block was replaced. */
async function scanLive(watcher: TopUpWatcher, cursor: TopUpCursor, head: bigint): Promise<TopUpPass> {
  const { chain, database, lateBlocks, signal } = watcher
  const overlapped = cursor.scannedTo + 1n - (lateBlocks > overlapBlocks ? lateBlocks : overlapBlocks)
  const from = overlapped > cursor.finalTo ? overlapped : cursor.finalTo + 1n
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

/** Writes if the cursor is still the one that was read. Another process may have settled or halted since; then it throws. */
async function writeIfUnmoved(
  { chain, database, fence }: TopUpWatcher,
  cursor: TopUpCursor,
  write: (tx: SqlTx, account: TopUpAccount) => Promise<Omit<TopUpPass, 'cursor'>>,
): Promise<TopUpPass> {
  const account = accountOf(chain)
  return database.transaction(async (tx) => {
    await fence(tx)
    const current = await lockTopUpCursor(tx, account)
    const isUnmoved =
      current?.finalTo === cursor.finalTo &&
      current.finalHash === cursor.finalHash &&
      current.haltedReason === undefined
    if (!isUnmoved) throw new UpstreamUnavailableError('Another process reads the same top-ups.')
    const pass = await write(tx, account)
    const moved = await lockTopUpCursor(tx, account)
    return { ...pass, cursor: moved ?? current }
  })
}

async function orphanWhere(
  tx: SqlTx,
  account: TopUpAccount,
  isGone: (event: TopUpEvent) => boolean,
): Promise<number> {
  let orphaned = 0
  for (const event of await listSeenTopUps(tx, account)) {
    if (isGone(event) && (await orphanTopUp(tx, event.id))) orphaned += 1
  }
  return orphaned
}

function isAmong(event: TopUpEvent, topUps: readonly ObservedTopUp[]): boolean {
  return topUps.some(
    ({ transactionHash, blockHash, log }) =>
      transactionHash === event.transactionHash &&
      blockHash === event.blockHash &&
      log.logIndex === event.logIndex,
  )
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
