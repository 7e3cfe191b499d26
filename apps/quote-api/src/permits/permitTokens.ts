import type { JsonRpcClient, RpcAnswer } from '@causeway/chains'
import { bytesToHex, DomainError, domainSeparator, type Hex, type TokenDomain } from '@causeway/core'
import { type AbiFunction, decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem'
import { QuoteError } from '../quoting/errors.ts'
import type { PermitToken, PermitTokens } from '../quoting/permit.ts'

const tokenAbi = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function nonces(address owner) view returns (uint256)',
])
const [nameFunction, versionFunction, separatorFunction] = tokenAbi
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
      const known = domains.get(token.key)
      if (known !== undefined && now() - known.readAtMs < domainMaxAgeMs) return known.domain
      const domain = readDomain(clientOf(token), token)
      domains.set(token.key, { domain, readAtMs: now() })
      // Whoever asks next tries again.
      domain.catch(() => domains.delete(token.key))
      return domain
    },
    async nonceOf(token, owner) {
      const data = encodeFunctionData({ abi: tokenAbi, functionName: 'nonces', args: [owner] })
      const [answer] = await unlessDown(clientOf(token).batch([callOf(token, data)], { timeoutMs }))
      if (answer?.ok !== true) throw unavailable()
      return decodeFunctionResult({ abi: tokenAbi, functionName: 'nonces', data: hexOf(answer.result) })
    },
  }
}

async function readDomain(client: JsonRpcClient, token: PermitToken): Promise<TokenDomain> {
  const calls = [nameFunction, versionFunction, separatorFunction].map((read) =>
    callOf(token, encodeFunctionData({ abi: [read] })),
  )
  const { answers } = await unlessDown(client.agree(calls, { timeoutMs, project: comparable }))
  const [name, version, separator] = answers
  if (name?.ok !== true || separator?.ok !== true) throw unsignable(token)
  const domain = {
    name: readText(nameFunction, name),
    version: version?.ok === true ? readText(versionFunction, version) : usualVersion,
    chainId: token.chainId,
  }
  const expected = bytesToHex(domainSeparator({ ...domain, verifyingContract: hexOf(token.address) }))
  if (hexOf(separator.result).toLowerCase() !== expected) throw unsignable(token)
  return domain
}

/** Nodes word their refusals differently; that there is none is what counts. */
function comparable(answers: readonly RpcAnswer[]): unknown {
  return answers.map((answer) => (answer.ok ? answer.result : 'refused'))
}

function readText(read: AbiFunction, answer: Extract<RpcAnswer, { ok: true }>): string {
  const text: unknown = decodeFunctionResult({ abi: [read], data: hexOf(answer.result) })
  if (typeof text !== 'string') throw unavailable()
  return text
}

function callOf({ address }: PermitToken, data: Hex) {
  return { method: 'eth_call', params: [{ to: address, data }, 'latest'] }
}

function hexOf(value: unknown): Hex {
  if (typeof value !== 'string' || !/^0x([0-9a-fA-F]{2})+$/.test(value)) throw unavailable()
  // CAST: the pattern above is that of Hex.
  return value as Hex
}

async function unlessDown<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    throw error instanceof DomainError ? unavailable(error) : error
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
