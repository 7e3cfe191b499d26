import { minBigint, type SqlTx, UpstreamDisagreementError } from '@causeway/core'
import { blocksAtPace, paceMs } from '@causeway/core/config'
import { describeFinalChange, judgeFinal, lateBlocksOf, type PassRange } from '@causeway/families'
import { isOverPace, refusesContent } from '@causeway/rpc'
import {
  type BlockCursor,
  finalRange,
  firstCursor,
  heightBelow,
  liveRange,
  rewindCursor,
  type WatchSteps,
} from '../../../chainReadings/blockCursor.ts'
import type { ReadMemory } from '../../../chainReadings/readMemory.ts'
import type { Run } from '../../../jobs/runJobs.ts'
import { stopChain } from '../../stops/stopStore.ts'
import type { DepositPass, SettlementChain } from '../chain/settlementChain.ts'
import {
  type DepositCursor,
  doubtDeposits,
  insertPaidSwaps,
  moveDepositCursor,
  moveFinalCursor,
  readDepositCursor,
} from '../deposits/depositStore.ts'
import type { SettlementContext } from '../settlementContext.ts'
import { type KeepingContext, keepRead, readTransactions } from './foundDeposits.ts'

export type FindingContext = KeepingContext & Pick<SettlementContext, 'database'>

/** The part of a chain that finding deposits needs. */
export type FindingChain = Pick<
  SettlementChain,
  'steps' | 'finalHeight' | 'depositPass' | 'blockTransactions' | 'blockHashes' | 'deposits'
> & { readonly chain: Pick<SettlementChain['chain'], 'chainId' | 'config' | 'key'> }

/** Numbers of blocks in which a chain is read: those of its family, else defaults. */
export function stepsOf({ steps, chain: { config } }: Pick<FindingChain, 'chain' | 'steps'>): WatchSteps {
  const rewindBlocks = blocksAtPace(config, 512n)
  return steps ?? { rangeBlocks: 1_000n, rewindBlocks, lateBlocks: lateBlocksOf(config) }
}

/** The cursor with a `finalTo`, also if an older release stored none. */
function toBlockCursor(cursor: DepositCursor, steps: WatchSteps): BlockCursor {
  const { scannedTo, finalTo = heightBelow(scannedTo, steps.rewindBlocks) } = cursor
  return { scannedTo, finalTo }
}

/**
 * Reads the blocks since the last look, range by range. Each range is one commit: its deposits, the transactions that could
 * not be read, and the moved cursor.
 * @param newest.askedAtSeconds Unix time before the chain was asked for its head
 * @param newest.memory transactions that were read before, or are to be read again
 * @throws UpstreamUnavailableError, UpstreamDisagreementError; what was committed before stays
 */
export async function findNewDeposits(
  context: FindingContext,
  chain: FindingChain,
  newest: { readonly head: bigint; readonly askedAtSeconds: number; readonly memory: ReadMemory },
  run: Run,
): Promise<void> {
  let hasProgress = false
  const look = { ...newest, hasTime: timer(newest.memory) }
  try {
    while (!run.signal.aborted && !(await findInRange(context, chain, look, run))) hasProgress = true
  } catch (error) {
    // Endpoints disagree about the newest blocks after some ranges were read: the next look reads them.
    if (!hasProgress || !(error instanceof UpstreamDisagreementError)) throw error
  }
}

