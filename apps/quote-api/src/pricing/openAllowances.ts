import { LruCache } from '@causeway/chains'

/** What one quote takes of an allowance; amounts in smallest units. */
export type Spending = {
  readonly chainId: number
  readonly currency: string
  readonly spender: string
  /** Canonical. */
  readonly user: string
  /** What is bought for whom: a quote of the same again takes the place of the one before. */
  readonly purchase: string
  /** At most. */
  readonly amount: bigint
  /** As the chain has it now; undefined where it did not say so in time. */
  readonly allowance: bigint | undefined
}

/** Spending of quotes that can still be deposited for, of this process, by holder and allowance. */
export interface OpenAllowances {
  /** For one quote of a caller: its key, or the network of his address. `user` is only his claim. */
  hold(caller: string, open: Span): AllowanceHold
}

type Span = { readonly nowSeconds: number; readonly expiresAtSeconds: number }

export type AllowanceHold = {
  /**
   * Counts a spending until its quote expires, in the place of what this hold took before. Both happen at once, so that
   * quotes that are asked for together count each other.
   * @returns what the holder's other open quotes may still take of the same allowance
   */
  readonly take: (spending: Spending) => bigint
  /** For a quote that is not answered after all. */
  readonly release: () => void
}

type OpenSpending = Pick<Spending, 'purchase' | 'amount'> & Pick<Span, 'expiresAtSeconds'>
type Spendings = { seen: bigint | undefined; open: readonly OpenSpending[] }

/** Of all holders; with more, whoever asked longest ago is forgotten. */
const allowancesMax = 20_000
/** Of one holder and allowance, so that a flood of quotes costs little memory. */
const openMax = 16

/** Kept in memory: a restart forgets one lifetime of quotes. @source */
export function createOpenAllowances(): OpenAllowances {
  const known = new LruCache<Spendings>(allowancesMax)
  return {
    hold(caller, { nowSeconds, expiresAtSeconds }) {
      let release = nothingTaken
      return {
        take({ chainId, currency, spender, user, purchase, amount, allowance }) {
          release()
          const name = [caller, user, chainId, currency, spender].join(' ')
          const spendings = known.get(name) ?? { seen: allowance, open: [] }
          known.set(name, spendings)
          const fallen = (spendings.seen ?? 0n) - (allowance ?? spendings.seen ?? 0n)
          const others = stillOpen(spendings.open, { fallen, nowSeconds }).filter(
            (other) => other.purchase !== purchase,
          )
          const own = { purchase, amount, expiresAtSeconds }
          spendings.seen = allowance ?? spendings.seen
          spendings.open = [...others, own].slice(-openMax)
          release = () => {
            spendings.open = spendings.open.filter((held) => held !== own)
          }
          return others.reduce((sum, other) => sum + other.amount, 0n)
        },
        release: () => release(),
      }
    },
  }
}

const nothingTaken = (): void => {}

/**
 * Without what has ended, and without what was deposited: the first quotes whose amounts together are no more than what
 * the allowance has fallen by. So deposits alone never make it less than what is still open.
 */
function stillOpen(
  open: readonly OpenSpending[],
  { fallen, nowSeconds }: { readonly fallen: bigint } & Pick<Span, 'nowSeconds'>,
): readonly OpenSpending[] {
  let left = fallen
  return open.filter(({ amount, expiresAtSeconds }) => {
    if (expiresAtSeconds < nowSeconds) return false
    if (amount > left) return true
    left -= amount
    return false
  })
}
