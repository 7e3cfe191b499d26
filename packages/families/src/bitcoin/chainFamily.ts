import type { ChainFamily } from '../shared/chainFamily.ts'
import { bitcoinPaying } from './paying/bitcoinPayingChain.ts'
import type { LinePayingFamily } from './paying/linePayingChain.ts'
import { bitcoinQuotingChain } from './quoting/bitcoinQuotingChain.ts'
import { missingBitcoinSettings, openBitcoinChain } from './reading/openBitcoinChain.ts'
import { bitcoinSettlingChain } from './settling/bitcoinSettlingChain.ts'

export const bitcoinChainFamily: ChainFamily<LinePayingFamily> = {
  open: openBitcoinChain,
  missing: missingBitcoinSettings,
  quoting: bitcoinQuotingChain,
  settling: bitcoinSettlingChain,
  paying: { by: 'outputs', family: bitcoinPaying },
  // Its rule counts the transaction's own block.
  depthOf: ({ blocks }) => [{ mode: 'depth', blocks: blocks + 1 }],
}
