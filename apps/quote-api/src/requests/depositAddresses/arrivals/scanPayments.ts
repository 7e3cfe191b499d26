import { maxBigint, minBigint } from '@causeway/core'
import { type AddressPayments, largestTransfers, lateMs, payersOf, sumPayments } from '@causeway/families'
import { createLruCache } from '@causeway/rpc'
import {
  type BlockCursor,
  finalRange,
  heightBelow,
  liveRange,
  rewindCursor,
} from '../../../chainReadings/blockCursor.ts'
import type { Run } from '../../../jobs/runJobs.ts'
import { hasAddresses } from '../addressStore.ts'
import type { AddressChain, DepositAddressContext } from '../depositAddressContext.ts'
import { markDenied, markPaid, moveScanCursor, readScanCursor, type ScanCursor } from './paidAddressStore.ts'

type ScanContext = Pick<DepositAddressContext, 'database' | 'screening' | 'now'>

/** Payments that are remembered, so that a second listing of one costs no second look at its address. */
const seenPaymentsMax = 20_000
/**
 * Blocks below the head at which reading begins once the chain has its first deposit address; fewer where
 * forks are shorter, more where lists come later.
 */
const unwatchedBlocks = 64n
/** Final blocks whose transfers one question lists. */
const finalRangeBlocks = 64n

/**
 * Makes the job that reads new blocks of a chain and gives priority to the deposit addresses that they pay or name. It
 * need not be exact, because the balance of such an address is read again by a quorum. Blocks are read once. Token
 * transfers, which nodes may list late, are listed again for 30 seconds, and once more when their blocks are final. While
 * the chain has no deposit address, no block is read.
 * @returns one pass, which tells whether it found an address of ours
 * @source F-76, F-106
 */
export function createPaymentScanner(
  context: ScanContext,
  site: AddressChain,
): (run: Run) => Promise<boolean> {
  const scanner = new PaymentScanner(context, site)
  return (run) => scanner.pass(run)
}

class PaymentScanner {
  readonly #context: ScanContext
  readonly #site: AddressChain
  readonly #seenPaymentIds = createLruCache<true>(seenPaymentsMax)
  #finalScanDueMs = 0
  /** The cursor as this leadership stored it last, while the chain has no deposit address. */
  #passed: { readonly cursor: ScanCursor; readonly fence: Run['fence']; readonly atMs: number } | undefined

  constructor(context: ScanContext, site: AddressChain) {
    this.#context = context
    this.#site = site
  }

