import type { Hex } from '@causeway/core'
import { loadArtifacts, type TestNetwork } from '@causeway/localnet'
import type { Abi } from 'viem'
import type { Chain } from './chain/chain.ts'
import { NodeChain } from './chain/nodeChain.ts'
import { tokenCalls } from './contracts/calls.ts'
import {
  accountNamed,
  type ChainId,
  grantedUnits,
  type Network,
  type UserChainPlaces,
  userChainIds,
} from './network.ts'

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

let runs = 0

/** Network on the same chains with funded users and an order signer of its own; all earlier state is final. */
export async function withNewParties({ chains, places, keys }: Network): Promise<Network> {
  runs += 1
  const account = (name: string) => accountNamed(`${name} of run ${runs}`)
  const users = keys.users.slice(0, 6).map((_, index) => account(`user ${index}`))
  const parties = [...users, keys.fillWallet, keys.sponsor]
  const data = tokenCalls.mint(parties.map(({ address: to }) => ({ to, amount: grantedUnits })))
  for (const id of userChainIds) {
    for (const to of Object.values(tokensOf(places[id]))) {
      await chains[id].transact({ from: keys.deployer.address, to, data })
    }
  }
  for (const chain of Object.values(chains)) await chain.mine(3)
  return { chains, places, keys: { ...keys, users, orderSigner: account('order signer') } }
}

function tokensOf({ tokens: { USDC, USDX } }: UserChainPlaces): { readonly USDC: Hex; readonly USDX: Hex } {
  return { USDC, USDX }
}
