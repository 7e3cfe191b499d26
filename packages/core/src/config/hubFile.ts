import { z } from 'zod'
import { codeHashes, environmentName, evmAddress } from './scalars.ts'

const hubFinality = z.object({
  mode: z.enum(['tag', 'depth']),
  tag: z.enum(['finalized', 'safe']).optional(),
  blocks: z.number().int().min(0).optional(),
})

/**
 * `configs/chains.hub.<ENVIRONMENT>.json`: the hub, where executions are settled, and the chain of the allocator.
 * @source rules O-service-05, P-88
 */
export const hubFileSchema = z.object({
  environment: environmentName,
  id: z.string().min(1),
  httpRpcUrl: z.union([z.string(), z.array(z.string())]).optional(),
  evmChainId: z.number().int().positive(),
  /** Default: the hub that the oracle contract names. */
  hubAddress: evmAddress.optional(),
  oracleAddress: evmAddress,
  /** Version in the EIP-712 domain of the oracle contract. */
  oracleVersion: z.string().min(1),
  /** Contract that signs as all oracles together. */
  oracleMultisigAddress: evmAddress.optional(),
  /** Expected code of the contracts named here, as `codeHashes` in the chain file. */
  codeHashes: codeHashes.optional(),
  /** Contract of signed entries: which orders Hyperliquid transfers pay, and promises not to fill an order. */
  genericMappingAddress: evmAddress.optional(),
  /** Block of the hub that is final enough for a recovery's promise and balance; default: its `finalized` block. */
  finality: hubFinality.optional(),
  /** Minimum age in seconds of both a promise and its deposit before the deposit is recovered; default a day. */
  recoveryDelaySeconds: z.number().int().min(0).optional(),
  /** Chain of the allocator that issues withdrawals; without an allocator no withdrawal gets an execution. */
  auroraEvmChainId: z.number().int().positive().optional(),
  /** Allocator contract: keeps payloads and signatures. */
  auroraAllocatorAddress: evmAddress.optional(),
  /** Contract of the EIP-712 domain in which oracles sign withdraw requests for the allocator. */
  auroraAllocatorSpenderAddress: evmAddress.optional(),
  /** RPC endpoints of the allocator's chain, if that is not the hub. */
  auroraHttpRpcUrl: z.union([z.string(), z.array(z.string())]).optional(),
  /** Block of the allocator's chain that is final enough for a payload to count as issued; default: `finalized`. */
  auroraFinality: hubFinality.optional(),
  /**
   * Idempotency keys of withdrawals. `own`, the default: the allocator has `payloadIdOf`, so that a nonce has
   * one payload, and a withdrawal one key. `public`: the allocator lacks it. Keys are then those of the public
   * protocol, which leaves holes open; the oracle prints them at its start.
   */
  withdrawalKeys: z.enum(['own', 'public']).optional(),
})

export type HubFile = z.infer<typeof hubFileSchema>
