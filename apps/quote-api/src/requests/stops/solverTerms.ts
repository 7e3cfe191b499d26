import { type CurrencyKey, currencyKey, maxBigint } from '@causeway/core'
import { z } from 'zod'
import { everyChain } from './stopStore.ts'

const amount = z.string().regex(/^[0-9]{1,78}$/)

/** Terms by which a solver fills, as it reports them. A missing member is unknown. Addresses as their chains spell them. */
export const solverTermsSchema = z.object({
  /** Signers of the orders that it accepts. */
  orderSigners: z.array(z.string()).optional(),
  /** Chains that it pays on, with one entry per fill contract, the newest first. */
  pays: z
    .array(z.object({ chainId: z.number(), wallet: z.string(), fillContract: z.string().optional() }))
    .optional(),
  /** Fill wallets of all solvers that fill by turns, its own included. */
  sharedWallets: z.array(z.string()).optional(),
  /** Balances that it never goes below, in smallest units. */
  floors: z.array(z.object({ chainId: z.number(), currency: z.string(), amount })).optional(),
  /** Highest loss that it accepts on one order, in micro-USD. */
  lossPerOrderMicroUsd: amount.optional(),
})

export type SolverTerms = z.output<typeof solverTermsSchema>

/** Terms of this service, for comparison with those of a solver. */
export type OwnTerms = {
  readonly orderSigner: string
  /** Chains that it sells to. */
  readonly chains: readonly {
    readonly chainId: number
    readonly key: string
    readonly fillWallet: string | undefined
    readonly fillContract: string | undefined
  }[]
  /** Amount that a sponsor may pay of any order, however small, in micro-USD. */
  readonly sponsoredMicroUsd: bigint
}

/** A term on which this service and a solver must agree and do not. */
export type Difference = {
  readonly kind: 'order-signer' | 'fill-wallet' | 'fill-contract' | 'chain-unpaid' | 'loss-limit'
  /** `everyChain` for all. */
  readonly chainId: number
  /** Both values in words, with the names of the settings. */
  readonly text: string
  /** True if the solver would refuse the orders that are sold. */
  readonly isStopping: boolean
}

/**
 * Lists the differences with all solvers. A contradiction with a single solver counts, because its refusals use up an order's
 * attempts. A chain is unpaid only if no solver pays there. Pure.
 * @param allTerms of each solver that reported lately; undefined for one whose terms are unknown
 * @source rules O-83, O-84
 */
export function differencesOf(
  own: OwnTerms,
  allTerms: readonly (SolverTerms | undefined)[],
): readonly Difference[] {
  const knownTerms = allTerms.flatMap((terms) => terms ?? [])
  const differences = [
    ...knownTerms.flatMap((terms) => contradictionsOf(own, terms)),
    ...unpaidOf(own, allTerms),
  ]
  return [...new Map(differences.map((difference) => [keyOf(difference), difference])).values()]
}

/** Balances that solvers never go below, by currency; the largest of several solvers, because any of them may have to pay. */
export function floorsOf(allTerms: readonly (SolverTerms | undefined)[]): ReadonlyMap<CurrencyKey, bigint> {
  const floors = new Map<CurrencyKey, bigint>()
  for (const { chainId, currency, amount } of allTerms.flatMap((terms) => terms?.floors ?? [])) {
    const key = currencyKey(chainId, /^0x/i.test(currency) ? currency.toLowerCase() : currency)
    floors.set(key, maxBigint(floors.get(key) ?? 0n, BigInt(amount)))
  }
  return floors
}

const keyOf = ({ kind, chainId, text }: Difference) => `${kind} ${chainId} ${text}`

/** Differences with one solver, except for chains that it does not pay on. */
export function contradictionsOf(own: OwnTerms, terms: SolverTerms): readonly Difference[] {
  const { orderSigners, pays = [], lossPerOrderMicroUsd } = terms
  const differences: Difference[] = []
  if (orderSigners !== undefined && !includesAddress(orderSigners, own.orderSigner))
    differences.push({
      kind: 'order-signer',
      chainId: everyChain,
      isStopping: true,
      text: `orders are signed by ${own.orderSigner}, and the solver accepts ${orderSigners.join(', ') || 'nobody'} (ORDER_SIGNERS)`,
    })
  for (const { chainId, key, fillWallet, fillContract } of own.chains) {
    const chainPays = pays.filter((entry) => entry.chainId === chainId)
    const [newest] = chainPays
    if (newest === undefined) continue
    const wallets = [newest.wallet, ...(terms.sharedWallets ?? [])]
    if (fillWallet !== undefined && !includesAddress(wallets, fillWallet))
      differences.push({
        kind: 'fill-wallet',
        chainId,
        isStopping: true,
        text: `${key} is quoted from the balances of ${fillWallet}, and the solver pays from ${newest.wallet} (FILL_WALLET_ADDRESS, fillWallet)`,
      })
    if (
      !chainPays.some(
        (entry) => (fillContract ?? '').toLowerCase() === (entry.fillContract ?? '').toLowerCase(),
      )
    )
      differences.push({
        kind: 'fill-contract',
        chainId,
        isStopping: true,
        text: `orders on ${key} name the fill contract ${fillContract ?? 'of nobody'}, and the solver pays through ${newest.fillContract ?? 'none'} (fillContract)`,
      })
  }
  if (lossPerOrderMicroUsd !== undefined && BigInt(lossPerOrderMicroUsd) < own.sponsoredMicroUsd)
    differences.push({
      kind: 'loss-limit',
      chainId: everyChain,
      isStopping: false,
      text: `a sponsor may pay ${own.sponsoredMicroUsd} micro-USD of any order, and the solver gives away ${lossPerOrderMicroUsd} (ceilings.sponsorGas, lossPerOrderMicroUsd)`,
    })
  return differences
}

/** Chains that are sold and that no solver pays on; none while a solver does not report its chains. */
function unpaidOf(own: OwnTerms, allTerms: readonly (SolverTerms | undefined)[]): readonly Difference[] {
  const paid = allTerms.map((terms) => terms?.pays)
  if (paid.length === 0 || paid.includes(undefined)) return []
  const chainIds = new Set(paid.flatMap((pays) => (pays ?? []).map(({ chainId }) => chainId)))
  return own.chains
    .filter(({ chainId }) => !chainIds.has(chainId))
    .map(({ chainId, key }) => ({
      kind: 'chain-unpaid',
      chainId,
      isStopping: true,
      text: `${key} is quoted, and no solver pays there (chains of the solver file)`,
    }))
}

/** Compares addresses, hex in any case. */
function includesAddress(addresses: readonly string[], address: string): boolean {
  const folded = (text: string) => (/^0x/i.test(text) ? text.toLowerCase() : text)
  return addresses.some((one) => folded(one) === folded(address))
}
