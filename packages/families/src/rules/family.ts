import type { HeadSubscription, Hex } from '@causeway/core'
import { hexDigits, parseHexDigits } from '@causeway/core'
import type { AllocatorPayloadFamily } from './allocatorPayloadFamily.ts'
import type { QuotingFamily } from './quotingFamily.ts'
import type { NormalisedWithdrawRequest, PlainWithdrawRequest } from './withdrawRequestParts.ts'

/** Signed request to withdraw a hub balance, as far as its signature goes. */
export type OwnerSigned = {
  /** As the request names him. */
  readonly owner: string
  /** A chain's `additionalData.network`; `undefined` for the main network. */
  readonly network: string | undefined
  /** Hash that every family wraps in its own way before it is signed. */
  readonly requestHash: Uint8Array
  /** Hex. */
  readonly signature: Hex
  readonly recoverSigner: (digest: Uint8Array, signature: string) => Hex | undefined
  /** EVM address that signs for an account of a family whose accounts are no keys. */
  readonly readOwnerKey: (account: string) => Promise<Hex>
  /** Asks an account's code whether it accepts the signature of a digest; for families with account code. */
  readonly isAcceptedByCode: (account: string, digest: Uint8Array) => Promise<boolean>
}

/** Lists of the chain file that name accounts which pay for solvers. */
export type PayerSetting = 'fillContracts' | 'fillPayers'

/** Member of a depository in the allocator file that is there because the payloads of its family name it. */
export type DepositoryMember = 'domain' | 'vault' | 'networkName' | 'networkId' | 'tokens'

/** All that sets one VM family apart from the others, I/O aside: a line in `families`. @source F-167 */
export type Family = {
  /** As people call it. */
  readonly name: string
  /** Short name in the public chain list. @source quote-api.md 3.2 */
  readonly publicName: string
  /** @throws InvalidAddressError, InvalidWithdrawRequestError */
  readonly withdrawRequest: (request: PlainWithdrawRequest, network?: string) => NormalisedWithdrawRequest
  readonly allocatorPayload: AllocatorPayloadFamily
  /**
   * True when the owner signed the request in the way of the family.
   * @throws InvalidAddressError when the owner is no address of it; whatever `readOwnerKey` or `isAcceptedByCode` throws
   */
  readonly isSignedByOwner: (signed: OwnerSigned) => boolean | Promise<boolean>
  /** An account as 20 bytes of hex, where the family's accounts are that. @throws InvalidAddressError */
  readonly hexAddress?: (address: string) => Hex
  /** Settings that list payers, for chains that do not name the payer themselves. */
  readonly payerSettings: readonly PayerSetting[]
  /** Each is required of the family's depositories, and means nothing of others. */
  readonly depositoryMembers: readonly DepositoryMember[]
  /** Subscription to new blocks over a websocket; absent if its nodes have none, and `wsRpcUrl` has no effect. */
  readonly headSubscription?: HeadSubscription
  /** A deposit's fees can be paid by another account than its sender's. */
  readonly takesDepositFeePayer: boolean
  /** Absent: its chains are read, and not quoted. */
  readonly quoting?: QuotingFamily
}

/** Wallets that sign text sign the digits of the request's hash. */
export function signedText({ requestHash, signature }: OwnerSigned): {
  readonly message: string
  readonly signature: Uint8Array
} {
  return { message: hexDigits(requestHash), signature: parseHexDigits(signature, 2) ?? new Uint8Array() }
}
