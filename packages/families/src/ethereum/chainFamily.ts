import { type ChainFamily, finalitiesOf, missingEndpoints } from '../shared/chainFamily.ts'
import type { ContractPayingFamily } from './paying/contractPayingChain.ts'
import { ethereumPaying } from './paying/ethereumPayingChain.ts'
import { ethereumQuotingChain } from './quoting/ethereumQuotingChain.ts'
import { openEthereumChain } from './reading/openEthereumChain.ts'
import { ethereumSettlingChain } from './settling/ethereumSettlingChain.ts'

/** EVM chains for services: the family's line in `chainFamilies`. `never`: none is paid by a line of payments. */
export const ethereumChainFamily: ChainFamily<never, ContractPayingFamily> = {
  open: openEthereumChain,
  missing: missingEndpoints,
  quoting: ethereumQuotingChain,
  settling: ethereumSettlingChain,
  paying: { by: 'fill-contract', family: ethereumPaying },
  depthOf: finalitiesOf,
}
