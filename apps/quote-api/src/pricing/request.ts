import type { Hex } from '@causeway/core'
import type { OutputChoice } from '@causeway/families/rules'

export const tradeTypes = ['EXACT_INPUT', 'EXACT_OUTPUT', 'EXPECTED_OUTPUT'] as const
export type TradeType = (typeof tradeTypes)[number]

export const operations = ['send', 'swap', 'wrap', 'unwrap', 'bridge'] as const
export type Operation = (typeof operations)[number]

/** A call to run on the destination. `value` in wei of the destination's native currency. */
export type DestinationCall = { readonly to: Hex; readonly value: bigint; readonly data: Hex }

export type AppFeeRequest = { readonly recipient: Hex; readonly bps: bigint }

/**
 * A quote request after its body was parsed; amounts in smallest units.
 * @source quote-and-sponsorship.md, POST /price and POST /quote; rule Q-137
 */
export type QuoteRequest = {
  readonly user: string
  readonly recipient: string | undefined
  readonly originChainId: number
  readonly destinationChainId: number
  readonly originCurrency: string
  readonly destinationCurrency: string
  /** Input or output basis, by `tradeType`. */
  readonly amount: bigint
  readonly tradeType: TradeType
  readonly txs: readonly DestinationCall[]
  readonly txsGasLimit: bigint | undefined
  readonly refundTo: string | undefined
  /** Pays the origin's network in the user's place; it was checked against both. */
  readonly depositFeePayer?: string | undefined
  /** Hex: of a user whose address does not name it. */
  readonly userPublicKey?: string | undefined
  /** Outputs to spend of a user whose family has no balances. */
  readonly outputChoice?: OutputChoice | undefined
  readonly topupGas: boolean
  readonly topupGasMicroUsd: bigint
  readonly appFees: readonly AppFeeRequest[]
  /** Explicit tolerance; undefined means automatic. */
  readonly slippageBps: bigint | undefined
  readonly usePermit: boolean
  /** Validity of a permit's signature, in seconds. */
  readonly permitExpirySeconds: number
  readonly useDepositAddress: boolean
  /** A deposit address of one use: what is paid is filled as quoted or given back, and never quoted anew. */
  readonly strict: boolean
  readonly explicitDeposit: boolean
  readonly forceSolverExecution: boolean
  readonly overridePriceImpact: boolean
  /** Pools beyond those of the configuration, and two in a row, where one of them is not enough. */
  readonly useFallbacks: boolean
  /** External liquidity that arrives in time counts where the solver's inventory is short. */
  readonly useExternalLiquidity: boolean
  /** The answer has the signature of its order. */
  readonly includeProtocolData: boolean
  /** Gas that the user's account takes beside its calls, which the solver submits; none: the user sends. */
  readonly originGasOverhead?: bigint | undefined
  /** Undefined: every swap. */
  readonly swaps?: SwapPermissions | undefined
  /** Seconds after which no payment for it is begun; undefined: as long as orders live. */
  readonly ttlSeconds?: number | undefined
  /** Attribution, as the caller wrote it. */
  readonly referrer?: string | undefined
  readonly referrerAddress?: string | undefined
}

/** Sides on which pools may be used. */
export type SwapPermissions = {
  readonly isOriginDisabled: boolean
  readonly hasOriginSource: boolean
  readonly hasDestinationSource: boolean
}
