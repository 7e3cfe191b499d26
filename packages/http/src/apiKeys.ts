import { ConfigurationError } from '@causeway/core'

/** The caller of a request with a valid key, as a service knows it. */
export type ApiKeyRecord = {
  /** Public part of the key; the only part that may be logged. */
  readonly keyId: string
  readonly label: string
  /** Names of rights beyond those of every key, such as a solver's. */
  readonly scopes: ReadonlySet<string>
  /** Lower-case sponsorship wallet linked to the key. */
  readonly sponsor?: string
}

/** Looks up the key that a request carries. Implementations compare in constant time and never throw for a bad key. */
export interface ApiKeys {
  /** The record of a usable key, `undefined` for anything else. */
  find(presented: string): Promise<ApiKeyRecord | undefined>
}

/** For a service without keys: every presented key is unknown. */
export const noApiKeys: ApiKeys = { find: async () => undefined }

export const apiKeyHeader = 'x-api-key'
export const apiKeyLengthMax = 256

/** Token of an `authorization: Bearer` header; undefined for another scheme. @source RFC 6750 2.1 */
export function readBearerToken(header: string | undefined): string | undefined {
  const [scheme = '', ...words] = (header ?? '').split(' ')
  return scheme.toLowerCase() === 'bearer' ? words.join(' ').trim() : undefined
}

/**
 * The value of `x-api-key` when it can be a key at all: one header, printable ASCII without spaces
 * or commas (a repeated header arrives joined by a comma), at most 256 characters.
 */
export function readApiKeyHeader(header: string | string[] | undefined): string | undefined {
  if (typeof header !== 'string' || header.length > apiKeyLengthMax) return undefined
  return /^[\x21-\x2b\x2d-\x7e]+$/.test(header) ? header : undefined
}

/** A shorter key can be found by trying. */
const keyLengthMin = 16

/**
 * Checks an API key that a configuration setting defines and that callers will send in `x-api-key`.
 * @param place the setting, as the error names it
 * @param mayBeShort true where only the operator can reach the listener, as in `local`
 * @throws ConfigurationError naming `place`, never the key
 */
export function checkKeySetting(key: string, place: string, mayBeShort: boolean): void {
  const lengthMin = mayBeShort ? 1 : keyLengthMin
  if (key.length >= lengthMin && readApiKeyHeader(key) !== undefined) return
  const form = `${lengthMin} to ${apiKeyLengthMax} printable characters without spaces and commas`
  throw new ConfigurationError(`${place} must have ${form}.`)
}
