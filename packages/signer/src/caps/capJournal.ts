import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigurationError, type Hex, hex32Pattern } from '@causeway/core'
import { z } from 'zod'
import { createLineJournal, type LineJournal } from './lineJournal.ts'

/**
 * A line of the journal of signing caps. It adds `counted` to the sums of its `minute`, or remembers `key`, or both.
 * Amounts are by hub token id.
 */
export type CapEntry = {
  /** Minutes since 1970. */
  readonly minute?: number | undefined
  /** Amounts that were signed in that minute and not counted before. */
  readonly counted?: ReadonlyMap<bigint, bigint> | undefined
  /** Idempotency key that may be signed again, up to `amounts`, without being counted again. */
  readonly key?: Hex | undefined
  readonly amounts?: ReadonlyMap<bigint, bigint> | undefined
}

/** Keeps counts over restarts: crashing an oracle or allocator on purpose does not make it sign more per hour. */
export type CapJournal = LineJournal<CapEntry>

const journalName = 'signing-caps.jsonl'

const hexNumber = z
  .string()
  .regex(/^0x[0-9a-f]{1,64}$/)
  .transform((text) => BigInt(text))
const amountsSchema = z
  .array(z.tuple([hexNumber, hexNumber]))
  .transform((pairs): ReadonlyMap<bigint, bigint> => new Map(pairs))
const lineSchema = z.strictObject({
  minute: z.number().int().min(0).optional(),
  counted: amountsSchema.optional(),
  key: z
    .string()
    .regex(hex32Pattern)
    .transform((text): Hex => `0x${text.slice(2)}`)
    .optional(),
  amounts: amountsSchema.optional(),
})

/** True if a folder has the counts of an earlier run. */
export const hasCapCounts = (directory: string): boolean => existsSync(join(directory, journalName))

/** A file `signing-caps.jsonl` in `directory`. See `createLineJournal`. */
export function createCapJournal(directory: string, onFailed: (error: unknown) => void): CapJournal {
  return createLineJournal<CapEntry>({
    directory,
    name: journalName,
    parse(line) {
      const parsed = lineSchema.safeParse(line)
      return parsed.success ? parsed.data : undefined
    },
    toLine,
    brokenLineError: (number) =>
      new ConfigurationError(
        `STATE_DIR: line ${number} of ${journalName} cannot be read. What was signed within the hour is in it: mend the line, or remove the file and the counts with it.`,
      ),
    onFailed,
  })
}

function toLine({ minute, counted, key, amounts }: CapEntry): string {
  const pairs = (map: ReadonlyMap<bigint, bigint>) =>
    [...map].map(([hubTokenId, amount]) => [`0x${hubTokenId.toString(16)}`, `0x${amount.toString(16)}`])
  const line = {
    ...(minute !== undefined && { minute }),
    ...(counted !== undefined && { counted: pairs(counted) }),
    ...(key !== undefined && { key }),
    ...(amounts !== undefined && { amounts: pairs(amounts) }),
  }
  return JSON.stringify(line)
}
