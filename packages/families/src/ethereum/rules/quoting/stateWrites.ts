import type { StateWrites } from '../../../rules/networkFees.ts'
import type { OriginRoute, QuotedCurrency, TouchingRoute } from '../../../rules/originRoute.ts'
import type { Holding, KnownState, PlannedTransaction } from '../../../rules/plannedTransaction.ts'
import type { ChainSettings } from '../../../rules/quotingFamily.ts'
import { neededApproval } from './neededApproval.ts'

// The gas of a transaction depends on the state before it: writing a slot that was zero costs 17,100 more, and a slot
// that becomes zero refunds 4,800. Balances and allowances are the only slots that plain tokens write.

/**
 * Balances that the route's transactions write, except the user's of the input. `writesOf` looks them up: one
 * that is missing here is unknown there.
 */
export function touchedHoldings(settings: ChainSettings, route: TouchingRoute): readonly Holding[] {
  const holdings: Holding[] = []
  const add = (account: string, { address }: Pick<QuotedCurrency, 'address'>) =>
    holdings.push(holdingOf(settings, account, address))
  switch (route.by) {
    case 'deposit':
    case 'deposit-transfer':
      for (const currency of route.deposited) if (!currency.isNative) add(settings.depository, currency)
      break
    case 'send':
      if (!route.currencyOut.isNative) add(route.recipient, route.currencyOut)
      break
    case 'swap':
      // Native coin counts too: the first that a contract pays makes a new account, which costs more.
      add(route.recipient, route.currencyOut)
      break
    case 'wrap':
      add(route.user, route.currencyOut)
      add(route.recipient, route.currencyOut)
      break
    // Nothing to read: native coin fills no slot, a new deposit address is empty, and the solver sends signed deposits.
    case 'unwrap':
    case 'pay-address':
    case 'signature':
    case 'permit2':
      break
  }
  return holdings
}

/** State writes of one planned transaction. An unknown balance counts as zero, so the estimate is rather too high. */
export function writesOf(
  settings: ChainSettings,
  { kind }: PlannedTransaction,
  route: OriginRoute,
  state: KnownState,
): StateWrites {
  const { currencyIn } = route
  switch (kind) {
    case 'reset-approval':
      return stateWrites({ cleared: 1 })
    case 'approve': {
      // If the token resets its allowance, the slot is 0 again before the approval.
      const isChange = !currencyIn.resetsAllowance && (state.allowance ?? 0n) > 0n
      return stateWrites({ created: isChange ? 0 : 1 })
    }
    case 'deposit':
    case 'deposit-transfer':
    case 'swap-deposit':
      return depositWrites(settings, kind, route, state)
    case 'swap':
      return swapWrites(settings, route, state)
    case 'wrap':
      return stateWrites({ created: createdBalance(settings, state, route.user, route.currencyOut) })
    case 'unwrap':
      return stateWrites({ cleared: emptiedBalance(state, route) })
    case 'pay-address':
      if (currencyIn.isNative) return stateWrites({})
      // The deposit address holds no token yet.
      return stateWrites({ created: 1, cleared: emptiedBalance(state, route) })
    case 'send-input':
      if (currencyIn.isNative) return stateWrites({})
      return stateWrites({
        created: createdBalance(settings, state, route.recipient, currencyIn),
        cleared: emptiedBalance(state, route),
      })
    case 'send-output':
      return sendOutputWrites(settings, route, state)
  }
}

/** The user's token goes to the depository, or what a swap yields for it. */
function depositWrites(
  settings: ChainSettings,
  kind: 'deposit' | 'deposit-transfer' | 'swap-deposit',
  route: OriginRoute,
  state: KnownState,
): StateWrites {
  const { currencyIn } = route
  const { depository } = settings
  if (kind === 'swap-deposit') {
    const deposited = route.deposited?.currency ?? currencyIn
    return stateWrites({
      created: deposited.isNative ? 0 : createdBalance(settings, state, depository, deposited),
      cleared: clearedBySpending(state, route),
      paysNative: deposited.isNative,
    })
  }
  if (currencyIn.isNative) return stateWrites({})
  return stateWrites({
    created: createdBalance(settings, state, depository, currencyIn),
    // A plain transfer needs no allowance.
    cleared: kind === 'deposit' ? clearedBySpending(state, route) : emptiedBalance(state, route),
  })
}

function swapWrites(settings: ChainSettings, route: OriginRoute, state: KnownState): StateWrites {
  const { currencyOut, recipient } = route
  const cleared = clearedBySpending(state, route)
  const created = createdBalance(settings, state, recipient, currencyOut)
  return currencyOut.isNative
    ? stateWrites({ accounts: created, cleared, paysNative: true })
    : stateWrites({ created, cleared })
}

function sendOutputWrites(settings: ChainSettings, route: OriginRoute, state: KnownState): StateWrites {
  const { currencyOut, user, recipient } = route
  if (currencyOut.isNative) return stateWrites({})
  return stateWrites({
    created: createdBalance(settings, state, recipient, currencyOut),
    // Sending the newly wrapped amount leaves an account that held none empty again.
    cleared: heldBy(settings, state, user, currencyOut) === 0n ? 1 : 0,
  })
}

/** 1 if a payment creates the account's balance of the currency, since it is zero or unknown; else 0. */
function createdBalance(
  settings: ChainSettings,
  state: KnownState,
  account: string,
  currency: QuotedCurrency,
): number {
  return (heldBy(settings, state, account, currency) ?? 0n) === 0n ? 1 : 0
}

function heldBy(
  settings: ChainSettings,
  state: KnownState,
  account: string,
  { address }: QuotedCurrency,
): bigint | undefined {
  return state.heldBy?.(holdingOf(settings, account, address))
}

function holdingOf({ codec }: ChainSettings, account: string, currency: string): Holding {
  return { account: codec.canonicalAddress(account), currency }
}

/** Slots that become zero when a contract takes the user's input; none for native coin. */
function clearedBySpending(state: KnownState, route: OriginRoute): number {
  return route.currencyIn.isNative ? 0 : spentAllowance(state, route) + emptiedBalance(state, route)
}

/** 1 if the input is the user's whole balance, else 0. */
function emptiedBalance(state: KnownState, { amountIn }: OriginRoute): number {
  return state.balance === amountIn ? 1 : 0
}

/** 1 if the transaction uses up the allowance (an approve step may set it just before), which clears a slot; else 0. */
function spentAllowance(state: KnownState, route: OriginRoute): number {
  return (neededApproval(route, state) ?? state.allowance) === route.amountIn ? 1 : 0
}

function stateWrites(counts: Partial<StateWrites>): StateWrites {
  return { created: 0, cleared: 0, accounts: 0, paysNative: false, ...counts }
}
