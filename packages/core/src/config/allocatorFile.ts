import { z } from 'zod'
import { chainKey, environmentName, hash32 } from './scalars.ts'

/** One depository that the allocator pays from, and the constants of its payloads. */
export const allocatorDepositorySchema = z.strictObject({
  chain: chainKey.describe('String id in the chain file, which names its depository'),
  caps: z
    .union([z.string().max(20_000), z.record(z.string().max(256), z.string().max(78))])
    .optional()
    .describe(
      'The most that is signed within any hour, by currency, in smallest units: an object, or `currency=amount` joined by commas. A currency that is not named is held. Needed outside `local`',
    ),
  // The members below depend on the family: solana-vm needs `domain` and `vault`, hyperliquid-vm needs
  // `networkName` (`Mainnet` or `Testnet`) and `tokens`, lighter-vm `networkId`. Others take none of them.
  domain: hash32.optional().describe('Hash that tells deployments apart, in families whose payloads name it'),
  vault: z
    .string()
    .optional()
    .describe('Account that holds what is paid, in families whose payloads name it'),
  networkName: z
    .string()
    .optional()
    .describe('Name of the network, `Mainnet` or `Testnet`, in families whose payloads name it'),
  networkId: z
    .string()
    .regex(/^[0-9]+$/)
    .optional()
    .describe('Number of the network, in families whose payloads name it'),
  tokens: z
    .array(
      z.strictObject({
        token: z.string().regex(/^0x[0-9a-f]{32}$/),
        decimals: z.number().int().min(0).max(30),
      }),
    )
    .optional()
    .describe(
      'Tokens that may be paid, and their decimals, in families whose payloads have amounts as decimal texts',
    ),
})

/** `configs/allocator.<ENVIRONMENT>.json`: what the allocator signs for, and how much of it. */
export const allocatorFileSchema = z.strictObject({
  $schema: z.string().optional(),
  environment: environmentName,
  firstBlock: z
    .number()
    .int()
    .min(0)
    .default(0)
    .describe(
      "Block of the allocator's chain from which withdrawal requests are read: older ones are never signed",
    ),
  /** Highest gas price of the transactions by which the allocator stores signatures on its chain. */
  maxFeePerGasWei: z
    .string()
    .regex(/^[0-9]{1,78}$/)
    .transform((value) => BigInt(value))
    .describe('A signature is never stored at a higher price of gas'),
  depositories: z.array(allocatorDepositorySchema),
})

export type AllocatorDepository = z.infer<typeof allocatorDepositorySchema>
export type AllocatorFile = z.infer<typeof allocatorFileSchema>
