import { type ExecutedCallFact, type Hex, minBigint, type TransferFact } from '@causeway/core'
import { encodeTransfer } from '../../rules/abi.ts'
import type { EvmLog, EvmTransaction } from '../answers.ts'
import { readPaid, readSolverCallExecuted, readTransfer } from '../events.ts'
import { type SolverSide, solverAccountsOf } from '../solverSide.ts'
import { nativePayees, netPayments } from './netPayments.ts'
import type { PaidTransaction, PaymentTarget, PaymentTerms } from './paidTransaction.ts'
import { type RecordedCall, type RecordProblem, readRecordedCall, recordProblem } from './recordedCall.ts'

/** Payments of an order that a transaction proves, in one of three ways: by a record, a plain transfer, or net gains. */
export type ProvenPayment = {
  /** One for each recipient and currency, however often it is asked for. */
  readonly transfers: readonly TransferFact[]
  /** In on-chain order. */
  readonly calls: readonly ExecutedCallFact[]
  /** The id that the fill contract recorded, where its record is the proof. */
  readonly recordId?: Hex
  /** Set if the transaction calls a fill contract of ours and its record proves nothing. */
  readonly recordProblem?: RecordProblem
}

/** True if the calldata ends with the order id, so that it names no other order. @source rule P-40 */
export function referencesOrder({ input }: Pick<EvmTransaction, 'input'>, orderId: Hex): boolean {
  return input.length >= 2 + 64 && input.endsWith(orderId.slice(2).toLowerCase())
}

/**
 * The rule by which solvers pay and oracles attest. First by the record of the chosen fill contract, if the transaction
 * calls it and its code is ours; else as a plain transfer; else by the net gains of the payees.
 * @source rules P-41 to P-43
 */
export function provePayment(paid: PaidTransaction, paymentTerms: PaymentTerms): ProvenPayment {
  const byRecordOrTransfer = proveAlone(paid, paymentTerms)
  if (byRecordOrTransfer !== undefined) return byRecordOrTransfer
  const terms = { ...paymentTerms, targets: eachOnce(paymentTerms.targets) }
  const net = netPayments(paid, { ...terms, targets: payeesOf(paid, terms) })
  return { transfers: amountsOf(net, terms), calls: executedCalls(paid, terms.side) }
}

/**
 * Proves by a record or as a plain transfer. For that the record's logs and the sender's transfers to payees are
 * enough, so `readLargePayment` can read them without the whole receipt.
 * @returns undefined for any other transaction
 * @source rules P-41, P-42
 */
export function proveAlone(paid: PaidTransaction, paymentTerms: PaymentTerms): ProvenPayment | undefined {
  const terms = { ...paymentTerms, targets: eachOnce(paymentTerms.targets) }
  if (callsOwnFillContract(paid, terms)) return proveByRecord(paid, terms)
  const plainTransfers = payeesOf(paid, terms).flatMap((target) => {
    const amount = plainAmount(paid, terms, target)
    return amount === undefined ? [] : [{ ...target, amount }]
  })
  if (plainTransfers.length === 0) return undefined
  return { transfers: amountsOf(plainTransfers, terms), calls: executedCalls(paid, terms.side) }
}

const payeesOf = (paid: PaidTransaction, terms: PaymentTerms): readonly PaymentTarget[] =>
  terms.targets.filter(({ recipient }) => mayBePaid(recipient, paid, terms))

/** The proven transfer of each target; of 0 where none is proven. */
const amountsOf = (
  proven: readonly TransferFact[],
  { targets }: Pick<PaymentTerms, 'targets'>,
): readonly TransferFact[] =>
  targets.map((target) => proven.find((one) => isSame(one, target)) ?? { ...target, amount: 0n })

const isSame = (one: PaymentTarget, other: PaymentTarget): boolean =>
  one.recipient === other.recipient && one.currency === other.currency

/** False for the sender himself, depositories (money there is a deposit) and fill contracts (they keep no balances). */
function mayBePaid(
  recipient: string,
  { transaction: { from } }: PaidTransaction,
  { side: { depositories, fillContracts } }: PaymentTerms,
): boolean {
  return recipient !== from && !depositories.has(recipient) && !fillContracts.has(recipient)
}

/** Accounts whose code must be read to prove the payment: the called fill contract, and payees of native coin. */
export function accountsWhoseCodeMatters(
  paid: Omit<PaidTransaction, 'code'>,
  terms: PaymentTerms,
): readonly Hex[] {
  const { to } = paid.transaction
  const called = to !== undefined && to === terms.side.chosen ? [to] : []
  const payees = nativePayees(paid, terms).map(({ recipient }) => recipient)
  // CAST: accounts are in the spelling of logs, lower-case hex.
  return [...new Set([...called, ...payees])] as Hex[]
}

function eachOnce(targets: readonly PaymentTarget[]): readonly PaymentTarget[] {
  return [...new Map(targets.map((target) => [`${target.recipient} ${target.currency}`, target])).values()]
}

/** True if the transaction calls the contract that the order chose, and the contract is one of ours by its code. */
function callsOwnFillContract(
  { transaction: { to }, code }: PaidTransaction,
  { side }: PaymentTerms,
): boolean {
  return to !== undefined && to === side.chosen && code.get(to) === 'fill_contract'
}

