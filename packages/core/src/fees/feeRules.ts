/**
 * Fees as callers name them, in the order in which a capped sponsor pays them and answers show them.
 * @source Q-30
 */
export const feeComponents = ['execution', 'swap', 'relay', 'app', 'rent'] as const
export type FeeComponent = (typeof feeComponents)[number]

/** Members of `fees` in an answer that are sums of fees, in its order; `relayer` is the sum of the two before it. */
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
  /** As the table of fees says it. */
  readonly about: string
  readonly total: FeeTotal
  /** `unlisted`: told apart from the fees, by recipient. */
  readonly requestV2: (typeof requestV2Members)[number] | 'unlisted'
  /** A part of a sponsored fee that the user pays all the same. */
  readonly isUsersOwn?: true
}

/**
 * All that a fee decides. Prices, answers, rows, holds and debits go through these rules and name no fee.
 * @source rule Q-9
 */
type FeeRule = {
  /** Each of one fee only, and each with an amount wherever `FeeParts` are made. */
  readonly parts: readonly [FeePartRule, ...FeePartRule[]]
  readonly sponsor: 'never' | SponsorRule
  readonly impact: (typeof impactMembers)[number]
  readonly requestV3: (typeof requestV3Members)[number]
  /**
   * In `orders.quoted`: under its own name, `always` or where it is not zero (rows that are older than a
   * fee lack it), with `appFees` by recipient, or as the `rest` that others leave of the totals, which one
   * fee can be. Rows hold no parts: only a fee that is kept under its name may have parts of two totals.
   */
  readonly stored: 'always' | 'unlessZero' | 'appFees' | 'rest'
}

type SponsorRule = {
  /** Field of a request that selects it where the request names no fees; or beside those that it names. */
  readonly selectedBy: 'subsidizeFees' | 'subsidizeRent'
  /** Why nothing at all is sponsored where it is due and not selected; without it the user pays it alone. */
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
      // No cost, so no sponsor pays it.
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

/** Words of the interface document beside the names of the fees, each for one member of `fees`. */
const totalsOfWord: Readonly<Record<'gas' | 'relayer', readonly FeeTotal[]>> = {
  gas: ['relayerGas'],
  relayer: ['relayerGas', 'relayerService'],
}

/** Words by which a request names what its sponsor pays. */
export const sponsoredWords = [...feeComponents, 'gas', 'relayer'] as const
export type SponsoredWord = (typeof sponsoredWords)[number]

/** A word buys a fee, or all fees of a member of `fees` but those that have a field of their own. @source Q-30 */
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
