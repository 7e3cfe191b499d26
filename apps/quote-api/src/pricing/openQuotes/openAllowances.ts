import { createLruCache } from '@causeway/rpc'

/** The part of an allowance that one quote takes; amounts in smallest units. */
export type Spending = {
  readonly chainId: number
  readonly currency: string
  readonly spender: string
  /** Canonical. */
  readonly user: string
  /** Names what is bought for whom: a quote of the same again takes the place of the one before. */
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
   * @returns what the holder's other open quotes take of what is allowed now, and never more than that
   */
  readonly take: (spending: Spending) => bigint
  /** For a quote that is not answered after all. */
  readonly release: () => void
}

type OpenSpending = Pick<Spending, 'purchase' | 'amount'> &
  Pick<Span, 'expiresAtSeconds'> & {
    /** Its approve step, where it has one: what it allows, in the place of what was allowed when it was asked for. */
    readonly approval: { readonly sets: bigint; readonly over: bigint } | undefined
  }
type Spendings = { readonly seen: bigint; readonly open: readonly OpenSpending[] }

/** The most of all holders; with more, whoever asked longest ago is forgotten. */
const allowancesMax = 20_000
/** The most of one holder and allowance, so that a flood of quotes costs little memory. */
const openMax = 16

/** Kept in memory: a restart forgets one lifetime of quotes. @source */
export function createOpenAllowances(): OpenAllowances {
  const spendingsByName = createLruCache<Spendings>(allowancesMax)
  return {
    hold(caller, { nowSeconds, expiresAtSeconds }) {
      let release = nothingTaken
      return {
        take({ chainId, currency, spender, user, purchase, amount, allowance }) {
          release()
          const name = [caller, user, chainId, currency, spender].join(' ')
          const before = spendingsByName.get(name) ?? { seen: allowance ?? 0n, open: [] }
          const standing = allowance ?? before.seen
          const others = filterUnspent(before, standing).filter(
            (other) => other.purchase !== purchase && other.expiresAtSeconds >= nowSeconds,
          )
          const othersAmount = sumTaken(others, { standing, amount })
          const isCovered = allowance !== undefined && allowance >= amount + othersAmount
          const approval = isCovered ? undefined : { sets: amount + othersAmount, over: standing }
          const own = { purchase, amount, expiresAtSeconds, approval }
          spendingsByName.set(name, { seen: standing, open: [...others, own].slice(-openMax) })
          release = () => {
            const { seen, open } = spendingsByName.get(name) ?? { seen: standing, open: [] }
            spendingsByName.set(name, { seen, open: open.filter((held) => held !== own) })
          }
          return othersAmount
        },
        release: () => release(),
      }
    },
  }
}

const nothingTaken = (): void => {}

/**
 * A new quote leaves of what stands what others take of it. All of it where that leaves too little for the
 * new quote, or where the approval of another may come first: then the new one's approval adds to what stands.
 */
function sumTaken(
  others: readonly OpenSpending[],
  { standing, amount }: Pick<Spending, 'amount'> & { readonly standing: bigint },
): bigint {
  const relying = others.filter((other) => reliesOn(other, standing))
  const mayBeOverwritten = others.some(({ approval }) => approval?.over === standing)
  if (relying.length === 0 && !mayBeOverwritten) return 0n
  const relyingAmount = relying.reduce((sum, other) => sum + other.amount, 0n)
  return mayBeOverwritten || standing < amount + relyingAmount ? standing : relyingAmount
}

/** A quote with an approve step takes of what stands only once its own approval does. */
const reliesOn = ({ approval }: OpenSpending, standing: bigint): boolean =>
  approval === undefined || approval.sets === standing

/**
 * Without what was deposited: the quotes whose amounts together are no more than what the allowance has fallen by, first
 * those whose own approval stood, then the earliest. Expired ones are among them, since they may have been deposited too.
 * @source Q-56
 */
function filterUnspent({ seen, open }: Spendings, standing: bigint): readonly OpenSpending[] {
  let left = seen - standing
  const relying = open.filter((one) => reliesOn(one, seen))
  const spent = new Set<OpenSpending>()
  for (const hasApproved of [true, false])
    for (const one of relying) {
      if ((one.approval !== undefined) !== hasApproved || one.amount > left) continue
      left -= one.amount
      spent.add(one)
    }
  return open.filter((one) => !spent.has(one))
}
