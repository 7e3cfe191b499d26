import { type ChainFamily, finalitiesOf, missingEndpoints } from '../shared/chainFamily.ts'
import { tronPaying } from './paying/tronPayingChain.ts'
import { tronQuotingChain } from './quoting/tronQuotingChain.ts'
import { openTronChain } from './reading/openTronChain.ts'
import { tronSettlingChain } from './settling/tronSettlingChain.ts'

export const tronChainFamily: ChainFamily = {
  open: openTronChain,
  missing: missingEndpoints,
  quoting: tronQuotingChain,
  settling: tronSettlingChain,
  paying: { by: 'marked-transactions', family: tronPaying },
  depthOf: finalitiesOf,
}
