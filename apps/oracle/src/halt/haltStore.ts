import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import type { FinalChange } from '@causeway/families'
import { z } from 'zod'

/** Keeps halts of chains over restarts, until an operator clears them. @source rule P-95 */
export interface HaltStore {
  /** True where other processes write to it, too: their halts are then read regularly. */
  readonly isShared: boolean
  /** Halted chains with the change that halted each; `undefined` where it cannot be read, which halts all the same. */
  load(): Promise<ReadonlyMap<string, FinalChange | undefined>>
  /** The halt outlives the process when this resolves. @param contradiction `undefined` if unreadable */
  save(chainId: string, contradiction: FinalChange | undefined): Promise<void>
  has(chainId: string): Promise<boolean>
  /** Ends a halt. @returns false where the chain was not halted */
  clear(chainId: string): Promise<boolean>
}

const markerSchema = z.object({
  blockNumber: z.string().regex(/^[0-9]{1,78}$/),
  knownHash: z.string().max(200),
  foundHash: z.string().max(200).optional(),
})
const suffix = '.halted.json'

/**
 * One file `<chain>.halted.json` per halted chain in `directory`, which is created.
 * @throws ConfigurationError from `load` when the directory cannot be used
 */
export function createHaltStore(directory: string): HaltStore {
  const pathOf = (chainId: string) => join(directory, `${chainId}${suffix}`)

  async function markers(): Promise<readonly string[]> {
    try {
      await mkdir(directory, { recursive: true })
      return (await readdir(directory)).filter((name) => name.endsWith(suffix))
    } catch (error) {
      throw new ConfigurationError('STATE_DIR cannot be read or created.', { cause: error })
    }
  }

  return {
    isShared: false,
    async load() {
      const markerEntries = await Promise.all(
        (await markers()).map(async (name) => {
          const chainId = name.slice(0, -suffix.length)
          return [chainId, await readMarker(pathOf(chainId))] as const
        }),
      )
      return new Map(markerEntries)
    },
    async save(chainId, contradiction) {
      await mkdir(directory, { recursive: true })
      const draft = `${pathOf(chainId)}.tmp`
      const file = await open(draft, 'w', 0o600)
      try {
        await file.writeFile(`${JSON.stringify(toMarker(contradiction), null, 2)}\n`)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(draft, pathOf(chainId))
    },
    async has(chainId) {
      return (await markers()).includes(`${chainId}${suffix}`)
    },
    async clear(chainId) {
      if (!(await markers()).includes(`${chainId}${suffix}`)) return false
      await rm(pathOf(chainId))
      return true
    },
  }
}

async function readMarker(path: string): Promise<FinalChange | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch {
    // The marker's file name is enough to halt the chain.
    return undefined
  }
  const marker = markerSchema.safeParse(parseJson(text))
  if (!marker.success) return undefined
  const { blockNumber, knownHash, foundHash } = marker.data
  return { blockNumber: BigInt(blockNumber), knownHash, foundHash }
}

/** A marker's JSON; empty for a change that is not known, which halts all the same. */
function toMarker(contradiction: FinalChange | undefined) {
  if (contradiction === undefined) return {}
  const { blockNumber, knownHash, foundHash } = contradiction
  return { blockNumber: blockNumber.toString(), knownHash, ...(foundHash !== undefined && { foundHash }) }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
