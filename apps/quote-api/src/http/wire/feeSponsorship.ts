import type { PricedUnit, SponsoredComponent } from '@causeway/core'
import { z } from 'zod'
import type { QuotableCurrency } from '../../pricing/registry.ts'
import {
  type Allocation,
  type SponsorableFees,
  sponsorshipStatus,
} from '../../pricing/sponsorship/allocateSubsidy.ts'
import {
  type CurrencyWire,
  currencyAmountJson,
  currencyAmountSchema,
  valuedAmountToWire,
} from './currencyAmount.ts'

const shareSchema = z.object({
  selected: z.boolean(),
  total: currencyAmountSchema,
  sponsored: currencyAmountSchema,
  userPays: currencyAmountSchema,
})

const phaseFields = {
  selectedComponents: z.array(z.string()),
  maxSubsidizationAmount: z.string().optional().describe('USDC with 6 decimals'),
  capHit: z.boolean(),
  components: z.object({
    execution: shareSchema,
    swap: shareSchema,
    relay: shareSchema,
    app: shareSchema,
    rent: shareSchema,
  }),
  sponsoredTotal: currencyAmountSchema,
  userPaysTotal: currencyAmountSchema,
}
const phaseSchema = z.object(phaseFields)

const statusFields = {
  status: z.enum(['full', 'partial', 'none']).describe('How much of the fees the sponsor pays'),
  reason: z.string().optional().describe('Why it is not all that was asked for'),
  quoted: phaseSchema,
}

/** @source design.md 6.2 */
export const feeSponsorshipSchema = z.object(statusFields)

/** With `actual`, once the sponsor was debited: the quoted shares, and the money itself. @source design.md 6.3 */
export const pastFeeSponsorshipSchema = z.object({
  ...statusFields,
  actual: z
    .object({
      ...phaseFields,
      sponsorPayment: z.object({ amount: z.string(), amountFormatted: z.string() }),
    })
    .optional(),
})

export type FeeSponsorshipWire = z.infer<typeof feeSponsorshipSchema>

/** How the fees of one request are shared; amounts in smallest units of the fee currency. */
export type SharedFees = {
  readonly unit: PricedUnit
  readonly selected: readonly SponsoredComponent[]
  readonly capMicroUsd: bigint | undefined
  readonly fees: SponsorableFees
  readonly allocation: Allocation
  readonly app: bigint
  /** All that the solver takes; what the fees above leave of it is the solver's own part. */
  readonly relayer: bigint
}

/** In a currency that need not be configured any more. */
export function feeSponsorshipToWire(currency: CurrencyWire, shared: SharedFees): FeeSponsorshipWire {
  return sharedFees(shared, (value) => valuedAmountToWire(currency, shared.unit, value))
}

/** JSON of `feeSponsorshipToWire` for a configured currency: it holds seventeen amounts, most of them equal. */
export function feeSponsorshipJson(currency: QuotableCurrency, shared: SharedFees): string {
  const texts = new Map<bigint, string>()
  const { status, reason, quoted } = sharedFees(shared, (value) => {
    const text = texts.get(value) ?? currencyAmountJson(currency, shared.unit, value)
    texts.set(value, text)
    return text
  })
  const { components, sponsoredTotal, userPaysTotal, ...plain } = quoted
  const { execution, swap, relay, app, rent } = components
  const shares = `{"execution":${shareJson(execution)},"swap":${shareJson(swap)},"relay":${shareJson(relay)},"app":${shareJson(app)},"rent":${shareJson(rent)}}`
  const stated = JSON.stringify({ status, reason }).slice(0, -1)
  return `${stated},"quoted":${JSON.stringify(plain).slice(0, -1)},"components":${shares},"sponsoredTotal":${sponsoredTotal},"userPaysTotal":${userPaysTotal}}}`
}

type Share<Amount> = { selected: boolean; total: Amount; sponsored: Amount; userPays: Amount }

function shareJson({ selected, total, sponsored, userPays }: Share<string>): string {
  return `{"selected":${selected},"total":${total},"sponsored":${sponsored},"userPays":${userPays}}`
}

function sharedFees<Amount>(shared: SharedFees, amount: (value: bigint) => Amount) {
  const { fees, allocation, selected, capMicroUsd, app, relayer } = shared
  const share = (isSelected: boolean, total: bigint, sponsored: bigint): Share<Amount> => ({
    selected: isSelected,
    total: amount(total),
    sponsored: amount(sponsored),
    userPays: amount(total - sponsored),
  })
  const component = (name: SponsoredComponent, total: bigint) =>
    share(selected.includes(name), total, allocation.sponsored[name])
  const relay = relayer - fees.execution - fees.swap
  return {
    status: sponsorshipStatus(allocation, fees),
    ...(allocation.reason !== undefined && { reason: allocation.reason }),
    quoted: {
      selectedComponents: [...selected],
      ...(capMicroUsd !== undefined && { maxSubsidizationAmount: capMicroUsd.toString() }),
      capHit: allocation.capHit,
      components: {
        execution: component('execution', fees.execution),
        swap: component('swap', fees.swap),
        relay: component('relay', relay - fees.rent),
        app: share(false, app, 0n),
        rent: component('rent', fees.rent),
      },
      sponsoredTotal: amount(allocation.total),
      userPaysTotal: amount(relayer + app - allocation.total),
    },
  }
}
