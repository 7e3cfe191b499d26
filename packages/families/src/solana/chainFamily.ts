import { type ChainFamily, missingEndpoints } from '../shared/chainFamily.ts'
import { solanaPaying } from './paying/solanaPayingChain.ts'
import { solanaQuotingChain } from './quoting/solanaQuotingChain.ts'
import { openSolanaChain } from './reading/openSolanaChain.ts'
import { solanaSettlingChain } from './settling/solanaSettlingChain.ts'

/** Solana's entry in `chainFamilies`: what opens a cluster for reading, quoting, settling and paying. */
export const solanaChainFamily: ChainFamily = {
  open: openSolanaChain,
  missing: missingEndpoints,
  quoting: solanaQuotingChain,
  settling: solanaSettlingChain,
  paying: { by: 'marked-transactions', family: solanaPaying },
}
