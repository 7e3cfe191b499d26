import type { Hex } from '@causeway/core'
import type {
  ChainSettings,
  KnownState,
  OriginRoute,
  PlannedTransaction,
  QuotedCurrency,
  UserTransactionKind,
} from '../../../rules/quotingFamily.ts'
import { maxUint256, neededApproval } from './neededApproval.ts'
import { writesOf } from './stateWrites.ts'

/** Address of Permit2, equal on every chain that has it; lower case. @source github.com/Uniswap/permit2 */
export const permit2Address: Hex = '0x000000000022d473030f116ddee9f6b43ac78ba3'

type Spending = 'deposit' | 'swap-deposit' | 'swap' | 'permit2'

/** The contract that takes a token; native coin is sent along. */
export function spenderOf(
  { depository, depositRouter }: ChainSettings,
  kind: Spending,
  { isNative }: Pick<QuotedCurrency, 'isNative'>,
): string | undefined {
  if (isNative) return undefined
  return { deposit: depository, 'swap-deposit': depositRouter, swap: depositRouter, permit2: permit2Address }[
    kind
  ]
}

/**
 * Transactions that the user must send, in order. An unknown allowance counts as none: an approval too many costs gas,
 * one too few fails. @source rule Q-80
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

/** Transactions in order, without their effects on state. Families with the same contracts have the same order. */
export function orderedTransactions(
  settings: ChainSettings,
  route: OriginRoute,
  state: KnownState,
): readonly PlannedTransaction[] {
  const main = mainTransactions(settings, route)
  const spends = route.by === 'permit2' ? route.by : main[0]?.kind
  const { currencyIn } = route
  if (!isSpending(spends) || currencyIn.isNative) return main
  const needed = neededApproval(route, state)
  if (needed === undefined) return main
  const spender = spenderOf(settings, spends, currencyIn)
  const approval = (kind: 'approve' | 'reset-approval', allowed: bigint): PlannedTransaction => ({
    kind,
    isNative: false,
    allowed,
    ...(spender !== undefined && { spender }),
  })
  // Permit2 moves nothing without a signature, and public clients ask for this once.
  const approve = approval('approve', spends === 'permit2' ? maxUint256 : needed)
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
      // Native coin that is only sent carries no order id.
      return [{ kind: isNative ? 'deposit' : by, isNative }]
    case 'send':
      return [{ kind: 'send-input', isNative }]
    case 'wrap':
    case 'unwrap':
      return [{ kind: by, isNative }, ...forwardToRecipient(settings, route)]
    case 'swap':
      return [{ kind: 'swap', isNative, ...(swap === undefined ? { ticksCrossed: 0 } : crossedBy(swap)) }]
  }
}

function crossedBy({ ticksCrossed, hops }: NonNullable<OriginRoute['swap']>) {
  return { ticksCrossed, ...(hops.length > 1 && { hops: hops.length }) }
}

/** Wrapping pays its caller, so another recipient takes a second transaction. */
function forwardToRecipient({ codec }: ChainSettings, route: OriginRoute): readonly PlannedTransaction[] {
  const { user, recipient, currencyOut } = route
  if (codec.canonicalAddress(recipient) === codec.canonicalAddress(user)) return []
  return [{ kind: 'send-output', isNative: currencyOut.isNative }]
}
