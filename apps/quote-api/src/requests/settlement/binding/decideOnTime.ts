import type { QuotableChain } from '../../../pricing/registry.ts'
import { pinWaitMs } from '../../../pricing/timeEstimate.ts'
import { paidFor } from '../amounts/depositShare.ts'
import {
  blockGraceSeconds,
  isLate,
  type LateStep,
  lateStep,
  sweptGraceSeconds,
} from '../amounts/lateDeposit.ts'
import type { StoredDeposit } from '../deposits/depositStore.ts'
import { orderValueMicroUsd, type SettledRequest } from '../settledRequest.ts'
import { nowSeconds, type SettlementContext } from '../settlementContext.ts'

/** Decides whether a fitting deposit is filled as quoted: always if it is in time, else by current prices. */
export async function decideOnTime(
  context: SettlementContext,
  chain: QuotableChain,
  request: SettledRequest,
  deposit: StoredDeposit,
): Promise<LateStep> {
  const { toleranceBps, marketWaitSeconds, price } = context.lateDeposits
  const { blockTimeSeconds, minedAfterSeconds, seenAtSeconds } = deposit
  const { expiresAtSeconds, sweepAskedAtSeconds, settlement } = request
  const addresses = request.relayedBy === 'deposit_address' ? chain.quoting.depositAddresses : undefined
  const graceSeconds = Math.max(
    blockGraceSeconds(chain.config),
    sweptGraceSeconds({ expiresAtSeconds, sweepAskedAtSeconds, addresses }),
  )
  const isInTime = !isLate({ blockTimeSeconds, minedAfterSeconds, expiresAtSeconds, graceSeconds })
  // After the fill, any fitting deposit belongs to the solver, however late.
  if (isInTime || settlement?.stage === 'filled') return { action: 'bind' }
  // The wait for market data begins once the deposit is deep enough to be acted on.
  const deepAtSeconds = seenAtSeconds + Math.ceil(pinWaitMs(chain, orderValueMicroUsd(request)) / 1_000)
  return lateStep({
    promised: promisedFor(request, deposit),
    price: await price(request, deposit),
    toleranceBps,
    hadReward: request.quoted.reward !== undefined,
    nowSeconds: nowSeconds(context),
    waitsUntilSeconds: deepAtSeconds + marketWaitSeconds,
  })
}

/** The quoted output, less what the order does not pay for a deposit below the quoted input. */
function promisedFor(
  { order, quoted, feeBasis: quotedInput }: SettledRequest,
  { amount }: StoredDeposit,
): bigint {
  return order.output.payments.reduce(
    (promised, payment) =>
      promised - BigInt(payment.expectedAmount) + paidFor(payment, order, { amount, quotedInput }),
    quoted.amountOut,
  )
}
