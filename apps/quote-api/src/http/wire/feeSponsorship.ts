import {
  type FeeComponent,
  type FeeParts,
  feeComponents,
  feesByComponent,
  isSponsored,
  type PricedUnit,
  perName,
  type SponsoredComponent,
} from '@causeway/core'
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

const shareSchema = z
  .object({
    selected: z.boolean(),
    total: currencyAmountSchema,
    sponsored: currencyAmountSchema,
    userPays: currencyAmountSchema,
  })
  .meta({ title: 'SponsoredShare' })

/** Shares of all fee components at one time: as quoted, or as debited. */
const phaseFields = {
  selectedComponents: z.array(z.string()),
  maxSubsidizationAmount: z.string().optional().describe('USDC with 6 decimals'),
  capHit: z.boolean(),
  components: z.object(perName(feeComponents, () => shareSchema)),
  sponsoredTotal: currencyAmountSchema,
  userPaysTotal: currencyAmountSchema,
}
const phaseSchema = z.object(phaseFields).meta({ title: 'SponsoredShares' })

const statusFields = {
  status: z.enum(['full', 'partial', 'none']).describe('How much of the fees the sponsor pays'),
  reason: z.string().optional().describe('Why it is not all that was asked for'),
  heldAtDeposit: z
    .boolean()
    .optional()
    .describe(
      'true where the balance is held when the deposit is seen, not before: too many quotes are open',
    ),
  quoted: phaseSchema,
}

/** Shares of user and sponsor in each fee of a new quote. @source rule L-50 */
export const feeSponsorshipSchema = z.object(statusFields).meta({ title: 'FeeSponsorship' })

/** Shares in a stored request; once the sponsor was debited, `actual` has the deposit's part of them, with its payment. */
export const pastFeeSponsorshipSchema = z.object({
  ...statusFields,
  actual: z
    .object({
      ...phaseFields,
      sponsorPayment: z.object({
        amount: z.string(),
        amountFormatted: z.string(),
        address: z.string(),
        chainId: z.number(),
      }),
    })
    .optional(),
})

const phaseV3Fields = { ...phaseFields, components: z.record(z.string(), shareSchema) }
const { sponsorPayment: sponsorPaymentSchema } = pastFeeSponsorshipSchema.shape.actual.unwrap().shape

/**
 * `pastFeeSponsorshipSchema` for /requests/v3, where the component `relay` is named `platform`.
 * @source github.com/relayprotocol/relay-kit, packages/sdk/src/types/api.ts
 */
export const pastFeeSponsorshipV3Schema = z.object({
  ...statusFields,
  quoted: z.object(phaseV3Fields),
  actual: z.object({ ...phaseV3Fields, sponsorPayment: sponsorPaymentSchema }).optional(),
})

type Phase = z.infer<typeof phaseSchema>

/** Renames the component `relay` to `platform`, as /requests/v3 names it. */
export function inWordsOfV3({
  quoted,
  actual,
  ...about
}: z.infer<typeof pastFeeSponsorshipSchema>): z.infer<typeof pastFeeSponsorshipV3Schema> {
  const nameInV3 = (component: string) => (component === 'relay' ? 'platform' : component)
  const renameIn = ({ selectedComponents, components, ...totals }: Phase) => ({
    ...totals,
    selectedComponents: selectedComponents.map(nameInV3),
    components: Object.fromEntries(
      Object.entries(components).map(([component, share]) => [nameInV3(component), share]),
    ),
  })
  if (actual === undefined) return { ...about, quoted: renameIn(quoted) }
  const { sponsorPayment, ...shares } = actual
  return { ...about, quoted: renameIn(quoted), actual: { ...renameIn(shares), sponsorPayment } }
}

export type FeeSponsorshipWire = z.infer<typeof feeSponsorshipSchema>

