import { z } from 'zod'

/** Day on which facts of a network were compared with its owner's statements, or with the chain. @source F-107 */
export const seenOn = z.iso.date()

/** An operator's last comparison of the files' facts of a chain with their sources. @source F-107 */
export const seenSchema = z.object({
  on: seenOn.describe('Day on which all facts of the chain in the files were compared with their sources'),
  source: z.string().min(1).describe('Where block time and finality were read'),
  finalitySeconds: z
    .number()
    .int()
    .positive()
    .optional()
    .describe(
      'How far the newest final block trails the newest one, at most: while it trails twice as far, nothing new begins there',
    ),
  onChain: seenOn
    .optional()
    .describe('Day on which `config check --against-chain` last found the chain as the files say'),
})
