import type { ChainFamily } from '../shared/chainFamily.ts'
import { bitcoinPaying } from './paying/bitcoinPayingChain.ts'
import type { LinePayingFamily } from './paying/linePayingChain.ts'
import { bitcoinQuotingChain } from './quoting/bitcoinQuotingChain.ts'
import { missingBitcoinSettings, openBitcoinChain } from './reading/openBitcoinChain.ts'
import { bitcoinSettlingChain } from './settling/bitcoinSettlingChain.ts'

/** Bitcoin's entry in `chainFamilies`: what opens a chain to read it, quote on it, settle on it and pay on it. */
export const bitcoinChainFamily: ChainFamily<LinePayingFamily> = {
  open: openBitcoinChain,
  missing: missingBitcoinSettings,
  quoting: bitcoinQuotingChain,
  settling: bitcoinSettlingChain,
  paying: { by: 'outputs', family: bitcoinPaying },
  // The finality that a block of a given depth meets. A rule's `blocks` stand above the transaction's own
  // block, which a finality of mode `depth` counts too.
  depthOf: ({ blocks }) => [{ mode: 'depth', blocks: blocks + 1 }],
}
