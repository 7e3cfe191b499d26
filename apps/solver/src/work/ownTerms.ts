/** Terms by which this solver fills. quote-api must know them to sell no other orders. Addresses as their chains spell them. */
export type OwnTerms = {
  readonly orderSigners: ReadonlySet<string>
  /** A chain that replaced its fill contract stands here once for each that is paid through. */
  readonly chains: readonly {
    readonly chainId: number
    readonly wallet: string
    readonly fillContract: string | undefined
    readonly floors: readonly { readonly currency: string; readonly amount: bigint }[]
  }[]
  /** All fill wallets that share its market by turns; empty: the market is not shared. */
  readonly sharedWallets: readonly string[]
  readonly lossPerOrderMicroUsd: bigint
}

/** The terms as query parameters of `GET /solver/work`; empty lists are left out. @source rule O-82 */
export function termsQuery(terms: OwnTerms): Readonly<Record<string, string>> {
  const { orderSigners, chains, sharedWallets, lossPerOrderMicroUsd } = terms
  const floors = chains.flatMap(({ chainId, floors: kept }) =>
    kept.map(({ currency, amount }) => `${chainId}:${currency}:${amount}`),
  )
  const members = {
    orderSigners: [...orderSigners].join(),
    pays: chains
      .map(({ chainId, wallet, fillContract }) =>
        [chainId, wallet, ...(fillContract === undefined ? [] : [fillContract])].join(':'),
      )
      .join(),
    sharedWallets: sharedWallets.join(),
    floors: floors.join(),
    lossPerOrderMicroUsd: String(lossPerOrderMicroUsd),
  }
  return Object.fromEntries(Object.entries(members).filter(([, text]) => text !== ''))
}
