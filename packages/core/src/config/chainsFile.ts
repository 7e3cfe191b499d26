import { z } from 'zod'
import { vmTypes } from '../encodings/codecs.ts'
import { chainKey, codeHashes, environmentName } from './scalars.ts'

/** Rule by which a chain's blocks are final: by tag, by depth below the head, by age, or by depth and age. */
const finalitySchema = z.object({
  mode: z.enum(['tag', 'depth', 'time', 'depth-and-time']),
  tag: z.enum(['finalized', 'safe']).optional(),
  blocks: z.number().int().min(0).optional(),
  seconds: z.number().int().min(0).optional(),
})

/**
 * One chain of `configs/chains.<ENVIRONMENT>.json`, after placeholders were replaced.
 * A chain whose `httpRpcUrl` is empty stays listed and is not ready.
 * @source rules O-service-05 to O-service-07, O-154
 */
export const chainEntrySchema = z.object({
  id: chainKey,
  vmType: z.enum(vmTypes),
  /** One endpoint or several; each may be a comma-separated list coming from one variable. */
  httpRpcUrl: z.union([z.string(), z.array(z.string())]).optional(),
  /**
   * ethereum-vm: websockets (`ws://`, `wss://`) on which nodes announce new blocks, written as `httpRpcUrl` is. An
   * announcement only decides when quote-api asks the endpoints above; it proves nothing.
   */
  wsRpcUrl: z.union([z.string(), z.array(z.string())]).optional(),
  depository: z.string().optional(),
  /** Further depositories of the chain, whose deposits are read too. */
  additionalDepositories: z.array(z.string()).optional(),
  /**
   * ethereum-vm, tron-vm: contracts that pay for solvers. An order's extra data names its fill contract: the events and
   * payments of a listed one are believed, those of any other are not.
   */
  fillContracts: z.array(z.string()).max(100).optional(),
  /**
   * ethereum-vm: depositories and fill contracts with code that is neither this release's nor a public one
   * that the release knows, by address. A value is the keccak-256 of the expected code, or `unchecked`.
   */
  codeHashes: codeHashes.optional(),
  /**
   * Accounts that pay fills and refunds beside a transaction's own sender. List only accounts whose transactions no one
   * else can submit: the submitter chooses the order that they pay.
   */
  fillPayers: z.array(z.string()).max(100).optional(),
  /**
   * The most that one oracle process signs within an hour, by currency, in the currency's smallest unit. A
   * currency that is not named is held. An object, or `currency=amount` joined by commas, so that one variable
   * may hold all. Outside `local` an oracle does not start without it.
   */
  signingCaps: z
    .union([z.string().max(20_000), z.record(z.string().max(256), z.string().max(78))])
    .optional(),
  /** Number of the chain on the hub, decimal. EVM: the chain id. */
  hubChainId: z.string().regex(/^[0-9]+$/, { error: 'must be digits, as text' }),
  /** Equal answers needed for what is signed; default ceil(2n/3) of the configured endpoints. */
  rpcThreshold: z.number().int().min(1).optional(),
  finality: finalitySchema.optional(),
  /** Set for a chain that is being wound down: one sentence on what ends, which doctor shows. */
  windingDown: z.string().min(1).max(200).optional(),
  additionalData: z
    .object({
      /** Blocks and seconds after which blocks are final, where `finality` does not say. */
      finalizationBlocks: z.number().int().min(0).optional(),
      finalizationTime: z.number().int().min(0).optional(),
      /** True where every native payment also logs a transfer of a system token, which is no deposit. */
      isZksyncStack: z.boolean().optional(),
      /** Accepted for older files, without effect, and doctor reports that. @source rule P-45 */
      traceInternalTransfers: z.boolean().optional(),
      /** bitcoin-vm, lighter-vm: name of the network, by default the main one. solana-vm: genesis hash of the cluster. */
      network: z.string().optional(),
      /** bitcoin-vm: Esplora APIs beside the nodes, and the credentials of two providers of such APIs. */
      esploraCompatibleApiUrl: z.string().optional(),
      blockstreamClientId: z.string().optional(),
      blockstreamClientSecret: z.string().optional(),
      maestroApiKey: z.string().optional(),
      /** hyperliquid-vm: service that stands in for the explorer of the first endpoint. */
      proxyApiUrl: z.string().optional(),
      proxyApiKey: z.string().optional(),
      /** lighter-vm: key for the first host of `httpRpcUrl`, and explorers, which only name transactions. */
      rpcApiKey: z.string().optional(),
      explorerApiUrl: z.string().optional(),
    })
    .optional(),
})

/**
 * `configs/chains.<ENVIRONMENT>.json`. `environment` must equal the running one.
 * @source docs/operating/configuration.md, Files
 */
export const chainsFileSchema = z.object({
  environment: environmentName,
  chains: z.array(chainEntrySchema),
})

export type Finality = z.infer<typeof finalitySchema>
export type ChainEntry = z.infer<typeof chainEntrySchema>
export type ChainsFile = z.infer<typeof chainsFileSchema>
