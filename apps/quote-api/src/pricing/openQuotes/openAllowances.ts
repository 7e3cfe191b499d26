import { createLruCache } from '@causeway/rpc'

/** The part of an allowance that one quote takes; amounts in smallest units. */
export type Spending = {
  readonly chainId: number
  readonly currency: string
  readonly spender: string
  /** Canonical address. */
  readonly user: string
  /** Names what is bought for whom: a new quote of the same purchase replaces the one before. */
  readonly purchase: string
  /** The most that the quote takes. */
  readonly amount: bigint
  /** On the chain now; undefined where it did not answer in time. */
  readonly allowance: bigint | undefined
}

/**
 * Spendings of allowances by open quotes of this process, to which a deposit may still come. An allowance belongs to one
 * holder, currency and spender. A quote needs an approve step where the allowance does not cover it beside the other open
 * quotes of its holder: the step sets the sum of its own amount and of what `take` returns.
 *
 * An open quote is in one of three states, by the allowance that stands now:
 * - it relies on it: it has no approve step, or its step has set the present value;
 * - its step is pending: the value that the step replaces still stands, so it may overwrite the allowance at
 *   any time;
 * - neither: the allowance was changed by something else, and its step sets a value of its own. It takes
 *   nothing.
 */
export interface OpenAllowances {
  /**
   * Begins the hold of one quote.
   * @param caller API key or network of the caller: a spending's `user` is only his claim, so both name the holder
   */
  hold(caller: string, open: Span): AllowanceHold
}

type Span = { readonly nowSeconds: number; readonly expiresAtSeconds: number }

export type AllowanceHold = {
  /**
   * Counts a spending until its quote expires, and replaces what this hold took before. It reads and counts in one
   * synchronous step, so that concurrent quotes count each other.
   * @returns what the holder's other open quotes take of the present allowance, at most the whole of it
   */
  readonly take: (spending: Spending) => bigint
  /** Forgets the spending, for a quote that is not answered after all. */
  readonly release: () => void
}

type OpenSpending = Pick<Spending, 'purchase' | 'amount'> &
  Pick<Span, 'expiresAtSeconds'> & {
    /** The quote's approve step: the allowance that it sets, and the one that stood before. Undefined without a step. */
    readonly approval: { readonly sets: bigint; readonly replaces: bigint } | undefined
  }
/** The allowance at the last quote, to notice a fall, and the open spendings, the earliest first. */
type SpentAllowance = { readonly lastAllowance: bigint; readonly open: readonly OpenSpending[] }

/** Most entries of all holders; with more, the one used longest ago is forgotten. */
const allowancesMax = 20_000
/** Most other open quotes of one holder and allowance, so that a flood of quotes costs little memory. @source Q-54 */
const othersMax = 15

/** Kept in memory: a restart forgets one lifetime of quotes. @source */
export function createOpenAllowances(): OpenAllowances {
  const spentByName = createLruCache<SpentAllowance>(allowancesMax)
  return {
    hold(caller, { nowSeconds, expiresAtSeconds }) {
      let release = nothingTaken
      return {
        take({ chainId, currency, spender, user, purchase, amount, allowance }) {
          release()
          const name = [caller, user, chainId, currency, spender].join(' ')
          const before = spentByName.get(name) ?? { lastAllowance: allowance ?? 0n, open: [] }
          const standing = allowance ?? before.lastAllowance
          // Expired ones are dropped last, because they may explain a fall too.
          const others = filterUnspent(before, standing)
            .filter((other) => other.purchase !== purchase && other.expiresAtSeconds >= nowSeconds)
            .slice(-othersMax)
          const othersAmount = sumTaken(others, { standing, amount })
          // An unknown allowance counts as none, so the quote has an approve step.
          const isCovered = allowance !== undefined && allowance >= amount + othersAmount
          const approval = isCovered ? undefined : { sets: amount + othersAmount, replaces: standing }
          const own = { purchase, amount, expiresAtSeconds, approval }
          spentByName.set(name, { lastAllowance: standing, open: [...others, own] })
          release = () => {
            const { lastAllowance, open } = spentByName.get(name) ?? { lastAllowance: standing, open: [] }
            spentByName.set(name, { lastAllowance, open: open.filter((spending) => spending !== own) })
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
 * Part of the standing allowance that the new quote must leave to others. It is what they take, but the whole allowance
 * in two cases: the rest is too little for the new quote, or another's pending approval may overwrite the allowance
 * first. In both the new quote gets an approve step that adds its amount to the whole allowance.
 */
function sumTaken(
  others: readonly OpenSpending[],
  { standing, amount }: Pick<Spending, 'amount'> & { readonly standing: bigint },
): bigint {
  const relying = others.filter((other) => reliesOn(other, standing))
  const mayBeOverwritten = others.some(({ approval }) => approval?.replaces === standing)
  if (relying.length === 0 && !mayBeOverwritten) return 0n
  const relyingAmount = relying.reduce((sum, other) => sum + other.amount, 0n)
  return mayBeOverwritten || standing < amount + relyingAmount ? standing : relyingAmount
}

/** True if a quote takes of the standing allowance: it has no approve step, or its own approval has set it. */
const reliesOn = ({ approval }: OpenSpending, standing: bigint): boolean =>
  approval === undefined || approval.sets === standing

/**
 * Leaves out spendings that deposits have probably made. If the allowance has fallen since the last quote, deposits
 * explain it: spendings whose amounts fit into the fall count as made, first those whose own approval had set the
 * allowance, then the earliest. An allowance that rose or stayed leaves out none.
 * @source Q-56
 */
function filterUnspent({ lastAllowance, open }: SpentAllowance, standing: bigint): readonly OpenSpending[] {
  let unexplainedFall = lastAllowance - standing
  const relying = open.filter((spending) => reliesOn(spending, lastAllowance))
  const deposited = new Set<OpenSpending>()
  for (const withApproval of [true, false])
    for (const spending of relying) {
      const isOfThisGroup = (spending.approval !== undefined) === withApproval
      if (!isOfThisGroup || spending.amount > unexplainedFall) continue
      unexplainedFall -= spending.amount
      deposited.add(spending)
    }
  return open.filter((spending) => !deposited.has(spending))
}