/** Reads one range of blocks, or rewinds after a reorganization. @returns true once the newest block was read */
async function findInRange(
  context: FindingContext,
  chain: FindingChain,
  look: Parameters<typeof findNewDeposits>[2] & { readonly hasTime: () => boolean },
  run: Run,
): Promise<boolean> {
  const { database } = context
  const { head, askedAtSeconds, memory, hasTime } = look
  const { fence, signal } = run
  const { chainId, config } = chain.chain
  const paced = { chainId, paceMs: paceMs(config) }
  const steps = stepsOf(chain)
  const cursor = await readDepositCursor(database, chainId)
  const position = cursor === undefined ? firstCursor(head, steps) : toBlockCursor(cursor, steps)
  const range = liveRange(position, head, steps)
  const { known } = range
  const { pass, to, isWhole } = await passOver(chain, range, signal)
  const isSameFork =
    cursor === undefined || (known === cursor.scannedTo && pass.known?.hash === cursor.scannedHash)
  if (!isSameFork) {
    memory.forget()
    await rewind(context, chain, { position, known, cursor }, run)
    return false
  }
  if (pass.last === undefined) return true
  const scannedHash = pass.last.hash
  const liveTransactions = pass.transactions.filter((transactionId) => memory.isDue(transactionId, 'live'))
  // New transactions come first, then those that are due once more.
  const dueAgain = new Set(memory.dueAgain())
  const due = [...liveTransactions.filter((transactionId) => !dueAgain.has(transactionId)), ...dueAgain]
  const isLast = (transactionId: string) => isWhole || memory.isLastLook(transactionId)
  const mayRead = (transactionId: string) => !isLast(transactionId) || ((isWhole || to === head) && hasTime())
  const read = await readTransactions(chain, due, signal, mayRead)
  // Blocks above the cursor were made after the last look, if that look had seen the chain's newest block.
  const minedAfterSeconds = (block: bigint) => (block > known ? cursor?.newestAtSeconds : undefined)
  const newestAtSeconds = to === head ? askedAtSeconds : undefined
  await database.transaction(async (tx) => {
    await fence(tx)
    await keepRead(context, tx, chainId, read, minedAfterSeconds)
    await insertPaidSwaps(tx, chainId, pass.paidSwaps)
    const { finalTo } = position
    await moveDepositCursor(tx, paced, { finalTo, scannedTo: to, scannedHash, newestAtSeconds })
  })
  observeAside(context, chainId, read.aside)
  for (const transactionId of read.settled) memory.settle(transactionId)
  // On chains whose nodes list blocks late, an empty or missing transaction may still turn out to hold a deposit.
  const open = steps.lateBlocks > 0n ? [...read.empty, ...read.gone] : read.empty
  for (const transactionId of open) memory[isLast(transactionId) ? 'settle' : 'lookLater'](transactionId)
  for (const transactionId of read.unread) if (!dueAgain.has(transactionId)) memory.lookOnce(transactionId)
  for (const { transactionId, error } of read.failed) {
    if (memory.lookLater(transactionId))
      context.observe({ event: 'unanswered', chainId, transactionId, error })
  }
  return to === head
}

/** Moves the cursor back below a block that a reorganization replaced. */
async function rewind(
  { database }: FindingContext,
  chain: FindingChain,
  from: { readonly position: BlockCursor; readonly known: bigint; readonly cursor: DepositCursor },
  { fence, signal }: Run,
): Promise<void> {
  const { position, known, cursor } = from
  const { chainId, config } = chain.chain
  const back = rewindCursor(position, known, stepsOf(chain))
  const scannedHash = (await chain.blockHashes([back.scannedTo], signal)).get(back.scannedTo)
  await database.transaction(async (tx) => {
    await fence(tx)
    // The last final block with a known hash stays the one to compare with.
    const finalTo = cursor.finalHash === undefined ? back.finalTo : position.finalTo
    const next = { ...back, finalTo, newestAtSeconds: undefined }
    const paced = { chainId, paceMs: paceMs(config) }
    if (scannedHash !== undefined) await moveDepositCursor(tx, paced, { ...next, scannedHash })
  })
}

/**
 * Reads final blocks once more, because the first lists may have been incomplete, and moves past them for good. If a final
 * block has changed, its chain is stopped until an operator's `go`.
 * @throws UpstreamUnavailableError, UpstreamDisagreementError; what was committed before stays
 */
export async function findFinalDeposits(
  context: FindingContext,
  chain: FindingChain,
  { head, memory }: { readonly head: bigint; readonly memory: ReadMemory },
  { fence, signal }: Run,
): Promise<void> {
  const { database } = context
  const { chainId } = chain.chain
  const steps = stepsOf(chain)
  const heights = { head, finalHeight: await chain.finalHeight(signal) }
  for (;;) {
    const cursor = await readDepositCursor(database, chainId)
    if (cursor === undefined || signal.aborted) return
    const range = finalRange(toBlockCursor(cursor, steps), heights, steps)
    if (range === undefined) return
    const { pass, to, isWhole } = await passOver(chain, range, signal)
    if (pass.last === undefined) return
    const change = finalChange(cursor, pass)
    if (change !== undefined) {
      await database.transaction(async (tx) => {
        await fence(tx)
        await stopAt(tx, chain, { end: range.known, reason: change })
      })
      continue
    }
    const due = pass.transactions.filter((transactionId) => memory.isDue(transactionId, 'final'))
    const hasTime = timer(memory)
    const mayRead = () => !isWhole || hasTime()
    const read = await readTransactions(chain, due, signal, mayRead)
    const { found, aside, settled, empty, gone, failed, unread } = read
    // A final block lists these as successful, so an endpoint without their receipt is late.
    const isLate = steps.lateBlocks > 0n && !isWhole
    const silentTransactions = [...failed.map(({ transactionId }) => transactionId), ...(isLate ? gone : [])]
    const unansweredTransactions = [...silentTransactions, ...unread]
    const putAside = [
      ...aside,
      ...unansweredTransactions.map((transactionId) => ({ transactionId, reason: 'unanswered' as const })),
    ]
    await database.transaction(async (tx) => {
      await fence(tx)
      // Only the block's own time counts, because the user is not to blame for a late list.
      await keepRead(context, tx, chainId, { found, aside: putAside }, () => undefined)
      await insertPaidSwaps(tx, chainId, pass.paidSwaps)
      await moveFinalCursor(tx, chainId, { finalTo: to, finalHash: pass.last?.hash })
    })
    observeAside(context, chainId, putAside)
    for (const transactionId of [...settled, ...empty, ...unansweredTransactions])
      memory.settle(transactionId)
  }
}

