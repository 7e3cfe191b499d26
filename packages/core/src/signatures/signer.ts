import type { VmType } from '../encodings/codecs.ts'
import type { Hex } from '../hex.ts'
import type {
  Execution,
  ExecutionDomain,
  MappingDomain,
  MappingEntry,
  WithdrawRequest,
  WithdrawRequestDomain,
} from './execution.ts'
import type { NoFillOrRefund } from './noFillOrRefund.ts'
import type { TimelineStatement } from './timelineStatement.ts'

/** Why a digest is signed. A signer accepts these structures and nothing else: no raw digests. */
export type SigningRequest =
  /** EIP-191 over the 32 raw bytes of an order id. @source rule P-128 */
  | { readonly purpose: 'order'; readonly orderId: Hex }
  /** EIP-191 over the 32 raw bytes of a message id. @source rule P-128 */
  | { readonly purpose: 'message'; readonly messageId: Hex }
  /** EIP-712 `Execution`. @source rule P-128 */
  | { readonly purpose: 'execution'; readonly domain: ExecutionDomain; readonly execution: Execution }
  /** EIP-712 `SubmitWithdrawRequest`. @source rule P-128 */
  | {
      readonly purpose: 'withdraw-request'
      readonly domain: WithdrawRequestDomain
      readonly request: WithdrawRequest
    }
  /** EIP-712 `SetEntry`. @source rule P-128 */
  | { readonly purpose: 'mapping-entry'; readonly domain: MappingDomain; readonly entry: MappingEntry }
  /** EIP-712 `NoFillOrRefund`. `chainId`: the number of the solver's chain. */
  | { readonly purpose: 'no-fill-or-refund'; readonly promise: NoFillOrRefund; readonly chainId: number }
  /** An EIP-1559 or EIP-7702 transaction without its signature, as EIP-2718 serializes it. */
  | { readonly purpose: 'transaction'; readonly unsigned: Hex }
  /** EIP-712 `Timeline`, which the evidence key signs and no other. */
  | { readonly purpose: 'timeline'; readonly statement: TimelineStatement }
  | PayloadSigning

/**
 * Signature number `index` of a payload that the allocator issued: what it covers depends on the family; a Bitcoin
 * payload has one per input. @source rule P-69
 */
export type PayloadSigning = {
  readonly purpose: 'payload'
  readonly vmType: VmType
  readonly payload: Hex
  readonly payer: PayloadPayer
  readonly index: number
}

/**
 * Holds one secp256k1 key. Every signature is recovered and compared with `address` before it is
 * returned, has low s and v 27 or 28.
 */
export interface Signer {
  /** Lower-case address of the key. */
  readonly address: Hex
  /**
   * 65 bytes r‖s‖v. @throws SignerFailedError when the key's holder refuses, is late, or answers
   * with a signature of another key
   */
  sign(request: SigningRequest, options?: { signal?: AbortSignal }): Promise<Hex>
}

/**
 * Lower-case address that made `signature` over `digest`; `undefined` for anything but the canonical
 * 65 bytes with low s and v 27 or 28.
 */
export type RecoverSigner = (digest: Uint8Array, signature: string) => Hex | undefined

/** Chain and depository on which a payload executes; its hashes name both. */
export type PayloadPayer = {
  /** The chain's number on the hub; of an EVM chain its chain id. */
  readonly hubChainId: bigint
  /** As the withdraw request spells it. */
  readonly depository: string
}
