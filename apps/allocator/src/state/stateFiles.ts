import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigurationError, type FinalBlock, hex32Pattern } from '@causeway/core'
import { z } from 'zod'

/** The stop of all signing, by an operator or a changed block. */
export type Stop = {
  readonly reason: string
  /** ISO time, or `unknown`. */
  readonly since: string
  /** True where a final block changed: events must then be read from the start again. */
  readonly isRewritten: boolean
}

/** State of the allocator in `STATE_DIR` beside its caps: its position on the hub, and its stop. */
export interface StateFiles {
  /** The block up to which all issued payloads are done with; the next start reads on behind it. */
  readPosition(): Promise<FinalBlock | undefined>
  writePosition(position: FinalBlock): Promise<void>
  /** The present stop. A stop file that cannot be read stops, too. */
  readStop(): Promise<Stop | undefined>
  stop(stop: Stop): Promise<void>
  /**
   * Ends the stop. Also removes the position after a changed block, or if the stop file cannot be read, as
   * it may tell of one. @returns false where nothing was stopped
   */
  resume(): Promise<boolean>
}

const stopName = 'stopped.json'
const positionName = 'position.json'
const stopSchema = z.object({ reason: z.string(), since: z.string(), isRewritten: z.boolean() })
const positionSchema = z.object({
  number: z
    .string()
    .regex(/^[0-9]{1,78}$/)
    .transform(BigInt),
  hash: z.string().regex(hex32Pattern),
})

export function createStateFiles(directory: string): StateFiles {
  const path = (name: string) => join(directory, name)
  return {
    async readPosition() {
      const text = await readText(path(positionName))
      if (text === undefined) return undefined
      const parsed = positionSchema.safeParse(jsonOf(text))
      if (parsed.success) return parsed.data
      throw new ConfigurationError(
        `STATE_DIR: ${positionName} cannot be read. Remove it, and everything that was issued is looked at again.`,
      )
    },
    writePosition: ({ number, hash }) =>
      writeDurably(path(positionName), { number: number.toString(), hash }, directory),
    async readStop() {
      const text = await readText(path(stopName))
      if (text === undefined) return undefined
      const parsed = stopSchema.safeParse(jsonOf(text))
      if (parsed.success) return parsed.data
      // `resume` reads the file by itself, so this `isRewritten` has no effect.
      return { reason: `${stopName} cannot be read`, since: 'unknown', isRewritten: false }
    },
    stop: (stop) => writeDurably(path(stopName), stop, directory),
    async resume() {
      const text = await readText(path(stopName))
      if (text === undefined) return false
      const parsed = stopSchema.safeParse(jsonOf(text))
      if (!parsed.success || parsed.data.isRewritten) await rm(path(positionName), { force: true })
      await rm(path(stopName))
      return true
    },
  }
}

/**
 * Without `STATE_DIR` a stop and the position end with the process. Operators' commands cannot reach them, so
 * a stop after a changed block is never resumed, and `resume` need not drop the position.
 */
export function createMemoryState(): StateFiles {
  let position: FinalBlock | undefined
  let stopped: Stop | undefined
  return {
    readPosition: async () => position,
    async writePosition(next) {
      position = next
    },
    readStop: async () => stopped,
    async stop(stop) {
      stopped = stop
    },
    async resume() {
      const wasStopped = stopped !== undefined
      stopped = undefined
      return wasStopped
    },
  }
}

/** Replaces a file as a whole; it is on disk (`fsync`) when this resolves. */
async function writeDurably(path: string, value: object, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true })
  const draft = `${path}.tmp`
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(value, null, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
}

/** `undefined` for a file that is not there. */
async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
