import { z } from 'zod'
import type { DepthRow } from '../chain/depth.ts'
import { decimalInteger } from './scalars.ts'

/** Depths that deposits need before they are acted on, by size; each row is a `DepthRow`. @source F-100 to F-103 */
export const pinPolicySchema = z.array(
  z.object({
    upToMicroUsd: decimalInteger.optional(),
    blocks: z.number().int().min(0).optional().describe('Blocks on top of the one of the transaction'),
    seconds: z
      .number()
      .int()
      .min(0)
      .max(86_400)
      .optional()
      .describe(
        'Between the timestamps of its block and the newest one, and, without `finalized`, since its block was first seen',
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
      .describe('Of chains that are paid by the size of transactions alone: its own block and those on top'),
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
