import { minBigint, type SqlTx, UpstreamDisagreementError } from '@causeway/core'
import { blocksAtPace, paceMs } from '@causeway/core/config'
import { describeFinalChange, judgeFinal, lateBlocksOf, type PassRange } from '@causeway/families'
import { isOverPace, refusesContent } from '@causeway/rpc'
import {
  type BlockCursor,
  below,
  finalRange,
  firstCursor,
  liveRange,
  type ReadMemory,
  rewindCursor,
  type WatchSteps,
} from '../../../chainReadings/blockCursor.ts'
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

/** Steps of the family, else defaults: a chain that was not read for long is caught up in several looks. */
export function stepsOf({ steps, chain: { config } }: Pick<FindingChain, 'chain' | 'steps'>): WatchSteps {
  const rewindBlocks = blocksAtPace(config, 512n)
  return steps ?? { rangeBlocks: 1_000n, rewindBlocks, lateBlocks: lateBlocksOf(config) }
}

function placeOf(cursor: DepositCursor, steps: WatchSteps): BlockCursor {
  const { scannedTo, finalTo = below(scannedTo, steps.rewindBlocks) } = cursor
  return { scannedTo, finalTo }
}

/**
 * Reads the newest blocks, and keeps deposits, what cannot be read and the cursor in one commit.
 * @param newest.askedAtSeconds taken before the chain was asked for its head
 * @throws UpstreamUnavailableError, UpstreamDisagreementError; what was committed before stays
 */
export async function findNewDeposits(
  context: FindingContext,
  chain: FindingChain,
  newest: { readonly head: bigint; readonly askedAtSeconds: number; readonly memory: ReadMemory },
  run: Run,
): Promise<void> {
  let isFurther = false
  const look = { ...newest, hasTime: timer(newest.memory) }
  try {
    while (!run.signal.aborted && !(await findInRange(context, chain, look, run))) isFurther = true
  } catch (error) {
    // One endpoint's list of the newest blocks is late: the next look reads them.
    if (!isFurther || !(error instanceof UpstreamDisagreementError)) throw error
  }
}

/** @returns true when the newest block was read */
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
  const place = cursor === undefined ? firstCursor(head, steps) : placeOf(cursor, steps)
  const range = liveRange(place, head, steps)
  const { known } = range
  const { pass, to, isWhole } = await passOver(chain, range, signal)
  const isSame =
    cursor === undefined || (known === cursor.scannedTo && pass.known?.hash === cursor.scannedHash)
  if (!isSame) {
    memory.forget()
    await rewind(context, chain, { place, known, cursor }, run)
    return false
  }
  if (pass.last === undefined) return true
  const scannedHash = pass.last.hash
  const liveTransactions = pass.transactions.filter((transactionId) => memory.isDue(transactionId, 'live'))
  // New ones come before those that there was no time for.
  const dueAgain = new Set(memory.dueAgain())
  const due = [...liveTransactions.filter((transactionId) => !dueAgain.has(transactionId)), ...dueAgain]
  const isLast = (transactionId: string) => isWhole || memory.isLastLook(transactionId)
  const mayRead = (transactionId: string) => !isLast(transactionId) || ((isWhole || to === head) && hasTime())
  const read = await readTransactions(chain, due, signal, mayRead)
  // Only of blocks that nobody had then is it known that they were made later.
  const minedAfterSeconds = (block: bigint) => (block > known ? cursor?.newestAtSeconds : undefined)
  const newestAtSeconds = to === head ? askedAtSeconds : undefined
  await database.transaction(async (tx) => {
    await fence(tx)
    await keepRead(context, tx, chainId, read, minedAfterSeconds)
    await insertPaidSwaps(tx, chainId, pass.paidSwaps)
    await moveDepositCursor(tx, paced, {
      ...{ finalTo: place.finalTo, scannedTo: to, scannedHash, newestAtSeconds },
    })
  })
  tellAside(context, chainId, read.aside)
  for (const transactionId of read.settled) memory.settle(transactionId)
  const open = steps.lateBlocks > 0n ? [...read.empty, ...read.gone] : read.empty
  for (const transactionId of open) memory[isLast(transactionId) ? 'settle' : 'lookLater'](transactionId)
  for (const transactionId of read.unread) if (!dueAgain.has(transactionId)) memory.lookOnce(transactionId)
  for (const { transactionId, error } of read.failed) {
    if (memory.lookLater(transactionId))
      context.observe({ event: 'unanswered', chainId, transactionId, error })
  }
  return to === head
}

