import { feeTotals, type PaymentFacts, type PricedUnit, type SqlDatabase } from '@causeway/core'
import type { MarketSnapshot } from '@causeway/market'
import type { Run } from '../../jobs/runJobs.ts'
import { requirePrice } from '../../pricing/market/marketAccess.ts'
import type { QuotableChain } from '../../pricing/registry.ts'
import type { SettlementChain } from '../settlement/chain/settlementChain.ts'
import { readDeposit } from '../settlement/deposits/depositStore.ts'
import { orderValueMicroUsd, readSettledRequest, type SettledRequest } from '../settlement/settledRequest.ts'
import { runConcurrently } from '../work/followWork.ts'
import { type FillMeasurement, measureFill, type SolverCost } from './measureFill.ts'
import { listUnmeasured, readFillFacts, type SolverTransaction, saveMeasurement } from './measurementStore.ts'

export type MeasuringContext = {
  readonly database: SqlDatabase
  /** Chains that can be read, by chain id. */
  readonly chains: ReadonlyMap<number, SettlementChain>
  readonly snapshot: () => MarketSnapshot
}

const requestsPerRun = 100
const atOnce = 4

/**
 * Job that measures newly settled requests and stores the results for `accuracyMetrics.ts` and `reactionTimes.ts`. One
 * endpoint's answer is enough for a transaction's fee, because only statistics depend on it.
 * @throws AggregateError of what could not be measured, which is tried again
 */
export async function measureFills(context: MeasuringContext, run: Run): Promise<void> {
  const requestIds = await listUnmeasured(context.database, requestsPerRun)
  await runConcurrently(requestIds, { atOnce, run }, async (requestId) => {
    const request = await readSettledRequest(context.database, requestId)
    const measured = request === undefined ? undefined : await measure(context, request, run.signal)
    if (request === undefined || measured === undefined) return
    const { originChainId, destinationChainId } = request
    await context.database.transaction(async (tx) => {
      await run.fence(tx)
      await saveMeasurement(tx, { ...measured, requestId, originChainId, destinationChainId })
    })
  })
}

/** Measures one request. @returns undefined while a chain or a block that it needs cannot be read */
async function measure(
  context: MeasuringContext,
  request: SettledRequest,
  signal: AbortSignal,
): Promise<FillMeasurement | undefined> {
  const { database, chains } = context
  const { requestId, settlement, quoted } = request
  const origin = chains.get(request.originChainId)?.chain
  const destination = chains.get(request.destinationChainId)
  const stored = await readFillFacts(database, requestId)
  const deposit = settlement && (await readDeposit(database, settlement.depositId))
  const fill = destination && (await readFill(request, destination, signal))
  // The first payment is the recipient's; a second one would be a gas top-up.
  const quotedPayment = request.order.output.payments[0]
  if (!origin || !destination || !stored || !deposit || !fill || !quotedPayment) return undefined
  const costs = await readCosts(context, stored.transactions, signal)
  const { codec } = destination.chain
  const paidTransfers = fill.transfers.filter(
    ({ recipient, currency }) =>
      recipient === codec.canonicalAddress(quotedPayment.recipient) &&
      currency === codec.canonicalAddress(quotedPayment.currency),
  )
  return measureFill({
    origin,
    destination: destination.chain,
    valueMicroUsd: orderValueMicroUsd(request),
    depositSeconds: stored.depositSeconds,
    fillSeconds: fill.blockTimestampSeconds,
    // A top-up is native coin too, which the solver gives away beside its fees.
    costs: costs && [...costs, { wei: quoted.topupWei, native: nativeOf(context, destination.chain) }],
    outputAmount: paidTransfers.reduce((sum, { amount }) => sum + amount, 0n),
    depositAmount: deposit.amount,
    quoted: {
      seconds: quoted.timeEstimateSeconds,
      gas: feeTotals(quoted.fees).relayerGas,
      gasUnit: quoted.units.fee,
      outputAmount: BigInt(quotedPayment.expectedAmount),
      // The quoted deposit, from which the fees were computed.
      depositAmount: request.feeBasis,
    },
  })
}

/** Reads the payment of the recipient once it is final; undefined before. */
function readFill(
  { order, orderId, settlement }: SettledRequest,
  destination: SettlementChain,
  signal: AbortSignal,
): Promise<PaymentFacts | undefined> {
  const transactionId = settlement?.fillTx
  if (transactionId === undefined) return Promise.resolve(undefined)
  const { extraData, payments, calls } = order.output
  return destination.finalPayment({ transactionId, orderId, extraData, payments, calls }, signal)
}

/** @returns `undefined` when the cost of one transaction cannot be known */
async function readCosts(
  context: MeasuringContext,
  transactions: readonly SolverTransaction[],
  signal: AbortSignal,
): Promise<readonly SolverCost[] | undefined> {
  const costs: SolverCost[] = []
  for (const { chainId, txHash } of transactions) {
    const settled = context.chains.get(chainId)
    if (settled === undefined) return undefined
    const wei = await settled.feePaid(txHash, signal)
    if (wei === undefined) return undefined
    costs.push({ wei, native: nativeOf(context, settled.chain) })
  }
  return costs
}

/** The present price will do, because the fill is minutes old. @throws QuoteError PRICE_FETCH_FAILED */
function nativeOf({ snapshot }: MeasuringContext, { native }: QuotableChain): PricedUnit {
  return requirePrice(snapshot(), native)
}
