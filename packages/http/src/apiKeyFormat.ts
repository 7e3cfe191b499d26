import { createHmac, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { type ApiKeyRecord, type ApiKeys, apiKeyLengthMax } from './apiKeys.ts'

/** Public parts of a key whose form and checksum are right; it may still be unknown or revoked. */
export type ParsedApiKey = { readonly environment: 'live' | 'test'; readonly keyId: string }

/** A key as the database keeps it: a keyed hash in place of the key. */
export type StoredApiKey = {
  readonly record: ApiKeyRecord
  /** HMAC-SHA-256 of the whole key under the pepper named by `pepperId`; 32 bytes. */
  readonly hash: Uint8Array
  readonly pepperId: string
}

/** Reads stored keys; the database implements it. */
export interface ApiKeyLookup {
  findByKeyId(keyId: string): Promise<StoredApiKey | undefined>
}

const base32Alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
const base62Alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const keyIdBytes = 10
const secretBytes = 32
const keyPattern = /^causeway_(live|test)_([a-z2-7]{10})_[\w-]{43}_([0-9A-Za-z]{6})$/

/**
 * Writes a new key `causeway_<environment>_<keyId>_<secret>_<checksum>` from 42 random bytes.
 * The checksum lets secret scanners and our services reject typing errors without a lookup.
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
  const [, environment, keyId, presentedChecksum] = keyPattern.exec(key) ?? []
  if (keyId === undefined) return undefined
  const body = key.slice(0, key.lastIndexOf('_'))
  if (presentedChecksum !== checksum(body)) return undefined
  return { environment: environment === 'live' ? 'live' : 'test', keyId }
}

/** @returns 32 bytes. Not a slow hash: the key has 256 random bits, and callers could exhaust our processor. */
export function hashApiKey(key: string, pepper: Uint8Array): Buffer {
  return createHmac('sha256', pepper).update(key).digest()
}

/**
 * Makes the check of presented keys over stored ones. Form and checksum come first. Then it computes one keyed hash and
 * one constant-time comparison whether or not the key id exists, so that timing does not reveal existing ids.
 */
export function createApiKeys(options: {
  lookup: ApiKeyLookup
  /** Secret HMAC keys of 32 bytes by id; `pepperId` of a stored key names its entry. At least one. */
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

/** CRC-32 as six base62 digits, the most significant first. */
function checksum(text: string): string {
  let remaining = crc32(text)
  let digits = ''
  for (let index = 0; index < 6; index += 1) {
    digits = base62Alphabet.charAt(remaining % 62) + digits
    remaining = Math.floor(remaining / 62)
  }
  return digits
}
