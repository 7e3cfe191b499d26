import { divideUp } from '@causeway/core'
import type { AccountLack, CostedTransaction, NetworkFees } from '../../../rules/networkFees.ts'
import { markBytes } from '../programs.ts'

/** @source Solana documentation, "Transaction fees" */
export const lamportsPerSignature = 5_000n

/** Prices of a cluster at one moment. */
export type SolanaFeeFacts = {
  readonly lamportsPerSignature: bigint
  /** Price of a place in a block, per compute unit. */
  readonly microLamportsPerUnit: bigint
  /** Per byte of an account's data, and of the overhead that each account has. */
  readonly rentLamportsPerByte: bigint
}

/**
 * Limit of compute units that a transaction asks for and pays for. In tests a tenth is used; programs of public
 * clusters use more, and a transaction that runs out of units fails and still pays.
 * `test/families/solanaSteps.test.ts` measures every form.
 */
const units = {
  coin: 60_000n,
  token: 90_000n,
  /** A payment that creates a token account first. */
  withAccount: 120_000n,
  /** The program that empties an address checks a signature and calls the depository. */
  sweep: 150_000n,
  /** A second payment of coin in one transaction. */
  topup: 3_000n,
} as const

/** Transactions that create a marker, whose rent is never returned. See decision 27. */
const markedKinds: ReadonlySet<CostedTransaction['kind']> = new Set(['fill', 'refund', 'sweep'])

/** Bytes for which an account pays rent beside its data. @source Solana documentation, "Rent" */
const accountOverheadBytes = 128n
const microLamports = 1_000_000n

/**
 * Solana's network fees: per signature, and per requested compute unit, used or not.
 * @source Solana documentation, "Transaction fees"
 */
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
    // A top-up is part of its fill's transaction, which has paid for the signature.
    return priority + marker + (kind === 'fill-topup' ? 0n : this.#lamportsPerSignature * BigInt(signatures))
  }

  gasOf(transaction: CostedTransaction): { readonly expected: bigint; readonly limit: bigint } {
    const limit = this.unitsOf(transaction)
    return { expected: limit, limit }
  }

  rentOf({ stateBytes = 0 }: AccountLack): bigint {
    return stateBytes === 0 ? 0n : (accountOverheadBytes + BigInt(stateBytes)) * this.#rentLamportsPerByte
  }

  /** The cluster keeps no new account that holds less than its rent. */
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

  /** Requested compute units. @throws Error for kinds that this family does not have */
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