/**
 * Proves by a record: the payments in the call's arguments count, whatever the recipient does with the money.
 * The code is ours, so it made all of them or reverted, and logs `Paid` once for each id of its caller.
 * `recordProblem` checks that the arguments are for this order and nothing else. A token may move less than
 * it was asked to, so of a token at most the sum counts that its own events show from the sender to the
 * payee.
 * @returns amounts of 0 and `recordProblem` where one of these checks fails: no other way of proof is tried
 * then
 */
function proveByRecord(paid: PaidTransaction, terms: PaymentTerms): ProvenPayment {
  const { from: sender, to: fillContract, input } = paid.transaction
  if (sender === undefined || fillContract === undefined) throw new Error('a record has sender and contract')
  const call = readRecordedCall(input)
  const { depositories } = terms.side
  const problem =
    recordProblem(call, { ...terms, depositories, sender, fillContract }) ??
    (isPaidLogged(paid, call, { sender, fillContract }) ? undefined : 'not_a_payment')
  if (call === undefined || problem !== undefined) {
    const transfers = terms.targets.map((target) => ({ ...target, amount: 0n }))
    // Without a call there is a problem already; the other value is for the types alone.
    return { transfers, calls: [], recordProblem: problem ?? 'not_a_payment' }
  }
  return {
    transfers: terms.targets.map((target) => ({
      ...target,
      amount: recordedAmount(paid, call, terms, target),
    })),
    calls: call.orderCalls?.calls ?? [],
    recordId: call.id,
  }
}

/** True if the contract logged that it recorded the id for its caller, which shows that its own code ran. */
function isPaidLogged(
  { logs }: PaidTransaction,
  call: RecordedCall | undefined,
  { sender, fillContract }: { readonly sender: Hex; readonly fillContract: Hex },
): boolean {
  return logs.some((log) => {
    const paid = log.address === fillContract ? readPaid(log) : undefined
    return paid !== undefined && paid.filler === sender && paid.id === call?.id
  })
}

function recordedAmount(
  { logs, transaction: { from } }: PaidTransaction,
  { natives, tokens }: RecordedCall,
  { nativeCurrency }: PaymentTerms,
  { recipient, currency }: PaymentTarget,
): bigint {
  if (currency === nativeCurrency) return sum(natives.filter(({ to }) => to === recipient))
  const calledAmount = sum(tokens.filter(({ to, token }) => to === recipient && token === currency))
  const movedAmount = movedBetween(logs, { token: currency, from, to: recipient })
  return minBigint(movedAmount, calledAmount)
}

/**
 * Amount of a transaction that is nothing but one transfer to the target, with the order id as its data.
 * @returns undefined if it is none
 */
function plainAmount(
  { logs, transaction, code }: PaidTransaction,
  { orderId, nativeCurrency, side }: PaymentTerms,
  { recipient, currency }: PaymentTarget,
): bigint | undefined {
  const { from, to, input, value, memo } = transaction
  // Money that a depository sends is its depositors', so it pays no order.
  if (from === undefined || side.depositories.has(from)) return undefined
  const id = orderId.toLowerCase()
  if (currency === nativeCurrency) {
    const hasMemo = memo !== undefined && memo !== '0x'
    const namesOrder = hasMemo ? memo === id && input === '0x' : input === id
    return to === recipient && namesOrder && code.get(recipient) === 'none' ? value : undefined
  }
  const amount = to === currency ? plainTokenAmount(input, { recipient, orderId: id }) : undefined
  if (amount === undefined) return undefined
  const movedAmount = movedBetween(logs, { token: currency, from, to: recipient })
  return minBigint(movedAmount, amount)
}

/** Characters of `transfer` calldata: `0x`, the selector and two words. */
const transferDigits = 2 + 8 + 2 * 64

/** The amount, if the calldata is exactly `transfer(recipient, amount)` with the order id behind it. */
function plainTokenAmount(
  input: Hex,
  { recipient, orderId }: { readonly recipient: string; readonly orderId: string },
): bigint | undefined {
  if (input.length !== transferDigits + 64) return undefined
  const amount = BigInt(`0x${input.slice(transferDigits - 64, transferDigits)}`)
  // CAST: in the spelling of logs, lower-case hex.
  const plain = `${encodeTransfer(recipient as Hex, amount)}${orderId.slice(2)}`
  return input === plain ? amount : undefined
}

function movedBetween(
  logs: readonly EvmLog[],
  { token, from, to }: { readonly token: string; readonly from: string | undefined; readonly to: string },
): bigint {
  return sum(
    logs.flatMap((log) => {
      const transfer = log.address === token ? readTransfer(log) : undefined
      return transfer?.from === from && transfer?.to === to ? [transfer] : []
    }),
  )
}

const sum = (parts: readonly { readonly amount: bigint }[]): bigint =>
  parts.reduce((total, { amount }) => total + amount, 0n)

/** Calls that a listed fill contract of somebody else reports, in order. */
function executedCalls(
  { logs, transaction }: PaidTransaction,
  side: SolverSide,
): readonly ExecutedCallFact[] {
  const { fillContract } = solverAccountsOf(side, transaction)
  return logs.flatMap((log) => (log.address === fillContract ? (readSolverCallExecuted(log) ?? []) : []))
}
