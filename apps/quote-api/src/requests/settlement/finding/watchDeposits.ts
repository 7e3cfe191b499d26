import { UpstreamUnavailableError } from '@causeway/core'
import { describeFinalChange, lateMs, type PassRange } from '@causeway/families'
import { liveRange } from '../../../chainReadings/blockCursor.ts'
import { createReadMemory, type ReadMemory } from '../../../chainReadings/readMemory.ts'
import type { Run } from '../../../jobs/runJobs.ts'
import { createSightNotes, type SightNotes } from '../../stops/depositSight.ts'
import { orphanDeposit } from '../binding/orphanDeposit.ts'
import { takeDeposits } from '../binding/takeDeposits.ts'
import type { DepositPass, SettlementChain } from '../chain/settlementChain.ts'
import { finalizeDeposits, listYoungDeposits, type StoredDeposit } from '../deposits/depositStore.ts'
import { createKeptCursor, type KeptCursor } from '../deposits/keptCursor.ts'
import { hasOpenDeposits } from '../deposits/openDeposits.ts'
import { nowSeconds, type SettlementContext } from '../settlementContext.ts'
import { endsBelowFinal, findFinalDeposits, stopAt } from './findFinalDeposits.ts'
import { findNewDeposits } from './findNewDeposits.ts'
import { stepsOf, toBlockCursor } from './listBlocks.ts'

/**
 * A newest block is listed again at most so often, and blocks that come faster are listed together: endpoints charge most
 * for lists of logs. @source rules F-70, F-106
 */
const relistMs = 1_000

/**
 * Makes the job that watches a chain for deposits. Each pass reads new blocks, follows reorganizations and decides on the due
 * deposits; every half minute it also reads final blocks again. If new blocks cannot be read, known deposits are still
 * decided. A look that finds the chain as the last one left it, and no deposit to follow, stores nothing; two in a second
 * list its logs once.
 * @param patienceMs time without a reading after which the chain counts as not seen
 * @throws UpstreamUnavailableError, UpstreamDisagreementError; what was committed before stays
 */
export function createDepositWatcher(
  context: SettlementContext,
  chain: SettlementChain,
  patienceMs: number,
): (run: Run) => Promise<void> {
  const watcher = new DepositWatcher(context, chain, patienceMs)
  return (run) => watcher.pass(run)
}

class DepositWatcher {
  readonly #context: SettlementContext
  readonly #chain: SettlementChain
  readonly #memory: ReadMemory
  /** Notes that the newest blocks were read. */
  readonly #noteSight: SightNotes
  readonly #kept: KeptCursor
  /** True while the head is asked for alone, because endpoints gave none together with the blocks up to it. */
  #asksApart = false
  /** Unix ms of the next look at final blocks. */
  #finalDueMs = 0
  /** Unix ms from which the newest block is listed once more though it was listed. */
  #relistDueMs = 0
  /** Unix ms since which every pass found the chain too short; undefined if the last one did not. */
  #tooShortSinceMs: number | undefined

  constructor(context: SettlementContext, chain: SettlementChain, patienceMs: number) {
    const { database, now } = context
    this.#context = context
    this.#chain = chain
    this.#memory = createReadMemory(now)
    this.#kept = createKeptCursor(chain.chain.chainId)
    this.#noteSight = createSightNotes(database, { chainId: chain.chain.chainId, patienceMs }, now)
  }

