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

/** Keeps entries over restarts. */
export interface LineJournal<Entry> {
  /** Entries of earlier runs, oldest first. @throws ConfigurationError when they cannot be read */
  load(): readonly Entry[]
  /** Starts the file anew with what still matters, now and whenever it has grown. */
  begin(current: () => readonly Entry[]): void
  /** The entry is written when this returns. It never throws: see `onFailed`. */
  append(entry: Entry): void
  /**
   * True if every entry is in the file now: entries that a full disk lost or that were removed are written again first.
   */
  isKept(): boolean
  close(): void
}

export type LineJournalOptions<Entry> = {
  /** Folder, which is created. */
  readonly directory: string
  /** Name of the file in the folder. */
  readonly name: string
  /** `undefined` for what is no entry. */
  readonly parse: (line: unknown) => Entry | undefined
  /** Line of an entry, without the newline. */
  readonly toLine: (entry: Entry) => string
  /** Error that stops the start at a line that is no entry. */
  readonly brokenLineError: (lineNumber: number) => ConfigurationError
  /** Called when an entry could not be written, and so is known to this process alone. */
  readonly onFailed: (error: unknown) => void
}

const linesMax = 100_000

/**
 * A file of JSON lines. A line is with the operating system before anything is signed by it: a process that is
 * killed loses none. Losing power may lose the last ones.
 */
export function createLineJournal<Entry>(options: LineJournalOptions<Entry>): LineJournal<Entry> {
  return new FileJournal(options)
}

class FileJournal<Entry> implements LineJournal<Entry> {
  readonly #options: LineJournalOptions<Entry>
  readonly #path: string
  #file: number | undefined
  #lines = 0
  /** True while the file lacks an entry or ends in half a line; it is then written anew before anything is added. */
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
    this.close()
    this.#file = fresh
    this.#lines = entries.length
    this.#isBehind = false
  }

  append(entry: Entry): void {
    try {
      if (this.#file === undefined) throw new Error('the journal is closed')
      if (!this.#isBehind) this.#add(this.#file, Buffer.from(`${this.#options.toLine(entry)}\n`))
      if (this.#isBehind || this.#lines > linesMax) this.#rewrite()
    } catch (error) {
      this.#fail(error)
    }
  }

  /** A disk that fills up takes a part of a line before it refuses. */
  #add(open: number, line: Buffer): void {
    if (writeSync(open, line) < line.length) throw new Error('a part of a line was written')
    this.#lines += 1
  }

  #fail(error: unknown): void {
    this.#isBehind = true
    this.#options.onFailed(error)
  }

  isKept(): boolean {
    if (this.#file === undefined) return !this.#isBehind
    try {
      if (this.#isBehind || !isNamed(this.#path, this.#file)) this.#rewrite()
    } catch (error) {
      if (!this.#isBehind) this.#fail(error)
    }
    return !this.#isBehind
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }
}

/** True if the open file still has its name: it was neither removed nor replaced. */
function isNamed(path: string, file: number): boolean {
  const fileAtPath = statSync(path, { throwIfNoEntry: false })
  return fileAtPath !== undefined && fileAtPath.ino === fstatSync(file).ino
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
