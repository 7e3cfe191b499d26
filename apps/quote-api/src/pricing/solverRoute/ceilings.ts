import {
  bpsUp,
  divideUp,
  maxBigint,
  minBigint,
  perName,
  type SponsorCeiling,
  sponsorCeilings,
  sponsoredComponents,
  sponsorRule,
  type UsdX18,
  usdValueDown,
} from '@causeway/core'
import type { QuoteCeilings } from '@causeway/core/config'
import type { MarketSnapshot } from '@causeway/market'
import { QuoteError } from '../errors.ts'
import { conversionSpreadBps } from '../fees/feeTerms.ts'
import type { FeeSplit } from '../fees/solve.ts'
import type { PricedCurrency } from '../market/marketAccess.ts'
import type { PricedRoute } from '../pricedRoute.ts'
import type { Allocation } from '../sponsorship/allocateSubsidy.ts'

const usdX18PerMicroUsd = 10n ** 12n
const bpsDenominator = 10_000n

/**
 * Refuses a quote whose destination gas is above both a fixed worth and a part of the amount, as configured.
 * The part compares two amounts of the fee currency, so prices do not affect it.
 * @throws QuoteError RELAYER_GAS_TOO_HIGH naming the ceiling and the cost; `acceptedAmount.ts` adds the amount
 */
export function checkRelayerGas(
  ceilings: QuoteCeilings,
  gas: {
    readonly split: Pick<FeeSplit, 'amountIn' | 'relayerGas'>
    /** Worth of the gas top-up in the fee currency. It is in `relayerGas`, but the recipient gets it: it is no cost. */
    readonly topup: bigint
    readonly price: PricedCurrency
  },
): void {
  const { split, price } = gas
  const { maxBps, orMicroUsd } = ceilings.relayerGas
  const cost = split.relayerGas - gas.topup
  const costUsd = usdValueDown(cost, price)
  if (costUsd <= orMicroUsd * usdX18PerMicroUsd) return
  if (cost * bpsDenominator <= split.amountIn * BigInt(maxBps)) return
  throw new QuoteError(
    'RELAYER_GAS_TOO_HIGH',
    'Gas on the destination is above what a quote may charge for it.',
    {
      data: {
        ceiling: 'relayerGas',
        limitBps: maxBps,
        limitMicroUsd: orMicroUsd.toString(),
        costMicroUsd: divideUp(costUsd, usdX18PerMicroUsd).toString(),
      },
    },
  )
}

/**
 * Refuses a sponsored quote that debits the sponsor more than the ceilings on gas, on inventory impact or on the
 * disagreement of price sources (spread). The spread protects the solver, so a sponsor pays little of it at most.
 * @throws QuoteError SPONSOR_COST_TOO_HIGH naming the ceiling and its value
 */
export function checkSponsorCost(
  ceilings: QuoteCeilings,
  snapshot: MarketSnapshot,
  priced: PricedRoute,
  { sponsored }: Allocation,
): void {
  const { split, prices } = priced
  const usd = (amount: bigint) => usdValueDown(amount, prices.feeCurrency)
  const amountUsd = usd(split.amountIn)
  // Gas and impact are refused above both the part and the fixed worth, the spread above one of them.
  const largerOf = ({ maxBps, orMicroUsd }: QuoteCeilings['sponsorGas']) =>
    maxBigint(bpsUp(amountUsd, BigInt(maxBps)), orMicroUsd * usdX18PerMicroUsd)
  const { maxBps, maxMicroUsd } = ceilings.sponsorSpread
  const spreadLimit = minBigint(bpsUp(amountUsd, BigInt(maxBps)), maxMicroUsd * usdX18PerMicroUsd)
  const costs = sponsoredByCeiling(sponsored)
  const sponsoredSpreadCost = sponsoredSpread(snapshot, priced, costs.sponsorSpread)
  const bounds: Record<SponsorCeiling, { readonly cost: bigint; readonly limitUsd: UsdX18 }> = {
    sponsorGas: { cost: costs.sponsorGas, limitUsd: largerOf(ceilings.sponsorGas) },
    sponsorImpact: { cost: costs.sponsorImpact, limitUsd: largerOf(ceilings.sponsorImpact) },
    sponsorSpread: { cost: sponsoredSpreadCost, limitUsd: spreadLimit },
  }
  for (const ceiling of sponsorCeilings) {
    const { cost, limitUsd } = bounds[ceiling]
    refuseAbove(ceiling, usd(cost), limitUsd)
  }
}

/** The sponsor's part of the fees under each ceiling, in the fee currency. */
function sponsoredByCeiling(sponsored: Allocation['sponsored']): Record<SponsorCeiling, bigint> {
  const sums = perName(sponsorCeilings, () => 0n)
  for (const component of sponsoredComponents) sums[sponsorRule(component).ceiling] += sponsored[component]
  return sums
}

/**
 * The sponsor's part of the spread. The platform fee contains it; a sponsor pays the rest of that fee first.
 * @param sponsoredFees the sponsor's part of the fees under the ceiling `sponsorSpread`
 */
function sponsoredSpread(snapshot: MarketSnapshot, priced: PricedRoute, sponsoredFees: bigint): bigint {
  const { split, feeCurrency, solver } = priced
  if (solver === undefined) return 0n
  const spread = bpsUp(split.amountIn, conversionSpreadBps(snapshot, feeCurrency, solver.payoutCurrency))
  return maxBigint(sponsoredFees - maxBigint(split.parts.platform - spread, 0n), 0n)
}

function refuseAbove(ceiling: SponsorCeiling, costUsd: UsdX18, limitUsd: UsdX18): void {
  if (costUsd <= limitUsd) return
  throw new QuoteError(
    'SPONSOR_COST_TOO_HIGH',
    `A sponsor would pay more than the ceiling ${ceiling} allows.`,
    {
      data: {
        ceiling,
        limitMicroUsd: (limitUsd / usdX18PerMicroUsd).toString(),
        costMicroUsd: divideUp(costUsd, usdX18PerMicroUsd).toString(),
      },
    },
  )
}
