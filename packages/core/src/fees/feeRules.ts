/**
 * Fees as callers name them, in the order in which a capped sponsor pays them and answers show them.
 * @source Q-30
 */
export const feeComponents = ['execution', 'swap', 'relay', 'app', 'rent'] as const
export type FeeComponent = (typeof feeComponents)[number]

/** Members of `fees` in a quote's answer that are sums of fees, in its order; `relayer` sums the two before it. */
export const feeTotalNames = ['relayerGas', 'relayerService', 'relayer', 'app'] as const
export type FeeTotalName = (typeof feeTotalNames)[number]
export type FeeTotal = Exclude<FeeTotalName, 'relayer'>

/** Members of `expandedPriceImpact` that are fees. */
export const impactMembers = ['swap', 'execution', 'relay', 'app'] as const

/** Members of `data.fees` in requests/v2 and of `data.fees.quoted` in requests/v3 that are fees. */
export const requestV2Members = ['gas', 'fixed', 'price'] as const
export const requestV3Members = ['swap', 'execution', 'platform', 'app'] as const

/** Bounds of what a sponsor pays. @source configuration `ceilings` */
export const sponsorCeilings = ['sponsorGas', 'sponsorImpact', 'sponsorSpread'] as const
export type SponsorCeiling = (typeof sponsorCeilings)[number]

/** One part of a fee, with the sums that include it. */
type FeePartRule = {
  readonly name: string
  /** Its description in the documents' table of fees. */
  readonly about: string
  readonly total: FeeTotal
  /** Member of requests/v2; `unlisted`: the answer shows it elsewhere, by recipient. */
  readonly requestV2: (typeof requestV2Members)[number] | 'unlisted'
  /** A part of a sponsored fee that the user pays all the same. */
  readonly isUsersOwn?: true
}

/**
 * Everything that differs between fees: who pays one, and where answers and rows show it. Code of prices, answers,
 * rows, holds and debits reads these rules and names no fee, so that a new fee is a new rule.
 * @source rule Q-9
 */
type FeeRule = {
  /** Parts that together make the fee. A part belongs to one fee, and every `FeeParts` has an amount for it. */
  readonly parts: readonly [FeePartRule, ...FeePartRule[]]
  readonly sponsor: 'never' | SponsorRule
  readonly impact: (typeof impactMembers)[number]
  readonly requestV3: (typeof requestV3Members)[number]
  /**
   * Form in which `orders.quoted` stores it, beside the totals `relayerGas` and `relayerService`:
   * - `always`: under its own name.
   * - `unlessZero`: under its own name where it is not zero; rows that are older than the fee lack the name.
   * - `appFees`: by recipient.
   * - `rest`: not at all; it is what the other fees leave of the totals. One fee at most.
   *
   * Rows hold whole fees, not their parts. When a row is read, parts of one fee in one total become one, the
   * first of them. Parts in two totals are told apart by these, but only of a fee under its own name:
   * `appFees` and `rest` are read back as one part, so their parts must all be in one total.
   */
  readonly stored: 'always' | 'unlessZero' | 'appFees' | 'rest'
}

type SponsorRule = {
  /** Field of a request by which its sponsor pays this fee, beside the fees that the request names. */
  readonly selectedBy: 'subsidizeFees' | 'subsidizeRent'
  /** Reason for which nothing is sponsored when this fee is due and not selected; absent: the user pays this one. */
  readonly requiredElse?: 'RENT_NOT_SUBSIDIZED'
  readonly ceiling: SponsorCeiling
}

