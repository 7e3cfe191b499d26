import { type ChainFamily, finalitiesOf, missingEndpoints } from '../shared/chainFamily.ts'
import { tronPaying } from './paying/tronPayingChain.ts'
import { tronQuotingChain } from './quoting/tronQuotingChain.ts'
import { openTronChain } from './reading/openTronChain.ts'
import { tronSettlingChain } from './settling/tronSettlingChain.ts'

/** Tron's entry in `chainFamilies`: what opens a chain for reading, quoting, settling and paying. */
export const tronChainFamily: ChainFamily = {
  open: openTronChain,
  missing: missingEndpoints,
  quoting: tronQuotingChain,
  settling: tronSettlingChain,
  paying: { by: 'marked-transactions', family: tronPaying },
  // The finality rules that a block of a given depth meets.
  depthOf: finalitiesOf,
}
