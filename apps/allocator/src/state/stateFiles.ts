import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigurationError, type FinalBlock, hex32Pattern } from '@causeway/core'
import { z } from 'zod'

/** Present stop of signing. */
export type Stop = { readonly reason: string; readonly since: string; readonly isRewritten: boolean }

/** Files of the allocator in `STATE_DIR` beside its caps. */
export interface StateFiles {
  /** Up to where issued payloads were read and are done with; the next start goes on behind it. */
  readPosition(): Promise<FinalBlock | undefined>
  writePosition(position: FinalBlock): Promise<void>
  /** A switch that cannot be read has been used. */
  readStop(): Promise<Stop | undefined>
  stop(stop: Stop): Promise<void>
  /** Removes the switch; what was read of a chain that changed is read anew. @returns false where nothing was stopped */
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

/** Without `STATE_DIR` a stop and the position end with the process. */
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
      const was = stopped !== undefined
      stopped = undefined
      return was
    },
  }
}

/** On disk when it resolves. */
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
