import { Secret } from '@causeway/core'
import type { HeaderSource } from '@causeway/rpc'
import { EndpointFailure } from '@causeway/rpc'
import { request } from 'undici'
import { z } from 'zod'
import type { RegisteredChain } from '../../shared/registeredChain.ts'

/** Credentials of the providers; each is undefined if it is not set. */
type Access = Pick<
  RegisteredChain['additionalData'],
  'blockstreamClientId' | 'blockstreamClientSecret' | 'maestroApiKey'
>

/** @source Blockstream Explorer API, "Authentication" */
const blockstreamTokenUrl =
  'https://login.blockstream.com/realms/blockstream-public/protocol/openid-connect/token'

type Provider = 'blockstream' | 'maestro' | 'open'

/** Provider of an API by its host name; `open` needs no credentials. */
function providerOf(url: Secret): Provider {
  const text = url.reveal()
  if (!URL.canParse(text)) return 'open'
  const { hostname } = new URL(text)
  if (hostname.includes('enterprise.blockstream')) return 'blockstream'
  return hostname.includes('gomaestro-api') ? 'maestro' : 'open'
}

/** Names of settings that the provider of `url` needs and that are not set. */
export function missingCredentials(url: Secret, access: Access): readonly string[] {
  const needed = {
    blockstream: ['blockstreamClientId', 'blockstreamClientSecret'],
    maestro: ['maestroApiKey'],
    open: [],
  } as const satisfies Record<Provider, readonly (keyof Access)[]>
  return needed[providerOf(url)].filter((name) => access[name] === undefined)
}

/** Headers that the provider of `url` wants; none without its credentials, see `missingCredentials`. */
export function esploraHeaders(url: Secret, access: Access, now: () => number): HeaderSource {
  const { blockstreamClientId: id, blockstreamClientSecret: secret, maestroApiKey } = access
  switch (providerOf(url)) {
    case 'blockstream':
      return id === undefined || secret === undefined
        ? {}
        : createTokenHeaders({ tokenUrl: blockstreamTokenUrl, id, secret, now })
    case 'maestro':
      return maestroApiKey === undefined ? {} : { 'api-key': maestroApiKey }
    case 'open':
      return {}
  }
}

const tokenSchema = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() })

/** `marginMs`: a token is renewed so long before it expires, but used for a second at least. */
const tokenLimits = { timeoutMs: 3_000, responseBytesMax: 64 * 1024, marginMs: 30_000 }

type Token = { readonly bearer: Secret; readonly usableUntilMs: number }

/**
 * A token of OAuth client credentials: fetched once for all who wait for it, and again before it expires. A
 * failed fetch is not remembered, so the next request tries again; a token that is revoked early stays in use
 * until its time. The function throws EndpointFailure when there is none to be had.
 */
export function createTokenHeaders(options: {
  readonly tokenUrl: string
  readonly id: Secret
  readonly secret: Secret
  /** Milliseconds since the epoch. */
  readonly now: () => number
}): HeaderSource {
  const { tokenUrl, id, secret, now } = options
  let token: Token | undefined
  let fetching: Promise<Token> | undefined

  async function fetchToken(): Promise<Token> {
    const alias = new URL(tokenUrl).host
    const form = { client_id: id.reveal(), client_secret: secret.reveal() }
    const grant = { grant_type: 'client_credentials', scope: 'openid' }
    const { statusCode, body } = await request(tokenUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ ...form, ...grant }).toString(),
      headersTimeout: tokenLimits.timeoutMs,
      bodyTimeout: tokenLimits.timeoutMs,
      signal: AbortSignal.timeout(tokenLimits.timeoutMs),
    }).catch(() => {
      throw new EndpointFailure({ alias, reason: 'unreachable' })
    })
    const text = await body.text().catch(() => '')
    const parsed =
      statusCode === 200 && text.length <= tokenLimits.responseBytesMax ? parseToken(text) : undefined
    // An answer without a token is reported by its status, even if that is 200.
    if (parsed === undefined) throw new EndpointFailure({ alias, reason: 'http_status', status: statusCode })
    const { access_token: bearer, expires_in: seconds } = parsed
    return {
      bearer: new Secret(`Bearer ${bearer}`),
      usableUntilMs: now() + Math.max(seconds * 1_000 - tokenLimits.marginMs, 1_000),
    }
  }

  return async () => {
    if (token === undefined || token.usableUntilMs <= now()) {
      fetching ??= fetchToken().finally(() => {
        fetching = undefined
      })
      token = await fetching
    }
    return { authorization: token.bearer }
  }
}

function parseToken(text: string): z.infer<typeof tokenSchema> | undefined {
  try {
    return tokenSchema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
