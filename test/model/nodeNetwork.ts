import { loadArtifacts, type TestNetwork } from '@causeway/localnet'
import type { Abi } from 'viem'
import type { Chain } from './chain/chain.ts'
import { NodeChain } from './chain/nodeChain.ts'
import type { ChainId, Network } from './network.ts'

/** The nodes of a test network with the real contracts, acted on like models. */
export async function nodeNetwork({ chains, deployment, keys }: TestNetwork): Promise<Network> {
  const artifacts = await loadArtifacts()
  const errors: Abi = Object.values(artifacts).flatMap(({ abi }) =>
    abi.filter(({ type }) => type === 'error'),
  )
  const open = (id: ChainId): Promise<Chain> => new NodeChain(id, chains[id].chain, errors).open()
  const [base, optimism, hub] = await Promise.all([open('base'), open('optimism'), open('hub')])
  return { chains: { base, optimism, hub }, places: deployment, keys }
}
