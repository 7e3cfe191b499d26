import type { Run } from '../../jobs/runJobs.ts'
import { markDenied, markPaid, moveScanCursor, readScanCursor } from './addressStore.ts'
import type { BlockPayments } from './blockPayments.ts'
import type { AddressChain, DepositAddressContext } from './depositAddressContext.ts'

/**
 * Reads every new block once and puts the addresses that it pays or names before the others. Nothing is
 * believed: an address that is put forward has its balance read, by quorum.
 * @returns true when an address of ours is among them
 */
export async function scanPayments(
  context: Pick<DepositAddressContext, 'database' | 'logger' | 'screening'>,
  site: AddressChain,
  run: Run,
): Promise<boolean> {
  const head = await site.head(run.signal)
  let isNews = false
  for (;;) {
    const scan = await scanRange(context, site, head, run)
    isNews ||= scan.marked > 0
    if (scan.isEnd || run.signal.aborted) return isNews
  }
}

async function scanRange(
  { database, logger, screening }: Pick<DepositAddressContext, 'database' | 'logger' | 'screening'>,
  site: AddressChain,
  head: bigint,
  { fence, signal }: Run,
): Promise<{ readonly isEnd: boolean; readonly marked: number }> {
  const { chain, blocks } = site
  if (blocks === undefined) throw new Error('blocks of this chain show no payments')
  const { steps } = blocks
  const { chainId } = chain
  const cursor = await readScanCursor(database, chainId)
  const earliest = below(head, cursor === undefined ? steps.firstBlocks : steps.gapBlocks)
  const isGap = cursor === undefined || cursor.scannedTo < earliest
  if (cursor !== undefined && isGap) logger.warn({ chain: chain.key }, 'blocks were left out of the scan')
  // A chain that became shorter is read again from below its end.
  const known = isGap ? earliest : cursor.scannedTo < head ? cursor.scannedTo : head
  const last = known + steps.rangeBlocks
  const to = last < head ? last : head
  const read = await blocks.payments({ from: known + 1n, to, known }, signal)
  const isSame = isGap || cursor.scannedHash === undefined || isWhereItWas(read, cursor, known)
  const next = isSame
    ? { scannedTo: to, scannedHash: read.last?.hash ?? read.known?.hash }
    : { scannedTo: below(known, steps.rewindBlocks), scannedHash: undefined }
  if (isSame && read.last === undefined && !isGap) return { isEnd: true, marked: 0 }
  const marked = await database.transaction(async (tx) => {
    await fence(tx)
    const count = isSame ? await markPaid(tx, chainId, read) : 0
    if (isSame && screening !== undefined) await markDenied(tx, chainId, read, screening)
    await moveScanCursor(tx, chainId, next)
    return count
  })
  return { isEnd: isSame && to === head, marked }
}

function isWhereItWas(
  { known }: BlockPayments,
  cursor: { readonly scannedTo: bigint; readonly scannedHash: string | undefined },
  height: bigint,
): boolean {
  return height === cursor.scannedTo && known?.hash === cursor.scannedHash
}

function below(height: bigint, blocks: bigint): bigint {
  return height > blocks ? height - blocks : 0n
}
