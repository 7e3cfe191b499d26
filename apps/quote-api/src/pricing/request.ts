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
 * @source rule Q-137
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
  /** Calls that run on the destination with the output; usually none. */
  readonly txs: readonly DestinationCall[]
  /** Gas units that the calls may use; undefined: a trial measures them. */
  readonly txsGasLimit: bigint | undefined
  readonly refundTo: string | undefined
  /** Account that pays the origin's network in the user's place; `depositFeePayer.ts` has checked it. */
  readonly depositFeePayer?: string | undefined
  /** In hex; set where the user's address does not contain the key. */
  readonly userPublicKey?: string | undefined
  /** Unspent outputs that the user wants to spend, in families without balances. */
  readonly outputChoice?: OutputChoice | undefined
  /** The fill also pays some of the destination's native coin. */
  readonly topupGas: boolean
  /** Worth of the gas top-up; counts only with `topupGas`. */
  readonly topupGasMicroUsd: bigint
  readonly appFees: readonly AppFeeRequest[]
  /** Explicit tolerance; undefined means automatic. */
  readonly slippageBps: bigint | undefined
  /** The user signs the deposit, and the solver sends it. */
  readonly usePermit: boolean
  /** Validity of a permit's signature, in seconds. */
  readonly permitExpirySeconds: number
  /** The user pays an address, from which the solver makes the deposit. */
  readonly useDepositAddress: boolean
  /** A deposit address of one use: what is paid is filled as quoted or given back, and never quoted anew. */
  readonly strict: boolean
  /** False: the deposit is a plain transfer to the depository, in place of a call of it. */
  readonly explicitDeposit: boolean
  /** A solver fills the route even if the user could execute it alone. */
  readonly forceSolverExecution: boolean
  /** The caller accepts any loss in pools. */
  readonly overridePriceImpact: boolean
  /** Pools beyond those of the configuration, and two in a row, where one of them is not enough. */
  readonly useFallbacks: boolean
  /** External liquidity that arrives in time counts where the solver's inventory is short. */
  readonly useExternalLiquidity: boolean
  /** The answer has the signature of its order. */
  readonly includeProtocolData: boolean
  /** Gas units of the user's account besides its calls, where the solver submits these; else undefined. */
  readonly originGasOverhead?: bigint | undefined
  /** Undefined: every swap is permitted. */
  readonly swaps?: SwapPermissions | undefined
  /** Seconds after which no solver begins to pay the order; undefined: the usual lifetime of orders. */
  readonly ttlSeconds?: number | undefined
  /** Attribution, as the caller wrote it. */
  readonly referrer?: string | undefined
  readonly referrerAddress?: string | undefined
}

/** Sides on which pools may be used. A source is permitted unless the caller's lists leave out `swapSource`. */
export type SwapPermissions = {
  /** The caller forbids swaps on the origin altogether. */
  readonly isOriginDisabled: boolean
  readonly hasOriginSource: boolean
  readonly hasDestinationSource: boolean
}
