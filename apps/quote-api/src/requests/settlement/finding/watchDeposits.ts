import { UpstreamUnavailableError } from '@causeway/core'
import { describeFinalChange, lateMs } from '@causeway/families'
import { createReadMemory } from '../../../chainReadings/blockCursor.ts'
import type { Run } from '../../../jobs/runJobs.ts'
import { createSightNotes } from '../../stops/depositSight.ts'
import { orphanDeposit } from '../binding/orphanDeposit.ts'
import { takeDeposits } from '../binding/takeDeposits.ts'
import type { SettlementChain } from '../chain/settlementChain.ts'
import { finalizeDeposits, listYoungDeposits, type StoredDeposit } from '../deposits/depositStore.ts'
import { nowSeconds, type SettlementContext } from '../settlementContext.ts'
import { endsBelowFinal, findFinalDeposits, findNewDeposits, stopAt } from './findDeposits.ts'

/**
 * Passes over a chain: each reads its newest blocks, follows reorganizations, then acts on every deposit that is deep
 * enough, and reads final blocks once more every half minute. What holds up one of these delays no deposit that was seen.
 * @throws UpstreamUnavailableError, UpstreamDisagreementError; what was committed before stays
 */
export function createDepositWatcher(
  context: SettlementContext,
  chain: SettlementChain,
  patienceMs: number,
): (run: Run) => Promise<void> {
  const memory = createReadMemory(context.now)
  const noteSight = createSightNotes(
    context.database,
    { chainId: chain.chain.chainId, patienceMs },
    context.now,
  )
  let finalDueMs = 0
  let shortSinceMs: number | undefined
  /** A chain that stays too short for half a minute is stopped; before, its endpoints may lag, and nothing is read. */
  async function refuseShort(head: bigint, { fence }: Run): Promise<void> {
    const reason = await endsBelowFinal(context, chain, head)
    if (reason === undefined) {
      shortSinceMs = undefined
      return
    }
    shortSinceMs ??= context.now()
    if (context.now() - shortSinceMs < lateMs) throw new UpstreamUnavailableError(`${reason}.`)
    await context.database.transaction(async (tx) => {
      await fence(tx)
      await stopAt(tx, chain, { end: head, reason })
    })
  }
  return async (run) => {
    // Taken before the chain is asked: what it does not show then was mined later.
    const askedAtSeconds = nowSeconds(context)
    const head = await chain.head(run.signal)
    await refuseShort(head, run)
    let failure: unknown
    try {
      await findNewDeposits(context, chain, { head, askedAtSeconds, memory }, run)
      await noteSight()
    } catch (error) {
      failure = error
    }
    const { canonical, orphaned } = await followBlocks(context, chain, run)
    // Also where the newest block did not show that the chain had changed.
    if (orphaned > 0) memory.forget()
    await takeDeposits(context, chain, { head, canonical, run })
    if (failure !== undefined) throw failure
    if (context.now() < finalDueMs) return
    finalDueMs = context.now() + lateMs
    await findFinalDeposits(context, chain, { head, memory }, run)
  }
}

/**
 * Compares the blocks of deposits that can still vanish with the chain, which stops where one was final.
 * @returns the hashes that stand at their heights now, and how many deposits are gone
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
  const stands = ({ blockNumber, blockHash }: StoredDeposit) => hashes.get(blockNumber) === blockHash
  const standing = new Set(deposits.filter(stands).map(({ txHash }) => txHash))
  // Above the end of a shorter chain a deposit may come back, unless its transaction stands in another block.
  const isGone = (deposit: StoredDeposit) =>
    !stands(deposit) && (hashes.has(deposit.blockNumber) || standing.has(deposit.txHash))
  const final = deposits.filter(
    (deposit) => !deposit.isFinal && deposit.blockNumber <= finalHeight && stands(deposit),
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
