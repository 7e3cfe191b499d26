import { UpstreamDisagreementError } from '@causeway/core'
import { paceMs } from '@causeway/core/config'
import type { PassRange } from '@causeway/families'
import { unreadableChain } from '@causeway/rpc'
import { type BlockCursor, firstCursor, liveRange, rewindCursor } from '../../../chainReadings/blockCursor.ts'
import type { ReadMemory } from '../../../chainReadings/readMemory.ts'
import type { Run } from '../../../jobs/runJobs.ts'
import type { DepositPass } from '../chain/settlementChain.ts'
import { type DepositCursor, moveDepositCursor } from '../deposits/depositCursor.ts'
import { insertPaidSwaps } from '../deposits/depositStore.ts'
import { createKeptCursor, type KeptCursor } from '../deposits/keptCursor.ts'
import {
  type FindingContext,
  keepRead,
  observeAside,
  type ReadTransactions,
  readTransactions,
} from './foundDeposits.ts'
import {
  createTimeCheck,
  type FindingChain,
  type ListedBlocks,
  listBlocks,
  stepsOf,
  toBlockCursor,
} from './listBlocks.ts'

/** The chain's end as one look sees it. */
type NewestBlocks = {
  readonly head: bigint
  /** Unix time before the chain was asked for its head. */
  readonly askedAtSeconds: number
  /** Transactions that were read before, or are to be read again. */
  readonly memory: ReadMemory
  /** The watcher's cursor; absent: it is read from the database. */
  readonly kept?: KeptCursor
  /** The blocks up to the head, where they were listed together with it. */
  readonly pass?: DepositPass | undefined
}

/** `hasTime`: false from a second after its first call on; it limits the single transactions of this look. */
type Look = NewestBlocks & { readonly kept: KeptCursor; readonly hasTime: () => boolean }

/**
 * Reads the blocks since the last look, range by range. Each range is one commit: its deposits, the transactions that could
 * not be read, and the moved cursor.
 * @throws UpstreamUnavailableError, UpstreamDisagreementError; what was committed before stays
 */
export async function findNewDeposits(
  context: FindingContext,
  chain: FindingChain,
  newest: NewestBlocks,
  run: Run,
): Promise<void> {
  /** True once a range was committed, or a reorganization found. */
  let hasProgress = false
  const kept = newest.kept ?? createKeptCursor(chain.chain.chainId)
  let look: Look = {
    ...newest,
    kept,
    hasTime: createTimeCheck(newest.memory),
  }
  try {
    while (!run.signal.aborted && !(await findInRange(context, chain, look, run))) {
      hasProgress = true
      look = { ...look, pass: undefined }
    }
  } catch (error) {
    // Endpoints disagree about the newest blocks after some ranges were read: the next look reads them.
    if (!hasProgress || !(error instanceof UpstreamDisagreementError)) throw error
  }
}

/**
 * Reads one range of blocks, or rewinds after a reorganization. The stored cursor has the newest block that
 * was read, with its hash. If the chain has another hash there now, or ends below it, it was reorganized.
 * @returns false if another range is to be read; true once the newest block was read, or endpoints lack the
 * range's end
 */
async function findInRange(
  context: FindingContext,
  chain: FindingChain,
  look: Look,
  run: Run,
): Promise<boolean> {
  const { database } = context
  const { head, askedAtSeconds, memory, kept } = look
  const steps = stepsOf(chain)
  const cursor = await kept.read(database, run)
  const position = cursor === undefined ? firstCursor(head, steps) : toBlockCursor(cursor, steps)
  const range = liveRange(position, head, steps)
  const { known } = range
  const listed = listedBefore(look, range) ?? (await listBlocks(chain, range, run.signal))
  const { pass, to } = listed
  // `known` is below the cursor if the chain became shorter, which is a reorganization too.
  const isSameFork =
    cursor === undefined || (known === cursor.scannedTo && pass.known?.hash === cursor.scannedHash)
  if (!isSameFork) {
    memory.forget()
    kept.forget()
    await rewind(context, chain, { position, known, cursor }, run)
    return false
  }
  // The endpoints do not have the end of the range yet, so the next look reads it.
  if (pass.last === undefined) return true
  const listedRead = await readListed(chain, listed, look, run.signal)
  const next = {
    finalTo: position.finalTo,
    finalHash: cursor?.finalTo === position.finalTo ? cursor.finalHash : undefined,
    scannedTo: to,
    scannedHash: pass.last.hash,
    newestAtSeconds: to === head ? askedAtSeconds : undefined,
  }
  // Without anything new there is nothing to store: `createSightNotes` stores now and then how long the block was the newest.
  if (!kept.isOwn() || !isIdle(cursor, next, listedRead.read, pass))
    await keepListed(context, chain, { listed, read: listedRead.read, known, cursor, next, kept }, run)
  kept.keep(next)
  observeAside(context, chain.chain.chainId, listedRead.read.aside)
  planNextLooks(context, chain, memory, listedRead)
  return to === head
}

/** The blocks of a range, if they were listed together with the head. Pure. */
function listedBefore({ pass }: Look, { known, to }: PassRange): ListedBlocks | undefined {
  const isListed = pass?.known?.number === known && pass.last?.number === to
  return pass !== undefined && isListed ? { pass, to, isWhole: false } : undefined
}

