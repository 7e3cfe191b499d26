import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { ConfigurationError, type Hex } from '@causeway/core'
import { z } from 'zod'

/** One count, or what is left of many: amounts by hub token id. */
export type CapEntry = {
  /** Minutes since 1970 in which `counted` was signed. */
  readonly minute?: number | undefined
  readonly counted?: ReadonlyMap<bigint, bigint> | undefined
  /** What is signed from now on without counting again. */
  readonly key?: Hex | undefined
  readonly amounts?: ReadonlyMap<bigint, bigint> | undefined
}

/** Keeps counts over restarts, so that an oracle that is made to crash signs no more per hour than one that runs. */
export interface CapJournal {
  /** What earlier runs counted, oldest first. @throws ConfigurationError when it cannot be read */
  load(): readonly CapEntry[]
  /** Starts the file anew with what still matters, now and whenever it has grown. */
  begin(current: () => readonly CapEntry[]): void
  /** Written when it returns. It never throws: see `onFailed`. */
  append(entry: CapEntry): void
  close(): void
}

const journalName = 'signing-caps.jsonl'
const linesMax = 100_000

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
    .regex(/^0x[0-9a-f]{64}$/)
    .transform((text): Hex => `0x${text.slice(2)}`)
    .optional(),
  amounts: amountsSchema.optional(),
})

/** Nothing outlives the process. */
export const noJournal: CapJournal = {
  load: () => [],
  begin: () => undefined,
  append: () => undefined,
  close: () => undefined,
}

/**
 * A file `signing-caps.jsonl` in `directory`, which is created. A line is with the operating system before
 * anything is signed by it: a process that is killed loses no count. Losing power may lose the last ones.
 * @param onFailed told when a count could not be written: it stands in this process alone then
 */
export function createCapJournal(directory: string, onFailed: (error: unknown) => void): CapJournal {
  const path = join(directory, journalName)
  let file: number | undefined
  let lines = 0
  let snapshot: () => readonly CapEntry[] = () => []

  function rewrite(): void {
    const draft = `${path}.tmp`
    mkdirSync(directory, { recursive: true })
    rmSync(draft, { force: true })
    const fresh = openSync(draft, 'ax', 0o600)
    const entries = snapshot()
    writeFileSync(fresh, entries.map(toLine).join(''))
    renameSync(draft, path)
    if (file !== undefined) closeSync(file)
    file = fresh
    lines = entries.length
  }

  return {
    load() {
      return readLines(path).map((line, index) => {
        const parsed = lineSchema.safeParse(line)
        if (parsed.success) return parsed.data
        throw new ConfigurationError(
          `STATE_DIR: line ${index + 1} of ${journalName} cannot be read. What was signed within the hour is in it: mend the line, or remove the file and the counts with it.`,
        )
      })
    },
    begin(current) {
      snapshot = current
      try {
        rewrite()
      } catch (error) {
        throw new ConfigurationError(`STATE_DIR: ${journalName} cannot be written.`, { cause: error })
      }
    },
    append(entry) {
      try {
        if (file === undefined) throw new Error('the journal is closed')
        writeSync(file, toLine(entry))
        lines += 1
        if (lines > linesMax) rewrite()
      } catch (error) {
        onFailed(error)
      }
    },
    close() {
      if (file !== undefined) closeSync(file)
      file = undefined
    },
  }
}

/** A last line without its end was being written when the process died: nothing was signed by it. */
function readLines(path: string): readonly unknown[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw new ConfigurationError(`STATE_DIR: ${journalName} cannot be read.`, { cause: error })
  }
  return text
    .split('\n')
    .slice(0, -1)
    .map((line): unknown => {
      try {
        return JSON.parse(line)
      } catch {
        return undefined
      }
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
  return `${JSON.stringify(line)}\n`
}
