import type { PutAsideReason } from '@causeway/chains'
import { blocksAtPace, paceMs } from '@causeway/core'
import type { Run } from '../../jobs/runJobs.ts'
import type { QuotableChain } from '../../pricing/registry.ts'
import {
  finalizeDeposits,
  insertPaidSwaps,
  listUnfinalDeposits,
  moveDepositCursor,
  readDepositCursor,
  type StoredDeposit,
} from './depositStore.ts'
import { type FoundDeposit, keepDeposits, readDeposits } from './foundDeposits.ts'
import { orphanDeposit } from './orphanDeposit.ts'
import { putAside } from './putAsideStore.ts'
import type { SettlementChain } from './settlementChain.ts'
import { nowSeconds, type SettlementContext } from './settlementContext.ts'
import { takeDeposits } from './takeDeposits.ts'

/**
 * Blocks of one look, where the family names no others: a chain that was not read for long is caught up in several.
 * And how far a reorganization is followed back, which is where a first start begins.
 */
const usualSteps = ({ config }: QuotableChain) => ({
  rangeBlocks: 1_000n,
  rewindBlocks: blocksAtPace(config, 512n),
})
/** Transactions read at once. */
const readingsAtOnce = 8

/**
 * One pass over a chain: reads new blocks up to the newest one that a quorum has, keeps deposits, what cannot be read
 * and the cursor in one commit, follows reorganizations, then acts on every deposit that is deep enough.
 * @throws UpstreamUnavailableError, UpstreamDisagreementError; what was committed before stays
 */
export async function watchDeposits(
  context: SettlementContext,
  chain: SettlementChain,
  run: Run,
): Promise<void> {
  // Taken before the chain is asked: what it does not show then was mined later.
  const askedAtSeconds = nowSeconds(context)
  const head = await chain.head(run.signal)
  const newest = { head, askedAtSeconds }
  let isCaughtUp = false
  while (!isCaughtUp && !run.signal.aborted) isCaughtUp = await scanRange(context, chain, newest, run)
  const canonical = await followBlocks(context, chain, run)
  await takeDeposits(context, chain, { head, canonical, run })
}

/** @returns true when the newest block was read */
async function scanRange(
  context: SettlementContext,
  chain: SettlementChain,
  { head, askedAtSeconds }: { readonly head: bigint; readonly askedAtSeconds: number },
  { fence, signal }: Run,
): Promise<boolean> {
  const { database } = context
  const { chainId, config } = chain.chain
  const paced = { chainId, paceMs: paceMs(config) }
  const { rangeBlocks, rewindBlocks } = chain.steps ?? usualSteps(chain.chain)
  const cursor = await readDepositCursor(database, chainId)
  const scannedTo = cursor?.scannedTo ?? below(head, rewindBlocks)
  // A chain that became shorter is read again from below its end.
  const known = scannedTo < head ? scannedTo : head
  const from = known + 1n
  const last = known + rangeBlocks
  const to = last < head ? last : head
  const pass = await chain.depositPass({ from: from > to ? to : from, to, known }, signal)
  const isSame = cursor === undefined || (known === scannedTo && pass.known?.hash === cursor.scannedHash)
  if (!isSame) {
    const back = below(known, rewindBlocks)
    const hash = (await chain.blockHashes([back], signal)).get(back)
    await database.transaction(async (tx) => {
      await fence(tx)
      const cursorBack = { scannedTo: back, newestAtSeconds: undefined }
      if (hash !== undefined) await moveDepositCursor(tx, paced, { ...cursorBack, scannedHash: hash })
    })
    return false
  }
  if (pass.last === undefined) return true
  const scannedHash = pass.last.hash
  const { found, aside } = await readAll(chain, pass.transactions, signal)
  const minedAfterSeconds = cursor?.newestAtSeconds
  const deposits = found.map((deposit) => ({ ...deposit, minedAfterSeconds }))
  const newestAtSeconds = to === head ? askedAtSeconds : undefined
  await database.transaction(async (tx) => {
    await fence(tx)
    await keepDeposits(context, tx, deposits)
    await putAside(
      tx,
      aside.map((one) => ({ ...one, chainId, purpose: 'deposits' })),
    )
    await insertPaidSwaps(tx, chainId, pass.paidSwaps)
    await moveDepositCursor(tx, paced, { scannedTo: to, scannedHash, newestAtSeconds })
  })
  for (const one of aside) context.observe({ event: 'put_aside', chainId, ...one })
  return to === head
}

type Unread = { readonly transactionId: string; readonly reason: PutAsideReason }

/** A transaction keeps no other one from being read. */
async function readAll(
  chain: SettlementChain,
  transactions: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly found: readonly FoundDeposit[]; readonly aside: readonly Unread[] }> {
  const found: FoundDeposit[] = []
  const aside: Unread[] = []
  for (let next = 0; next < transactions.length; next += readingsAtOnce) {
    const batch = transactions.slice(next, next + readingsAtOnce)
    const read = await Promise.all(
      batch.map(async (transactionId) => ({
        transactionId,
        read: await readDeposits(chain, transactionId, signal),
      })),
    )
    for (const { transactionId, read: one } of read) {
      if (one === undefined) continue
      if ('aside' in one) aside.push({ transactionId, reason: one.aside })
      else found.push(...one.deposits)
    }
  }
  return { found, aside }
}

/**
 * Compares the blocks of deposits that can still vanish with the chain.
 * @returns the hashes that stand at their heights now
 */
async function followBlocks(
  context: SettlementContext,
  chain: SettlementChain,
  { fence, signal }: Run,
): Promise<ReadonlyMap<bigint, string>> {
  const { database } = context
  const deposits = await listUnfinalDeposits(database, chain.chain.chainId)
  if (deposits.length === 0) return new Map()
  const finalHeight = await chain.finalHeight(signal)
  const heights = [...new Set(deposits.map(({ blockNumber }) => blockNumber))]
  const hashes = await chain.blockHashes(heights, signal)
  const isGone = ({ blockNumber, blockHash }: StoredDeposit) => {
    const hash = hashes.get(blockNumber)
    return hash !== undefined && hash !== blockHash
  }
  const final = deposits.filter(
    ({ blockNumber, blockHash }) => blockNumber <= finalHeight && hashes.get(blockNumber) === blockHash,
  )
  const gone = deposits.filter(isGone)
  if (final.length + gone.length === 0) return hashes
  await database.transaction(async (tx) => {
    await fence(tx)
    await finalizeDeposits(
      tx,
      final.map(({ id }) => id),
    )
    for (const deposit of gone) await orphanDeposit(context, tx, deposit)
  })
  return hashes
}

function below(height: bigint, blocks: bigint): bigint {
  return height > blocks ? height - blocks : 0n
}
