import { divideUp, maxBigint, minBigint } from '@causeway/core'
import type { DearerState } from '../../../rules/measuredUnits.ts'
import type { CostedTransaction, NetworkFees, StateWrites } from '../../../rules/networkFees.ts'
import { dearerUnits, stateAsCounted } from './dearerState.ts'
import {
  clearedSlotUnits,
  createdSlotUnits,
  type GasShape,
  gasShapes,
  newAccountUnits,
  newClone,
  newState,
  orderCloneUnits,
  refundShare,
  type UsedShape,
  usedUnits,
} from './gasUnits.ts'

/** Wei per gas on one chain. `expected` is shown and charged; `max` bounds what a step may pay. */
export type GasPrice = {
  readonly expectedWei: bigint
  readonly maxFeePerGasWei: bigint
  readonly maxPriorityFeePerGasWei: bigint
}

/** Everything that determines the fees on one chain at one moment. */
export type EthereumFeeFacts = {
  readonly gasPrice: GasPrice
  readonly gasUnits: Readonly<Record<GasShape, bigint>>
  /** Surcharge for new state above the assumed units; absent: none. */
  readonly dearer?: DearerState
  /** L1 data fee and operator fee per shape; zero where the chain has none. */
  readonly l1DataFeeWei: Readonly<Record<GasShape, bigint>>
  /** Fee for one more byte of data that does not compress; absent: 0. */
  readonly dataByteWei?: bigint | undefined
  /** True if the chain charges the data fee as gas, so that gas limits must include it. Absent: charged beside gas. */
  readonly isDataFeeGas?: boolean
}

/** Extra units per initialised tick that a swap crosses: two cold storage slots and arithmetic. */
const unitsPerTickCrossed = 30_000n
/**
 * Factor on the data fee in a gas limit: until the transaction the price of data may rise and that of gas may fall.
 * Unused gas costs nothing.
 */
const dataGasHeadroom = 2n
/** Gas units of each pool after a swap's first: expected use, and share of the limit. */
const hopUnits = { used: 74_000n, limit: 140_000n }

/**
 * Fees of an EVM chain: gas at the expected price, plus the data fee. Two counts of gas units:
 * - The limit (`unitsOf`) has the most that a transaction can take, by the table `gasUnits`. Steps are sent
 *   with it.
 * - The expected units are shown and charged. Of a user's own transaction, whose state writes are known, they
 *   are the measured use (`expectedUnits`); of any other they are those of the limit, without headroom for
 *   data.
 *
 * Both counts include the data fee on chains that charge it as gas; its cost in wei is the same either way.
 */
export class EthereumFees implements NetworkFees {
  readonly gasPrice: GasPrice
  readonly l1DataFeeWei: EthereumFeeFacts['l1DataFeeWei']
  readonly dataByteWei: bigint
  readonly dearer: DearerState
  readonly #gasUnits: EthereumFeeFacts['gasUnits']
  readonly #isDataFeeGas: boolean

  constructor(facts: EthereumFeeFacts) {
    const { gasPrice, gasUnits, dearer = stateAsCounted, l1DataFeeWei } = facts
    const { dataByteWei = 0n, isDataFeeGas = false } = facts
    this.gasPrice = gasPrice
    this.#gasUnits = gasUnits
    this.dearer = dearer
    this.l1DataFeeWei = l1DataFeeWei
    this.dataByteWei = dataByteWei
    this.#isDataFeeGas = isDataFeeGas
  }

  costOf(transaction: CostedTransaction): bigint {
    return this.#expectedUnits(transaction) * this.gasPrice.expectedWei + this.#dataFeeOf(transaction)
  }

  /** The chain's data fee in wei, if it is charged beside gas; 0 if it is charged as gas. */
  besideGasOf(transaction: CostedTransaction): bigint {
    return this.#isDataFeeGas ? 0n : this.#dataFeeOf(transaction)
  }

  gasOf(transaction: CostedTransaction): { readonly expected: bigint; readonly limit: bigint } {
    const expected = this.#expectedUnits(transaction) + this.#dataUnits(this.#dataFeeOf(transaction))
    return { limit: this.unitsOf(transaction), expected }
  }

  /** New state costs only gas on EVM chains, so there is no rent, and an account can receive any amount. */
  rentOf(): bigint {
    return 0n
  }

  leastPayment(): bigint {
    return 0n
  }

