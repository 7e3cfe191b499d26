import {
  type ExecutedCallFact,
  ethereumCodec,
  type Hex,
  type Movement,
  receivedBy,
  type TransferFact,
} from '@causeway/core'
import type { EvmLog, EvmTransaction } from './answers.ts'
import {
  type NativeTransfer,
  readAuthorizer,
  readGiver,
  readSolverCallExecuted,
  readSolverNativeTransfer,
  readTransfer,
} from './events.ts'
import { payersOf, type SolverSide } from './solverSide.ts'

/** What a payment's transaction shows. */
export type PaidTransaction = {
  /** Ascending by index. */
  readonly logs: readonly EvmLog[]
  readonly transaction: Pick<EvmTransaction, 'to' | 'input' | 'value'> & { readonly from: Hex | undefined }
  /** Native coin moved by contracts; `undefined` where no trace was read. */
  readonly internal?: readonly NativeTransfer[] | undefined
  /** Whether recipients of native coin have code. */
  readonly hasCode?: ReadonlyMap<string, boolean>
}

export type PaymentTarget = { readonly recipient: string; readonly currency: string }

export type PaymentTerms = {
  readonly orderId: Hex
  readonly side: SolverSide
  readonly targets: readonly PaymentTarget[]
  /** True where a transaction's own value pays its target whatever its calldata is. */
  readonly ownValuePays?: boolean
}

const { nativeCurrency } = ethereumCodec

/** The transaction must end with the order id, so that it names one. @source oracle-protocol.md 5.1 */
export function referencesOrder({ input }: Pick<EvmTransaction, 'input'>, orderId: Hex): boolean {
  return input.length >= 2 + 64 && input.endsWith(orderId.slice(2).toLowerCase())
}

/**
 * What reached each target from the solver's side, once per recipient and currency however often it is asked
 * for.
 *
 * Native coin is proven in one of three ways, and never by two of them at once: the transaction pays the
 * recipient itself and its calldata begins with the order id; a listed fill contract says so by events; or a
 * trace shows all of it. A token counts by its `Transfer` events.
 * @source oracle-protocol.md 5.1; design.md 7.2
 */
export function sumTransfers(paid: PaidTransaction, terms: PaymentTerms): readonly TransferFact[] {
  const targets = new Map(terms.targets.map((target) => [`${target.recipient} ${target.currency}`, target]))
  const { isPayer, fillContract } = payersOf(terms.side, paid.transaction)
  return [...targets.values()].map(({ recipient, currency }) => {
    if (currency === nativeCurrency) return nativeTransfer(paid, terms, recipient)
    const spendsOwn = (payer: string) => isPayer(payer) && !isAuthorized(paid, payer, currency)
    const { net, fromOthers } = receivedBy(recipient, tokenMovements(paid.logs, currency), spendsOwn)
    const amount = givesAnotherToken(paid.logs, { recipient, currency }) ? 0n : net
    const isOneFill = fillContract !== undefined && paid.transaction.to === fillContract
    const beforeCalls = isOneFill ? logsBeforeCalls(paid.logs, fillContract) : undefined
    const paidBeforeCalls =
      beforeCalls && receivedBy(recipient, tokenMovements(beforeCalls, currency), spendsOwn).paidIn
    return {
      ...{ recipient, currency, amount, ...(fromOthers > 0n && { fromOthers }) },
      ...(paidBeforeCalls !== undefined && { paidBeforeCalls }),
    }
  })
}

/** Targets of native coin that something but a trace shows to be paid: it may not have stayed with code. */
export function paidWithoutTrace(
  paid: Omit<PaidTransaction, 'internal' | 'hasCode'>,
  terms: PaymentTerms,
): readonly Hex[] {
  const recipients = terms.targets.filter(({ currency }) => currency === nativeCurrency)
  // CAST: targets are in the spelling of logs, lower-case hex.
  const unique = [...new Set(recipients.map(({ recipient }) => recipient as Hex))]
  return unique.filter(
    (recipient) => nativeReceived({ ...paid, internal: undefined }, terms, recipient).paidIn > 0n,
  )
}

/** True when only a trace can show a native payment of some target. */
export function needsTrace(
  paid: Omit<PaidTransaction, 'internal' | 'hasCode'>,
  terms: PaymentTerms,
): boolean {
  const shown = paidWithoutTrace(paid, terms)
  return terms.targets.some(
    // CAST: see above.
    ({ recipient, currency }) => currency === nativeCurrency && !shown.includes(recipient as Hex),
  )
}

