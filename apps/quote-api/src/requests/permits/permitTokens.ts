import { bytesToHex, DomainError, domainSeparator, type Hex } from '@causeway/core'
import { readStringResult, readUintResult } from '@causeway/families'
import { addressWord, type TokenDomain } from '@causeway/families/rules'
import { type JsonRpcClient, parseBytes, type RpcAnswer } from '@causeway/rpc'
import { QuoteError } from '../../pricing/errors.ts'
import type { PermitToken, PermitTokens } from '../../pricing/permit.ts'

/** Calldata of `name()`, `version()` and `DOMAIN_SEPARATOR()`. */
const domainReads = ['0x06fdde03', '0x54fd4d50', '0x3644e515'] as const
const noncesCall = (owner: Hex): Hex => `0x7ecebe00${addressWord(owner)}`
/** EIP-2612 asks for no `version()`; tokens without one sign for this version. */
const usualVersion = '1'
/** A token behind a proxy may be given another name. */
const domainMaxAgeMs = 600_000
const timeoutMs = 2_000

/** Domains are read by quorum and kept for a while; nonces are read for every quote. */
export function createPermitTokens(options: {
  clientOf: (chainId: number) => JsonRpcClient | undefined
  now: () => number
}): PermitTokens {
  const { now } = options
  const domains = new Map<string, { readonly domain: Promise<TokenDomain>; readonly readAtMs: number }>()
  const clientOf = ({ chainId }: PermitToken): JsonRpcClient => {
    const client = options.clientOf(chainId)
    if (client === undefined) throw unavailable()
    return client
  }
  return {
    async domainOf(token) {
      const cached = domains.get(token.key)
      if (cached !== undefined && now() - cached.readAtMs < domainMaxAgeMs) return cached.domain
      const domain = readDomain(clientOf(token), token)
      domains.set(token.key, { domain, readAtMs: now() })
      // A failed reading is not cached, so the next caller tries again.
      domain.catch(() => domains.delete(token.key))
      return domain
    },
    async nonceOf(token, owner) {
      const client = clientOf(token)
      return unlessDown(async () => {
        const [answer] = await client.batch([callOf(token, noncesCall(owner))], { timeoutMs })
        if (answer?.ok !== true) throw unavailable()
        return readUintResult(parseBytes(answer.result, 'nonces'), 'nonces')
      })
    },
  }
}

async function readDomain(client: JsonRpcClient, token: PermitToken): Promise<TokenDomain> {
  const calls = domainReads.map((data) => callOf(token, data))
  return unlessDown(async () => {
    const { answers } = await client.agree(calls, { timeoutMs, project: comparable })
    const [name, version, separator] = answers
    if (name?.ok !== true || separator?.ok !== true) throw unsignable(token)
    const domain = {
      name: readText(name),
      version: version?.ok === true ? readText(version) : usualVersion,
      chainId: token.chainId,
    }
    const verifyingContract = parseBytes(token.address, 'token')
    const expected = bytesToHex(domainSeparator({ ...domain, verifyingContract }))
    if (parseBytes(separator.result, 'DOMAIN_SEPARATOR') !== expected) throw unsignable(token)
    return domain
  })
}

/** Nodes word their refusals differently; that there is none is what counts. */
function comparable(answers: readonly RpcAnswer[]): unknown {
  return answers.map((answer) => (answer.ok ? answer.result : 'refused'))
}

function readText({ result }: Extract<RpcAnswer, { ok: true }>): string {
  return readStringResult(parseBytes(result, 'eth_call'), 'eth_call')
}

function callOf({ address }: PermitToken, data: Hex) {
  return { method: 'eth_call', params: [{ to: address, data }, 'latest'] }
}

/** Silence and unreadable answers are one refusal to whoever asks for a quote. */
async function unlessDown<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    throw error instanceof DomainError && !(error instanceof QuoteError) ? unavailable(error) : error
  }
}

function unavailable(cause?: unknown): QuoteError {
  return new QuoteError('SERVICE_UNAVAILABLE', 'The token cannot be asked what its owners sign.', { cause })
}

function unsignable({ symbol, address }: PermitToken): QuoteError {
  return new QuoteError('UNSUPPORTED_CURRENCY', `What owners of ${symbol} sign cannot be told for sure.`, {
    data: { field: 'usePermit', currency: address },
  })
}
