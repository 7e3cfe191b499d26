import { existsSync } from 'node:fs'
import { ConfigurationError, type Hex } from '@causeway/core'
import type { ChainDeployment, HubDeployment, NetworkDeployment } from '../contracts/deployment.ts'
import { caliburAddress } from '../contracts/signBatch.ts'
import { deployNetwork } from '../deploy/deployNetwork.ts'
import { publicContracts } from '../deploy/publicContracts.ts'
import { generateLocalKeys } from '../keys/generateKeys.ts'
import { readKeyFile, writeKeyFile } from '../keys/keyFile.ts'
import type { LocalKeys } from '../keys/localKeys.ts'
import { rolesWithPublishedKeys } from '../keys/publishedKeys.ts'
import type { LocalChain } from '../nodes/localChain.ts'
import type { RunFile } from '../processes/runFile.ts'
import { finalityBlocks } from './chainChores.ts'
import { adoptExitFile, saveChain } from './chainFiles.ts'
import { isMarked, markChain } from './chainMarker.ts'
import { ChainFileError } from './chainNode.ts'
import { type ChainNodes, startChainNodes, stopChainNodes } from './chainNodes.ts'
import { type ChainKey, chainKeys, forEachChain } from './chainPlan.ts'
import { deploymentHash } from './deploymentHash.ts'
import { judgeState, type StateVerdict } from './judgeState.ts'
import { setStateAside } from './localDirectory.ts'
import type { LocalPaths } from './localPaths.ts'
import { readManifest, releaseOf, writeManifest } from './manifest.ts'

export type OpenStateOptions = {
  readonly paths: LocalPaths
  readonly runFile: RunFile
  readonly ports: Readonly<Record<ChainKey, number>>
  /** Begin anew without looking at what is there. */
  readonly fresh: boolean
  /** Release of the running code, for the manifest; undefined in tests. */
  readonly release: string | undefined
  /** A new private key, or 32 random bytes for another purpose, at every call. */
  readonly randomKey: () => Hex
  readonly report: (line: string) => void
}

/** Running chains with their contracts, from a first start or from kept files. */
export type OpenState = {
  readonly origin: 'deployed' | 'kept'
  readonly nodes: ChainNodes
  readonly keys: LocalKeys
  readonly deployment: NetworkDeployment
}

/**
 * Continues the network of an earlier start when all of it is there, else builds a new one. Earlier files are then moved
 * aside, and one line says why and where; nothing is ever deleted.
 * @throws ConfigurationError when the keys are published ones
 */
export async function openState(options: OpenStateOptions): Promise<OpenState> {
  const { paths, report } = options
  if (options.fresh) return rebuild(options, 'asked for by --fresh')
  const verdict: StateVerdict = await readVerdict(paths)
  if (verdict.kind === 'kept') {
    const kept = await continueNetwork(options, verdict)
    if (!('reason' in kept)) return kept
    return rebuild(options, kept.reason)
  }
  if (verdict.kind === 'unusable') return rebuild(options, verdict.reason)
  report('First start: keys are generated, contracts deployed and accounts funded.')
  return buildNetwork(options)
}

async function rebuild(options: OpenStateOptions, reason: string): Promise<OpenState> {
  const { paths } = options
  const release = await releaseOf(paths.manifest)
  const aside = await setStateAside(paths, { now: new Date(), release })
  const kept = aside === undefined ? '' : ` What was there stands in ${aside}.`
  options.report(`The local network is built anew: ${reason}.${kept}`)
  return buildNetwork(options)
}

/** Judges the files, after files that nodes wrote at their end replaced older chain files. */
async function readVerdict(paths: LocalPaths): Promise<StateVerdict> {
  await Promise.all(
    chainKeys.map((key) => adoptExitFile(paths.exitFile(key), paths.chainFile(key), { isWhole: false })),
  )
  const [keyFile, manifest, hash] = await Promise.all([
    readKeyFile(paths.keyFile),
    readManifest(paths.manifest),
    deploymentHash(),
  ])
  const published = keyFile.kind === 'read' ? rolesWithPublishedKeys(keyFile.keys) : []
  if (published.length > 0) {
    throw new ConfigurationError(
      `${paths.keyFile} holds published development keys (${published.join(', ')}), and the chain ids here are ` +
        'real: start with --fresh to have new ones generated',
    )
  }
  const missingChains = chainKeys.filter((key) => !existsSync(paths.chainFile(key)))
  return judgeState({ keyFile, manifest, missingChains, deploymentHash: hash })
}