const feeRules = {
  execution: {
    parts: [
      {
        name: 'gas',
        about: 'Gas of the fill, and of a deposit that the solver sends; with the gas top-up',
        total: 'relayerGas',
        requestV2: 'gas',
      },
      { name: 'flat', about: 'Fixed fee of the operator', total: 'relayerService', requestV2: 'fixed' },
    ],
    sponsor: { selectedBy: 'subsidizeFees', ceiling: 'sponsorGas' },
    impact: 'execution',
    requestV3: 'execution',
    stored: 'always',
  },
  swap: {
    parts: [
      {
        name: 'skew',
        about: "Cost of the move to the solver's inventory; negative is a reward",
        total: 'relayerService',
        requestV2: 'price',
      },
    ],
    sponsor: { selectedBy: 'subsidizeFees', ceiling: 'sponsorImpact' },
    impact: 'swap',
    requestV3: 'swap',
    stored: 'always',
  },
  relay: {
    parts: [
      {
        name: 'platform',
        about: "Operator's share of the amount",
        total: 'relayerService',
        requestV2: 'price',
      },
      // A remainder of rounding, not a cost, so no sponsor pays it.
      {
        name: 'surplus',
        about: 'Units that an exact output leaves over, which the user always pays',
        total: 'relayerService',
        requestV2: 'price',
        isUsersOwn: true,
      },
    ],
    sponsor: { selectedBy: 'subsidizeFees', ceiling: 'sponsorSpread' },
    impact: 'relay',
    requestV3: 'platform',
    stored: 'rest',
  },
  app: {
    parts: [{ name: 'app', about: 'App fees, of all recipients', total: 'app', requestV2: 'unlisted' }],
    sponsor: 'never',
    impact: 'app',
    requestV3: 'app',
    stored: 'appFees',
  },
  rent: {
    parts: [
      {
        name: 'rent',
        about: 'Rent of an account that the destination makes for its recipient',
        total: 'relayerGas',
        requestV2: 'gas',
      },
    ],
    sponsor: {
      selectedBy: 'subsidizeRent',
      requiredElse: 'RENT_NOT_SUBSIDIZED',
      ceiling: 'sponsorGas',
    },
    impact: 'execution',
    requestV3: 'execution',
    stored: 'unlessZero',
  },
} as const satisfies Readonly<Record<FeeComponent, FeeRule>>

type FeeRules = typeof feeRules

/** Fees that a sponsor may choose to pay, as requests, policies and holds name them. */
export type SponsoredComponent = {
  [Name in FeeComponent]: FeeRules[Name]['sponsor'] extends 'never' ? never : Name
}[FeeComponent]

/** The rules of one fee, without their literal types. */
export function feeRule(component: FeeComponent): FeeRule {
  return feeRules[component]
}

/** Rule by which a sponsor pays a fee. */
export function sponsorRule(component: SponsoredComponent): SponsorRule {
  return feeRules[component].sponsor
}

export function isSponsored(component: FeeComponent): component is SponsoredComponent {
  return feeRule(component).sponsor !== 'never'
}

export const sponsoredComponents: readonly SponsoredComponent[] = feeComponents.filter(isSponsored)

/** Fees that `orders.quoted` holds under their names. */
export type StoredComponent = {
  [Name in FeeComponent]: FeeRules[Name]['stored'] extends 'always' | 'unlessZero' ? Name : never
}[FeeComponent]

export const storedComponents: readonly StoredComponent[] = feeComponents.filter(
  (component): component is StoredComponent => {
    const { stored } = feeRule(component)
    return stored === 'always' || stored === 'unlessZero'
  },
)

type NamedPart = FeeRules[FeeComponent]['parts'][number]
export type FeePart = NamedPart['name']

/** Every part with the fee that it belongs to. */
export const feeParts: readonly (FeePartRule & {
  readonly name: FeePart
  readonly component: FeeComponent
})[] = feeComponents.flatMap((component) => {
  const parts: readonly NamedPart[] = feeRules[component].parts
  return parts.map((part) => ({ ...part, component }))
})

/** The two further words by which a request may name fees, and the totals whose fees each names. */
const totalsOfWord: Readonly<Record<'gas' | 'relayer', readonly FeeTotal[]>> = {
  gas: ['relayerGas'],
  relayer: ['relayerGas', 'relayerService'],
}

/** Words by which a request names what its sponsor pays. */
export const sponsoredWords = [...feeComponents, 'gas', 'relayer'] as const
export type SponsoredWord = (typeof sponsoredWords)[number]

/**
 * Parts that a sponsor pays when a request names `word`: those of the fee, or, for `gas` and `relayer`, of all fees in
 * that total except those that a field of their own selects. @source Q-30
 */
export function partsBoughtBy(word: SponsoredWord): readonly FeePart[] {
  const totals = word === 'gas' || word === 'relayer' ? totalsOfWord[word] : undefined
  return feeParts
    .filter(({ component, total, isUsersOwn }) => {
      if (!isSponsored(component) || isUsersOwn === true) return false
      if (totals === undefined) return component === word
      return totals.includes(total) && sponsorRule(component).selectedBy === 'subsidizeFees'
    })
    .map(({ name }) => name)
}
