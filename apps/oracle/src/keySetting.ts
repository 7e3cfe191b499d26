import { createHash, timingSafeEqual } from 'node:crypto'
import { ConfigurationError } from '@causeway/core'
import type { ApiKeyRecord, ApiKeys } from '@causeway/http'

/** A configured key: only its hash is kept. */
export type ConfiguredKey = { readonly sha256: Buffer; readonly label: string }

const hashPrefix = 'sha256$'

/**
 * `API_KEYS`: entries `key:label` or `sha256$<hex>:label`, separated by semicolons and split at the
 * first colon. @throws ConfigurationError naming the number of the wrong entry, never its key
 * @source design.md 7.10, oracle-protocol.md 6.1
 */
export function parseKeySetting(text: string): readonly ConfiguredKey[] {
  const entries = text
    .split(';')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
  const keys = entries.map((entry, index) => parseEntry(entry, `API_KEYS entry ${index + 1}`))
  if (new Set(keys.map(({ sha256 }) => sha256.toString('hex'))).size < keys.length) {
    throw new ConfigurationError('API_KEYS names one key twice.')
  }
  return keys
}

function parseEntry(entry: string, place: string): ConfiguredKey {
  const colon = entry.indexOf(':')
  const key = colon < 0 ? '' : entry.slice(0, colon).trim()
  const label = entry.slice(colon + 1).trim()
  if (key === '' || label === '') {
    throw new ConfigurationError(`${place} must be a key and a label, joined by a colon.`)
  }
  if (!key.startsWith(hashPrefix)) {
    if (!/^[\x21-\x2b\x2d-\x7e]{1,256}$/.test(key)) {
      throw new ConfigurationError(`${place}: a key is at most 256 printable characters, without commas.`)
    }
    return { sha256: hashOf(key), label }
  }
  const digits = key.slice(hashPrefix.length)
  if (!/^[0-9a-fA-F]{64}$/.test(digits)) {
    throw new ConfigurationError(`${place}: ${hashPrefix} must be followed by 64 hex digits.`)
  }
  return { sha256: Buffer.from(digits, 'hex'), label }
}

/**
 * Looks presented keys up by their hash: what time tells about a hash tells nothing about a key, and no
 * name that every object has is one.
 */
export function createConfiguredKeys(keys: readonly ConfiguredKey[]): ApiKeys {
  const byHash = new Map(
    keys.map(({ sha256, label }) => {
      const record: ApiKeyRecord = { keyId: label, label, scopes: new Set() }
      return [sha256.toString('hex'), { sha256, record }] as const
    }),
  )
  return {
    async find(presented) {
      const sha256 = hashOf(presented)
      const found = byHash.get(sha256.toString('hex'))
      return found !== undefined && timingSafeEqual(found.sha256, sha256) ? found.record : undefined
    },
  }
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
