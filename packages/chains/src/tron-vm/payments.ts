import type { Hex, TransferFact } from '@causeway/core'
import type { EvmLog } from '../ethereum-vm/answers.ts'
import { type NativeTransfer, readSolverNativeTransfer } from '../ethereum-vm/events.ts'
import { sumTo } from '../ethereum-vm/internalTransfers.ts'
import { tokenSums } from '../ethereum-vm/payments.ts'
import type { TronTransaction } from './rawTransaction.ts'

/** What a payment's transaction shows. */
export type PaidTransaction = {
  readonly logs: readonly EvmLog[]
  readonly transaction: TronTransaction
  /** TRX moved by contracts; `undefined` where the chain is not traced. */
  readonly internal: readonly NativeTransfer[] | undefined
}

/** Recipient and currency as the order spells them, and their 20 bytes; no currency bytes mean TRX. */
export type PaymentTarget = {
  readonly recipient: string
  readonly currency: string
  readonly recipientBytes: Hex
  readonly tokenBytes: Hex | undefined
}

/** Calldata, or the memo where calldata does not, must end with the order id. @source oracle-protocol.md 5.6 */
export function referencesOrder({ input, memo }: TronTransaction, orderId: Hex): boolean {
  const digits = orderId.slice(2).toLowerCase()
  return [input, memo].some((data) => data.length >= 2 + digits.length && data.endsWith(digits))
}

/**
 * What reached each target. TRX is proven in one of three ways, and never by two of them at once: the
 * transaction itself pays the recipient; the fill contract says so by events; or, where the chain is traced,
 * contracts moved it. A token counts by its `Transfer` events.
 * @source oracle-protocol.md 5.6
 */
export function sumTransfers(
  paid: PaidTransaction,
  {
    fillContract,
    targets,
  }: { readonly fillContract: Hex | undefined; readonly targets: readonly PaymentTarget[] },
): readonly TransferFact[] {
  const tokens = tokenSums(paid.logs)
  const unique = new Map(targets.map((target) => [`${target.recipient} ${target.currency}`, target]))
  return [...unique.values()].map(({ recipient, currency, recipientBytes, tokenBytes }) => ({
    recipient,
    currency,
    amount:
      tokenBytes === undefined
        ? nativeAmount(paid, fillContract, recipientBytes)
        : (tokens.get(`${recipientBytes} ${tokenBytes}`) ?? 0n),
  }))
}

function nativeAmount(
  { logs, transaction, internal }: PaidTransaction,
  fillContract: Hex | undefined,
  recipient: Hex,
): bigint {
  if (transaction.to === recipient) return transaction.value
  const reported = logs.flatMap((log) => {
    const transfer = log.address === fillContract ? readSolverNativeTransfer(log) : undefined
    return transfer === undefined ? [] : [transfer]
  })
  const byEvents = sumTo(reported, recipient)
  return byEvents > 0n ? byEvents : sumTo(internal ?? [], recipient)
}
