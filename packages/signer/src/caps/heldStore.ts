import { access, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigurationError, isHex32 } from '@causeway/core'
import { z } from 'zod'

/** A signing request above a cap, which waits for the operator's release. */
export type HeldRecord = {
  /** The attestation's kind, or the allocator's word for its payloads. */
  readonly kind: string
  /** Idempotency key of the execution, or of the withdrawal. */
  readonly key: string
  /** Amounts that its signature would let out, e.g. `1000000 of base 0x8335…`. */
  readonly lets: readonly string[]
  readonly reason: string
  /** ISO time. */
  readonly since: string
}

/**
 * Held and released signing requests. The id covers exactly what is to be signed. A request above a cap is
 * refused and kept, unless it is released. A released one is exempted from the caps, so that it can be signed
 * again, and is then forgotten with its release.
 */
export interface HeldStore {
  /** Records a held request. From a thousand on it writes none: logs and metrics show the further ones. */
  keep(id: string, record: HeldRecord): Promise<void>
  isReleased(id: string): Promise<boolean>
  /** Removes a signed request and its release. */
  forget(id: string): Promise<void>
  /** @throws ConfigurationError when the directory cannot be used */
  list(): Promise<ReadonlyMap<string, HeldRecord | undefined>>
  /**
   * Permits the signature, also of a request that is only held later.
   * @returns false where no such request is held now. @throws ConfigurationError for a malformed id
   */
  release(id: string): Promise<boolean>
}

const directoryName = 'held-executions'
const suffix = '.json'
const releasedSuffix = '.released'
const keptMax = 1_000
const recordSchema = z.object({
  kind: z.string(),
  key: z.string(),
  lets: z.array(z.string()),
  reason: z.string(),
  since: z.string(),
})

/** For a process without `STATE_DIR`: a held request is never released. */
export const noHeldStore: Pick<HeldStore, 'keep' | 'isReleased' | 'forget' | 'list'> = {
  keep: async () => undefined,
  isReleased: async () => false,
  forget: async () => undefined,
  list: async () => new Map(),
}

/** One file per held id in `held-executions` of `STATE_DIR`, and a marker beside it once it is released. */
export function createHeldStore(stateDirectory: string): HeldStore {
  const directory = join(stateDirectory, directoryName)
  const pathOf = (id: string) => join(directory, `${id}${suffix}`)
  const markerOf = (id: string) => join(directory, `${id}${releasedSuffix}`)
  const ids = async () =>
    (await readdir(directory))
      .filter((name) => name.endsWith(suffix))
      .map((name) => name.slice(0, -suffix.length))

  return {
    async keep(id, record) {
      await mkdir(directory, { recursive: true })
      if ((await ids()).length >= keptMax) return
      await writeFile(pathOf(id), `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 })
    },
    async isReleased(id) {
      try {
        await access(markerOf(id))
        return true
      } catch {
        return false
      }
    },
    async forget(id) {
      await Promise.all([rm(pathOf(id), { force: true }), rm(markerOf(id), { force: true })])
    },
    async list() {
      try {
        await mkdir(directory, { recursive: true })
        const heldEntries = (await ids()).map(async (id) => [id, await readRecord(pathOf(id))] as const)
        return new Map(await Promise.all(heldEntries))
      } catch (error) {
        throw new ConfigurationError('STATE_DIR cannot be read or created.', { cause: error })
      }
    },
    async release(id) {
      if (!isHex32(id)) {
        throw new ConfigurationError('An id is 0x and 64 hex digits, as `held list` and the log show it.')
      }
      await mkdir(directory, { recursive: true })
      await writeFile(markerOf(id), '', { mode: 0o600 })
      return (await ids()).includes(id)
    },
  }
}

async function readRecord(path: string): Promise<HeldRecord | undefined> {
  try {
    return recordSchema.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch {
    // An unreadable record still counts as held: its file name is the id.
    return undefined
  }
}
