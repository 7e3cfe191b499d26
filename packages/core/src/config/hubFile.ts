import { z } from 'zod'
import { environmentName, evmAddress } from './scalars.ts'

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
  genericMappingAddress: evmAddress.optional(),
  auroraEvmChainId: z.number().int().positive().optional(),
  auroraAllocatorAddress: evmAddress.optional(),
  auroraAllocatorSpenderAddress: evmAddress.optional(),
})

export type HubFile = z.infer<typeof hubFileSchema>
