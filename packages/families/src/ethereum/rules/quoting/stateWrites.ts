import type { StateWrites } from '../../../rules/networkFees.ts'
import type { OriginRoute, QuotedCurrency, TouchingRoute } from '../../../rules/originRoute.ts'
import type { Holding, KnownState, PlannedTransaction } from '../../../rules/plannedTransaction.ts'
import type { ChainSettings } from '../../../rules/quotingFamily.ts'
import { neededApproval } from './neededApproval.ts'

// The gas of a transaction depends on the state before it: writing a slot that was zero costs 17,100 more, and a slot
// that becomes zero refunds 4,800. Balances and allowances are the only slots that plain tokens write.

/** Balances that the route's transactions write, except the user's of the input. @source quote-api.md 6.1, gas */
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
      add(route.recipient, route.currencyOut)
      break
    case 'wrap':
      add(route.user, route.currencyOut)
      add(route.recipient, route.currencyOut)
      break
    case 'unwrap':
    case 'pay-address':
    case 'signature':
      break
  }
  return holdings
}

function holdingOf({ codec }: ChainSettings, account: string, currency: string): Holding {
  return { account: codec.canonicalAddress(account), currency }
}

/** State writes of one planned transaction. An unknown balance counts as zero, so the estimate is rather too high. */
export function writesOf(
  settings: ChainSettings,
  { kind }: PlannedTransaction,
  route: OriginRoute,
  state: KnownState,
): StateWrites {
  const { currencyIn, currencyOut, deposited, amountIn, user, recipient } = route
  const heldBy = (account: string, { address }: Pick<QuotedCurrency, 'address'>) =>
    state.heldBy?.(holdingOf(settings, account, address))
  const isNew = (account: string, currency: Pick<QuotedCurrency, 'address'>) =>
    (heldBy(account, currency) ?? 0n) === 0n ? 1 : 0
  const emptied = state.balance === amountIn ? 1 : 0
  switch (kind) {
    case 'reset-approval':
      return stateWrites({ cleared: 1 })
    case 'approve': {
      const isChange = !currencyIn.resetsAllowance && (state.allowance ?? 0n) > 0n
      return stateWrites({ created: isChange ? 0 : 1 })
    }
    case 'deposit':
      if (currencyIn.isNative) return stateWrites({})
      return stateWrites({
        created: isNew(settings.depository, currencyIn),
        cleared: spentAllowance(state, route) + emptied,
      })
    case 'deposit-transfer':
      return stateWrites({ created: isNew(settings.depository, currencyIn), cleared: emptied })
    case 'swap-deposit': {
      const paid = deposited?.currency ?? currencyIn
      const cleared = currencyIn.isNative ? 0 : spentAllowance(state, route) + emptied
      return stateWrites({
        created: paid.isNative ? 0 : isNew(settings.depository, paid),
        cleared,
        paysNative: paid.isNative,
      })
    }
    case 'swap': {
      const cleared = currencyIn.isNative ? 0 : spentAllowance(state, route) + emptied
      if (!currencyOut.isNative) return stateWrites({ created: isNew(recipient, currencyOut), cleared })
      return stateWrites({ accounts: isNew(recipient, currencyOut), cleared, paysNative: true })
    }
    case 'send-input':
      return currencyIn.isNative
        ? stateWrites({})
        : stateWrites({ created: isNew(recipient, currencyIn), cleared: emptied })
    case 'wrap':
      return stateWrites({ created: isNew(user, currencyOut) })
    case 'unwrap':
      return stateWrites({ cleared: emptied })
    case 'send-output':
      if (currencyOut.isNative) return stateWrites({})
      return stateWrites({
        created: isNew(recipient, currencyOut),
        // Sending the newly wrapped amount leaves an account that held none empty again.
        cleared: heldBy(user, currencyOut) === 0n ? 1 : 0,
      })
    case 'pay-address':
      return currencyIn.isNative ? stateWrites({}) : stateWrites({ created: 1, cleared: emptied })
  }
}

/** 1 if the transaction uses up the allowance (an approve step may set it just before), which clears a slot; else 0. */
function spentAllowance(state: KnownState, route: OriginRoute): number {
  return (neededApproval(route, state) ?? state.allowance) === route.amountIn ? 1 : 0
}

function stateWrites(counts: Partial<StateWrites>): StateWrites {
  return { created: 0, cleared: 0, accounts: 0, paysNative: false, ...counts }
}