/** Why the kept network cannot go on. */
type Unusable = { readonly reason: string }

async function continueNetwork(
  options: OpenStateOptions,
  { networkId, keys, deployment }: Extract<StateVerdict, { kind: 'kept' }>,
): Promise<OpenState | Unusable> {
  let nodes: ChainNodes
  try {
    nodes = await startChainNodes(options)
  } catch (error) {
    if (error instanceof ChainFileError) return { reason: error.message }
    throw error
  }
  const reasons = await Promise.all(
    chainKeys.map(async (key) => {
      const { chain } = nodes[key]
      if (!(await isMarked(chain, networkId))) return `the chain file of ${key} belongs to another network`
      if (!(await isDeployed(chain, deployment[key]))) return `contracts are missing on ${key}`
      // A chain file saved before a kill has the state of its last block only: with two more it is the finalized one.
      await chain.node.mine({ blocks: Number(finalityBlocks) })
      return undefined
    }),
  )
  const reason = reasons.find((candidate) => candidate !== undefined)
  if (reason === undefined) return { origin: 'kept', nodes, keys, deployment }
  await stopChainNodes(nodes, options.runFile)
  return { reason }
}

/** Builds a new network. The manifest comes last: a start that is killed before leaves nothing that looks complete. */
async function buildNetwork(options: OpenStateOptions): Promise<OpenState> {
  const { paths, randomKey, release } = options
  const networkId = randomKey()
  const keys = generateLocalKeys(randomKey)
  await writeKeyFile(paths.keyFile, { networkId, keys })
  const nodes = await startChainNodes(options)
  try {
    const { base, optimism, hub } = nodes
    await forEachChain((key) => markChain(nodes[key].chain, networkId))
    const deployment = await deployNetwork({
      baseUrl: base.anvil.url,
      optimismUrl: optimism.anvil.url,
      hubUrl: hub.anvil.url,
      keys,
    })
    await forEachChain((key) => saveChain(nodes[key].chain, paths.chainFile(key)))
    const manifest = { release, networkId, deploymentHash: await deploymentHash(), deployment }
    await writeManifest(paths.manifest, manifest)
    return { origin: 'deployed', nodes, keys, deployment }
  } catch (error) {
    await stopChainNodes(nodes, options.runFile)
    throw error
  }
}

/** Every address of a deployment that must hold code. */
function contractAddresses(deployment: ChainDeployment | HubDeployment): readonly Hex[] {
  if ('hub' in deployment) {
    const { hub, oracle, oracleMultisig, genericMapping, allocator } = deployment
    const { evmPayloadBuilder, solanaPayloadBuilder, bitcoinPayloadBuilder } = deployment
    const { hyperliquidPayloadBuilder, lighterPayloadBuilder } = deployment
    return [
      ...[hub, oracle, oracleMultisig, genericMapping, allocator],
      ...[evmPayloadBuilder, solanaPayloadBuilder, bitcoinPayloadBuilder],
      ...[hyperliquidPayloadBuilder, lighterPayloadBuilder],
    ]
  }
  const { depository, fillContract, cleanupRouter, depositRouter, depositAddresses } = deployment
  const { permitRouter, permit2Router, multicall3, wrappedNative, gasPriceOracle } = deployment
  const { factory, quoterV2, swapRouter, positionManager, pools } = deployment.uniswapV3
  return [
    ...[depository, fillContract, cleanupRouter, depositRouter, depositAddresses.contract],
    ...[permitRouter.contract, permit2Router, multicall3, wrappedNative, gasPriceOracle],
    ...publicContracts.map(({ address }) => address),
    caliburAddress,
    ...Object.values(deployment.tokens),
    ...Object.values(deployment.feeds),
    ...[factory, quoterV2, swapRouter, positionManager],
    ...pools.map((pool) => pool.address),
  ]
}

/** True when every contract is there, so that nothing needs to be deployed. */
export async function isDeployed(
  chain: LocalChain,
  deployment: ChainDeployment | HubDeployment,
): Promise<boolean> {
  const codes = await Promise.all(
    contractAddresses(deployment).map((address) => chain.client.getCode({ address })),
  )
  return codes.every((code) => code !== undefined && code !== '0x')
}
