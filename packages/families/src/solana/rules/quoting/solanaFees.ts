import { divideUp } from '@causeway/core'
import type { AccountLack, CostedTransaction, NetworkFees } from '../../../rules/quotingFamily.ts'
import { markBytes } from '../programs.ts'

/** Inputs of a cluster's fees. */
export type SolanaFeeFacts = {
  readonly lamportsPerSignature: bigint
  /** Price of a place in a block, per compute unit. */
  readonly microLamportsPerUnit: bigint
  /** For each byte of an account, and for as many more as each account counts beside its data. */
  readonly rentLamportsPerByte: bigint
}

/**
 * Compute units that a transaction asks for, which is what it pays for. The runtime here uses a tenth of them; the
 * programs of public clusters use more, and a transaction that runs out of units has failed and paid.
 * `test/families/solanaSteps.test.ts` measures every form. @source families.md 5.1
 */
const units = {
  coin: 60_000n,
  token: 90_000n,
  /** It makes a token account first. */
  withAccount: 120_000n,
  /** The program that empties an address checks a signature and calls the depository. */
  sweep: 150_000n,
  /** A second payment of coin in one transaction. */
  topup: 3_000n,
} as const

/** Transactions that create a marker, whose rent is never returned. See decision 27. */
const markedKinds: ReadonlySet<CostedTransaction['kind']> = new Set(['fill', 'refund', 'sweep'])

/** @source Solana documentation, "Rent": bytes that an account takes beside its data */
const accountOverheadBytes = 128n
const microLamports = 1_000_000n

/** Signatures, and a price on the units that are asked for, whether they are used or not. @source families.md 5.1 */
export class SolanaFees implements NetworkFees {
  readonly microLamportsPerUnit: bigint
  readonly #lamportsPerSignature: bigint
  readonly #rentLamportsPerByte: bigint

  constructor({ lamportsPerSignature, microLamportsPerUnit, rentLamportsPerByte }: SolanaFeeFacts) {
    this.microLamportsPerUnit = microLamportsPerUnit
    this.#lamportsPerSignature = lamportsPerSignature
    this.#rentLamportsPerByte = rentLamportsPerByte
  }

  costOf(transaction: CostedTransaction): bigint {
    const { kind, signatures = 1 } = transaction
    const priority = divideUp(this.unitsOf(transaction) * this.microLamportsPerUnit, microLamports)
    const marker = markedKinds.has(kind) ? this.rentOf({ stateBytes: markBytes.paid }) : 0n
    // A top-up is a part of its fill.
    return priority + marker + (kind === 'fill-topup' ? 0n : this.#lamportsPerSignature * BigInt(signatures))
  }

  gasOf(transaction: CostedTransaction): { readonly expected: bigint; readonly limit: bigint } {
    const limit = this.unitsOf(transaction)
    return { expected: limit, limit }
  }

  rentOf({ stateBytes = 0 }: AccountLack): bigint {
    return stateBytes === 0 ? 0n : (accountOverheadBytes + BigInt(stateBytes)) * this.#rentLamportsPerByte
  }

  /** An account without data that holds less than its rent is not kept. */
  leastPayment({ isAbsent }: Pick<AccountLack, 'isAbsent'>): bigint {
    return isAbsent === true ? accountOverheadBytes * this.#rentLamportsPerByte : 0n
  }

  equals(other: NetworkFees): boolean {
    return (
      other instanceof SolanaFees &&
      this.microLamportsPerUnit === other.microLamportsPerUnit &&
      this.#lamportsPerSignature === other.#lamportsPerSignature &&
      this.#rentLamportsPerByte === other.#rentLamportsPerByte
    )
  }

  /** @throws Error for what no solver or user of this family sends */
  unitsOf({ kind, isNative, lack }: CostedTransaction): bigint {
    switch (kind) {
      case 'deposit':
      case 'send-input':
      case 'pay-address':
      case 'fill':
      case 'refund':
        if ((lack?.stateBytes ?? 0) > 0) return units.withAccount
        return isNative ? units.coin : units.token
      case 'sweep':
        return units.sweep
      case 'fill-topup':
        return units.topup
      default:
        throw new Error(`no ${kind} is sent on this family`)
    }
  }
}