/** Fees of one request that user and sponsor share; amounts in smallest units of the fee currency. */
export type SharedFees = {
  /** Decimals and price of the fee currency. */
  readonly unit: PricedUnit
  /** Components that the sponsor was asked to pay. */
  readonly selected: readonly SponsoredComponent[]
  /** Most that the sponsor pays; undefined: no cap. */
  readonly capMicroUsd: bigint | undefined
  readonly parts: FeeParts
  /** Part of each fee that a sponsor may pay. */
  readonly sponsorable: SponsorableFees
  /** Part of each fee that the sponsor does pay. */
  readonly allocation: Allocation
  /** True if the balance is held only when the deposit is seen. */
  readonly isHeldAtDeposit?: boolean
}

/**
 * Shares as an object, for stored requests: their currency need not be configured any more.
 * @param partOf the part of each amount that is shown; default all of it
 */
export function feeSponsorshipToWire(
  currency: CurrencyWire,
  shared: SharedFees,
  partOf = (value: bigint) => value,
): FeeSponsorshipWire {
  return shareMembers(shared, (value) => valuedAmountToWire(currency, shared.unit, partOf(value)))
}

/**
 * JSON of `feeSponsorshipToWire` for a configured currency. Of its seventeen amounts most are equal, so equal
 * ones are written once. An amount is JSON text here: members that hold one are joined as text, behind those
 * that `JSON.stringify` writes, whose closing brace `slice` takes off. Both functions take their members from
 * `shareMembers`.
 */
export function feeSponsorshipJson(currency: QuotableCurrency, shared: SharedFees): string {
  const texts = new Map<bigint, string>()
  const { quoted, ...about } = shareMembers(shared, (value) => {
    const text = texts.get(value) ?? currencyAmountJson(currency, shared.unit, value)
    texts.set(value, text)
    return text
  })
  const { components, sponsoredTotal, userPaysTotal, ...plainMembers } = quoted
  const shares = feeComponents.map((component) => `"${component}":${shareJson(components[component])}`)
  const commonJson = JSON.stringify(about).slice(0, -1)
  const plainJson = JSON.stringify(plainMembers).slice(0, -1)
  return `${commonJson},"quoted":${plainJson},"components":{${shares.join(',')}},"sponsoredTotal":${sponsoredTotal},"userPaysTotal":${userPaysTotal}}}`
}

type Share<Amount> = { selected: boolean; total: Amount; sponsored: Amount; userPays: Amount }

function shareJson({ selected, total, sponsored, userPays }: Share<string>): string {
  return `{"selected":${selected},"total":${total},"sponsored":${sponsored},"userPays":${userPays}}`
}

/** Members of the answer. @param amount writes an amount, as an object or as JSON text */
function shareMembers<Amount>(shared: SharedFees, amount: (value: bigint) => Amount) {
  const { parts, sponsorable, allocation, selected, capMicroUsd, isHeldAtDeposit } = shared
  const fees = feesByComponent(parts)
  const share = (component: FeeComponent): Share<Amount> => {
    const total = fees[component]
    const sponsored = isSponsored(component) ? allocation.sponsored[component] : 0n
    return {
      selected: isSponsored(component) && selected.includes(component),
      total: amount(total),
      sponsored: amount(sponsored),
      userPays: amount(total - sponsored),
    }
  }
  const allFees = feeComponents.reduce((sum, component) => sum + fees[component], 0n)
  return {
    status: sponsorshipStatus(allocation, sponsorable),
    ...(allocation.reason !== undefined && { reason: allocation.reason }),
    ...(isHeldAtDeposit && { heldAtDeposit: true }),
    quoted: {
      selectedComponents: [...selected],
      ...(capMicroUsd !== undefined && { maxSubsidizationAmount: capMicroUsd.toString() }),
      capHit: allocation.capHit,
      components: perName(feeComponents, share),
      sponsoredTotal: amount(allocation.total),
      userPaysTotal: amount(allFees - allocation.total),
    },
  }
}
