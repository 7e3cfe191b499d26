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
import { ConfigurationError } from '@causeway/core'

/** Keeps entries over restarts. */
export interface LineJournal<Entry> {
  /** What earlier runs wrote, oldest first. @throws ConfigurationError when it cannot be read */
  load(): readonly Entry[]
  /** Starts the file anew with what still matters, now and whenever it has grown. */
  begin(current: () => readonly Entry[]): void
  /** Written when it returns. It never throws: see `onFailed`. */
  append(entry: Entry): void
  close(): void
}

export type LineJournalOptions<Entry> = {
  /** It is created. */
  readonly directory: string
  /** Of the file in it. */
  readonly name: string
  /** `undefined` for what is no entry. */
  readonly parse: (line: unknown) => Entry | undefined
  /** Without its end. */
  readonly toLine: (entry: Entry) => string
  /** Why the start stops at a line that is no entry. */
  readonly broken: (lineNumber: number) => ConfigurationError
  /** Told when an entry could not be written: it stands in this process alone then. */
  readonly onFailed: (error: unknown) => void
}

const linesMax = 100_000

/**
 * A file of JSON lines. A line is with the operating system before anything is signed by it: a process that is
 * killed loses none. Losing power may lose the last ones.
 */
export function createLineJournal<Entry>(options: LineJournalOptions<Entry>): LineJournal<Entry> {
  const { directory, name, parse, toLine, broken, onFailed } = options
  const path = join(directory, name)
  let file: number | undefined
  let lines = 0
  let snapshot: () => readonly Entry[] = () => []

  function rewrite(): void {
    const draft = `${path}.tmp`
    mkdirSync(directory, { recursive: true })
    rmSync(draft, { force: true })
    const fresh = openSync(draft, 'ax', 0o600)
    const entries = snapshot()
    writeFileSync(fresh, entries.map((entry) => `${toLine(entry)}\n`).join(''))
    renameSync(draft, path)
    if (file !== undefined) closeSync(file)
    file = fresh
    lines = entries.length
  }

  return {
    load() {
      return readLines(path, name).map((line, index) => {
        const entry = parse(line)
        if (entry === undefined) throw broken(index + 1)
        return entry
      })
    },
    begin(current) {
      snapshot = current
      try {
        rewrite()
      } catch (error) {
        throw new ConfigurationError(`STATE_DIR: ${name} cannot be written.`, { cause: error })
      }
    },
    append(entry) {
      try {
        if (file === undefined) throw new Error('the journal is closed')
        writeSync(file, `${toLine(entry)}\n`)
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
function readLines(path: string, name: string): readonly unknown[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw new ConfigurationError(`STATE_DIR: ${name} cannot be read.`, { cause: error })
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
