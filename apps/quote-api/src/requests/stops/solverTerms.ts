import { type CurrencyKey, currencyKey, maxBigint } from '@causeway/core'
import { z } from 'zod'
import { everyChain } from './stopStore.ts'

const amount = z.string().regex(/^[0-9]{1,78}$/)

/** Terms that a solver says that it fills by. A missing member is not known. Addresses as their chains spell them. */
export const solverTermsSchema = z.object({
  /** Signers of the orders that it accepts. */
  orderSigners: z.array(z.string()).optional(),
  /** Chains that it pays on; one that replaced its fill contract stands here once for each, the newest first. */
  pays: z
    .array(z.object({ chainId: z.number(), wallet: z.string(), fillContract: z.string().optional() }))
    .optional(),
  /** Fill wallets of the solvers that share its market by turns, its own among them. */
  sharedWallets: z.array(z.string()).optional(),
  /** Amounts that it never pays out, in smallest units. */
  floors: z.array(z.object({ chainId: z.number(), currency: z.string(), amount })).optional(),
  /** The most that it gives away on one order, in micro-USD. */
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
  /** The most that a sponsor may pay of an order of any amount, in micro-USD. */
  readonly sponsoredMicroUsd: bigint
}

/** Something that this service and a solver have to agree on and do not. */
export type Difference = {
  readonly kind: 'order-signer' | 'fill-wallet' | 'fill-contract' | 'chain-unpaid' | 'loss-limit'
  /** `everyChain` for all. */
  readonly chainId: number
  /** Both sides in words, with the setting. */
  readonly text: string
  /** The solver would refuse what is sold. */
  readonly isStopping: boolean
}

/**
 * Names what solvers would refuse. What one of them contradicts counts, because its refusals use up the tries of an
 * order; a chain is paid on where one of them pays. Pure.
 * @param allTerms of each solver that was heard of lately; undefined: it does not say, and nothing is known of it
 * @source rules O-83, O-84
 */
export function differencesOf(
  own: OwnTerms,
  allTerms: readonly (SolverTerms | undefined)[],
): readonly Difference[] {
  const knownTerms = allTerms.flatMap((terms) => terms ?? [])
  const all = [...knownTerms.flatMap((terms) => contradictionsOf(own, terms)), ...unpaidOf(own, allTerms)]
  return [...new Map(all.map((one) => [`${one.kind} ${one.chainId} ${one.text}`, one])).values()]
}

/** Amounts that solvers never pay out, in smallest units by currency; of several the largest, because each may be asked to pay. */
export function floorsOf(allTerms: readonly (SolverTerms | undefined)[]): ReadonlyMap<CurrencyKey, bigint> {
  const floors = new Map<CurrencyKey, bigint>()
  for (const { chainId, currency, amount } of allTerms.flatMap((terms) => terms?.floors ?? [])) {
    const key = currencyKey(chainId, /^0x/i.test(currency) ? currency.toLowerCase() : currency)
    floors.set(key, maxBigint(floors.get(key) ?? 0n, BigInt(amount)))
  }
  return floors
}

/** Differences with one solver. */
export function contradictionsOf(own: OwnTerms, terms: SolverTerms): readonly Difference[] {
  const { orderSigners, pays = [], lossPerOrderMicroUsd } = terms
  const differences: Difference[] = []
  if (orderSigners !== undefined && !includesAddress(orderSigners, own.orderSigner))
    differences.push({
      ...{ kind: 'order-signer', chainId: everyChain, isStopping: true },
      text: `orders are signed by ${own.orderSigner}, and the solver accepts ${orderSigners.join(', ') || 'nobody'} (ORDER_SIGNERS)`,
    })
  for (const { chainId, key, fillWallet, fillContract } of own.chains) {
    const chainPays = pays.filter((one) => one.chainId === chainId)
    const [paid] = chainPays
    if (paid === undefined) continue
    const wallets = [paid.wallet, ...(terms.sharedWallets ?? [])]
    if (fillWallet !== undefined && !includesAddress(wallets, fillWallet))
      differences.push({
        ...{ kind: 'fill-wallet', chainId, isStopping: true },
        text: `${key} is quoted from the balances of ${fillWallet}, and the solver pays from ${paid.wallet} (FILL_WALLET_ADDRESS, fillWallet)`,
      })
    if (
      !chainPays.some((one) => (fillContract ?? '').toLowerCase() === (one.fillContract ?? '').toLowerCase())
    )
      differences.push({
        ...{ kind: 'fill-contract', chainId, isStopping: true },
        text: `orders on ${key} name the fill contract ${fillContract ?? 'of nobody'}, and the solver pays through ${paid.fillContract ?? 'none'} (fillContract)`,
      })
  }
  if (lossPerOrderMicroUsd !== undefined && BigInt(lossPerOrderMicroUsd) < own.sponsoredMicroUsd)
    differences.push({
      ...{ kind: 'loss-limit', chainId: everyChain, isStopping: false },
      text: `a sponsor may pay ${own.sponsoredMicroUsd} micro-USD of any order, and the solver gives away ${lossPerOrderMicroUsd} (ceilings.sponsorGas, lossPerOrderMicroUsd)`,
    })
  return differences
}

/** A solver that does not tell its chains may pay on any. */
function unpaidOf(own: OwnTerms, allTerms: readonly (SolverTerms | undefined)[]): readonly Difference[] {
  const paid = allTerms.map((terms) => terms?.pays)
  if (paid.length === 0 || paid.includes(undefined)) return []
  const chainIds = new Set(paid.flatMap((pays) => (pays ?? []).map(({ chainId }) => chainId)))
  return own.chains
    .filter(({ chainId }) => !chainIds.has(chainId))
    .map(({ chainId, key }) => ({
      ...{ kind: 'chain-unpaid', chainId, isStopping: true },
      text: `${key} is quoted, and no solver pays there (chains of the solver file)`,
    }))
}

/** Hex has two cases for one value. */
function includesAddress(addresses: readonly string[], address: string): boolean {
  const folded = (text: string) => (/^0x/i.test(text) ? text.toLowerCase() : text)
  return addresses.some((one) => folded(one) === folded(address))
}
