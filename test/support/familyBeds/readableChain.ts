import { Secret } from '@causeway/core'
import type { ReadableChain } from '../../../packages/families/src/shared/familyChain.ts'

/** A chain as the configuration gives it, with one endpoint. */
export function readableChain(
  url: string,
  own: Pick<ReadableChain, 'id' | 'vmType' | 'hubChainId' | 'depository'> & Partial<ReadableChain>,
): ReadableChain {
  return {
    network: undefined,
    endpoints: [new Secret(url)],
    ready: true,
    unsetVariables: [],
    rpcThreshold: 1,
    additionalData: {},
    ...own,
  }
}
