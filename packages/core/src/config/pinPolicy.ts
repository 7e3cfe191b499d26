import { z } from 'zod'
import type { DepthRow } from '../chain/depth.ts'
import { decimalInteger } from './scalars.ts'

/** Depths that deposits need before they are acted on, by size; each row is a `DepthRow`. @source F-100 to F-103 */
export const pinPolicySchema = z.array(
  z.object({
    upToMicroUsd: decimalInteger.optional(),
    blocks: z.number().int().min(0).optional().describe('Blocks on top of the block of the deposit'),
    seconds: z
      .number()
      .int()
      .min(0)
      .max(86_400)
      .optional()
      .describe(
        "Seconds between the timestamps of the deposit's block and of the newest block; without `finalized`, also since its block was first seen",
      ),
    finalized: z
      .literal(true)
      .optional()
      .describe(
        'The chain itself calls the block final: tag, milestone, solidified, votes, or the word of an exchange',
      ),
    confirmations: z
      .number()
      .int()
      .min(0)
      .optional()
      .describe('Chains with proof of work only: the block of the deposit and those on top'),
  }),
)

/**
 * Sentence on an error in a row of `pinPolicy`; `undefined` where it has none. Chains with proof of work count
 * confirmations alone; all others need blocks, seconds or finality.
 * @param countsWork true for a chain with proof of work
 * @source F-102, F-103
 */
export function depthProblem(
  { blocks, seconds, finalized, confirmations }: DepthRow,
  countsWork: boolean,
): string | undefined {
  const hasOthers = [blocks, seconds, finalized].some((member) => member !== undefined)
  if (countsWork)
    return hasOthers || confirmations === undefined
      ? 'write `confirmations` here, and nothing else'
      : undefined
  if (confirmations !== undefined)
    return `\`confirmations\` is no longer read here: write \`"blocks": ${Math.max(0, confirmations - 1)}\`, those on top of the deposit's own, and beside it \`"seconds"\` or \`"finalized": true\`, which guard money where blocks come fast`
  return hasOthers ? undefined : 'write `blocks`, `seconds` or `finalized`'
}
