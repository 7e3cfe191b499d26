import type { VmType } from '@causeway/core/encodings'
import { families } from './families.ts'

/**
 * Number of a chain in the payment ids of refunds of its deposits. Where fill contracts record payments, oracles read
 * the id, and they know a chain by its number on the hub. Elsewhere only our services read the id, and it has the
 * number that quotes use.
 * @param chainId as quotes name the chain
 */
export function refundChainId(
  { vmType, hubChainId }: { readonly vmType: VmType; readonly hubChainId: string },
  chainId: number,
): number | bigint {
  return families[vmType].payerSettings.includes('fillContracts') ? BigInt(hubChainId) : chainId
}
