import { readFile } from 'node:fs/promises'
import { ConfigurationError, derivedHubChainId, type Hex } from '@causeway/core'
import { z } from 'zod'
import type { NetworkDeployment } from '../contracts/deployment.ts'
import {
  familyDepositories,
  hyperliquidNetwork,
  lighterChainId,
  solanaDomain,
  solanaVault,
  tronChainId,
} from '../families/familyPlans.ts'
import { hexSchema } from '../files/hexSchema.ts'
import type { LocalKeys } from '../keys/localKeys.ts'
import { type SignedPlace, signedPlaceSchema } from './signedPlace.ts'

const configSchema = z.object({
  rpcUrl: z.url(),
  chainId: z.number().int().positive(),
  allocator: hexSchema(20),
  /** Signs payloads, and pays the gas of storing signatures. In no other process. */
  allocatorKey: hexSchema(32),
  /** Blocks on top of the one that issued a payload, before it is signed. */
  confirmations: z.number().int().nonnegative(),
  depositories: z.array(signedPlaceSchema),
  healthPort: z.number().int().min(0).max(65_535),
  pollMs: z.number().int().positive(),
})

/** What the allocator signer is started with; the file holds a key, so its owner alone can read it. */
export type AllocatorSignerConfig = z.output<typeof configSchema>
/** The same as JSON. */
export type AllocatorSignerFile = z.input<typeof configSchema>

/** @throws ConfigurationError naming the fields that are wrong, never their values */
export async function readSignerConfig(path: string | undefined): Promise<AllocatorSignerConfig> {
  if (path === undefined || path === '') throw new ConfigurationError('ALLOCATOR_CONFIG_FILE is not set')
  const parsed = configSchema.safeParse(JSON.parse(await readFile(path, 'utf8')))
  if (parsed.success) return parsed.data
  const fields = parsed.error.issues.map(({ path: field }) => field.join('.'))
  throw new ConfigurationError(`ALLOCATOR_CONFIG_FILE is wrong at ${fields.join(', ')}`)
}

/** Configuration of the allocator signer of a local network. */
export function allocatorSignerFile(
  network: {
    readonly chains: { readonly hub: { readonly chainId: number; readonly url: string } }
    readonly deployment: Pick<NetworkDeployment, 'base' | 'optimism' | 'hub'>
    readonly keys: Pick<LocalKeys, 'allocator'>
  },
  settings: Pick<AllocatorSignerFile, 'healthPort' | 'pollMs'>,
): AllocatorSignerFile {
  const { chains, deployment, keys } = network
  return {
    ...settings,
    rpcUrl: chains.hub.url,
    chainId: chains.hub.chainId,
    allocator: deployment.hub.allocator,
    allocatorKey: keys.allocator.privateKey,
    confirmations: 2,
    depositories: [
      ...[deployment.base, deployment.optimism].map(({ chainId, depository }) => ({
        ...{ vmType: 'ethereum-vm' as const, hubChainId: String(chainId), depository },
      })),
      ...familyPlaces(deployment.base.depository),
    ],
  }
}

/** @param evmDepository the contract on the node behind Tron */
function familyPlaces(evmDepository: Hex): readonly SignedPlace[] {
  const depositories = familyDepositories(evmDepository)
  const at = (id: 'solana' | 'bitcoin' | 'hyperliquid' | 'lighter') => ({
    hubChainId: derivedHubChainId(id).toString(),
    depository: depositories[id],
  })
  const { name: networkName, tokens } = hyperliquidNetwork
  return [
    { vmType: 'tron-vm', hubChainId: tronChainId.toString(), depository: depositories.tron },
    { vmType: 'solana-vm', ...at('solana'), domain: solanaDomain, vault: solanaVault },
    { vmType: 'bitcoin-vm', ...at('bitcoin'), network: 'regtest' },
    { vmType: 'hyperliquid-vm', ...at('hyperliquid'), networkName, tokens: [...tokens] },
    { vmType: 'lighter-vm', ...at('lighter'), lighterChainId: lighterChainId.toString() },
  ]
}