/** True if a look at the newest block, which was the newest one before, found nothing that is not stored. Pure. */
function isIdle(
  before: DepositCursor | undefined,
  next: DepositCursor,
  { found, aside }: Pick<ReadTransactions, 'found' | 'aside'>,
  { paidSwaps }: Pick<DepositPass, 'paidSwaps'>,
): boolean {
  const wasNewest = before?.newestAtSeconds !== undefined && next.newestAtSeconds !== undefined
  const isSameBlock = before?.scannedTo === next.scannedTo && before.scannedHash === next.scannedHash
  return wasNewest && isSameBlock && found.length + aside.length + paidSwaps.length === 0
}

/** Stores what a range holds, with the moved cursor, in one commit. */
async function keepListed(
  context: FindingContext,
  { chain: { chainId, config } }: FindingChain,
  step: {
    readonly listed: ListedBlocks
    readonly read: ReadTransactions
    readonly known: bigint
    readonly cursor: DepositCursor | undefined
    readonly next: DepositCursor
    readonly kept: KeptCursor
  },
  { fence }: Run,
): Promise<void> {
  const { listed, read, known, cursor, next, kept } = step
  // Blocks above the cursor were made after the last look, if that look had seen the chain's newest block.
  const minedAfterSeconds = (block: bigint) => (block > known ? cursor?.newestAtSeconds : undefined)
  // If the commit fails, nobody knows whether the cursor was moved.
  kept.forget()
  await context.database.transaction(async (tx) => {
    await fence(tx)
    await keepRead(context, tx, chainId, read, minedAfterSeconds)
    await insertPaidSwaps(tx, chainId, listed.pass.paidSwaps)
    await moveDepositCursor(tx, { chainId, paceMs: paceMs(config) }, next)
  })
}

/** The read transactions of a range, and those that were due once more, whether the range names them or not. */
type ListedRead = {
  readonly read: ReadTransactions
  readonly dueAgain: ReadonlySet<string>
  /** True if this look at a transaction is the last one, even if it finds nothing: see `readListed`. */
  readonly isLastLook: (transactionId: string) => boolean
}

/**
 * Reads the listed transactions, then those that are due once more. A look at a transaction is the
 * last one if the memory says so, and in a whole block, which also names transactions without deposits. Last
 * looks are taken only while there is time, and not while the watcher still catches up with the head, unless
 * they belong to the whole block that was just listed.
 */
async function readListed(
  chain: FindingChain,
  { pass, to, isWhole }: ListedBlocks,
  { head, memory, hasTime }: Look,
  signal: AbortSignal,
): Promise<ListedRead> {
  const dueAgain = new Set(memory.dueAgain())
  const newTransactions = pass.transactions.filter(
    (transactionId) => memory.isDue(transactionId, 'live') && !dueAgain.has(transactionId),
  )
  const isLastLook = (transactionId: string) => isWhole || memory.isLastLook(transactionId)
  const isCaughtUp = to === head
  const mayRead = (transactionId: string) =>
    !isLastLook(transactionId) || ((isWhole || isCaughtUp) && hasTime())
  const read = await readTransactions(chain, [...newTransactions, ...dueAgain], signal, mayRead)
  return { read, dueAgain, isLastLook }
}

/**
 * Notes which transactions were read for good (`settle`), and which are looked at again: with growing pauses
 * (`lookLater`) those that held nothing or got no answer, and once (`lookOnce`) those for which there was no
 * time. Of these, the ones that were due already stay due.
 */
function planNextLooks(
  { observe }: FindingContext,
  chain: FindingChain,
  memory: ReadMemory,
  { read, dueAgain, isLastLook }: ListedRead,
): void {
  const { settled, empty, gone, unread, failed } = read
  for (const transactionId of settled) memory.settle(transactionId)
  // An empty transaction may still turn out to hold a deposit; where lists are late, a missing one may too.
  const unsettled = stepsOf(chain).lateBlocks > 0n ? [...empty, ...gone] : empty
  for (const transactionId of unsettled) {
    if (isLastLook(transactionId)) memory.settle(transactionId)
    else memory.lookLater(transactionId)
  }
  for (const transactionId of unread) if (!dueAgain.has(transactionId)) memory.lookOnce(transactionId)
  // A transaction is reported as unanswered the first time only.
  for (const { transactionId, error } of failed) {
    if (memory.lookLater(transactionId))
      observe({ event: 'unanswered', chainId: chain.chain.chainId, transactionId, error })
  }
}

/**
 * Moves the cursor back below `known`, the newest block read before, which a reorganization replaced.
 * @throws UpstreamUnavailableError where endpoints do not show the block to go back to
 */
async function rewind(
  { database }: FindingContext,
  chain: FindingChain,
  from: { readonly position: BlockCursor; readonly known: bigint; readonly cursor: DepositCursor },
  { fence, signal }: Run,
): Promise<void> {
  const { position, known, cursor } = from
  const { chainId, config, key } = chain.chain
  const back = rewindCursor(position, known, stepsOf(chain))
  const scannedHash = (await chain.blockHashes([back.scannedTo], signal)).get(back.scannedTo)
  // The cursor stays, and the next look finds the reorganization again.
  if (scannedHash === undefined) throw unreadableChain(key)
  await database.transaction(async (tx) => {
    await fence(tx)
    // The last final block with a known hash stays the one with which `findFinalDeposits` compares.
    const finalTo = cursor.finalHash === undefined ? back.finalTo : position.finalTo
    const paced = { chainId, paceMs: paceMs(config) }
    await moveDepositCursor(tx, paced, { ...back, finalTo, newestAtSeconds: undefined, scannedHash })
  })
}
