import { z } from 'zod'
import { bps, decimalInteger } from './scalars.ts'

/** Limits per minute of work that costs the operator money, for callers without an API key; 0: no limit. */
const keylessLimitsSchema = (perCaller: number, all: number) =>
  z
    .object({
      perCaller: z.number().int().min(0).default(perCaller),
      all: z.number().int().min(0).default(all),
    })
    .prefault({})

/** Limits of rewards (negative skew) that open quotes promise until they expire. @source */
export const openRewardsSchema = z
  .object({
    processes: z
      .number()
      .int()
      .min(1)
      .max(100)
      .default(1)
      .describe('Processes of the service on one database: each may promise its part of the rewards'),
    keylessBps: bps
      .default(5_000)
      .describe('Part of the rewards that open quotes without a key may hold together; 0 = they earn none'),
    perDayMicroUsd: decimalInteger
      .default(50_000_000n)
      .describe('What rewards may give away within 24 hours beside the skew costs that filled orders paid'),
  })
  .prefault({})

/** Limits of signed orders and of hub entries for callers without an API key. @source Q-43 */
export const keylessPerMinuteSchema = z
  .object({
    signatures: keylessLimitsSchema(20, 600).describe(
      'Orders that are signed because a caller without a key asks to see it; 0 = no limit',
    ),
    authorizations: keylessLimitsSchema(5, 60).describe(
      'Entries on the hub for callers without a key, counted by network and by wallet; 0 = no limit',
    ),
  })
  .prefault({})
