import { FlatFees } from '../rules/flatFees.ts'
import type { NetworkReaderOptions, NetworkReading } from './networkReader.ts'
import { type PayingFees, type PaymentTerms, type PlannedPayment, refuseAboveCeiling } from './payingChain.ts'

/** Payments that the fill wallet of an exchange may not make, and transfers that the exchange supports. */
export type TransferRules = {
  readonly wallet: string
  readonly depositories: readonly string[]
  /** Why the exchange does not move it. */
  readonly refuse: (payment: PlannedPayment) => string | undefined
}

/**
 * An exchange whose transfers pay one account each, and approve nothing.
 * @returns why the terms cannot be one of its transfers
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
  // It would be a deposit for the order that it pays.
  if (depositories.includes(payment.recipient)) return 'the recipient is a depository'
  return payment.recipient === wallet ? 'the recipient is the fill wallet' : undefined
}

/** @throws Error for fees of another family */
export function refuseTransferFee(bid: PayingFees): string | undefined {
  const { fees } = bid
  if (!(fees instanceof FlatFees)) throw new Error('fees of another family')
  return refuseAboveCeiling('a transfer takes', fees.transferFee, bid)
}

type FlatModel = Extract<NetworkReaderOptions['feeModel'], { readonly kind: 'flat' }>

/** @param agreed what endpoints say that a transfer takes; absent: what is configured counts */
export function flatFeesOf(
  { transferFee: configured, maxTransferFee: ceiling }: FlatModel,
  agreed?: bigint,
): Pick<NetworkReading, 'fees' | 'shown'> {
  const transferFee = agreed ?? configured
  return {
    fees:
      transferFee > ceiling
        ? {
            ...{ reason: 'transfer_fee_above_ceiling', charge: 'A transfer' },
            ...{ cost: `takes ${transferFee}`, ceiling: ceiling.toString() },
          }
        : new FlatFees({ transferFee }),
    shown: {
      transferFee: transferFee.toString(),
      ceilingTransferFee: ceiling.toString(),
      feeFrom: agreed === undefined ? 'configured' : 'agreed',
    },
  }
}
