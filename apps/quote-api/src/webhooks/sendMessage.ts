import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { type RequestOptions, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { startDeadline } from '@causeway/core'
import { isPublicAddress, literalAddress } from './publicAddress.ts'
import type { WebhookSecrets } from './sealedSecrets.ts'
import { webhookSignature } from './webhookMessage.ts'

/** A message with the secrets to sign and send it. */
export type OutgoingMessage = WebhookSecrets & {
  readonly eventId: string
  readonly url: string
  readonly body: string
}

/** Outcome of one attempt. */
export type SendOutcome =
  | { readonly outcome: 'delivered' }
  /** `status`: of an answer that is no success; redirects are not followed. */
  | { readonly outcome: 'answered'; readonly status: number }
  | { readonly outcome: 'address_refused' | 'timed_out' | 'unreachable' }

export type SendMessage = (message: OutgoingMessage, signal: AbortSignal) => Promise<SendOutcome>

export type SenderOptions = {
  /** Lets addresses of the own network through; for networks where receivers are the operator's own. */
  readonly allowPrivate: boolean
  /** Time from the look-up of the name to the status line of the answer. */
  readonly timeoutMs: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** All addresses of a host name. Default: the system's resolver. */
  readonly resolve?: (hostname: string) => Promise<readonly LookupAddress[]>
}

/** Bytes of an answer that are read before the connection is closed; the body is not used. */
const answerBytesMax = 65_536
const answerHeaderBytesMax = 16_384

/**
 * Sends signed messages. The address is checked when the connection is made, on the same resolver answer that is
 * connected to, so that a name cannot be switched to an internal address between check and connection.
 * @source rule L-82
 */
export function createMessageSender(options: SenderOptions): SendMessage {
  const { allowPrivate, timeoutMs, now, resolve = (hostname) => lookup(hostname, { all: true }) } = options
  const isAllowed = (address: string) => allowPrivate || isPublicAddress(address)
  const guardedLookup = createGuardedLookup(resolve, isAllowed)
  return async (message, signal) => {
    const url = new URL(message.url)
    const literal = literalAddress(url)
    // A literal address is not looked up, so the guarded lookup would not see it.
    if (literal !== undefined && !isAllowed(literal)) return { outcome: 'address_refused' }
    const deadline = startDeadline(signal, timeoutMs)
    try {
      const status = await post(url, message.body, {
        headers: headersOf(message, now()),
        lookup: guardedLookup,
        signal: deadline.signal,
      })
      return status >= 200 && status < 300 ? { outcome: 'delivered' } : { outcome: 'answered', status }
    } catch (error) {
      if (error instanceof AddressRefusedError) return { outcome: 'address_refused' }
      signal.throwIfAborted()
      return { outcome: deadline.hasPassed() ? 'timed_out' : 'unreachable' }
    } finally {
      deadline.release()
    }
  }
}

class AddressRefusedError extends Error {
  constructor() {
    super('the name leads to an address that is not on the internet')
    this.name = 'AddressRefusedError'
  }
}

/** A DNS lookup that refuses a name if any of its addresses is not allowed; no honest receiver has both kinds. */
function createGuardedLookup(
  resolve: NonNullable<SenderOptions['resolve']>,
  isAllowed: (address: string) => boolean,
): LookupFunction {
  return (hostname, { all }, callback) => {
    const answer = async () => {
      const addresses = await resolve(hostname)
      if (addresses.some(({ address }) => !isAllowed(address))) throw new AddressRefusedError()
      const [first] = addresses
      if (first === undefined) throw new Error('the name has no address')
      return { first, addresses: [...addresses] }
    }
    answer().then(
      ({ first, addresses }) =>
        all === true ? callback(null, addresses) : callback(null, first.address, first.family),
      // Beside an error, the list of addresses has no meaning.
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), []),
    )
  }
}

function headersOf(message: OutgoingMessage, nowMs: number): Record<string, string> {
  const { headers, signingSecret, body, eventId } = message
  const timestamp = String(nowMs)
  return {
    // An integrator may name this one header himself; `webhookHeaders` refuses those below.
    'user-agent': 'causeway-webhooks',
    ...headers,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'x-event-id': eventId,
    'x-signature-timestamp': timestamp,
    'x-signature-sha256': webhookSignature(signingSecret, timestamp, body),
  }
}

/**
 * Posts the body. The answer's body is discarded, but waited for, so that no connection stays open after the deadline.
 * @returns the status of the answer
 */
function post(url: URL, body: string, options: RequestOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp
    // `agent: false` opens a new connection for each message, so that its address is looked up and checked.
    const connection = { method: 'POST', agent: false, maxHeaderSize: answerHeaderBytesMax } as const
    const request = send(url, { ...options, ...connection })
    let status: number | undefined
    request.once('response', (response) => {
      status = response.statusCode ?? 0
      let received = 0
      response.on('data', (chunk: Buffer) => {
        received += chunk.length
        if (received > answerBytesMax) request.destroy()
      })
      // The status line decides the outcome, so a later failure of the body is ignored.
      response.on('error', () => {})
    })
    request.on('error', (error) => {
      if (status === undefined) reject(error)
    })
    request.once('close', () => {
      if (status === undefined) reject(new Error('the connection ended without an answer'))
      else resolve(status)
    })
    request.end(body)
  })
}
