import { bpsDenominator, bpsUp, divideUp } from '@causeway/core'
import type { CostedTransaction, NetworkFees } from '../../../rules/networkFees.ts'
import { dustMax } from './virtualSize.ts'

const bytesPerKilobyte = 1_000n

/** Fee of a size at a price per thousand virtual bytes; satoshi, rounded up. */
export const feeAt = (satPerKvb: bigint, virtualBytes: number): bigint =>
  divideUp(satPerKvb * BigInt(virtualBytes), bytesPerKilobyte)

/**
 * Assumed virtual bytes of transactions that are not planned in detail. Deposit: one P2SH input, and outputs to the
 * depository, for the order id and for change. Payment by a solver: one witness input, the largest recipient output,
 * order id and change. Sweep: a payment with an input from a deposit address. Plain: a payment without an order id.
 */
const usualBytes = { deposit: 242, payment: 230, plain: 166, sweep: 307 } as const

/** Surcharge on a solver's transactions, because it replaces one that waits too long by one that pays more. */
const replacementBps = 2_500n

/** Bitcoin's network fees: one price per virtual byte of a transaction, whatever it moves. */
export class BitcoinFees implements NetworkFees {
  /** Satoshi per thousand virtual bytes. */
  readonly satPerKvb: bigint

  constructor({ satPerKvb }: Pick<BitcoinFees, 'satPerKvb'>) {
    this.satPerKvb = satPerKvb
  }

  /** Satoshi, rounded up. */
  feeOf(virtualBytes: number): bigint {
    return feeAt(this.satPerKvb, virtualBytes)
  }

  /** A fee that planning has decided is kept. @throws Error for kinds that this family does not have */
  costOf(transaction: CostedTransaction): bigint {
    const { kind, networkFee } = transaction
    if (networkFee !== undefined) return networkFee
    switch (kind) {
      case 'deposit':
        return this.feeOf(usualBytes.deposit)
      case 'send-input':
      case 'pay-address':
        return this.feeOf(usualBytes.plain)
      case 'fill':
      case 'refund':
        return bpsUp(this.feeOf(usualBytes.payment), bpsDenominator + replacementBps)
      case 'sweep':
        return bpsUp(this.feeOf(usualBytes.sweep), bpsDenominator + replacementBps)
      default:
        throw new Error(`no ${kind} is sent on this family`)
    }
  }

  /** Bitcoin transactions have no gas limit. */
  gasOf(): undefined {
    return undefined
  }

  /** Nothing is charged for what a payment creates on chain. */
  rentOf(): bigint {
    return 0n
  }

  /** Least amount that nodes relay, for any kind of recipient address. */
  leastPayment(): bigint {
    return dustMax
  }

  equals(other: NetworkFees): boolean {
    return other instanceof BitcoinFees && this.satPerKvb === other.satPerKvb
  }
}
