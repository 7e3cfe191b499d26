import type { AccountLack, CostedTransaction, NetworkFees } from './networkFees.ts'

/** Kinds of transactions that are sent on exchanges. */
const sentKinds: ReadonlySet<CostedTransaction['kind']> = new Set(['deposit', 'send-input', 'fill', 'refund'])

/**
 * Fees of an exchange (Hyperliquid, Lighter): a flat one for each transfer, and one for each account that it creates.
 * Both are in the native currency, on top of the moved amount. @source rules F-157, F-165
 */
export class FlatFees implements NetworkFees {
  /** Smallest units of the native currency. */
  readonly transferFee: bigint

  constructor({ transferFee }: Pick<FlatFees, 'transferFee'>) {
    this.transferFee = transferFee
  }

  /** @throws Error for a kind of transaction that exchanges do not have */
  costOf({ kind }: CostedTransaction): bigint {
    if (!sentKinds.has(kind)) throw new Error(`no ${kind} is sent on this family`)
    return this.transferFee
  }

  /** Transactions of exchanges have no gas limit. */
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
