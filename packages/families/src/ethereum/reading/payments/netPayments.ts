import { type Movement, receivedBy, type TransferFact } from '@causeway/core'
import { isNativeTransferLog } from '@causeway/core/encodings'
import type { EvmLog } from '../answers.ts'
import {
  readAuthorizer,
  readSolverCallExecuted,
  readSolverNativeTransfer,
  readTransfer,
  readTransferSender,
} from '../events.ts'
import { solverAccountsOf } from '../solverSide.ts'
import type { PaidTransaction, PaymentTarget, PaymentTerms } from './paidTransaction.ts'

/**
 * Net gain of each target from the solver's side in a transaction that no record of ours proves: it ran another's fill
 * contract, or a batch of a listed payer. A target counts as having gained nothing if it may also have given something
 * in return.
 * @source rule P-43
 */
export function netPayments(paid: PaidTransaction, terms: PaymentTerms): readonly TransferFact[] {
  return terms.targets.map((target) =>
    target.currency === terms.nativeCurrency
      ? nativeGain(paid, terms, target)
      : tokenGain(paid, terms, target),
  )
}

/** Targets whose code must be read: only an account without code surely keeps the native coin that it receives. */
export function nativePayees(
  paid: Omit<PaidTransaction, 'code'>,
  terms: PaymentTerms,
): readonly PaymentTarget[] {
  return terms.targets.filter(
    (target) => target.currency === terms.nativeCurrency && nativeMovements(paid, terms, target).length > 0,
  )
}

function nativeGain(paid: PaidTransaction, terms: PaymentTerms, target: PaymentTarget): TransferFact {
  const { isPayer, fillContract } = solverAccountsOf(terms.side, paid.transaction)
  const { net, fromOthers } = receivedBy(target.recipient, nativeMovements(paid, terms, target), isPayer)
  // Calls of the order could have created and destroyed code at the recipient within the transaction.
  const ranCalls = paid.logs.some((log) => log.address === fillContract && readSolverCallExecuted(log))
  const isKept = paid.code.get(target.recipient) === 'none' && !ranCalls
  return { ...target, amount: isKept ? net : 0n, ...(fromOthers > 0n && { fromOthers }) }
}

/** Native coin that the recipient received: the transaction's own value, and transfers in the fill contract's events. */
function nativeMovements(
  { logs, transaction }: Omit<PaidTransaction, 'code'>,
  { side, orderId, ownValuePays }: PaymentTerms,
  { recipient }: PaymentTarget,
): readonly Movement[] {
  const { fillContract } = solverAccountsOf(side, transaction)
  const { from, to, value, input } = transaction
  const isPaidByValue = to === recipient && (ownValuePays === true || input.startsWith(orderId.toLowerCase()))
  const ownValue =
    from !== undefined && isPaidByValue && value > 0n ? [{ from, to: recipient, amount: value }] : []
  const fromEvents = logs.flatMap((log) => {
    const transfer = log.address === fillContract ? readSolverNativeTransfer(log) : undefined
    return transfer?.to === recipient ? [{ from: log.address, ...transfer }] : []
  })
  return [...ownValue, ...fromEvents]
}

function tokenGain(paid: PaidTransaction, terms: PaymentTerms, target: PaymentTarget): TransferFact {
  const { recipient, currency } = target
  const { isPayer, fillContract } = solverAccountsOf(terms.side, paid.transaction)
  const tokenLogs = paid.logs.filter((log) => log.address === currency)
  const movements = tokenLogs.flatMap((log) => readTransfer(log) ?? [])
  const authorizers = new Set<string>(tokenLogs.flatMap((log) => readAuthorizer(log) ?? []))
  // Money that an EIP-3009 authorization moves does not count: it may be a stranger's payment, or the price of a sale.
  const spendsAsPayer = (account: string) => isPayer(account) && !authorizers.has(account)
  const { net, fromOthers } = receivedBy(recipient, movements, spendsAsPayer)
  const participants = new Set([...terms.targets.map((other) => other.currency), fillContract ?? ''])
  const mayBeSale = hasOtherDealings(paid.logs, target, participants)
  return { ...target, amount: mayBeSale ? 0n : net, ...(fromOthers > 0n && { fromOthers }) }
}

/**
 * True if the recipient sent a token, wrote a log, or is named in a log of a contract that has no part in the payment:
 * the money may then be the price of something that it sold.
 */
function hasOtherDealings(
  logs: readonly EvmLog[],
  { recipient }: PaymentTarget,
  participants: ReadonlySet<string>,
): boolean {
  const digits = recipient.slice(2)
  return logs.some(
    (log) =>
      log.address === recipient ||
      readTransferSender(log) === recipient ||
      (!participants.has(log.address) &&
        !isNativeTransferLog(log) &&
        [...log.topics, log.data].some((text) => text.includes(digits))),
  )
}
