import type { VmType } from '@causeway/core/encodings'
import { families } from './families.ts'

/**
 * Number of a chain in the ids of refunds of its deposits. Oracles read the records of fill contracts and know the number
 * that the hub has for a chain; elsewhere only services read the id, and it is the number that quotes name.
 * @param chainId as quotes name the chain
 */
export function refundChainId(
  { vmType, hubChainId }: { readonly vmType: VmType; readonly hubChainId: string },
  chainId: number,
): number | bigint {
  return families[vmType].payerSettings.includes('fillContracts') ? BigInt(hubChainId) : chainId
}
