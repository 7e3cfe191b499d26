import type { Hex } from '../hex.ts'
import type { ChainNetwork } from './codecs.ts'
import { families } from './families.ts'
import type { NormalisedWithdrawRequest, PlainWithdrawRequest } from './withdrawRequestParts.ts'

/** Payload parameters of the withdrawal-initiated flow. @source rule P-128 */
export type WithdrawRequest = {
  readonly chainId: bigint
  readonly depository: string
  readonly currency: string
  readonly amount: bigint
  readonly spender: Hex
  readonly recipient: string
  readonly data: Hex
  readonly nonce: Hex
}

/**
 * Spells a withdrawal request as the allocator of its family expects it. What it claims about the chain is
 * for the family's reader to check.
 * @throws InvalidAddressError, InvalidWithdrawRequestError
 * @source oracle-protocol.md 3.5
 */
export function normaliseWithdrawRequest(
  chain: ChainNetwork,
  { depository, currency, recipient, additionalData }: PlainWithdrawRequest,
): NormalisedWithdrawRequest & { readonly kind: 'withdraw-request' } {
  const plain = { depository, currency, recipient, ...(additionalData !== undefined && { additionalData }) }
  return { kind: 'withdraw-request', ...families[chain.vmType].withdrawRequest(plain, chain.network) }
}
