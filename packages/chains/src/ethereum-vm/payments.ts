import { type ExecutedCallFact, ethereumCodec, type Hex, type TransferFact } from '@causeway/core'
import type { EvmLog, EvmTransaction } from './answers.ts'
import {
  type NativeTransfer,
  readSolverCallExecuted,
  readSolverNativeTransfer,
  readTransfer,
} from './events.ts'
import { sumTo } from './internalTransfers.ts'

/** What a payment's transaction shows. */
export type PaidTransaction = {
  /** Ascending by index. */
  readonly logs: readonly EvmLog[]
  readonly transaction: Pick<EvmTransaction, 'to' | 'input' | 'value'>
  /** Native coin moved by contracts; `undefined` where the chain is not traced. */
  readonly internal?: readonly NativeTransfer[] | undefined
}

export type PaymentTarget = { readonly recipient: string; readonly currency: string }

const { nativeCurrency } = ethereumCodec

/** The transaction must end with the order id. @source oracle-protocol.md 5.1 */
export function referencesOrder({ input }: Pick<EvmTransaction, 'input'>, orderId: Hex): boolean {
  return input.length >= 2 + 64 && input.endsWith(orderId.slice(2).toLowerCase())
}

/** The fill contract that extra data names; `undefined` when it names none. @source oracle-protocol.md 1.5 */
export function fillContractOf(extraData: Hex): Hex | undefined {
  const digits = extraData.slice(2).toLowerCase()
  return digits.length === 64 && digits.startsWith('0'.repeat(24)) ? `0x${digits.slice(24)}` : undefined
}

/**
 * What reached each target, one sum per recipient and currency however often it is asked for.
 *
 * Native coin is proven in one of three ways, and never by two of them at once: the transaction pays the
 * recipient itself and its calldata begins with the order id; the fill contract says so by events; or,
 * where the chain is traced, contracts moved it. A token counts by its `Transfer` events.
 * @source oracle-protocol.md 5.1
 */
export function sumTransfers(
  paid: PaidTransaction,
  question: {
    readonly orderId: Hex
    readonly fillContract: Hex | undefined
    readonly targets: readonly PaymentTarget[]
  },
): readonly TransferFact[] {
  const targets = new Map(
    question.targets.map((target) => [`${target.recipient} ${target.currency}`, target]),
  )
  const tokens = tokenSums(paid.logs)
  return [...targets.values()].map(({ recipient, currency }) => ({
    recipient,
    currency,
    amount:
      currency === nativeCurrency
        ? nativeAmount(paid, { ...question, recipient })
        : (tokens.get(`${recipient} ${currency}`) ?? 0n),
  }))
}

/** True when only a trace can show a native payment of `targets`. */
export function needsTrace(
  paid: PaidTransaction,
  question: {
    readonly orderId: Hex
    readonly fillContract: Hex | undefined
    readonly targets: readonly PaymentTarget[]
  },
): boolean {
  return question.targets.some(
    ({ recipient, currency }) =>
      currency === nativeCurrency && nativeAmount(paid, { ...question, recipient }) === 0n,
  )
}

/** Calls that the fill contract reports, in order. @source oracle-protocol.md 5.1 */
export function executedCalls(
  logs: readonly EvmLog[],
  fillContract: Hex | undefined,
): readonly ExecutedCallFact[] {
  return logs.flatMap((log) => {
    const call = log.address === fillContract ? readSolverCallExecuted(log) : undefined
    return call === undefined ? [] : [call]
  })
}

function nativeAmount(
  { logs, transaction, internal }: PaidTransaction,
  question: { readonly orderId: Hex; readonly fillContract: Hex | undefined; readonly recipient: string },
): bigint {
  const { orderId, fillContract, recipient } = question
  if (transaction.to === recipient && transaction.input.startsWith(orderId.toLowerCase())) {
    return transaction.value
  }
  const reported = logs.flatMap((log) => {
    const transfer = log.address === fillContract ? readSolverNativeTransfer(log) : undefined
    return transfer === undefined ? [] : [transfer]
  })
  const byEvents = sumTo(reported, recipient)
  return byEvents > 0n ? byEvents : sumTo(internal ?? [], recipient)
}

/** Sums of `Transfer` events, by recipient and token with a space between. */
export function tokenSums(logs: readonly EvmLog[]): ReadonlyMap<string, bigint> {
  const sums = new Map<string, bigint>()
  for (const log of logs) {
    const transfer = readTransfer(log)
    if (transfer === undefined) continue
    const key = `${transfer.to} ${log.address}`
    sums.set(key, (sums.get(key) ?? 0n) + transfer.amount)
  }
  return sums
}