  equals(other: NetworkFees): boolean {
    if (!(other instanceof EthereumFees)) return false
    const { expectedWei, maxFeePerGasWei, maxPriorityFeePerGasWei } = this.gasPrice
    return (
      expectedWei === other.gasPrice.expectedWei &&
      maxFeePerGasWei === other.gasPrice.maxFeePerGasWei &&
      maxPriorityFeePerGasWei === other.gasPrice.maxPriorityFeePerGasWei &&
      this.#isDataFeeGas === other.#isDataFeeGas &&
      this.dataByteWei === other.dataByteWei &&
      this.dearer.slotUnits === other.dearer.slotUnits &&
      this.dearer.accountUnits === other.dearer.accountUnits &&
      hasSameShapes(this.#gasUnits, other.#gasUnits) &&
      hasSameShapes(this.l1DataFeeWei, other.l1DataFeeWei)
    )
  }

  /** The gas limit: execution, and the data fee with headroom if it is charged as gas. */
  unitsOf(transaction: CostedTransaction): bigint {
    return this.#executionUnits(transaction) + this.#dataUnits(dataGasHeadroom * this.#dataFeeOf(transaction))
  }

  #expectedUnits(transaction: CostedTransaction): bigint {
    const { writes } = transaction
    return writes === undefined
      ? this.#executionUnits(transaction)
      : expectedUnits(transaction, writes, this.dearer)
  }

  #dataFeeOf(transaction: CostedTransaction): bigint {
    return this.l1DataFeeWei[shapeOf(transaction)] + (transaction.callBytes ?? 0n) * this.dataByteWei
  }

  #dataUnits(wei: bigint): bigint {
    return this.#isDataFeeGas ? divideUp(wei, maxBigint(1n, this.gasPrice.expectedWei)) : 0n
  }

  /** Most gas units of the execution: the table's units, crossed ticks and pools, calls of a fill and its clone. */
  #executionUnits(transaction: CostedTransaction): bigint {
    const { ticksCrossed = 0, hops = 1, callUnits = 0n, overheadUnits = 0n } = transaction
    const shape = shapeOf(transaction)
    const { slots, accounts } = newState[shape]
    const cloneUnits = orderCloneUnits + dearerUnits(newClone, this.dearer)
    const callsAndClone = callUnits === 0n ? 0n : callUnits + cloneUnits
    const ticks = BigInt(ticksCrossed) * unitsPerTickCrossed
    const pools = BigInt(hops - 1) * hopUnits.limit
    // Each further pool may create a slot of its own.
    const state = dearerUnits({ slots: slots + hops - 1, accounts }, this.dearer)
    return this.#gasUnits[shape] + state + ticks + pools + callsAndClone + overheadUnits
  }
}

type ByShape = Readonly<Record<GasShape, bigint>>

function hasSameShapes(a: ByShape, b: ByShape): boolean {
  return a === b || gasShapes.every((shape) => a[shape] === b[shape])
}

/**
 * Expected gas units of one of the user's own transactions, whose state writes are known. A solver's transactions have no
 * known writes: `#executionUnits` costs them.
 */
function expectedUnits(transaction: CostedTransaction, writes: StateWrites, dearer: DearerState): bigint {
  const crossingUnits =
    BigInt(transaction.ticksCrossed ?? 0) * unitsPerTickCrossed +
    BigInt((transaction.hops ?? 1) - 1) * hopUnits.used
  const shape = usedShapeOf(transaction, writes)
  // The payee of native coin may be a new account. Only a surcharge makes that cost more, so it counts for that alone.
  const accounts = shape === 'send-native' ? 1 : writes.accounts
  const unitsBeforeRefund =
    usedUnits[shape] +
    crossingUnits +
    BigInt(writes.created) * createdSlotUnits +
    BigInt(writes.accounts) * newAccountUnits +
    dearerUnits({ slots: writes.created, accounts }, dearer)
  return (
    unitsBeforeRefund - minBigint(BigInt(writes.cleared) * clearedSlotUnits, unitsBeforeRefund / refundShare)
  )
}

function usedShapeOf({ kind, isNative }: CostedTransaction, { paysNative }: StateWrites): UsedShape {
  switch (kind) {
    case 'reset-approval':
    case 'approve':
      return 'approve'
    case 'deposit':
      return isNative ? 'deposit-native' : 'deposit-erc20'
    case 'swap':
      if (isNative) return 'swap-from-native'
      return paysNative ? 'swap-to-native' : 'swap'
    case 'swap-deposit':
    case 'wrap':
    case 'unwrap':
      return kind
    default:
      return isNative ? 'send-native' : 'send-erc20'
  }
}

function shapeOf({ kind, isNative }: CostedTransaction): GasShape {
  switch (kind) {
    case 'reset-approval':
      return 'approve'
    case 'deposit':
      return isNative ? 'deposit-native' : 'deposit-erc20'
    case 'deposit-transfer':
    case 'pay-address':
    case 'send-input':
    case 'send-output':
      return isNative ? 'send-native' : 'send-erc20'
    case 'fill':
      return isNative ? 'fill-native' : 'fill-erc20'
    case 'refund':
      return isNative ? 'refund-native' : 'refund-erc20'
    case 'sweep':
      return isNative ? 'sweep-native' : 'sweep-erc20'
    default:
      return kind
  }
}
