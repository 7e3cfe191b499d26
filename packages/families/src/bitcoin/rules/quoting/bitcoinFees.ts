import { bpsDenominator, bpsUp, divideUp } from '@causeway/core'
import type { CostedTransaction, NetworkFees } from '../../../rules/quotingFamily.ts'
import { dustMax } from './virtualSize.ts'

const bytesPerKilobyte = 1_000n

/** Fee of a size at a price per thousand virtual bytes; satoshi, rounded up. */
export const feeAt = (satPerKvb: bigint, virtualBytes: number): bigint =>
  divideUp(satPerKvb * BigInt(virtualBytes), bytesPerKilobyte)

/**
 * Virtual bytes of what is not planned yet, or what a solver sends. A deposit: one input behind a script hash, the
 * depository, the order id and change. A payment: one witness input, the dearest form of recipient, the order id and
 * change. A sweep: the same with one output of a deposit address beside the input. @source families.md 5.2
 */
const usualBytes = { deposit: 242, payment: 230, plain: 166, sweep: 307 } as const

/** Solvers replace what waits too long by what pays more, which their payments are charged for beforehand. */
const replacementBps = 2_500n

/** A price on the virtual bytes of a transaction, whatever it moves. */
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

  /** @throws Error for what nobody sends on this family */
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

  /** Nobody signs a limit here. */
  gasOf(): undefined {
    return undefined
  }

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
