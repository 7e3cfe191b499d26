import type { AccountLack, CostedTransaction, NetworkFees } from './quotingFamily.ts'

const sent: ReadonlySet<CostedTransaction['kind']> = new Set(['deposit', 'send-input', 'fill', 'refund'])

/**
 * Fee of an exchange per transfer, whatever it moves, and one for each account that it creates: both in the native
 * currency, on top of the moved amount. @source rules F-157, F-165
 */
export class FlatFees implements NetworkFees {
  /** Smallest units of the native currency. */
  readonly transferFee: bigint

  constructor({ transferFee }: Pick<FlatFees, 'transferFee'>) {
    this.transferFee = transferFee
  }

  /** @throws Error for what nobody sends on an exchange */
  costOf({ kind }: CostedTransaction): bigint {
    if (!sent.has(kind)) throw new Error(`no ${kind} is sent on this family`)
    return this.transferFee
  }

  /** Nobody signs a limit here. */
  gasOf(): undefined {
    return undefined
  }

  rentOf({ accountFee = 0n }: AccountLack): bigint {
    return accountFee
  }

  leastPayment(): bigint {
    return 0n
  }

  equals(other: NetworkFees): boolean {
    return other instanceof FlatFees && this.transferFee === other.transferFee
  }
}
