import { type Movement, receivedBy, type TransferFact } from '@causeway/core'
import { isNativeTransferLog } from '@causeway/core/encodings'
import type { EvmLog } from '../answers.ts'
import {
  readAuthorizer,
  readGiver,
  readSolverCallExecuted,
  readSolverNativeTransfer,
  readTransfer,
} from '../events.ts'
import { payersOf } from '../solverSide.ts'
import type { PaidTransaction, PaymentTarget, PaymentTerms } from './paidTransaction.ts'

/**
 * The gain of each target from the solver's side in a transaction that no record proves: fill contracts of others and
 * batches of listed payers. Where anything else may have happened to a target, it gained nothing.
 * @source rule P-43
 */
export function netPayments(paid: PaidTransaction, terms: PaymentTerms): readonly TransferFact[] {
  return terms.targets.map((target) =>
    target.currency === terms.nativeCurrency
      ? nativeGain(paid, terms, target)
      : tokenGain(paid, terms, target),
  )
}

/** Accounts whose code decides: native coin stays for sure with an account that has none. */
export function nativePayees(
  paid: Omit<PaidTransaction, 'code'>,
  terms: PaymentTerms,
): readonly PaymentTarget[] {
  return terms.targets.filter(
    (target) => target.currency === terms.nativeCurrency && nativeMovements(paid, terms, target).length > 0,
  )
}

function nativeGain(paid: PaidTransaction, terms: PaymentTerms, target: PaymentTarget): TransferFact {
  const { isPayer, fillContract } = payersOf(terms.side, paid.transaction)
  const { net, fromOthers } = receivedBy(target.recipient, nativeMovements(paid, terms, target), isPayer)
  // An account that had code during the transaction alone shows none afterwards.
  const ranCalls = paid.logs.some((log) => log.address === fillContract && readSolverCallExecuted(log))
  const isKept = paid.code.get(target.recipient) === 'none' && !ranCalls
  return { ...target, amount: isKept ? net : 0n, ...(fromOthers > 0n && { fromOthers }) }
}

/** By the transaction's own value, and by events of the chosen fill contract. */
function nativeMovements(
  { logs, transaction }: Omit<PaidTransaction, 'code'>,
  { side, orderId, ownValuePays }: PaymentTerms,
  { recipient }: PaymentTarget,
): readonly Movement[] {
  const { fillContract } = payersOf(side, transaction)
  const { from, to, value, input } = transaction
  const pays = to === recipient && (ownValuePays === true || input.startsWith(orderId.toLowerCase()))
  const own = from !== undefined && pays && value > 0n ? [{ from, to: recipient, amount: value }] : []
  const reported = logs.flatMap((log) => {
    const transfer = log.address === fillContract ? readSolverNativeTransfer(log) : undefined
    return transfer?.to === recipient ? [{ from: log.address, ...transfer }] : []
  })
  return [...own, ...reported]
}

function tokenGain(paid: PaidTransaction, terms: PaymentTerms, target: PaymentTarget): TransferFact {
  const { recipient, currency } = target
  const { isPayer, fillContract } = payersOf(terms.side, paid.transaction)
  const movements = paid.logs.flatMap((log) => (log.address === currency && readTransfer(log)) || [])
  const authorizers = new Set<string>(
    paid.logs.flatMap((log) => (log.address === currency && readAuthorizer(log)) || []),
  )
  const spends = (account: string) => isPayer(account) && !authorizers.has(account)
  const { net, fromOthers } = receivedBy(recipient, movements, spends)
  const isPlain = !hasOtherDealings(paid.logs, target, new Set([...currenciesOf(terms), fillContract ?? '']))
  return { ...target, amount: isPlain ? net : 0n, ...(fromOthers > 0n && { fromOthers }) }
}

const currenciesOf = ({ targets }: PaymentTerms): readonly string[] => targets.map(({ currency }) => currency)

/**
 * The recipient gives something, writes a log, or is named by a log of somebody who has no part in the payment: it may
 * have sold what it was paid for.
 */
function hasOtherDealings(
  logs: readonly EvmLog[],
  { recipient }: PaymentTarget,
  partakers: ReadonlySet<string>,
): boolean {
  const digits = recipient.slice(2)
  return logs.some(
    (log) =>
      log.address === recipient ||
      readGiver(log) === recipient ||
      (!partakers.has(log.address) &&
        !isNativeTransferLog(log) &&
        [...log.topics, log.data].some((text) => text.includes(digits))),
  )
}
