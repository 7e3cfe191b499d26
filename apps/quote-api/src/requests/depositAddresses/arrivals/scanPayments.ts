import { maxBigint, minBigint } from '@causeway/core'
import { type AddressPayments, largestTransfers, lateMs, payersOf, sumPayments } from '@causeway/families'
import { createLruCache } from '@causeway/rpc'
import {
  type BlockCursor,
  below,
  finalRange,
  liveRange,
  rewindCursor,
} from '../../../chainReadings/blockCursor.ts'
import type { Run } from '../../../jobs/runJobs.ts'
import { hasAddresses, markDenied, markPaid, moveScanCursor, readScanCursor } from '../addressStore.ts'
import type { AddressChain, DepositAddressContext } from '../depositAddressContext.ts'

type ScanContext = Pick<DepositAddressContext, 'database' | 'screening' | 'now'>

const seenMax = 20_000
/** Blocks that are read below the head once somebody has an address. */
const unwatchedBlocks = 64n
/** Final blocks of one list of transfers. */
const finalRangeBlocks = 64n

/**
 * Passes over the blocks of a chain: each puts the addresses that new blocks pay or name before the others. Nothing is
 * believed: an address that is put forward has its balance read, by quorum. Blocks are read once; transfers of tokens,
 * which nodes may list late, are listed again for 30 seconds, and once more when their blocks are final. While the chain
 * has no deposit address, nothing is read of its blocks.
 * @returns of a pass: true when an address of ours is among them
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
  readonly #seen = createLruCache<true>(seenMax)
  #finalDueMs = 0

  constructor(context: ScanContext, site: AddressChain) {
    this.#context = context
    this.#site = site
  }

  async pass(run: Run): Promise<boolean> {
    const head = await this.#site.head(run.signal)
    let isNews = false
    for (;;) {
      const scan = await this.#scanRange(head, run)
      isNews ||= scan.marked > 0
      if (run.signal.aborted) return isNews
      if (scan.isEnd) break
    }
    if (blocksOf(this.#site).steps.lateBlocks === 0n || this.#context.now() < this.#finalDueMs) return isNews
    this.#finalDueMs = this.#context.now() + lateMs
    return (await this.#scanFinal(head, run)) || isNews
  }

  async #scanRange(
    head: bigint,
    { fence, signal }: Run,
  ): Promise<{ readonly isEnd: boolean; readonly marked: number }> {
    const { database } = this.#context
    const { chain } = this.#site
    const { steps, payments } = blocksOf(this.#site)
    const cursor = await readScanCursor(database, chain.chainId)
    const first = below(head, steps.firstBlocks)
    const place = cursor ?? { scannedTo: first, finalTo: first }
    // Asked after the head: whoever has an address by now pays above it.
    if (!(await hasAddresses(database, chain.chainId))) {
      await this.#passUnwatched(place, head, fence)
      return { isEnd: true, marked: 0 }
    }
    const { known, from: late, to } = liveRange(place, head, steps)
    // Without a new block nothing is listed: the next one is seldom further away than lists are late.
    const transfersFrom = known < to ? late : to + 1n
    const read = await payments({ from: known + 1n, to, known, transfersFrom }, signal)
    const isSame = cursor?.scannedHash === undefined || isWhereItWas(read, cursor, known)
    if (isSame && read.last === undefined && cursor !== undefined) return { isEnd: true, marked: 0 }
    const next = isSame
      ? { ...place, scannedTo: to, scannedHash: read.last?.hash ?? read.known?.hash }
      : { ...rewindCursor(place, known, steps), scannedHash: undefined }
    const marked = await this.#keep(isSame ? read : noPayments, fence, (tx) =>
      moveScanCursor(tx, chain.chainId, next),
    )
    return { isEnd: isSame && to === head, marked }
  }

  /** Skips blocks in which no address can be paid; the next look begins below the blocks that a fork may replace. */
  async #passUnwatched(
    { scannedTo, finalTo }: BlockCursor,
    head: bigint,
    fence: Run['fence'],
  ): Promise<void> {
    const { rewindBlocks, lateBlocks } = blocksOf(this.#site).steps
    const back = below(head, maxBigint(lateBlocks, minBigint(rewindBlocks, unwatchedBlocks)))
    if (back <= scannedTo) return
    const next = { scannedTo: back, finalTo: maxBigint(finalTo, back), scannedHash: undefined }
    await this.#keep(noPayments, fence, (tx) => moveScanCursor(tx, this.#site.chain.chainId, next))
  }

  async #scanFinal(head: bigint, { fence, signal }: Run): Promise<boolean> {
    const { database } = this.#context
    const { chainId } = this.#site.chain
    const { steps, payments } = blocksOf(this.#site)
    const finalHeight = await this.#site.finalHeight(signal)
    let isNews = false
    for (;;) {
      const cursor = await readScanCursor(database, chainId)
      const heights = cursor && { head: minBigint(head, cursor.scannedTo), finalHeight }
      const range = heights && finalRange(cursor, heights, { ...steps, rangeBlocks: finalRangeBlocks })
      if (cursor === undefined || range === undefined || signal.aborted) return isNews
      const { from: transfersFrom, to } = range
      const read = await payments({ from: to + 1n, to, known: to, transfersFrom }, signal)
      const markedCount = await this.#keep(read, fence, (tx) =>
        moveScanCursor(tx, chainId, { ...cursor, finalTo: to }),
      )
      isNews ||= markedCount > 0
    }
  }

  /** Keeps what was not kept before, in one commit with the cursor. @returns how many addresses of ours it is about */
  async #keep(
    { payments, named }: Pick<AddressPayments, 'payments' | 'named'>,
    fence: Run['fence'],
    moveCursor: (tx: Parameters<typeof moveScanCursor>[0]) => Promise<void>,
  ): Promise<number> {
    const { database, screening } = this.#context
    const { chainId } = this.#site.chain
    const newPayments = payments.filter(({ id }) => id === undefined || this.#seen.get(id) === undefined)
    const markedCount = await database.transaction(async (tx) => {
      await fence(tx)
      const paid = { paid: sumPayments(newPayments), transfers: largestTransfers(newPayments), named }
      const count = await markPaid(tx, chainId, paid)
      if (screening !== undefined) await markDenied(tx, chainId, payersOf(newPayments), screening)
      await moveCursor(tx)
      return count
    })
    for (const { id } of newPayments) if (id !== undefined) this.#seen.set(id, true)
    return markedCount
  }
}

const noPayments = { payments: [], named: [] }

function blocksOf({ blocks }: AddressChain) {
  if (blocks === undefined) throw new Error('blocks of this chain show no payments')
  return blocks
}

function isWhereItWas(
  { known }: AddressPayments,
  cursor: { readonly scannedTo: bigint; readonly scannedHash: string | undefined },
  height: bigint,
): boolean {
  return height === cursor.scannedTo && known?.hash === cursor.scannedHash
}