/** Calls that the listed fill contract reports, in order. @source oracle-protocol.md 5.1 */
export function executedCalls(
  { logs, transaction }: Pick<PaidTransaction, 'logs' | 'transaction'>,
  side: SolverSide,
): readonly ExecutedCallFact[] {
  const { fillContract } = payersOf(side, transaction)
  return logs.flatMap((log) => {
    const call = log.address === fillContract ? readSolverCallExecuted(log) : undefined
    return call === undefined ? [] : [call]
  })
}

function nativeTransfer(paid: PaidTransaction, terms: PaymentTerms, recipient: string): TransferFact {
  const { net: amount, fromOthers } = nativeReceived(paid, terms, recipient)
  const paidBeforeCalls = nativeBeforeCalls(paid, terms, recipient)
  const target = {
    ...{ recipient, currency: nativeCurrency, ...(fromOthers > 0n && { fromOthers }) },
    ...(paidBeforeCalls !== undefined && { paidBeforeCalls }),
  }
  const isUnseen = paid.internal === undefined && paid.hasCode?.get(recipient) === true
  return isUnseen ? { ...target, amount: 0n, needsTrace: true } : { ...target, amount }
}

/**
 * By the events that stand before the first call: the contract pays before it lets an order's calls run. Not to
 * code, which may have given it back at once.
 */
function nativeBeforeCalls(
  { logs, transaction, hasCode }: PaidTransaction,
  { side }: PaymentTerms,
  recipient: string,
): bigint | undefined {
  const { isPayer, fillContract } = payersOf(side, transaction)
  const isOneFill = fillContract !== undefined && transaction.to === fillContract
  if (!isOneFill || hasCode?.get(recipient) !== false) return undefined
  const before = logsBeforeCalls(logs, fillContract)
  return before && receivedBy(recipient, reportedBy(fillContract, before), isPayer).paidIn
}

function nativeReceived(
  { logs, transaction, internal }: PaidTransaction,
  { orderId, side, ownValuePays = false }: PaymentTerms,
  recipient: string,
) {
  const { isPayer, fillContract } = payersOf(side, transaction)
  const { from, to, value, input } = transaction
  const pays = to !== recipient || ownValuePays || input.startsWith(orderId.toLowerCase())
  const own = from !== undefined && to !== undefined && pays ? [{ from, to, amount: value }] : []
  const inner = internal ?? reportedBy(fillContract, logs)
  return receivedBy(recipient, [...own, ...inner], isPayer)
}

/** Payments of native coin by the events of the fill contract that made them. */
function reportedBy(fillContract: string | undefined, logs: readonly EvmLog[]): readonly Movement[] {
  if (fillContract === undefined) return []
  return logs.flatMap((log) => {
    const transfer = log.address === fillContract ? readSolverNativeTransfer(log) : undefined
    return transfer === undefined ? [] : [{ from: fillContract, ...transfer }]
  })
}

/** `Transfer` events of one token. */
function tokenMovements(logs: readonly EvmLog[], token: string): readonly Movement[] {
  return logs.flatMap((log) => {
    const transfer = log.address === token ? readTransfer(log) : undefined
    return transfer === undefined ? [] : [transfer]
  })
}

/** A listed payer's signed transfer of the token was handed in, by somebody who is not the payer. */
function isAuthorized({ logs, transaction }: PaidTransaction, payer: string, token: string): boolean {
  return (
    payer !== transaction.from && logs.some((log) => log.address === token && readAuthorizer(log) === payer)
  )
}

/** What the recipient sold for it in the same transaction is a price, and no payment of an order. */
function givesAnotherToken(logs: readonly EvmLog[], { recipient, currency }: PaymentTarget): boolean {
  return logs.some((log) => log.address !== currency && readGiver(log) === recipient)
}

/** Logs before the first call that the fill contract reports; `undefined` when it reports none. */
function logsBeforeCalls(logs: readonly EvmLog[], fillContract: string): readonly EvmLog[] | undefined {
  const first = logs.findIndex(
    (log) => log.address === fillContract && readSolverCallExecuted(log) !== undefined,
  )
  return first < 0 ? undefined : logs.slice(0, first)
}
