import { type ChainFamily, missingEndpoints } from '../shared/chainFamily.ts'
import { lighterPaying } from './paying/lighterPayingChain.ts'
import { lighterQuotingChain } from './quoting/lighterQuotingChain.ts'
import { openLighterChain } from './reading/openLighterChain.ts'
import { lighterSettlingChain } from './settling/lighterSettlingChain.ts'

/** Lighter's entry in `chainFamilies`: what opens the exchange for reading, quoting, settling and paying. */
export const lighterChainFamily: ChainFamily = {
  open: openLighterChain,
  missing: missingEndpoints,
  quoting: lighterQuotingChain,
  settling: lighterSettlingChain,
  paying: { by: 'marked-transactions', family: lighterPaying },
}