/** Goes back before a block that is another one than before. */
async function rewind(
  { database }: FindingContext,
  chain: FindingChain,
  from: { readonly place: BlockCursor; readonly known: bigint; readonly cursor: DepositCursor },
  { fence, signal }: Run,
): Promise<void> {
  const { place, known, cursor } = from
  const { chainId, config } = chain.chain
  const back = rewindCursor(place, known, stepsOf(chain))
  const scannedHash = (await chain.blockHashes([back.scannedTo], signal)).get(back.scannedTo)
  await database.transaction(async (tx) => {
    await fence(tx)
    // A final block whose hash is known stays what later ones are compared with.
    const finalTo = cursor.finalHash === undefined ? back.finalTo : place.finalTo
    const next = { ...back, finalTo, newestAtSeconds: undefined }
    const paced = { chainId, paceMs: paceMs(config) }
    if (scannedHash !== undefined) await moveDepositCursor(tx, paced, { ...next, scannedHash })
  })
}

/**
 * Reads final blocks once more, whatever was seen of them before, and moves past them for good. A final block that is
 * another one than before stops its chain until an operator says go.
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
    const range = finalRange(placeOf(cursor, steps), heights, steps)
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
    const { found, aside, settled, empty, gone, failed, unread } = await readTransactions(
      ...([chain, due, signal, mayRead] as const),
    )
    // A final block lists it, and it succeeded there: whoever has no receipt of it is late.
    const isLate = steps.lateBlocks > 0n && !isWhole
    const silentTransactions = [...failed.map(({ transactionId }) => transactionId), ...(isLate ? gone : [])]
    const unansweredTransactions = [...silentTransactions, ...unread]
    const read = {
      found,
      aside: [
        ...aside,
        ...unansweredTransactions.map((transactionId) => ({ transactionId, reason: 'unanswered' as const })),
      ],
    }
    await database.transaction(async (tx) => {
      await fence(tx)
      // The block's own time counts: that it was shown late is no fault of the user.
      await keepRead(context, tx, chainId, read, () => undefined)
      await insertPaidSwaps(tx, chainId, pass.paidSwaps)
      await moveFinalCursor(tx, chainId, { finalTo: to, finalHash: pass.last?.hash })
    })
    tellAside(context, chainId, read.aside)
    for (const transactionId of [...settled, ...empty, ...unansweredTransactions])
      memory.settle(transactionId)
  }
}

/**
 * Says how far a chain ends below a final block of it, by more than endpoints that lag; undefined: it does not.
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

/** Stops a chain whose final blocks are not what they were, and has its deposits looked at once more. */
export async function stopAt(
  tx: SqlTx,
  chain: Pick<FindingChain, 'chain' | 'steps'>,
  { end, reason }: { readonly end: bigint; readonly reason: string },
): Promise<void> {
  const { chainId, key } = chain.chain
  await stopChain(tx, { chainId, name: key, actor: 'quote-api', reason })
  // Blocks below it may have changed as well, and are read for good once more.
  const finalTo = below(end, stepsOf(chain).rewindBlocks)
  await moveFinalCursor(tx, chainId, { finalTo, finalHash: undefined })
  await doubtDeposits(tx, chainId)
}

/** Says how a block that was final is not the one that it was: nothing that was read of the chain may be relied on. */
function finalChange(
  { finalTo, finalHash }: Pick<DepositCursor, 'finalTo' | 'finalHash'>,
  { known }: Pick<DepositPass, 'known'>,
): string | undefined {
  if (finalTo === undefined || finalHash === undefined || known === undefined) return undefined
  const verdict = judgeFinal({ number: finalTo, hash: finalHash }, known.hash)
  return verdict.kind === 'unchanged' ? undefined : `final ${describeFinalChange(verdict.contradiction)}`
}

/** Time that refused blocks cost one look. @source F-77 */
const refusedBlockMs = 1_000

/** True for one second from its first call on. */
function timer({ now }: Pick<ReadMemory, 'now'>): () => boolean {
  let endMs: number | undefined
  return () => {
    endMs ??= now() + refusedBlockMs
    return now() < endMs
  }
}

/** A look at the first part of a range. @returns where it ends */
export function listRange(chain: FindingChain, range: PassRange, signal: AbortSignal) {
  const last = range.from + stepsOf(chain).rangeBlocks - 1n
  return passOver(chain, { ...range, to: minBigint(range.to, last) }, signal)
}

/**
 * A look at a range. Where endpoints refuse it for what stands in it, list different things, or have no turn for so many
 * requests, the newest blocks alone, then half as many. Of one block that is refused each transaction is read; one that is
 * listed differently waits.
 * @source F-65, F-72
 * @returns isWhole: the transactions are all of a block, whatever is in them
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

function tellAside(
  { observe }: FindingContext,
  chainId: number,
  unreadTransactions: Awaited<ReturnType<typeof readTransactions>>['aside'],
): void {
  for (const one of unreadTransactions) observe({ event: 'put_aside', chainId, ...one })
}
