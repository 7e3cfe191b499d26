import { randomUUID } from 'node:crypto'
import { link, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigurationError, type FinalBlock } from '@causeway/core'
import { z } from 'zod'

/** Why nothing is signed. */
export type Stop = { readonly reason: string; readonly since: string; readonly isRewritten: boolean }

/** What the allocator keeps in `STATE_DIR` beside its caps. */
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
  hash: z.string().regex(/^0x[0-9a-f]{64}$/),
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

/**
 * Makes this process the only one that counts in `directory`: two would each keep half of the counts.
 * @returns lets another one in
 * @throws ConfigurationError while another process has it
 */
export async function lockStateDirectory(directory: string): Promise<() => Promise<void>> {
  const path = join(directory, 'allocator.lock')
  await mkdir(directory, { recursive: true })
  const own = { pid: process.pid, started: await startOf(process.pid) }
  const draft = `${path}.${randomUUID()}`
  await writeFile(draft, JSON.stringify(own), { mode: 0o600 })
  try {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      try {
        await link(draft, path)
        return () => rm(path, { force: true })
      } catch (error) {
        if (!isCode(error, 'EEXIST')) throw error
      }
      const holder = lockSchema.safeParse(jsonOf((await readText(path)) ?? ''))
      const isHeld = holder.success && (await startOf(holder.data.pid)) === holder.data.started
      if (isHeld) {
        throw new ConfigurationError(
          `STATE_DIR is used by the allocator with process id ${holder.data.pid}: stop it, or give this one a folder of its own.`,
        )
      }
      await rm(path, { force: true })
    }
    throw new ConfigurationError('STATE_DIR changes hands all the time: several allocators start at once.')
  } finally {
    await rm(draft, { force: true })
  }
}

const lockSchema = z.object({ pid: z.number().int().positive(), started: z.string() })

/** When a process began: an id alone may be somebody else's by now. `gone` for one that is not there. */
async function startOf(pid: number): Promise<string> {
  const stat = await readText(`/proc/${pid}/stat`)
  if (stat !== undefined) return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? 'unknown'
  try {
    process.kill(pid, 0)
    return 'unknown'
  } catch {
    return 'gone'
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
