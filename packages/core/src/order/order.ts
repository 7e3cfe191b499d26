import type { Hex } from '../hex.ts'

/**
 * The solver's promise to pay, in its JSON shape: amounts are decimal strings in smallest units, deadlines JSON
 * numbers, chain ids the string ids of the configuration, addresses in their family's spelling.
 * @source rule P-89
 */
export type Order = {
  readonly version: 'v1'
  readonly solverChainId: string
  /** EVM account that signs the order id. */
  readonly solver: string
  /** uint256, decimal or `0x` hex. */
  readonly salt: string
  readonly inputs: readonly OrderInput[]
  readonly output: OrderOutput
  readonly fees: readonly OrderFee[]
}

/** A deposit that the order asks for, and the refunds of which the solver may pay one instead of filling. */
export type OrderInput = {
  readonly payment: {
    readonly chainId: string
    readonly currency: string
    readonly amount: string
    /** Factor of the amount in the comparison of deposits with inputs, decimal; see `weightedInputBpsDiff`. */
    readonly weight: string
  }
  readonly refunds: readonly OrderRefund[]
}

export type OrderRefund = {
  readonly chainId: string
  readonly recipient: string
  readonly currency: string
  readonly minimumAmount: string
  /** Unix seconds, uint32. */
  readonly deadline: number
  readonly extraData: Hex
}

export type OrderOutput = {
  readonly chainId: string
  readonly payments: readonly {
    readonly recipient: string
    readonly currency: string
    readonly minimumAmount: string
    /** The quoted amount. A payment below it is complete if it reaches the minimum. */
    readonly expectedAmount: string
  }[]
  /** Calls that the fill executes, in order, each by `encodeOrderCall`. */
  readonly calls: readonly Hex[]
  /** Unix seconds, uint32. */
  readonly deadline: number
  /** Names the fill contract, see `encodeFillExtraData`; `0x` where the family has none. */
  readonly extraData: Hex
}

export type OrderFee = {
  readonly recipientChainId: string
  readonly recipient: string
  readonly currencyChainId: string
  readonly currency: string
  readonly amount: string
}
