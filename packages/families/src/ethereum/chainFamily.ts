import { type ChainFamily, finalitiesOf, missingEndpoints } from '../shared/chainFamily.ts'
import { ethereumQuotingChain } from './quoting/ethereumQuotingChain.ts'
import { openEthereumChain } from './reading/openEthereumChain.ts'
import { ethereumSettlingChain } from './settling/ethereumSettlingChain.ts'

export const ethereumChainFamily: ChainFamily = {
  open: openEthereumChain,
  missing: missingEndpoints,
  quoting: ethereumQuotingChain,
  settling: ethereumSettlingChain,
  paying: { by: 'fill-contract' },
  depthOf: finalitiesOf,
}
