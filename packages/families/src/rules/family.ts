import type { HeadSubscription, Hex } from '@causeway/core'
import { hexDigits, parseHexDigits } from '@causeway/core'
import type { AllocatorPayloadFamily } from './allocatorPayloadFamily.ts'
import type { QuotingFamily } from './quotingFamily.ts'
import type { SpellWithdrawRequest } from './withdrawRequestParts.ts'

/** An owner's signed request about a hub balance, reduced to what the check of its signature needs. */
export type OwnerSigned = {
  /** As the request names him. */
  readonly owner: string
  /** A chain's `additionalData.network`; `undefined` for the main network. */
  readonly network: string | undefined
  /** Hash of the request, which each family wraps in its own form before it is signed. */
  readonly requestHash: Uint8Array
  /** Hex. */
  readonly signature: Hex
  readonly recoverSigner: (digest: Uint8Array, signature: string) => Hex | undefined
  /** Reads the EVM address that signs for an account, in families whose account ids are not addresses of keys. */
  readonly readOwnerKey: (account: string) => Promise<Hex>
  /** Asks an account's code whether it accepts the signature of a digest; for families with account code. */
  readonly isAcceptedByCode: (account: string, digest: Uint8Array) => Promise<boolean>
}

/** Settings of the chain file that list accounts from which solvers pay. */
export type PayerSetting = 'fillContracts' | 'fillPayers'

/** Optional member of a depository in the allocator file, needed for payloads of some families. */
export type DepositoryMember = 'domain' | 'vault' | 'networkName' | 'networkId' | 'tokens'

/** Pure rules in which one VM family differs from others: a line in `families`. I/O is in `ChainFamily`. @source F-167 */
export type Family = {
  /** For messages, e.g. `EVM`. */
  readonly name: string
  /** Short name in the public chain list. @source github.com/relayprotocol/relay-kit, ChainVM */
  readonly publicName: string
  readonly withdrawRequest: SpellWithdrawRequest
  readonly allocatorPayload: AllocatorPayloadFamily
  /**
   * True if the owner signed the request as wallets of the family sign.
   * @throws InvalidAddressError if the owner is no address of it; whatever `readOwnerKey` or `isAcceptedByCode` throws
   */
  readonly isSignedByOwner: (signed: OwnerSigned) => boolean | Promise<boolean>
  /** An account as 20 bytes of hex; absent if the family's accounts have another length. @throws InvalidAddressError */
  readonly hexAddress?: (address: string) => Hex
  /** Settings that list payers of the family's chains; others have no effect there. */
  readonly payerSettings: readonly PayerSetting[]
  /** Members that the family's depositories in the allocator file must have; other families' must not. */
  readonly depositoryMembers: readonly DepositoryMember[]
  /** Subscription to new blocks over a websocket; absent if its nodes have none, and `wsRpcUrl` has no effect. */
  readonly headSubscription?: HeadSubscription
  /** True if another account than the sender can pay the network fees of a deposit. */
  readonly takesDepositFeePayer: boolean
  /** Absent: its chains are read, and not quoted. */
  readonly quoting?: QuotingFamily
}

/**
 * Message and signature for families whose wallets sign text: the message is the hex digits of the request's hash. A
 * malformed signature becomes an empty one, which no key has made.
 */
export function signedText({ requestHash, signature }: OwnerSigned): {
  readonly message: string
  readonly signature: Uint8Array
} {
  return { message: hexDigits(requestHash), signature: parseHexDigits(signature, 2) ?? new Uint8Array() }
}
