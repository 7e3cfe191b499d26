import type { Hex } from '@causeway/core'
import type { UserTransactionKind } from '../../../rules/networkFees.ts'
import type { OriginRoute, OriginSwap, QuotedCurrency } from '../../../rules/originRoute.ts'
import type { KnownState, PlannedTransaction } from '../../../rules/plannedTransaction.ts'
import type { ChainSettings } from '../../../rules/quotingFamily.ts'
import { maxUint256, neededApproval } from './neededApproval.ts'
import { writesOf } from './stateWrites.ts'

/** Address of Permit2, equal on every chain that has it; lower case. @source github.com/Uniswap/permit2 */
export const permit2Address: Hex = '0x000000000022d473030f116ddee9f6b43ac78ba3'

type Spending = 'deposit' | 'swap-deposit' | 'swap' | 'permit2'

/** The contract that the user must allow to take the token; none for native coin, which is sent along. */
export function spenderOf(
  { depository, depositRouter }: ChainSettings,
  kind: Spending,
  { isNative }: Pick<QuotedCurrency, 'isNative'>,
): string | undefined {
  if (isNative) return undefined
  if (kind === 'permit2') return permit2Address
  return kind === 'deposit' ? depository : depositRouter
}

/**
 * Transactions that the user must send, in order. An unknown allowance counts as none, because a needless approval only
 * costs gas, and a missing one makes the deposit fail. @source rule Q-80
 */
export function planTransactions(
  settings: ChainSettings,
  route: OriginRoute,
  state: KnownState,
): readonly PlannedTransaction[] {
  return orderedTransactions(settings, route, state).map((planned) => ({
    writes: writesOf(settings, planned, route, state),
    ...planned,
  }))
}

/** As `planTransactions`, without the effects on state. Tron, which has the same contracts, uses it too. */
export function orderedTransactions(
  settings: ChainSettings,
  route: OriginRoute,
  state: KnownState,
): readonly PlannedTransaction[] {
  const main = mainTransactions(settings, route)
  const spendingKind = route.by === 'permit2' ? route.by : main[0]?.kind
  const { currencyIn } = route
  if (!isSpending(spendingKind) || currencyIn.isNative) return main
  const needed = neededApproval(route, state)
  if (needed === undefined) return main
  const spender = spenderOf(settings, spendingKind, currencyIn)
  const approval = (kind: 'approve' | 'reset-approval', allowed: bigint): PlannedTransaction => ({
    kind,
    isNative: false,
    allowed,
    ...(spender !== undefined && { spender }),
  })
  // An unlimited allowance for Permit2 is usual: it moves nothing without a signature, and need not be renewed.
  const approve = approval('approve', spendingKind === 'permit2' ? maxUint256 : needed)
  const mustReset = currencyIn.resetsAllowance && state.allowance !== 0n
  return mustReset ? [approval('reset-approval', 0n), approve, ...main] : [approve, ...main]
}

function isSpending(kind: UserTransactionKind | 'permit2' | undefined): kind is Spending {
  return kind === 'permit2' || kind === 'deposit' || kind === 'swap-deposit' || kind === 'swap'
}

function mainTransactions(settings: ChainSettings, route: OriginRoute): readonly PlannedTransaction[] {
  const { by, swap } = route
  const { isNative } = route.currencyIn
  switch (by) {
    case 'signature':
    case 'permit2':
      return []
    case 'pay-address':
      return [{ kind: 'pay-address', isNative }]
    case 'deposit':
    case 'deposit-transfer':
      if (swap !== undefined) return [{ kind: 'swap-deposit', isNative, ...crossedBy(swap) }]
      // Native coin needs a call even if tokens are only transferred: a plain payment carries no order id.
      return [{ kind: isNative ? 'deposit' : by, isNative }]
    case 'send':
      return [{ kind: 'send-input', isNative }]
    case 'wrap':
    case 'unwrap':
      return [{ kind: by, isNative }, ...forwardToRecipient(settings, route)]
    case 'swap':
      // Every route of this kind has a swap: `encode` refuses one without.
      return [{ kind: 'swap', isNative, ...(swap === undefined ? { ticksCrossed: 0 } : crossedBy(swap)) }]
  }
}

/** Ticks and pools that a swap crosses, which its gas depends on. */
function crossedBy({ ticksCrossed, hops }: OriginSwap) {
  return { ticksCrossed, ...(hops.length > 1 && { hops: hops.length }) }
}

/** Wrapping pays its caller, so another recipient takes a second transaction. */
function forwardToRecipient({ codec }: ChainSettings, route: OriginRoute): readonly PlannedTransaction[] {
  const { user, recipient, currencyOut } = route
  if (codec.canonicalAddress(recipient) === codec.canonicalAddress(user)) return []
  return [{ kind: 'send-output', isNative: currencyOut.isNative }]
}
