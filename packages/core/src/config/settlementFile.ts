import { z } from 'zod'
import { allocatorDepositorySchema } from './allocatorFile.ts'
import { environmentName, evmAddress } from './scalars.ts'

/** File for `causeway contracts deploy --settlement`: the rights on the contracts that settlement depends on. */
export const settlementFileSchema = z
  .strictObject({
    $schema: z.string().optional(),
    environment: environmentName,
    initializer: evmAddress.describe(
      'Account whose key deploys: it alone may initialize, once, and is a part of every address',
    ),
    owner: evmAddress.describe('Owns every contract: names oracles, signers, builders and operators'),
    mappingOperator: evmAddress
      .optional()
      .describe('Writes entries of the generic mapping for others; default: the owner'),
    oracles: z.array(evmAddress).min(1).max(50).describe('Addresses that oracles sign with'),
    oracleThreshold: z.number().int().min(1).describe('Signatures that an execution needs'),
    allocatorSigner: evmAddress.describe('Signs what the allocator issued; depositories believe it'),
    depositories: z
      .array(allocatorDepositorySchema.omit({ caps: true }))
      .describe('What the allocator pays from, as in the allocator file'),
  })
  .refine(({ oracles, oracleThreshold }) => oracleThreshold <= oracles.length, {
    path: ['oracleThreshold'],
    message: 'more signatures than oracles',
  })
  .refine(({ oracles }) => new Set(oracles).size === oracles.length, {
    path: ['oracles'],
    message: 'an oracle is named twice',
  })

export type SettlementFile = z.infer<typeof settlementFileSchema>
