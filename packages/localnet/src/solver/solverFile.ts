import type { ChainDeployment, NetworkDeployment } from '../deploy/deployment.ts'
import type { LocalKeys } from '../keys/localKeys.ts'
import type { SolverConfigFile } from './solverConfig.ts'

type UserChain = 'base' | 'optimism'
type Stock = SolverConfigFile['chains'][number]['stock']

/** What a network tells a solver, whoever runs it. */
export type SolverNetwork = {
  readonly chains: Readonly<Record<UserChain, { readonly chainId: number; readonly url: string }>>
  readonly deployment: Pick<NetworkDeployment, UserChain>
  readonly keys: Pick<LocalKeys, 'fillWallet' | 'deployer'>
}

export type SolverSettings = Omit<SolverConfigFile, 'chains' | 'fillWalletKey' | 'allocatorKey'> & {
  /** Default: nothing is kept in stock. */
  readonly stockOf?: (tokens: ChainDeployment['tokens']) => Stock
}

/** Configuration of a solver for the user chains of a local network. */
export function solverFile(network: SolverNetwork, settings: SolverSettings): SolverConfigFile {
  const { chains, deployment, keys } = network
  const { stockOf = () => [], ...more } = settings
  const chain = (key: UserChain) => {
    const { depository, fillContract, wrappedNative, tokens, depositAddresses, permitRouter } =
      deployment[key]
    return {
      ...{ chainId: chains[key].chainId, rpcUrl: chains[key].url, depository, fillContract, wrappedNative },
      depositAddresses: depositAddresses.contract,
      permitRouter: permitRouter.contract,
      stock: stockOf(tokens),
    }
  }
  return {
    ...more,
    fillWalletKey: keys.fillWallet.privateKey,
    allocatorKey: keys.deployer.privateKey,
    chains: [chain('base'), chain('optimism')],
  }
}
