import { appendFileSync, mkdirSync, readFileSync, truncateSync } from 'node:fs'
import { dirname } from 'node:path'
import type { z } from 'zod'

/** Calls that a stand-in took, in order: it takes it again after a restart, and so comes to the same state. */
export type Journal<Entry> = {
  /** Entries of earlier runs. */
  readonly kept: readonly Entry[]
  /** On the disk when it returns: whoever took a transaction may be told so. */
  add(entry: Entry): void
}

/**
 * Lines of JSON in a file.
 * @param file default: none, and nothing is kept
 * @param write the JSON of an entry, which the schema reads; default: the entry itself
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
    // A kill may have cut the last one.
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
