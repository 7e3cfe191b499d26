import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type ArtifactsOf,
  compileOnce,
  contractsFolder,
  loadArtifacts as loadShipped,
  readSources,
  type Artifacts as ShippedArtifacts,
} from '@causeway/contracts'

const packageRoot = fileURLToPath(new URL('../../', import.meta.url))

/** Contracts of local chains beside those that an operator deploys: tokens, feeds, predeploys, adversaries. */
const localSources = {
  CoinForcer: 'adversaries/CoinForcer.sol',
  FreeHub: 'adversaries/FreeHub.sol',
  HostileToken: 'adversaries/HostileToken.sol',
  Reenterer: 'adversaries/Reenterer.sol',
  DelegationManager: 'chain/DelegationManager.sol',
  LendingMarket: 'chain/LendingMarket.sol',
  PriceFeed: 'chain/PriceFeed.sol',
  Token: 'chain/Token.sol',
  WrappedNative: 'chain/WrappedNative.sol',
  GasPriceOracle: 'predeploys/GasPriceOracle.sol',
  Multicall3: 'predeploys/Multicall3.sol',
} as const

type LocalArtifacts = ArtifactsOf<keyof typeof localSources>

export type Artifacts = ShippedArtifacts & LocalArtifacts

/** The shipped contracts and those of this package. @throws Error with the compiler's messages */
export async function loadArtifacts(): Promise<Artifacts> {
  return { ...(await loadShipped()), ...(await loadLocalArtifacts()) }
}

/** The contracts of this package alone; they may import what is shipped. */
export async function loadLocalArtifacts(): Promise<LocalArtifacts> {
  const sources = [
    ...(await readSources(contractsFolder)),
    ...(await readSources(join(packageRoot, 'contracts'))),
  ]
  return compileOnce(sources, localSources, join(packageRoot, 'node_modules', '.cache', 'causeway'))
}
