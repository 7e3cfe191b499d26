import { type ChainFamily, missingEndpoints } from '../shared/chainFamily.ts'
import { hyperliquidPaying } from './paying/hyperliquidPayingChain.ts'
import { hyperliquidQuotingChain } from './quoting/hyperliquidQuotingChain.ts'
import { openHyperliquidChain } from './reading/openHyperliquidChain.ts'
import { hyperliquidSettlingChain } from './settling/hyperliquidSettlingChain.ts'

/** Hyperliquid's entry in `chainFamilies`: what opens the exchange for reading, quoting, settling and paying. */
export const hyperliquidChainFamily: ChainFamily = {
  open: openHyperliquidChain,
  missing: missingEndpoints,
  quoting: hyperliquidQuotingChain,
  settling: hyperliquidSettlingChain,
  paying: { by: 'marked-transactions', family: hyperliquidPaying },
}
