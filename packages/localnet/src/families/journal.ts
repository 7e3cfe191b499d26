import { appendFileSync, mkdirSync, readFileSync, truncateSync } from 'node:fs'
import { dirname } from 'node:path'
import type { z } from 'zod'

/** Record of the calls that a stand-in accepted, in order. After a restart it repeats them and has the same state. */
export type Journal<Entry> = {
  /** Entries of earlier runs. */
  readonly kept: readonly Entry[]
  /** The entry is in the file when it returns, so the stand-in may then confirm the call to its client. */
  add(entry: Entry): void
}

/**
 * Opens a journal: a file with one line of JSON per entry.
 * @param file absent: nothing is kept
 * @param write turns an entry into JSON that the schema reads; default: the entry itself
 * @throws Error when the file cannot be read or written
 */
export function openJournal<Entry>(
  file: string | undefined,
  schema: z.ZodType<Entry>,
  write: (entry: Entry) => unknown = (entry) => entry,
): Journal<Entry> {
  if (file === undefined) return { kept: [], add: () => undefined }
  mkdirSync(dirname(file), { recursive: true })
  const kept: Entry[] = []
  let wholeBytes = 0
  for (const line of readText(file).split('\n')) {
    const entry = readEntry(line, schema)
    // A kill may have cut the last line, which is then removed.
    if (entry === undefined) break
    kept.push(entry)
    wholeBytes += Buffer.byteLength(line) + 1
  }
  if (wholeBytes < Buffer.byteLength(readText(file))) truncateSync(file, wholeBytes)
  return { kept, add: (entry) => appendFileSync(file, `${JSON.stringify(write(entry))}\n`) }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
}

function readEntry<Entry>(line: string, schema: z.ZodType<Entry>): Entry | undefined {
  try {
    return schema.parse(JSON.parse(line))
  } catch {
    return undefined
  }
}
