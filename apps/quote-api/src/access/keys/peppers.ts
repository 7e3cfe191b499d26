import { createHmac, randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigurationError, type Secret } from '@causeway/core'
import { listEntries } from '@causeway/core/config'

/** Secret keys of the HMAC under which API keys are stored. */
export type Peppers = {
  /** Id of the pepper that hashes new keys. */
  readonly currentId: string
  /** 32 bytes each, by id. */
  readonly byId: ReadonlyMap<string, Uint8Array>
}

const entryPattern = /^([a-z0-9]{1,16}):([0-9a-fA-F]{64})$/

/**
 * Reads `API_KEY_PEPPERS`: `id:hex` joined by semicolons, 32 bytes each. The first hashes new keys;
 * the others are kept until every key was used once under the first.
 * @throws ConfigurationError that names the entry and no value
 */
export function parsePeppers(setting: Secret): Peppers {
  const byId = new Map<string, Uint8Array>()
  for (const { text, entryName: place } of listEntries('API_KEY_PEPPERS', setting.reveal())) {
    const [, id, hex] = entryPattern.exec(text) ?? []
    if (id === undefined || hex === undefined || byId.has(id))
      throw new ConfigurationError(`${place} must be like v1:<64 hex digits>, with an id of its own.`)
    byId.set(id, Buffer.from(hex, 'hex'))
  }
  const [currentId] = byId.keys()
  if (currentId === undefined) throw new ConfigurationError('API_KEY_PEPPERS names no pepper.')
  return { currentId, byId }
}

/** 32 bytes that identify a pepper and do not reveal it; stored beside each hash made with it. */
export function pepperCheck(pepper: Uint8Array): Buffer {
  return createHmac('sha256', pepper).update('causeway: check of a pepper').digest()
}

const localPepperId = 'local'

/**
 * The pepper of a local network. The first call generates it; a file beside the network's database keeps it, so that
 * the service and the command line share it.
 */
export async function loadLocalPeppers(localDirectory: string): Promise<Peppers> {
  const folder = join(localDirectory, 'secrets')
  const path = join(folder, 'api-key.pepper')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  await writeFile(draft, randomBytes(32).toString('hex'), { mode: 0o600 })
  try {
    // `link` fails if the file exists, so that only one of two starting processes sets the pepper.
    await link(draft, path)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    await rm(draft, { force: true })
  }
  const pepper = Buffer.from((await readFile(path, 'utf8')).trim(), 'hex')
  if (pepper.length !== 32) throw new ConfigurationError(`${path} is damaged; start with --fresh.`)
  return { currentId: localPepperId, byId: new Map([[localPepperId, pepper]]) }
}
