import type { NetworkDeployment } from '../contracts/deployment.ts'
import type { LocalKeys } from '../keys/localKeys.ts'


type UserChain = 'base' | 'optimism'

/** What a network tells a solver, whoever runs it. */
export type SolverNetwork = {
  readonly chains: Readonly<Record<UserChain, { readonly chainId: number; readonly url: string }>>
  readonly deployment: Pick<NetworkDeployment, UserChain>
  readonly keys: Pick<LocalKeys, 'fillWallet'>
}

export type SolverSettings = Omit<SolverConfigFile, 'chains' | 'fillWalletKey'>

/** Configuration of a solver for the user chains of a local network. */
export function solverFile(network: SolverNetwork, settings: SolverSettings): SolverConfigFile {
  const { chains, deployment, keys } = network
  const chain = (key: UserChain) => {
    const { depository, fillContract, wrappedNative, depositAddresses, permitRouter } = deployment[key]
    return {
      ...{ chainId: chains[key].chainId, rpcUrl: chains[key].url, depository, fillContract, wrappedNative },
      depositAddresses: depositAddresses.contract,
      permitRouter: permitRouter.contract,
    }
  }
  return {
    ...settings,
    fillWalletKey: keys.fillWallet.privateKey,
    chains: [chain('base'), chain('optimism')],
  }
}