  async pass(run: Run): Promise<boolean> {
    // Whoever sees a newer head wakes this job.
    const head = this.#site.seenHead?.() ?? (await this.#site.head(run.signal))
    let hasFound = false
    for (;;) {
      const scan = await this.#scanRange(head, run)
      hasFound ||= scan.marked > 0
      if (run.signal.aborted) return hasFound
      if (scan.isEnd) break
    }
    // Without late lists nothing is listed again; with them it is, at intervals of `lateMs`.
    if (blocksOf(this.#site).steps.lateBlocks === 0n || this.#context.now() < this.#finalScanDueMs)
      return hasFound
    this.#finalScanDueMs = this.#context.now() + lateMs
    return (await this.#scanFinal(head, run)) || hasFound
  }

  /**
   * Reads the next range of new blocks. `known` is the last block read before. If its hash has changed, or
   * the chain now ends below it, there was a reorganization: then nothing of the range is stored, and the
   * cursor moves back, so that the next call reads the replaced blocks. `isEnd`: the newest block was read,
   * so that the pass is over.
   */
  async #scanRange(
    head: bigint,
    { fence, signal }: Run,
  ): Promise<{ readonly isEnd: boolean; readonly marked: number }> {
    const { database } = this.#context
    const { chain } = this.#site
    const { steps, payments } = blocksOf(this.#site)
    // While this process leads, nobody else moves the cursor.
    if (this.#passed?.fence !== fence) this.#passed = undefined
    const cursor = this.#passed?.cursor ?? (await readScanCursor(database, chain.chainId))
    const first = heightBelow(head, steps.firstBlocks)
    const position = cursor ?? { scannedTo: first, finalTo: first }
    // This is asked after the head was read: an address that is made later can only be paid above that head.
    if (!(await hasAddresses(database, chain.chainId))) {
      await this.#passUnwatched(position, head, fence)
      return { isEnd: true, marked: 0 }
    }
    this.#passed = undefined
    const { known, from: lateListsFrom, to } = liveRange(position, head, steps)
    // Without a new block no transfers are listed, because the next block usually comes before late lists matter.
    const transfersFrom = known < to ? lateListsFrom : to + 1n
    const read = await payments({ from: known + 1n, to, known, transfersFrom }, signal)
    // After a rewind, and past unwatched blocks, the cursor has no hash to compare with.
    const isSameFork = cursor?.scannedHash === undefined || isScannedBlock(read, cursor, known)
    // Without a new block there is nothing to store, except the first cursor.
    if (isSameFork && read.last === undefined && cursor !== undefined) return { isEnd: true, marked: 0 }
    const nextCursor = isSameFork
      ? { ...position, scannedTo: to, scannedHash: read.last?.hash ?? read.known?.hash }
      : { ...rewindCursor(position, known, steps), scannedHash: undefined }
    const marked = await this.#keep(isSameFork ? read : noPayments, fence, (tx) =>
      moveScanCursor(tx, chain.chainId, nextCursor),
    )
    return { isEnd: isSameFork && to === head, marked }
  }

  /**
   * Moves the cursor past blocks in which no address can be paid, except those that may still change: every half
   * minute, as its height only decides how many blocks are read once there is an address.
   */
  async #passUnwatched(
    { scannedTo, finalTo }: BlockCursor,
    head: bigint,
    fence: Run['fence'],
  ): Promise<void> {
    const { rewindBlocks, lateBlocks } = blocksOf(this.#site).steps
    const passedTo = heightBelow(head, maxBigint(lateBlocks, minBigint(rewindBlocks, unwatchedBlocks)))
    const atMs = this.#context.now()
    if (passedTo <= scannedTo || (this.#passed !== undefined && Math.abs(atMs - this.#passed.atMs) < lateMs))
      return
    const cursor = { scannedTo: passedTo, finalTo: maxBigint(finalTo, passedTo), scannedHash: undefined }
    this.#passed = undefined
    await this.#keep(noPayments, fence, (tx) => moveScanCursor(tx, this.#site.chain.chainId, cursor))
    this.#passed = { cursor, fence, atMs }
  }

  /** Lists the transfers of blocks that became final once more, as the first lists may have been incomplete. */
  async #scanFinal(head: bigint, { fence, signal }: Run): Promise<boolean> {
    const { database } = this.#context
    const { chainId } = this.#site.chain
    const { steps, payments } = blocksOf(this.#site)
    const finalHeight = await this.#site.finalHeight(signal)
    let hasFound = false
    for (;;) {
      const cursor = await readScanCursor(database, chainId)
      // Blocks above the cursor are left to their first reading.
      const heights = cursor && { head: minBigint(head, cursor.scannedTo), finalHeight }
      const range = heights && finalRange(cursor, heights, { ...steps, rangeBlocks: finalRangeBlocks })
      if (cursor === undefined || range === undefined || signal.aborted) return hasFound
      const { from: transfersFrom, to } = range
      // Only transfers are listed again, so the range of blocks is empty.
      const read = await payments({ from: to + 1n, to, known: to, transfersFrom }, signal)
      const markedCount = await this.#keep(read, fence, (tx) =>
        moveScanCursor(tx, chainId, { ...cursor, finalTo: to }),
      )
      hasFound ||= markedCount > 0
    }
  }

  /** Stores new payments and moves the cursor in one commit. @returns the number of our addresses among them */
  async #keep(
    { payments, named }: Pick<AddressPayments, 'payments' | 'named'>,
    fence: Run['fence'],
    moveCursor: (tx: Parameters<typeof moveScanCursor>[0]) => Promise<void>,
  ): Promise<number> {
    const { database, screening } = this.#context
    const { chainId } = this.#site.chain
    // Payments without an id are listed once only.
    const newPayments = payments.filter(
      ({ id }) => id === undefined || this.#seenPaymentIds.get(id) === undefined,
    )
    const markedCount = await database.transaction(async (tx) => {
      await fence(tx)
      const seen = { paid: sumPayments(newPayments), transfers: largestTransfers(newPayments), named }
      const count = await markPaid(tx, chainId, seen)
      if (screening !== undefined) await markDenied(tx, chainId, payersOf(newPayments), screening)
      await moveCursor(tx)
      return count
    })
    for (const { id } of newPayments) if (id !== undefined) this.#seenPaymentIds.set(id, true)
    return markedCount
  }
}

const noPayments = { payments: [], named: [] }

function blocksOf({ blocks }: AddressChain) {
  if (blocks === undefined) throw new Error('blocks of this chain show no payments')
  return blocks
}

/** True if the block of the cursor still has its hash; false also if the chain ends below it, at `height`. */
function isScannedBlock(
  { known }: AddressPayments,
  cursor: { readonly scannedTo: bigint; readonly scannedHash: string | undefined },
  height: bigint,
): boolean {
  return height === cursor.scannedTo && known?.hash === cursor.scannedHash
}
