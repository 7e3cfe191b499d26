import {
  createHubRecoveries,
  createNonceMappings,
  createOracleClient,
  type HubRecoveries,
  type OracleSettings,
} from '@causeway/chains'
import { isContractChain } from '@causeway/core/config'
import {
  createHubEntries,
  createHubReader,
  createHubTransactions,
  createMappingWriter,
  type HubEntries,
  type NonceMappings,
  type RegisteredChain,
  type RegisteredHub,
} from '@causeway/families'
import { createJsonRpcClient, createQuorumOver } from '@causeway/rpc'
import { type ConfiguredSigner, recoverSigner } from '@causeway/signer'
import type { LoadedFiles } from './files.ts'

/** The hub as the solver uses it: entries that say what order a transfer is for, and the recovery of orders. */
export type Hub = {
  readonly entries: HubEntries
  /**
   * Writes to the hub which order each transfer of the fill wallet is for, on chains whose transfers name
   * none. Undefined without oracles that attest it and a hub key that pays gas.
   */
  mappingsOf(chain: Pick<RegisteredChain, 'id' | 'vmType'>): NonceMappings | undefined
  /** Undefined without such oracles and key. */
  readonly recoveries: HubRecoveries | undefined
  close(): Promise<void>
}

/**
 * Makes the solver's access to the hub; opens no connection yet.
 * @param writing oracles that sign entries, and the hub key that pays gas; without both the hub is only read
 * @returns undefined if the files name no hub, no generic mapping of it, or no endpoint
 */
export function openHub(
  { chains: { hub }, quote }: Pick<LoadedFiles, 'chains' | 'quote'>,
  writing: { readonly oracles: OracleSettings | undefined; readonly signer: ConfiguredSigner | undefined },
): Hub | undefined {
  if (hub === undefined || !hub.ready) return undefined
  const { genericMappingAddress: verifyingContract, evmChainId: chainId, oracleAddress } = hub
  if (verifyingContract === undefined) return undefined
  const { oracles, signer } = writing
  const { client, quorum } = connectHub(hub)
  const entries = createHubEntries({ quorum, mappingAddress: verifyingContract })
  const close = () => client.close()
  if (oracles === undefined || signer === undefined)
    return { entries, mappingsOf: () => undefined, recoveries: undefined, close }
  const domain = { chainId, verifyingContract }
  const transactions = createHubTransactions({ client, chainId, signer })
  const writer = createMappingWriter({ transactions, entries, domain })
  const vouching = {
    threshold: oracles.threshold,
    domain,
    multisig: hub.oracleMultisigAddress,
    oracles: oracles.oracles.map((setting) => createOracleClient({ setting, recover: recoverSigner })),
  }
  // The wallet's signature names an EVM chain; any one that oracles know will do.
  const signatureChain = Object.entries(quote.chains).find(([, config]) => isContractChain(config))
  const mappingsOf = (chain: Pick<RegisteredChain, 'id' | 'vmType'>): NonceMappings | undefined => {
    if (signatureChain === undefined) return undefined
    const [id, { chainId: number }] = signatureChain
    return createNonceMappings({ chain, entries, signatureChain: { id, number }, writer, vouching })
  }
  const recoveries = createHubRecoveries({
    vouching,
    writer,
    transactions,
    reader: createHubReader({ quorum, oracleAddress, rule: newestBlock }),
    executionDomain: { chainId, verifyingContract: oracleAddress, version: hub.oracleVersion },
  })
  return { entries, mappingsOf, recoveries, close }
}

/** Client of the hub's endpoints, and a quorum over them. Opens no connection. */
export function connectHub({ id, endpoints }: Pick<RegisteredHub, 'id' | 'endpoints'>) {
  const client = createJsonRpcClient({ chainId: id, endpoints: endpoints.map((url) => ({ url })) })
  return { client, quorum: createQuorumOver(client) }
}

/**
 * A depth of no blocks: executions are read at the hub's newest block. `tag` and `seconds` have no effect in
 * this mode.
 */
const newestBlock = { mode: 'depth', tag: 'finalized', blocks: 0n, seconds: 0n } as const
