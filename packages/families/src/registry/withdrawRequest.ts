import type { ChainNetwork } from '@causeway/core/encodings'
import type { NormalisedWithdrawRequest, PlainWithdrawRequest } from '../rules/withdrawRequestParts.ts'
import { families } from './families.ts'

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
