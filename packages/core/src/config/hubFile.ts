import { z } from 'zod'
import { codeHashes, environmentName, evmAddress } from './scalars.ts'

const hubFinality = z.object({
  mode: z.enum(['tag', 'depth']),
  tag: z.enum(['finalized', 'safe']).optional(),
  blocks: z.number().int().min(0).optional(),
})

/**
 * `configs/chains.hub.<ENVIRONMENT>.json`: where executions are settled.
 * @source oracle-protocol.md 6.3
 */
export const hubFileSchema = z.object({
  environment: environmentName,
  id: z.string().min(1),
  httpRpcUrl: z.union([z.string(), z.array(z.string())]).optional(),
  evmChainId: z.number().int().positive(),
  hubAddress: evmAddress.optional(),
  oracleAddress: evmAddress,
  oracleVersion: z.string().min(1),
  oracleMultisigAddress: evmAddress.optional(),
  /** As `codeHashes` of the chain file, of the contracts named here. */
  codeHashes: codeHashes.optional(),
  /** Keeps signed entries: what Hyperliquid transfers are for, and promises not to fill an order. */
  genericMappingAddress: evmAddress.optional(),
  /** When a promise or a balance of the hub counts for a recovery; default: its `finalized` block. */
  finality: hubFinality.optional(),
  /** Minimum age in seconds of both a promise and its deposit before the deposit is recovered; default a day. */
  recoveryDelaySeconds: z.number().int().min(0).optional(),
  /** Chain of the allocator that issues withdrawals; without an allocator no withdrawal gets an execution. */
  auroraEvmChainId: z.number().int().positive().optional(),
  /** Keeps payloads and signatures. */
  auroraAllocatorAddress: evmAddress.optional(),
  /** Domain of what is signed for the allocator. */
  auroraAllocatorSpenderAddress: evmAddress.optional(),
  /** RPC endpoints of the allocator's chain, if that is not the hub. */
  auroraHttpRpcUrl: z.union([z.string(), z.array(z.string())]).optional(),
  /** When a payload of the allocator counts as issued; default: its chain's `finalized` block. */
  auroraFinality: hubFinality.optional(),
  /**
   * `own`, the default: the allocator has `payloadIdOf`, so that a nonce has one payload, and a withdrawal
   * one key. `public`: it has not, keys are those of the public protocol, and the holes that are printed at
   * start are open.
   */
  withdrawalKeys: z.enum(['own', 'public']).optional(),
})

export type HubFile = z.infer<typeof hubFileSchema>
