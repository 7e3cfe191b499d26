import { randomBytes } from 'node:crypto'
import { mkdir, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Findings } from '@causeway/core'
import { z } from 'zod'

/** `undefined` where its setting is wrong, which is found elsewhere. */
export type NamedListener = {
  readonly setting: string
  readonly host: string | undefined
  readonly port: number | undefined
}

/** Two listeners of one process on one port: the second would not open. Port 0 is a free one each. */
export function examinePorts(listeners: readonly NamedListener[], found: Findings): void {
  for (const [index, { setting, host, port }] of listeners.entries()) {
    if (host === undefined || port === undefined || port === 0) continue
    const other = listeners.slice(0, index).find((one) => one.port === port && overlap(one.host ?? '', host))
    if (other === undefined) continue
    found.add({
      ...{ code: 'setting-contradicts', severity: 'stops', setting },
      seen: `is port ${port}, as ${other.setting}`,
      fix: `Give ${setting} a port of its own.`,
    })
  }
}

const everywhere: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

function overlap(one: string, other: string): boolean {
  const name = (host: string) => (host === 'localhost' ? '127.0.0.1' : host)
  return name(one) === name(other) || everywhere.has(one) || everywhere.has(other)
}

/** Variables that do nothing while another one is not set. */
export function examineCompanions(
  values: Readonly<Record<string, unknown>>,
  companions: readonly (readonly [setting: string, needs: string])[],
  found: Findings,
): void {
  for (const [setting, needs] of companions) {
    if (values[setting] === undefined || values[needs] !== undefined) continue
    found.add({
      ...{ code: 'setting-without-effect', severity: 'degrades', setting },
      seen: `is set, and does nothing without ${needs}`,
      fix: `Set ${needs}, or remove ${setting}.`,
    })
  }
}

/** Below this a disk is as good as full: journals grow for weeks, not for hours. */
const freeBytesMin = 64 * 1024 * 1024

/** A folder that a service keeps its state in: writable, and with room. Makes it where it is missing, as the start does. */
export async function examineFolder(setting: string, directory: string, found: Findings): Promise<void> {
  const probe = join(directory, `.doctor-${randomBytes(6).toString('hex')}`)
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await writeFile(probe, 'x', { mode: 0o600 })
    await rm(probe)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    found.add({
      ...{ code: code === 'ENOSPC' ? 'disk-full' : 'disk-unwritable', severity: 'stops', setting },
      seen: `nothing can be written to the folder (${code})`,
      fix: 'Let the user that runs the service own the folder, on a volume with room.',
    })
    return
  }
  const { bavail, bsize } = await statfs(directory)
  const freeBytes = bavail * bsize
  if (freeBytes >= freeBytesMin) return
  found.add({
    ...{ code: 'disk-full', severity: 'degrades', setting },
    seen: `the disk has ${Math.floor(freeBytes / 1024 / 1024)} MiB left`,
    fix: 'Make room: what cannot be written is not signed.',
  })
}

const readinessSchema = z.object({ ready: z.boolean(), signer: z.string().optional() })

export type Neighbour = {
  /** Of the setting, with the position of an entry, e.g. `ORACLES entry 2`. */
  readonly setting: string
  /** Host and port: what may be shown. */
  readonly name: string
  /** May hold a key, which is never shown. */
  readonly url: string
}

/**
 * Asks another oracle whether it is ready, and who signs there.
 * @returns the address that it names, lower case; `undefined` where it is silent or names none
 */
export async function examineOracle(
  { setting, name, url }: Neighbour,
  timeoutMs: number,
  found: Findings,
): Promise<string | undefined> {
  const silent = (seen: string) =>
    found.add({
      ...{ code: 'peer-silent', severity: 'degrades', setting },
      seen: `${name} ${seen}`,
      fix: 'Compare the URL with what its operator gave you, and see that this machine reaches it.',
    })
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(`${url}/lives/ready/v1`, { signal, redirect: 'error' })
    const parsed = readinessSchema.safeParse(await response.json())
    if (!parsed.success) {
      silent('answers, and is no oracle of this release')
      return undefined
    }
    if (!parsed.data.ready) silent('answers that it is not ready')
    return parsed.data.signer?.toLowerCase()
  } catch {
    // What went wrong may hold the URL, and that a key.
    silent('does not answer')
    return undefined
  }
}
