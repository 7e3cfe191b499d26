import { hash, timingSafeEqual } from 'node:crypto'
import { ConfigurationError } from '@causeway/core'
import { listEntries, type SettingEntry } from '@causeway/core/config'
import { type ApiKeyRecord, type ApiKeys, checkKeySetting } from '@causeway/http'

/** Scope of the keys that may use `force`. */
export const forceScope = 'force'

/** A configured key: only its hash is kept. */
export type ConfiguredKey = {
  readonly sha256: Buffer
  readonly label: string
  /** True for `API_KEYS`; a key of `PEER_API_KEYS` lifts the rate limit and nothing else. */
  readonly mayForce: boolean
}

const hashPrefix = 'sha256$'

/**
 * Parses `API_KEYS` and `PEER_API_KEYS`: entries `key:label` or `sha256$<hex>:label`, separated by semicolons
 * and split at the first colon. A key in both is refused: it would let a peer use `force`.
 * @throws ConfigurationError naming the setting and the number of the wrong entry, never its key
 * @source rules P-86, P-87
 */
export function parseKeySettings(texts: {
  readonly operators: string
  readonly peers: string
  /** True in `local`, where keys may be short. */
  readonly isLocal: boolean
}): readonly ConfiguredKey[] {
  const { isLocal } = texts
  const operators = parseKeySetting('API_KEYS', texts.operators, isLocal)
  const peers = parseKeySetting('PEER_API_KEYS', texts.peers, isLocal)
  for (const [index, peer] of peers.entries()) {
    const shared = operators.findIndex(({ sha256 }) => sha256.equals(peer.sha256))
    if (shared < 0) continue
    throw new ConfigurationError(
      `API_KEYS entry ${shared + 1} and PEER_API_KEYS entry ${index + 1} are one key: a peer could use force. Give the peer a key of its own.`,
    )
  }
  return [
    ...operators.map((key) => ({ ...key, mayForce: true })),
    ...peers.map((key) => ({ ...key, mayForce: false })),
  ]
}

/**
 * Refuses keys that this oracle sends to a peer (in `PEERS`) and that also authorise `force` here: the peer knows them.
 * @param peerKeys keys of `PEERS`, each with the name of its entry
 * @throws ConfigurationError naming both settings
 */
export function refuseShownKeys(
  keys: readonly ConfiguredKey[],
  peerKeys: readonly { readonly entryName: string; readonly key: string }[],
): void {
  for (const { entryName, key } of peerKeys) {
    const sha256 = hashOf(key)
    if (!keys.some((known) => known.mayForce && known.sha256.equals(sha256))) continue
    throw new ConfigurationError(
      `${entryName} shows the peer a key of API_KEYS, so it could use force here. Show it another one.`,
    )
  }
}

/** An entry of either setting. */
type WrittenKey = Omit<ConfiguredKey, 'mayForce'>

function parseKeySetting(setting: string, text: string, isLocal: boolean): readonly WrittenKey[] {
  const keys = listEntries(setting, text).map((entry) => parseEntry(entry, isLocal))
  if (new Set(keys.map(({ sha256 }) => sha256.toString('hex'))).size < keys.length) {
    throw new ConfigurationError(`${setting} names one key twice.`)
  }
  return keys
}

function parseEntry({ text, entryName }: SettingEntry, isLocal: boolean): WrittenKey {
  const colon = text.indexOf(':')
  const key = colon < 0 ? '' : text.slice(0, colon).trim()
  const label = text.slice(colon + 1).trim()
  if (key === '' || label === '') {
    throw new ConfigurationError(`${entryName} must be a key and a label, joined by a colon.`)
  }
  if (!key.startsWith(hashPrefix)) {
    checkKeySetting(key, `${entryName}: the key`, isLocal)
    return { sha256: hashOf(key), label }
  }
  const digits = key.slice(hashPrefix.length)
  if (!/^[0-9a-fA-F]{64}$/.test(digits)) {
    throw new ConfigurationError(`${entryName}: ${hashPrefix} must be followed by 64 hex digits.`)
  }
  return { sha256: Buffer.from(digits, 'hex'), label }
}

/** Looks up the keys that requests present, by their hash: timing then tells nothing about a key. */
export function createConfiguredKeys(keys: readonly ConfiguredKey[]): ApiKeys {
  const byHash = new Map(
    keys.map(({ sha256, label, mayForce }) => {
      const record: ApiKeyRecord = {
        keyId: `${mayForce ? 'caller' : 'peer'} ${label}`,
        label,
        scopes: new Set(mayForce ? [forceScope] : []),
      }
      return [sha256.toString('hex'), { sha256, record }] as const
    }),
  )
  return {
    async find(presented) {
      const sha256 = hashOf(presented)
      const keyEntry = byHash.get(sha256.toString('hex'))
      return keyEntry !== undefined && timingSafeEqual(keyEntry.sha256, sha256) ? keyEntry.record : undefined
    },
  }
}

function hashOf(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}
