import { maxBigint } from '@causeway/core'
import type { AccountLack, CostedTransaction, NetworkFees } from '../../../rules/networkFees.ts'

/** Energy that a token's own code uses; of several tokens the highest. */
export type TokenEnergy = {
  /** Energy of a transfer to a holder of the token, and to a recipient without any. */
  readonly toHolder: bigint
  readonly toNewHolder: bigint
  readonly approve: bigint
}

/** Prices of a chain at one moment, and energy of its tokens. */
export type TronFeeFacts = {
  /** Prices in millionths of a TRX, which are burnt: chain parameters `getEnergyFee`, `getTransactionFee`. */
  readonly sunPerEnergy: bigint
  readonly sunPerByte: bigint
  readonly tokenEnergy: TokenEnergy
}

/** Assumed energy of an unmeasured token: that of the most used one, factor included. @source rule F-128 */
export const usualTokenEnergy: TokenEnergy = {
  toHolder: 64_300n,
  toNewHolder: 130_300n,
  approve: 100_000n,
}

/**
 * Energy that the depository and the fill contract use themselves, without that of a token: a quarter above
 * measurements on the local network, with which `test/families/tronEnergy.test.ts` compares them.
 */
const ownEnergy = {
  depositCoin: 10_000n,
  depositToken: 20_000n,
  payCoin: 50_000n,
  payToken: 45_000n,
  topup: 20_000n,
} as const

/** Energy that a contract's payment uses to create its recipient's account. @source rule F-128 */
const activationEnergy = 25_000n

/**
 * Most bytes of each signed transaction, with the 64 that are counted for a result; `topup`: those that it
 * adds to a fill. Small amounts and times take fewer.
 * @source java-tron, Constant.MAX_RESULT_SIZE_IN_TX
 */
const bytes = {
  sendCoin: 270n,
  approve: 348n,
  sendToken: 348n,
  depositTransfer: 381n,
  depositCoin: 356n,
  depositToken: 414n,
  payCoin: 586n,
  payToken: 609n,
  topup: 75n,
} as const

/** Resources that a transaction uses: energy, and counted bytes. */
export type TronUse = { readonly energy: bigint; readonly bytes: bigint }

/**
 * Tron's network fees: energy and bytes at the prices at which TRX is burnt for them. An account with staked TRX, or
 * with free bytes of the day left, pays less. @source rule F-129
 */
export class TronFees implements NetworkFees {
  readonly sunPerEnergy: bigint
  readonly sunPerByte: bigint
  readonly #tokenEnergy: TokenEnergy

  constructor({ sunPerEnergy, sunPerByte, tokenEnergy }: TronFeeFacts) {
    this.sunPerEnergy = sunPerEnergy
    this.sunPerByte = sunPerByte
    this.#tokenEnergy = tokenEnergy
  }

  costOf(transaction: CostedTransaction): bigint {
    return transaction.networkFee ?? this.burntFor(this.useOf(transaction))
  }

  /** Sun that are burnt for energy and bytes. */
  burntFor(use: TronUse): bigint {
    return use.energy * this.sunPerEnergy + use.bytes * this.sunPerByte
  }

  gasOf(transaction: CostedTransaction): { readonly expected: bigint; readonly limit: bigint } {
    const { energy } = this.useOf(transaction)
    return { expected: energy, limit: energy }
  }

  /** The first payer of an account pays for its creation, and never gets that back. */
  rentOf({ isAbsent }: AccountLack): bigint {
    return isAbsent === true ? activationEnergy * this.sunPerEnergy : 0n
  }

  /** The chain has no such limit. */
  leastPayment(): bigint {
    return 0n
  }

  equals(other: NetworkFees): boolean {
    if (!(other instanceof TronFees)) return false
    const [ownEnergies, otherEnergies] = [this.#tokenEnergy, other.#tokenEnergy]
    return (
      this.sunPerEnergy === other.sunPerEnergy &&
      this.sunPerByte === other.sunPerByte &&
      ownEnergies.toHolder === otherEnergies.toHolder &&
      ownEnergies.toNewHolder === otherEnergies.toNewHolder &&
      ownEnergies.approve === otherEnergies.approve
    )
  }

  /**
   * Use of a transaction, units of its account's or payee's code included. @throws Error for other families' kinds
   */
  useOf(transaction: CostedTransaction): TronUse {
    const { energy, bytes: size } = this.#plainUseOf(transaction)
    return { energy: energy + (transaction.overheadUnits ?? 0n), bytes: size }
  }

  #plainUseOf({ kind, isNative, lack }: CostedTransaction): TronUse {
    const { toHolder, toNewHolder, approve } = this.#tokenEnergy
    switch (kind) {
      case 'approve':
      case 'reset-approval':
        return { energy: approve, bytes: bytes.approve }
      case 'deposit':
        return isNative
          ? { energy: ownEnergy.depositCoin, bytes: bytes.depositCoin }
          : { energy: toHolder + ownEnergy.depositToken, bytes: bytes.depositToken }
      case 'deposit-transfer':
        return { energy: toHolder, bytes: bytes.depositTransfer }
      case 'send-input':
        if (isNative) return { energy: 0n, bytes: bytes.sendCoin }
        // The dearer case counts, whatever the recipient holds.
        return { energy: maxBigint(toHolder, toNewHolder), bytes: bytes.sendToken }
      case 'fill':
        if (isNative) return { energy: ownEnergy.payCoin, bytes: bytes.payCoin }
        return {
          energy: ownEnergy.payToken + (lack?.holdsNone === true ? toNewHolder : toHolder),
          bytes: bytes.payToken,
        }
      // A refunded user may hold none of the token any more.
      case 'refund':
        return isNative
          ? { energy: ownEnergy.payCoin, bytes: bytes.payCoin }
          : { energy: ownEnergy.payToken + toNewHolder, bytes: bytes.payToken }
      case 'fill-topup':
        return { energy: ownEnergy.topup, bytes: bytes.topup }
      default:
        throw new Error(`no ${kind} is sent on this family`)
    }
  }
}
