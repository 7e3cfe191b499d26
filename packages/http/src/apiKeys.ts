import { ConfigurationError } from '@causeway/core'

/** Known facts about the caller of a keyed request. */
export type ApiKeyRecord = {
  /** Public part of the key; the only part that may be logged. */
  readonly keyId: string
  readonly label: string
  readonly scopes: ReadonlySet<string>
  /** Lower-case sponsorship wallet linked to the key. */
  readonly sponsor?: string
}

/** Looks a presented key up. Implementations compare in constant time and never throw for a bad key. */
export interface ApiKeys {
  /** The record of a usable key, `undefined` for anything else. */
  find(presented: string): Promise<ApiKeyRecord | undefined>
}

/** No key exists: every presented one is unknown. */
export const noApiKeys: ApiKeys = { find: async () => undefined }

export const apiKeyHeader = 'x-api-key'
export const apiKeyLengthMax = 256

/** Token after the scheme, which is case-insensitive; undefined for another scheme. @source RFC 6750 2.1 */
export function readBearerToken(header: string | undefined): string | undefined {
  const [scheme = '', ...rest] = (header ?? '').split(' ')
  return scheme.toLowerCase() === 'bearer' ? rest.join(' ').trim() : undefined
}

/**
 * The value of `x-api-key` when it can be a key at all: one header, printable ASCII without spaces
 * or commas (a repeated header arrives joined by a comma), at most 256 characters.
 */
export function readApiKeyHeader(header: string | string[] | undefined): string | undefined {
  if (typeof header !== 'string' || header.length > apiKeyLengthMax) return undefined
  return /^[\x21-\x2b\x2d-\x7e]+$/.test(header) ? header : undefined
}

/** A shorter one can be found by trying. */
const keyLengthMin = 16

/**
 * Checks a key in a setting that callers will show.
 * @param mayBeShort true where nobody but its owner could try, as in `local`
 * @throws ConfigurationError naming `place`, never the key
 */
export function checkKeySetting(key: string, place: string, mayBeShort: boolean): void {
  const least = mayBeShort ? 1 : keyLengthMin
  if (key.length >= least && readApiKeyHeader(key) !== undefined) return
  const form = `${least} to ${apiKeyLengthMax} printable characters without spaces and commas`
  throw new ConfigurationError(`${place} must have ${form}.`)
}
