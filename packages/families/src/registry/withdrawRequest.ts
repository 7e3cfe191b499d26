import type { ChainNetwork } from '@causeway/core/encodings'
import type { NormalisedWithdrawRequest, PlainWithdrawRequest } from '../rules/withdrawRequestParts.ts'
import { families } from './families.ts'

/**
 * Spells a withdraw request as the allocator expects it for the chain's family. Whether the chain has such a depository
 * or currency is not checked here.
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
