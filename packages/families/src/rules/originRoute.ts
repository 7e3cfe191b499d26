import type { Hex } from '@causeway/core'

/** A priced route as far as the origin's transactions depend on it; amounts in smallest units. */
export type OriginRoute = {
  /** As the caller wrote them. */
  readonly user: string
  readonly recipient: string
  /** Way in which the input leaves the user. */
  readonly by:
    | 'deposit'
    /** A plain transfer of the token to the depository, see `UserTransactionKind`. */
    | 'deposit-transfer'
    | 'pay-address'
    /** The user signs and the solver sends, so the user sends no transaction. */
    | 'signature'
    /** Signature through Permit2, which needs the user's allowance of the token. */
    | 'permit2'
    /** From here on the user executes everything, without a solver. */
    | 'send'
    | 'swap'
    | 'wrap'
    | 'unwrap'
  /** Account that pays the deposit's network fee and rent in place of the user. */
  readonly depositFeePayer?: string | undefined
  /** Hex, as the caller wrote it, for addresses that do not contain their key (Bitcoin). */
  readonly userPublicKey?: string | undefined
  /** On Bitcoin. */
  readonly outputChoice?: OutputChoice | undefined
  readonly currencyIn: QuotedCurrency
  readonly currencyOut: QuotedCurrency
  /** Expected input, and the most that is taken. */
  readonly amountIn: bigint
  readonly amountInMax: bigint
  /** Expected output, and the least that is accepted. */
  readonly amountOut: bigint
  readonly amountOutMin: bigint
  /** Swap on the origin: the whole route of a user without a solver, or the leg before the deposit. */
  readonly swap: OriginSwap | undefined
  /** Least amount that the depository receives, after a swap too; undefined if the user executes alone. */
  readonly deposited: { readonly currency: QuotedCurrency; readonly amount: bigint } | undefined
}

/** A swap through pools of the origin. */
export type OriginSwap = {
  readonly trade: 'exactInput' | 'exactOutput'
  readonly from: QuotedCurrency
  /** The pools that it goes through, in order, at least one: the currency that each yields, and its fee. */
  readonly hops: readonly { readonly to: QuotedCurrency; readonly feePips: number }[]
  readonly ticksCrossed: number
}

/** A currency as far as transactions depend on it. */
export type QuotedCurrency = {
  /** Canonical. */
  readonly address: string
  readonly isNative: boolean
  /** True if an allowance must be reset to 0 before it is changed. */
  readonly resetsAllowance: boolean
  /** Program that keeps the token, on Solana; absent for the usual one. */
  readonly tokenProgram?: string | undefined
  /** Symbol for people, which some exchanges' transactions contain as well. */
  readonly symbol?: string | undefined
  /** Decimals, in families whose transactions state amounts as decimal text. */
  readonly decimals?: number | undefined
}

/** Outputs that a user lets a transaction spend. */
export type OutputChoice = {
  /** Outputs that must not be spent, as `txid:vout`. */
  readonly excluded: readonly string[]
  /** Outputs of less value are not spent; smallest units; undefined: as the chain's settings say. */
  readonly least?: bigint | undefined
}

/** A route as far as it is known before it is priced, to find the balances that matter. */
export type TouchingRoute = Pick<OriginRoute, 'user' | 'recipient' | 'by' | 'currencyOut'> & {
  /** Currencies that the depository may receive. */
  readonly deposited: readonly QuotedCurrency[]
}

/**
 * A swap at a deposit address before the deposit, and its least price. Amounts are in smallest units; the zero address
 * means native coin.
 */
export type AddressSwap = {
  readonly tokenIn: Hex
  readonly amountIn: bigint
  readonly tokenOut: Hex
  /** Least output for `amountIn`; for another input it is scaled in proportion. */
  readonly amountOutMin: bigint
  /** The pools that it goes through, in order: the token that each yields, and its fee. */
  readonly hops: readonly { readonly tokenOut: Hex; readonly feePips: number }[]
}
