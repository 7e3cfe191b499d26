import { type MissingDepth, UpstreamUnavailableError } from '@causeway/core'
import type { Run } from '../../../jobs/runJobs.ts'
import type { QuotableChain } from '../../../pricing/registry.ts'
import { type ChainEnd, depthRuleOf, openChainEnd, readMissingDepth, type SeenBlock } from '../chain/depth.ts'
import type { SettlementChain } from '../chain/settlementChain.ts'
import { type DepositRecheck, recheckWhileShallow, recheckWhileWaiting } from '../deposits/depositDecision.ts'
import { listDueDeposits, recheckDepositsAfter, type StoredDeposit } from '../deposits/depositStore.ts'
import type { SeenDeposit } from '../deposits/pinDecision.ts'
import { orderValueMicroUsd, readSettledRequest, type SettledRequest } from '../settledRequest.ts'
import type { SettlementContext } from '../settlementContext.ts'
import { applyDecision, decideDeposit, type Screened } from './applyDecision.ts'
import { decideOnTime } from './decideOnTime.ts'

/** The chain as the present pass sees it. */
type PassView = {
  /** Height of the newest block. */
  readonly head: bigint
  /** Present block hashes at the heights of the due deposits. */
  readonly canonical: ReadonlyMap<bigint, string>
  readonly run: Run
}

type OpenPassView = PassView & { readonly end: ChainEnd }

const depositsPerPass = 500

/**
 * Decides on every deposit of a chain that is due: binds its request to it, refunds, ignores or holds it, or schedules the
 * next look. Each has its own transaction, so that one that waits or fails does not stop the others.
 * @throws AggregateError of what failed, after all were tried
 */
export async function takeDeposits(
  context: SettlementContext,
  chain: SettlementChain,
  view: PassView,
): Promise<void> {
  const openView = { ...view, end: openChainEnd(chain, view.run.signal) }
  const due = await listDueDeposits(context.database, chain.chain.chainId, depositsPerPass)
  const rechecks: (DepositRecheck & Pick<StoredDeposit, 'id'>)[] = []
  const failures: unknown[] = []
  for (const deposit of due) {
    if (view.run.signal.aborted) return
    const recheck = await decideDue(context, chain.chain, deposit, openView).catch((error: unknown) => {
      // Without the database or the chain's endpoints no other deposit can be decided either.
      if (error instanceof UpstreamUnavailableError) throw error
      failures.push(error)
      return recheckWhileWaiting(deposit)
    })
    if (recheck !== undefined) rechecks.push({ id: deposit.id, ...recheck })
  }
  if (rechecks.length > 0) {
    await context.database.transaction(async (tx) => {
      await view.run.fence(tx)
      await recheckDepositsAfter(tx, rechecks)
    })
  }
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} deposits could not be taken`)
}

/**
 * Decides on one deposit. First nothing is locked, because most deposits of a pass only wait for depth; then
 * `applyDecision` decides again under locks. All that asks chains, prices or the order's key is done before,
 * so that no lock waits for it. If the locked decision needs what was not prepared here, it changes nothing, and the next
 * pass decides. @returns when to look again; undefined once it was decided
 */
async function decideDue(
  context: SettlementContext,
  chain: QuotableChain,
  deposit: StoredDeposit,
  view: OpenPassView,
): Promise<DepositRecheck | undefined> {
  const request = await readSettledRequest(context.database, deposit.requestId)
  if (request === undefined) return recheckWhileWaiting(deposit)
  const rule = depthRuleOf(chain, orderValueMicroUsd(request))
  const missingDepth = await readMissingDepth(rule, blockOf(context, deposit, view), view.end)
  const seenDeposit = toSeenDeposit(deposit, view, missingDepth === undefined)
  const { action } = decideDeposit(context, chain, seenDeposit, request)
  // A deep deposit waits only for the price of a refund in another currency.
  if (action === 'wait' && seenDeposit.isCanonical && seenDeposit.isDeep) return recheckWhileWaiting(deposit)
  if (action === 'wait') return recheckWhileShallow(missingDepth ?? nothingMissing, chain.config)
  const isIgnored = action === 'ignore'
  const screened = isIgnored ? undefined : await screen(context, chain, request, deposit, view)
  if (screened === undefined && !isIgnored) return recheckWhileWaiting(deposit)
  // A blocked sender's deposit is held, and one that an operator gives back is refunded: neither needs a price.
  const mayBeFilled = action === 'bind' && screened?.denied === undefined && request.released !== 'refund'
  const timeStep = mayBeFilled ? await decideOnTime(context, chain, request, deposit) : undefined
  if (timeStep?.action === 'wait') return recheckWhileWaiting(deposit)
  // Every outcome but `ignore` is work for a solver, which accepts only signed orders.
  if (!isIgnored) await context.signatures.of(request)
  await context.database.transaction(async (tx) => {
    await view.run.fence(tx)
    await applyDecision(context, tx, { chain, deposit, seenDeposit, timeStep, screened })
  })
  return undefined
}

/** Missing depth of a deposit whose block is not on the chain: its next block may be deep enough at once. */
const nothingMissing: MissingDepth = { blocks: 0, seconds: 0, isFinalized: false }

/** The block of a deposit. Its first sight is stored, so that it survives a reorganization that brings the block back. */
function blockOf(
  { now }: Pick<SettlementContext, 'now'>,
  { blockNumber: number, blockTimeSeconds: seconds, seenAtSeconds }: StoredDeposit,
  { head }: PassView,
): SeenBlock {
  return { number, seconds, onTop: Number(head - number), seenSeconds: now() / 1_000 - seenAtSeconds }
}

/** Compares a deposit's accounts with the deny list. @returns undefined while its senders cannot be read */
async function screen(
  { screening, chains }: SettlementContext,
  { chainId }: QuotableChain,
  request: SettledRequest,
  deposit: StoredDeposit,
  { run }: OpenPassView,
): Promise<Screened | undefined> {
  if (screening === undefined) return { senders: [], denied: undefined }
  const senders = await chains
    .get(chainId)
    ?.senders(deposit.txHash, run.signal)
    .catch((error: unknown) => {
      if (error instanceof UpstreamUnavailableError) return undefined
      throw error
    })
  if (senders === undefined) return undefined
  const accounts = { ...request, appFees: request.quoted.appFees }
  return { senders, denied: screening.deniedIn(accounts, [deposit.depositor, ...senders]) }
}

function toSeenDeposit(deposit: StoredDeposit, { canonical }: PassView, isDeep: boolean): SeenDeposit {
  const { id, chainId, currency, amount, blockNumber, blockHash, isFinal } = deposit
  return {
    id: String(id),
    chainId,
    currency,
    amount,
    isDeep,
    isCanonical: isFinal || canonical.get(blockNumber) === blockHash,
  }
}
