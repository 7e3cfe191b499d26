import type { Hex } from '@causeway/core'

/** A deposit that the owner of a token signs and somebody else submits. Amount in smallest units. */
export type SignedDeposit = {
  readonly token: Hex
  readonly owner: Hex
  readonly amount: bigint
  /** Unix seconds from which the signature is no longer valid. */
  readonly deadlineSeconds: number
  readonly orderId: Hex
}

/** The contract that makes the deposits, and the code hash of contracts that it creates to spend EIP-2612 permits. */
export type PermitRouter = { readonly contract: Hex; readonly depositCodeHash: Hex }

/** EIP-712 domain of a token, by which its owners sign. */
export type TokenDomain = { readonly name: string; readonly version: string; readonly chainId: number }

/** A deposit by a token's own permit. */
export type TokenPermitTerms = SignedDeposit & {
  readonly domain: TokenDomain
  readonly router: PermitRouter
} & (
    | { readonly kind: 'eip3009' }
    /** `nonces(owner)` of the token. */
    | { readonly kind: 'eip2612'; readonly nonce: bigint }
  )

/** A call that the router makes after it took the tokens. Value in wei. */
export type PermittedCall = { readonly to: Hex; readonly data: Hex; readonly value: bigint }

/** A deposit of tokens that Permit2 takes from their owner, by calls that the same signature covers. */
export type Permit2Terms = SignedDeposit & {
  readonly kind: 'permit2'
  readonly chainId: number
  /** Contract that spends the permit and makes the calls. It has no rights beyond the one signature. */
  readonly router: Hex
  /** The only account whose transaction can use the signature. */
  readonly relayer: Hex
  /** In order. */
  readonly calls: readonly PermittedCall[]
}

/** Terms of every signature by which somebody else submits a user's deposit. */
export type PermitTerms = TokenPermitTerms | Permit2Terms
