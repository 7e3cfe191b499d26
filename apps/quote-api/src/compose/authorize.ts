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

/** Hub entries for chains whose transfers name no order: each entry maps a transfer to its order. */
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
  const { registry, chains, clients, oracles, hubSigner: signer, database, screening } = options
  const { stops, hubBudget, ports } = options
  const mappedChain = registry.chains.find(
    ({ key, quoting }) => clients.has(key) && quoting.transferNonce !== undefined,
  )
  if (mappedChain === undefined) return undefined
  const lackOf = (setting: string) =>
    new ConfigurationError(`quote: chains.${mappedChain.key} needs ${setting}`)
  const { hub } = chains
  if (hub === undefined || !hub.ready)
    throw lackOf('the hub: chains.hub.<ENVIRONMENT>.json and its endpoints')
  const { genericMappingAddress: verifyingContract, evmChainId: chainId } = hub
  if (verifyingContract === undefined) throw lackOf('genericMappingAddress of the hub')
  if (signer === undefined) throw lackOf('HUB_ECDSA_PRIVATE_KEY, which pays for entries on the hub')
  if (oracles === undefined) throw lackOf('ORACLES, which vouch for entries on the hub')
  const client = createJsonRpcClient({
    chainId: hub.id,
    endpoints: hub.endpoints.map((url) => ({ url })),
    now: () => Date.now(),
  })
  const quorum = createQuorumOver(client, { now: () => Date.now() })
  const hubEntries = createHubEntries({ quorum, mappingAddress: verifyingContract })
  const domain = { chainId, verifyingContract }
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
      transactions: createHubTransactions({ client, chainId, signer }),
    }),
  })
  return { hubEntries, mapNonce, close: () => client.close() }
}
