import type { Hex } from '@causeway/core'
import { z } from 'zod'
import { forEachFeed, type NetworkDeployment } from '../contracts/deployment.ts'
import { writeFileAtomically } from '../files/atomicFile.ts'
import { hexSchema } from '../files/hexSchema.ts'
import { readJsonFile } from '../files/jsonFile.ts'

/** `manifest.json`, written last on a first start: only with it the state under `.local/` is complete. */
export type Manifest = {
  /** Release that made the network; absent in manifests of the first releases and of tests. */
  readonly release?: string | undefined
  /** Also in the key file and in the marker on every chain. */
  readonly networkId: Hex
  /** Names the sources that were deployed, see `deploymentHash`. */
  readonly deploymentHash: string
  readonly deployment: NetworkDeployment
}

export type ManifestReading =
  | ({ readonly kind: 'read' } & Manifest)
  | { readonly kind: 'missing' }
  | { readonly kind: 'unusable' }

const manifestVersion = 1

const address = hexSchema(20)

const poolSchema = z.object({
  address,
  token0: address,
  token1: address,
  feePips: z.number().int(),
  tickSpacing: z.number().int(),
})

const chainSchema = <Key extends 'base' | 'optimism'>(chainKey: Key) =>
  z.object({
    chainKey: z.literal(chainKey),
    chainId: z.number().int(),
    depository: address,
    fillContract: address,
    cleanupRouter: address,
    depositRouter: address,
    depositAddresses: z.object({ contract: address, sweepCodeHash: hexSchema(32) }),
    permitRouter: z.object({ contract: address, depositCodeHash: hexSchema(32) }),
    permit2Router: address,
    multicall3: address,
    wrappedNative: address,
    gasPriceOracle: address,
    tokens: z.object({ USDC: address, USDX: address, TIDE: address }),
    feeds: z.object(forEachFeed(() => address)),
    uniswapV3: z.object({
      factory: address,
      quoterV2: address,
      swapRouter: address,
      positionManager: address,
      pools: z.array(poolSchema),
    }),
  })

const tronSchema = z.object({ depository: address, fillContract: address, usdc: address })

const hubSchema = z.object({
  chainId: z.number().int(),
  hub: address,
  oracle: address,
  oracleMultisig: address,
  genericMapping: address,
  allocator: address,
  evmPayloadBuilder: address,
  solanaPayloadBuilder: address,
  bitcoinPayloadBuilder: address,
  hyperliquidPayloadBuilder: address,
  lighterPayloadBuilder: address,
})

const manifestSchema = z.object({
  version: z.literal(manifestVersion),
  release: z.string().optional(),
  networkId: hexSchema(32),
  deploymentHash: z.string(),
  deployment: z.object({
    base: chainSchema('base'),
    optimism: chainSchema('optimism'),
    tron: tronSchema,
    hub: hubSchema,
  }),
})

export async function readManifest(path: string): Promise<ManifestReading> {
  const file = await readJsonFile(path)
  if (file.kind === 'missing') return file
  const parsed = manifestSchema.safeParse(file.json)
  if (!parsed.success) return { kind: 'unusable' }
  const { release, networkId, deploymentHash, deployment } = parsed.data
  return { kind: 'read', release, networkId, deploymentHash, deployment }
}

/** The part of a manifest that is common to all releases; the first ones wrote no `release`. */
const anyRelease = z.object({
  release: z
    .string()
    .regex(/^[\w.-]{1,40}$/)
    .optional(),
  deployment: z.object({ hub: z.object({ allocatorSpender: z.string().optional() }) }),
})

/** The release that made a network, also one whose manifest this one cannot use; `unknown` without a manifest. */
export async function releaseOf(path: string): Promise<string> {
  const file = await readJsonFile(path)
  const parsed = file.kind === 'missing' ? undefined : anyRelease.safeParse(file.json).data
  if (parsed === undefined) return 'unknown'
  // 0.1.0 had a contract before its allocator, and no later release has it.
  const unnamedRelease = parsed.deployment.hub.allocatorSpender === undefined ? '0.2.0' : '0.1.0'
  return parsed.release ?? unnamedRelease
}

export async function writeManifest(path: string, manifest: Manifest): Promise<void> {
  await writeFileAtomically(path, `${JSON.stringify({ version: manifestVersion, ...manifest }, null, 2)}\n`)
}
