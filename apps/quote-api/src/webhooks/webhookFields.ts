import { z } from 'zod'
import { isPublicAddress, literalAddress } from './publicAddress.ts'
import { InvalidWebhookUrlError } from './webhookErrors.ts'

const urlLengthMax = 2_048
const headersMax = 20

export const webhookUrlText = z.string().min(1).max(urlLengthMax).describe('HTTPS address of the receiver')

/** Headers that an integrator may not name, because the sender or HTTP itself sets them. */
const ownHeaders: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-event-id',
  'x-signature-sha256',
  'x-signature-timestamp',
])

const headerName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/, 'must be the name of a header')
  .refine((name) => !ownHeaders.has(name.toLowerCase()), 'must not be a header that the service sets itself')
const headerValue = z
  .string()
  .regex(/^[\x20-\x7e]{0,1024}$/, 'must have at most 1024 characters, all printable')

/** Headers that an integrator adds to each message, e.g. to authorize the sender. Names become lower case. */
export const webhookHeaders = z
  .record(headerName, headerValue)
  .refine((headers) => Object.keys(headers).length <= headersMax, `must have at most ${headersMax} headers`)
  .refine(
    (headers) => new Set(lowerNames(headers)).size === Object.keys(headers).length,
    'must name each header once',
  )
  .transform((headers) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  )
  .describe('Sent with every message')

function lowerNames(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(headers).map((name) => name.toLowerCase())
}

/**
 * Checks the URL of a webhook when it is set. The address that its host name leads to is checked at every connection.
 * @param allowPrivate lets plain HTTP and private addresses through
 * @returns the URL as it is requested
 * @throws InvalidWebhookUrlError
 */
export function checkWebhookUrl(text: string, allowPrivate: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) throw new InvalidWebhookUrlError('cannot be read')
  const isHttp = allowPrivate && url.protocol === 'http:'
  if (url.protocol !== 'https:' && !isHttp) throw new InvalidWebhookUrlError('must begin with https://')
  if (url.username !== '' || url.password !== '') {
    throw new InvalidWebhookUrlError('must hold no credentials; send them in a header')
  }
  if (url.hash !== '') throw new InvalidWebhookUrlError('must have no fragment')
  const address = literalAddress(url)
  if (address !== undefined && !allowPrivate && !isPublicAddress(address)) {
    throw new InvalidWebhookUrlError('names an address that is not on the internet')
  }
  return url.href
}
