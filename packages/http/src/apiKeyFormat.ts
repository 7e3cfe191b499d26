import { createHmac, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { type ApiKeyRecord, type ApiKeys, apiKeyLengthMax } from './apiKeys.ts'

/** A key that has the right form and checksum; nothing is known about its validity yet. */
export type ParsedApiKey = { readonly environment: 'live' | 'test'; readonly keyId: string }

/** A stored key: only a keyed hash of it exists. */
export type StoredApiKey = {
  readonly record: ApiKeyRecord
  /** HMAC-SHA-256 of the whole key under the pepper named by `pepperId`; 32 bytes. */
  readonly hash: Uint8Array
  readonly pepperId: string
}

export interface ApiKeyLookup {
  findByKeyId(keyId: string): Promise<StoredApiKey | undefined>
}

const base32Alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
const base62Alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const keyIdBytes = 10
const secretBytes = 32
const form = /^causeway_(live|test)_([a-z2-7]{10})_[\w-]{43}_([0-9A-Za-z]{6})$/

/**
 * Writes a new key `causeway_<environment>_<keyId>_<secret>_<checksum>` from 42 random bytes.
 * The checksum lets secret scanners and our own front door reject typing errors without a lookup.
 * @source ledger-and-safety.md 2.1
 */
export function formatApiKey(args: { environment: 'live' | 'test'; random: Uint8Array }): string {
  const { environment, random } = args
  if (random.length !== keyIdBytes + secretBytes) throw new RangeError('a key needs 42 random bytes')
  const keyId = Array.from(random.subarray(0, keyIdBytes), (byte) => base32Alphabet[byte % 32]).join('')
  const secret = Buffer.from(random.subarray(keyIdBytes)).toString('base64url')
  const body = `causeway_${environment}_${keyId}_${secret}`
  return `${body}_${checksum(body)}`
}

/** `undefined` when the form or the checksum is wrong. */
export function parseApiKey(key: string): ParsedApiKey | undefined {
  if (key.length > apiKeyLengthMax) return undefined
  const match = form.exec(key)
  const [, environment, keyId, check] = match ?? []
  if (keyId === undefined || check !== checksum(key.slice(0, -7))) return undefined
  return { environment: environment === 'live' ? 'live' : 'test', keyId }
}

/** 32 bytes. A slow derivation buys nothing for 256 random bits and would be a way to exhaust us. */
export function hashApiKey(key: string, pepper: Uint8Array): Buffer {
  return createHmac('sha256', pepper).update(key).digest()
}

/**
 * Keys kept by a lookup: form and checksum first, then one keyed hash and one constant-time
 * comparison whether or not the key exists, so that time tells nothing about which ids do.
 */
export function createApiKeys(options: {
  lookup: ApiKeyLookup
  /** At least one; `pepperId` of a row names its entry. 32 bytes each. */
  peppers: ReadonlyMap<string, Uint8Array>
}): ApiKeys {
  const { lookup, peppers } = options
  const [anyPepper] = peppers.values()
  if (anyPepper === undefined) throw new RangeError('at least one pepper is needed')
  const dummyHash = Buffer.alloc(32)
  return {
    async find(presented) {
      const parsed = parseApiKey(presented)
      if (parsed === undefined) return undefined
      const stored = await lookup.findByKeyId(parsed.keyId)
      const pepper = stored === undefined ? undefined : peppers.get(stored.pepperId)
      const hash = hashApiKey(presented, pepper ?? anyPepper)
      const matches = timingSafeEqual(hash, stored?.hash ?? dummyHash)
      return matches && pepper !== undefined ? stored?.record : undefined
    },
  }
}

/** CRC-32 as six base62 digits. */
function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let index = 0; index < 6; index += 1) {
    digits = base62Alphabet.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
