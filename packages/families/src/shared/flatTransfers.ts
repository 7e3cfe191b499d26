import { FlatFees } from '../rules/flatFees.ts'
import type { NetworkReaderOptions, NetworkReading } from './networkReader.ts'
import { type PayingFees, type PaymentTerms, type PlannedPayment, refuseAboveCeiling } from './payingChain.ts'

/** Payments that the fill wallet of an exchange must not make. */
export type TransferRules = {
  readonly wallet: string
  readonly depositories: readonly string[]
  /** Why the exchange cannot make the payment; undefined if it can. */
  readonly refuse: (payment: PlannedPayment) => string | undefined
}

/**
 * Checks terms of a payment on an exchange, where a transfer pays one account and there are no allowances.
 * @returns why they cannot be one transfer; undefined if they can
 */
export function refuseTransfer(
  { mark, payments }: PaymentTerms,
  { wallet, depositories, refuse }: TransferRules,
): string | undefined {
  if (mark === 'allowed') return 'nothing is allowed on this chain'
  const [payment, ...more] = payments
  if (mark === 'closed') return payment === undefined ? undefined : 'a closing pays nobody'
  if (payment === undefined || more.length > 0) return 'a transfer makes one payment'
  const refusal = refuse(payment)
  if (refusal !== undefined) return refusal
  // A payment to a depository would count as a deposit for the order that it names.
  if (depositories.includes(payment.recipient)) return 'the recipient is a depository'
  return payment.recipient === wallet ? 'the recipient is the fill wallet' : undefined
}

/** Why a transfer is too expensive; undefined if it is not. @throws Error for fees of another family */
export function refuseTransferFee(bid: PayingFees): string | undefined {
  const { fees } = bid
  if (!(fees instanceof FlatFees)) throw new Error('fees of another family')
  return refuseAboveCeiling('a transfer takes', fees.transferFee, bid)
}

/** Configured fees of an exchange, which takes one fee for each transfer. */
export type FlatModel = Extract<NetworkReaderOptions['feeModel'], { readonly kind: 'flat' }>

/** An exchange's fees for the market. @param agreed fee that endpoints agree on; absent: the configured one is used */
export function flatFeesOf(
  { transferFee: configured, maxTransferFee: ceiling }: FlatModel,
  agreed?: bigint,
): Pick<NetworkReading, 'fees' | 'shown'> {
  const transferFee = agreed ?? configured
  return {
    fees:
      transferFee > ceiling
        ? {
            reason: 'transfer_fee_above_ceiling',
            charge: 'A transfer',
            cost: `takes ${transferFee}`,
            ceiling: ceiling.toString(),
          }
        : new FlatFees({ transferFee }),
    shown: {
      transferFee: transferFee.toString(),
      ceilingTransferFee: ceiling.toString(),
      feeFrom: agreed === undefined ? 'configured' : 'agreed',
    },
  }
}
