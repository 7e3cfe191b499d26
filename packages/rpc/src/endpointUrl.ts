import { ConfigurationError, Secret } from '@causeway/core'

/** The parts of an endpoint's URL, with the secret ones wrapped. */
export type EndpointTarget = {
  /** Scheme, host and port. */
  readonly origin: string
  /** Path and query: many providers put the key there. */
  readonly path: Secret
  /** `Basic …`, from the URL's user information. */
  readonly authorization: Secret | undefined
  /** Host, port and position: what logs, metrics and answers may show. */
  readonly alias: string
  /** Voice of the endpoint, see `voiceOf`. */
  readonly voice: string
}

const aliasPattern = /^[A-Za-z0-9._:#[\]-]{1,128}$/

/**
 * Parses the URL of an endpoint.
 * @param position counts from 1, in the order of configuration
 * @throws ConfigurationError when the URL is not absolute http(s) or the alias could carry a secret
 */
export function parseEndpoint(
  endpoint: { readonly url: string | Secret; readonly alias?: string },
  position: number,
): EndpointTarget {
  const text = endpoint.url instanceof Secret ? endpoint.url.reveal() : endpoint.url
  const url = parseHttpUrl(text.trim())
  if (url === undefined) throw new ConfigurationError(`RPC endpoint ${position} is not an http(s) URL`)
  const alias = endpoint.alias ?? `${url.host}#${position}`
  if (!aliasPattern.test(alias))
    throw new ConfigurationError(`the alias of RPC endpoint ${position} is refused`)
  const { username, password } = url
  const hasUser = username !== '' || password !== ''
  return {
    origin: url.origin,
    path: new Secret(`${url.pathname}${url.search}`),
    authorization: hasUser ? new Secret(basicAuthorization(username, password)) : undefined,
    alias,
    voice: voiceOf(url),
  }
}

/**
 * The voice that a URL belongs to, which has one vote: its host, since one operator controls all its ports and paths.
 * On loopback the port is part of the voice, since local nodes share a host.
 */
function voiceOf({ hostname, host }: Pick<URL, 'hostname' | 'host'>): string {
  return loopbackPattern.test(hostname) ? host : hostname.replace(/\.$/, '')
}

/** Number of voices among the URLs of a chain; an invalid URL, refused elsewhere, is a voice of its own. */
export function countHosts(urls: readonly (string | Secret)[]): number {
  const texts = urls.map((url) => (url instanceof Secret ? url.reveal() : url).trim())
  return new Set(texts.map((text) => (URL.canParse(text) ? voiceOf(new URL(text)) : text))).size
}

const loopbackPattern = /^(localhost|127(\.\d{1,3}){3}|\[::1\])\.?$/

function parseHttpUrl(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined
}

function basicAuthorization(username: string, password: string): string {
  const credentials = `${decodeURIComponentSafely(username)}:${decodeURIComponentSafely(password)}`
  return `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}`
}

/** Decodes percent encoding; a text with a stray `%` is taken literally. */
function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