  async pass(run: Run): Promise<void> {
    const context = this.#context
    const chain = this.#chain
    const memory = this.#memory
    // Before the chain is asked, so that a block which the answer lacks was surely mined later.
    const askedAtSeconds = nowSeconds(context)
    const { head, pass, isTooSoon } = await this.#readNewest(run)
    await this.#refuseShortChain(head, run)
    let failure: unknown
    try {
      if (!isTooSoon) {
        await findNewDeposits(context, chain, { head, pass, askedAtSeconds, memory, kept: this.#kept }, run)
        this.#relistDueMs = context.now() + relistMs
      }
      this.#asksApart = false
      await this.#noteSight(await this.#kept.read(context.database, run))
    } catch (error) {
      failure = error
    }
    await this.#followDeposits(head, run)
    // Thrown only now, after known deposits were decided; final blocks are left to a later pass.
    if (failure !== undefined) throw failure
    if (context.now() < this.#finalDueMs) return
    this.#finalDueMs = context.now() + lateMs
    this.#kept.forget()
    await findFinalDeposits(context, chain, { head, memory }, run)
  }

  /** Reads the head, together with the blocks up to it where that can be asked for, unless they were listed just now. */
  async #readNewest(run: Run): Promise<{
    readonly head: bigint
    readonly pass: DepositPass | undefined
    /** True where nothing is to be listed yet. */
    readonly isTooSoon?: boolean
  }> {
    const chain = this.#chain
    const range = await this.#newestRange(run)
    if (range !== undefined && !this.#isListingDue()) {
      const head = await chain.head(run.signal)
      if (head === range.known || chain.chain.config.blockTimeMs < relistMs)
        return { head, pass: undefined, isTooSoon: true }
    }
    if (range !== undefined && chain.newestPass !== undefined) {
      try {
        return await chain.newestPass(range, run.signal)
      } catch (error) {
        if (!(error instanceof UpstreamUnavailableError)) throw error
        // Endpoints that fail to list blocks may have a head, with which known deposits are decided.
        this.#asksApart = true
      }
    }
    return { head: await chain.head(run.signal), pass: undefined }
  }

  /** True once a look lists the newest block even if it was listed before, or reads a transaction once more. */
  #isListingDue(): boolean {
    return this.#context.now() >= this.#relistDueMs || this.#memory.dueAgain().length > 0
  }

  /**
   * Returns where the next scan begins, if the last look has read the newest block: then few blocks are left. A range that
   * endpoints might refuse is asked for with its end, by which it can be parted.
   */
  async #newestRange(run: Run): Promise<Pick<PassRange, 'from' | 'known'> | undefined> {
    if (this.#asksApart || !this.#kept.isOwn()) return undefined
    const cursor = await this.#kept.read(this.#context.database, run)
    if (cursor?.newestAtSeconds === undefined) return undefined
    const steps = stepsOf(this.#chain)
    const { known, from } = liveRange(toBlockCursor(cursor, steps), cursor.scannedTo, steps)
    return 2n * (known - from + 1n) <= steps.rangeBlocks ? { known, from } : undefined
  }

  /** Follows and decides the deposits of the chain that are not done; usually there are none. */
  async #followDeposits(head: bigint, run: Run): Promise<void> {
    const context = this.#context
    const chain = this.#chain
    if (!(await hasOpenDeposits(context.database, chain.chain.chainId))) return
    const cursor = this.#kept.isOwn() ? await this.#kept.read(context.database, run) : undefined
    // A final block that changed moves the cursor back.
    this.#kept.forget()
    const { canonical, orphaned } = await followBlocks(context, chain, run)
    // A reorganization may be visible only in the blocks of deposits.
    if (orphaned > 0) this.#memory.forget()
    else if (cursor !== undefined) this.#kept.keep(cursor)
    await takeDeposits(context, chain, { head, canonical, run })
  }

  /**
   * Refuses the pass while the chain ends below its final block, since endpoints may lag. After half a minute the chain is
   * stopped, and the pass goes on. @throws UpstreamUnavailableError until then
   */
  async #refuseShortChain(head: bigint, run: Run): Promise<void> {
    const { database, now } = this.#context
    const reason = endsBelowFinal(this.#chain, await this.#kept.read(database, run), head)
    if (reason === undefined) {
      this.#tooShortSinceMs = undefined
      return
    }
    this.#tooShortSinceMs ??= now()
    if (now() - this.#tooShortSinceMs < lateMs) throw new UpstreamUnavailableError(`${reason}.`)
    this.#kept.forget()
    await database.transaction(async (tx) => {
      await run.fence(tx)
      await stopAt(tx, this.#chain, { end: head, reason })
    })
  }
}

/**
 * Compares the blocks of recent deposits with the chain: marks deposits as final or orphaned, and stops the chain if a final
 * block changed.
 * @returns the present block hashes at the deposits' heights, and the number of orphaned deposits
 */
async function followBlocks(
  context: SettlementContext,
  chain: SettlementChain,
  { fence, signal }: Run,
): Promise<{ readonly canonical: ReadonlyMap<bigint, string>; readonly orphaned: number }> {
  const { database } = context
  const deposits = await listYoungDeposits(database, chain.chain.chainId)
  if (deposits.length === 0) return { canonical: new Map(), orphaned: 0 }
  const finalHeight = await chain.finalHeight(signal)
  const heights = [...new Set(deposits.map(({ blockNumber }) => blockNumber))]
  const hashes = await chain.blockHashes(heights, signal)
  const isOnChain = ({ blockNumber, blockHash }: StoredDeposit) => hashes.get(blockNumber) === blockHash
  const transactionsOnChain = new Set(deposits.filter(isOnChain).map(({ txHash }) => txHash))
  // A deposit is gone if another block stands at its height, or another block has its transaction. Above the
  // head of a chain that became shorter no block stands: there it may return.
  const isGone = (deposit: StoredDeposit) =>
    !isOnChain(deposit) && (hashes.has(deposit.blockNumber) || transactionsOnChain.has(deposit.txHash))
  const final = deposits.filter(
    (deposit) => !deposit.isFinal && deposit.blockNumber <= finalHeight && isOnChain(deposit),
  )
  const goneDeposits = deposits.filter(isGone)
  if (final.length + goneDeposits.length === 0) return { canonical: hashes, orphaned: 0 }
  await database.transaction(async (tx) => {
    await fence(tx)
    await finalizeDeposits(
      tx,
      final.map(({ id }) => id),
    )
    const changed = goneDeposits.find(({ isFinal }) => isFinal)
    if (changed !== undefined) {
      const { blockNumber: end, blockHash: knownHash } = changed
      const change = describeFinalChange({ blockNumber: end, knownHash, foundHash: hashes.get(end) })
      await stopAt(tx, chain, { end, reason: `final ${change}` })
    }
    for (const deposit of goneDeposits) await orphanDeposit(context, tx, deposit)
  })
  return { canonical: hashes, orphaned: goneDeposits.length }
}