/**
 * Tells whether a chain ends below its own final block, by more than endpoints may lag. @returns the reason to stop it
 * @source rule O-68
 */
export async function endsBelowFinal(
  { database }: Pick<FindingContext, 'database'>,
  { chain: { chainId, config } }: Pick<FindingChain, 'chain'>,
  head: bigint,
): Promise<string | undefined> {
  const { finalTo, finalHash } = (await readDepositCursor(database, chainId)) ?? {}
  if (finalTo === undefined || finalHash === undefined || head + lateBlocksOf(config) >= finalTo)
    return undefined
  return `the chain ends at block ${head}, below its final block ${finalTo}`
}

/** Stops a chain whose final blocks changed, and has its deposits compared with the chain again. */
export async function stopAt(
  tx: SqlTx,
  chain: Pick<FindingChain, 'chain' | 'steps'>,
  { end, reason }: { readonly end: bigint; readonly reason: string },
): Promise<void> {
  const { chainId, key } = chain.chain
  await stopChain(tx, { chainId, name: key, actor: 'quote-api', reason })
  // Blocks below it may have changed too, so they are read again.
  const finalTo = heightBelow(end, stepsOf(chain).rewindBlocks)
  await moveFinalCursor(tx, chainId, { finalTo, finalHash: undefined })
  await doubtDeposits(tx, chainId)
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

/** Time per look for reading single transactions of refused blocks. @source F-77 */
const refusedBlockMs = 1_000

/** Makes a function that returns true until one second after its first call. */
function timer({ now }: Pick<ReadMemory, 'now'>): () => boolean {
  let endMs: number | undefined
  return () => {
    endMs ??= now() + refusedBlockMs
    return now() < endMs
  }
}

/** Lists the first part of a range, as long as one question may be. @returns where that part ends */
export function listRange(chain: FindingChain, range: PassRange, signal: AbortSignal) {
  const last = range.from + stepsOf(chain).rangeBlocks - 1n
  return passOver(chain, { ...range, to: minBigint(range.to, last) }, signal)
}

/**
 * Lists the transactions with deposits in a range. If endpoints refuse the range for its content, disagree, or have no capacity
 * left, only its unread blocks are listed, then half as many, and so on. If they refuse even a single block, all of its
 * transactions are returned. A single block on which they disagree is left for the next look.
 * @source F-65, F-72
 * @returns isWhole: true if the transactions are all those of a block, whatever they contain
 */
async function passOver(
  chain: FindingChain,
  range: PassRange,
  signal: AbortSignal,
): Promise<{ readonly pass: DepositPass; readonly to: bigint; readonly isWhole: boolean }> {
  const { lateBlocks } = stepsOf(chain)
  const { known } = range
  let { from, to } = range
  for (;;) {
    try {
      return { pass: await chain.depositPass({ known, from, to }, signal), to, isWhole: false }
    } catch (error) {
      const isLate = error instanceof UpstreamDisagreementError && lateBlocks > 0n
      const mayWait = isLate || isOverPace(error)
      if (!mayWait && !refusesContent(error)) throw error
      if (from <= known && known < to) from = known + 1n
      else if (from < to) to = (from + to) / 2n
      else if (mayWait || chain.blockTransactions === undefined) throw error
      else return { pass: await readOneByOne(chain, { known, height: to }, signal), to, isWhole: true }
    }
  }
}

/** All transactions of one block, from the block itself instead of its events. */
async function readOneByOne(
  chain: FindingChain,
  { known, height }: { readonly known: bigint; readonly height: bigint },
  signal: AbortSignal,
): Promise<DepositPass> {
  const block = await chain.blockTransactions?.(height, signal)
  const hash = (await chain.blockHashes([known], signal)).get(known)
  const knownMark = hash === undefined ? undefined : { number: known, hash }
  return { last: undefined, transactions: [], ...block, known: knownMark, paidSwaps: [] }
}

function observeAside(
  { observe }: FindingContext,
  chainId: number,
  unreadTransactions: Awaited<ReturnType<typeof readTransactions>>['aside'],
): void {
  for (const unread of unreadTransactions) observe({ event: 'put_aside', chainId, ...unread })
}
