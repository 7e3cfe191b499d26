import { maxBigint } from '@causeway/core'
import type { AccountLack, CostedTransaction, NetworkFees } from '../../../rules/quotingFamily.ts'

/** Energy that a token's own code takes; of several tokens the most. */
export type TokenEnergy = {
  /** Energy of a transfer to a holder of the token, and to a recipient without any. */
  readonly toHolder: bigint
  readonly toNewHolder: bigint
  readonly approve: bigint
}

/** Inputs of a chain's fees. */
export type TronFeeFacts = {
  /** Prices by which TRX is burnt: the parameters `getEnergyFee` and `getTransactionFee`. */
  readonly sunPerEnergy: bigint
  readonly sunPerByte: bigint
  readonly tokenEnergy: TokenEnergy
}

/**
 * Energy of a token that nobody has measured yet: that of the token which most payments here are made in, its energy
 * factor included.
 * @source rule F-128
 */
export const usualTokenEnergy: TokenEnergy = {
  toHolder: 64_300n,
  toNewHolder: 130_300n,
  approve: 100_000n,
}

/**
 * Energy that the depository and the fill contract take, to which a token's own is added: a quarter above what the
 * local network measures. `test/families/tronEnergy.test.ts` compares them.
 */
const ownEnergy = {
  depositCoin: 10_000n,
  depositToken: 20_000n,
  payCoin: 50_000n,
  payToken: 45_000n,
  topup: 20_000n,
} as const

/** Energy of a contract's payment that activates its recipient account. @source rule F-128 */
const activationEnergy = 25_000n

/**
 * Most bytes of each signed transaction, with the 64 that are counted for a result. Small amounts and times take fewer.
 * @source families.md 5.3
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

/** Resources of a transaction: energy of contracts, and bytes of the chain. */
export type TronUse = { readonly energy: bigint; readonly bytes: bigint }

/**
 * Energy and bytes at the prices at which TRX is burnt for them. An account with staked TRX, or with bytes left of
 * those that the chain gives every account each day, pays less. @source rule F-129
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

  leastPayment(): bigint {
    return 0n
  }

  equals(other: NetworkFees): boolean {
    if (!(other instanceof TronFees)) return false
    const [own, its] = [this.#tokenEnergy, other.#tokenEnergy]
    return (
      this.sunPerEnergy === other.sunPerEnergy &&
      this.sunPerByte === other.sunPerByte &&
      own.toHolder === its.toHolder &&
      own.toNewHolder === its.toNewHolder &&
      own.approve === its.approve
    )
  }

  /** @throws Error for what no solver or user of this family sends */
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
        return { energy: maxBigint(toHolder, toNewHolder), bytes: bytes.sendToken }
      case 'fill':
        if (isNative) return { energy: ownEnergy.payCoin, bytes: bytes.payCoin }
        return {
          energy: ownEnergy.payToken + (lack?.holdsNone === true ? toNewHolder : toHolder),
          bytes: bytes.payToken,
        }
      // A refunded user may have deposited all that he had of the token.
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
