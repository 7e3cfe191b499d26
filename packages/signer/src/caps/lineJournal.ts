import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { ConfigurationError } from '@causeway/core'

/** A file that keeps entries over restarts, one JSON line each. */
export interface LineJournal<Entry> {
  /** Entries of earlier runs, oldest first. @throws ConfigurationError when they cannot be read */
  load(): readonly Entry[]
  /** Rewrites the file with the entries of `current`, now and whenever it has grown too long. Call it after `load`. */
  begin(current: () => readonly Entry[]): void
  /**
   * Writes the entry before it returns. The entries of `current` must contain it by then, since a rewrite
   * takes only those. It never throws: a failure goes to `onFailed`, and `isKept` is false until a rewrite
   * succeeds.
   */
  append(entry: Entry): void
  /** True if every entry is in the file. If a full disk or a removed file lost some, it first rewrites the file. */
  isKept(): boolean
  close(): void
}

export type LineJournalOptions<Entry> = {
  /** Folder, which is created. */
  readonly directory: string
  /** Name of the file in the folder. */
  readonly name: string
  /** Entry of a parsed JSON line; `undefined` for a line that is no entry. */
  readonly parse: (line: unknown) => Entry | undefined
  /** Line of an entry, without the newline. */
  readonly toLine: (entry: Entry) => string
  /** Error that stops the start at a line that is no entry. */
  readonly brokenLineError: (lineNumber: number) => ConfigurationError
  /** Called when an entry could not be written: it is then only in this process's memory. */
  readonly onFailed: (error: unknown) => void
}

/** For a process without `STATE_DIR`: its entries are lost when it ends. */
export const noJournal: LineJournal<never> = {
  load: () => [],
  begin: () => undefined,
  append: () => undefined,
  isKept: () => true,
  close: () => undefined,
}

const linesMax = 100_000

/**
 * A journal in a file. `append` hands its line to the operating system, so a process that is killed loses none. There
 * is no `fsync`, so a power failure may lose the last ones.
 */
export function createLineJournal<Entry>(options: LineJournalOptions<Entry>): LineJournal<Entry> {
  return new FileJournal(options)
}

class FileJournal<Entry> implements LineJournal<Entry> {
  readonly #options: LineJournalOptions<Entry>
  readonly #path: string
  #file: number | undefined
  #lines = 0
  /** True while the file lacks an entry or ends in half a line; `append` and `isKept` then rewrite it. */
  #isBehind = false
  #snapshot: () => readonly Entry[] = () => []

  constructor(options: LineJournalOptions<Entry>) {
    this.#options = options
    this.#path = join(options.directory, options.name)
  }

  load(): readonly Entry[] {
    const { name, parse, brokenLineError } = this.#options
    return readLines(this.#path, name).map((line, index) => {
      const entry = parse(line)
      if (entry === undefined) throw brokenLineError(index + 1)
      return entry
    })
  }

  begin(current: () => readonly Entry[]): void {
    this.#snapshot = current
    try {
      this.#rewrite()
    } catch (error) {
      throw new ConfigurationError(`STATE_DIR: ${this.#options.name} cannot be written.`, { cause: error })
    }
  }

  #rewrite(): void {
    const { directory, toLine } = this.#options
    const draft = `${this.#path}.tmp`
    mkdirSync(directory, { recursive: true })
    rmSync(draft, { force: true })
    const fresh = openSync(draft, 'ax', 0o600)
    const entries = this.#snapshot()
    try {
      writeFileSync(fresh, entries.map((entry) => `${toLine(entry)}\n`).join(''))
      renameSync(draft, this.#path)
    } catch (error) {
      closeSync(fresh)
      throw error
    }
    // Closes the file that was replaced.
    this.close()
    this.#file = fresh
    this.#lines = entries.length
    this.#isBehind = false
  }

  append(entry: Entry): void {
    try {
      if (this.#file === undefined) throw new Error('the journal is closed')
      if (!this.#isBehind) this.#add(this.#file, Buffer.from(`${this.#options.toLine(entry)}\n`))
      // A rewrite takes this entry from `current`.
      if (this.#isBehind || this.#lines > linesMax) this.#rewrite()
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Throws for a partial write, which a disk makes as it fills up. */
  #add(open: number, line: Buffer): void {
    if (writeSync(open, line) < line.length) throw new Error('a part of a line was written')
    this.#lines += 1
  }

  #fail(error: unknown): void {
    this.#isBehind = true
    this.#options.onFailed(error)
  }

  isKept(): boolean {
    // A closed journal cannot be rewritten.
    if (this.#file === undefined) return !this.#isBehind
    try {
      if (this.#isBehind || !isNamed(this.#path, this.#file)) this.#rewrite()
    } catch (error) {
      // While it is behind, `onFailed` was called already.
      if (!this.#isBehind) this.#fail(error)
    }
    return !this.#isBehind
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }
}

/** True if `path` still names the open file: it was neither removed nor replaced. */
function isNamed(path: string, file: number): boolean {
  const fileAtPath = statSync(path, { throwIfNoEntry: false })
  return fileAtPath !== undefined && fileAtPath.ino === fstatSync(file).ino
}

/** Parsed lines; `undefined` for one that is no JSON. A last line without newline is dropped: its write was cut short. */
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
