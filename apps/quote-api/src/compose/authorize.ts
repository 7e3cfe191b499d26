import { type ChainRegistry, createOracleClient, type OracleSettings } from '@causeway/chains'
import { ConfigurationError, type SqlDatabase } from '@causeway/core'
import {
  createHubEntries,
  createHubTransactions,
  createMappingWriter,
  type HubEntries,
} from '@causeway/families'
import { type ChainClient, createJsonRpcClient, createQuorumOver } from '@causeway/rpc'
import { type ConfiguredSigner, recoverSigner } from '@causeway/signer'
import type { KeylessBudget } from '../access/keylessBudget.ts'
import type { QuoteRegistry } from '../pricing/registry.ts'
import { createMapNonce, type MapNonce } from '../requests/authorize/mapNonce.ts'
import type { Screening } from '../requests/screening/screenedRequest.ts'
import type { ChainStops } from '../requests/stops/chainStops.ts'
import type { ChainPorts } from './chainPorts.ts'

/** Entries on the hub that name the orders of transfers: POST /authorize adds them, settlement reads them. */
export type Mappings = {
  readonly hubEntries: HubEntries
  readonly mapNonce: MapNonce
  close(): Promise<void>
}

/**
 * Prepares entries on the hub, if a quoted chain with endpoints needs them; opens no connection yet.
 * @returns undefined if no such chain does
 * @throws ConfigurationError for the first thing that is missing
 */
export function createMappings(options: {
  readonly registry: QuoteRegistry
  readonly chains: Pick<ChainRegistry, 'hub'>
  readonly clients: ReadonlyMap<string, ChainClient>
  readonly oracles: OracleSettings | undefined
  /** Pays for entries on the hub, and has no other right there. */
  readonly hubSigner: ConfiguredSigner | undefined
  readonly database: SqlDatabase
  readonly screening: Screening | undefined
  readonly stops: ChainStops
  readonly hubBudget: KeylessBudget
  readonly ports: Pick<ChainPorts, 'userFacts' | 'hasSent'>
}): Mappings | undefined {
  const { registry, chains, clients, oracles, hubSigner } = options
  const { database, screening, stops, hubBudget, ports } = options
  const mappedChain = registry.chains.find(
    ({ key, quoting }) => clients.has(key) && quoting.transferNonce !== undefined,
  )
  if (mappedChain === undefined) return undefined
  const missing = (setting: string) =>
    new ConfigurationError(`quote: chains.${mappedChain.key} needs ${setting}`)
  const { hub } = chains
  if (hub?.ready !== true) throw missing('the hub: chains.hub.<ENVIRONMENT>.json and its endpoints')
  const { genericMappingAddress: mappingAddress, evmChainId: chainId } = hub
  if (mappingAddress === undefined) throw missing('genericMappingAddress of the hub')
  if (hubSigner === undefined) throw missing('HUB_ECDSA_PRIVATE_KEY, which pays for entries on the hub')
  if (oracles === undefined) throw missing('ORACLES, which vouch for entries on the hub')
  const endpoints = hub.endpoints.map((url) => ({ url }))
  const client = createJsonRpcClient({ chainId: hub.id, endpoints })
  const quorum = createQuorumOver(client)
  const hubEntries = createHubEntries({ quorum, mappingAddress })
  const domain = { chainId, verifyingContract: mappingAddress }
  const mapNonce = createMapNonce({
    registry,
    database,
    screening,
    stops,
    hubBudget,
    ports,
    vouching: {
      threshold: oracles.threshold,
      domain,
      multisig: hub.oracleMultisigAddress,
      oracles: oracles.oracles.map((setting) => createOracleClient({ setting, recover: recoverSigner })),
    },
    writer: createMappingWriter({
      entries: hubEntries,
      domain,
      transactions: createHubTransactions({ client, chainId, signer: hubSigner }),
    }),
  })
  return { hubEntries, mapNonce, close: () => client.close() }
}
