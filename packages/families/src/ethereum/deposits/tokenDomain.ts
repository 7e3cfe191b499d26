import { bytesToHex, domainSeparator, type Hex, UpstreamUnavailableError } from '@causeway/core'
import { type JsonRpcClient, parseBytes, type RpcAnswer } from '@causeway/rpc'
import type { TokenDomain } from '../../rules/permitTerms.ts'
import { readStringResult, readUintResult } from '../contracts/abiReader.ts'
import { addressWord } from '../rules/abi.ts'

/** Calldata of `name()`, `version()` and `DOMAIN_SEPARATOR()`. */
const domainReads = ['0x06fdde03', '0x54fd4d50', '0x3644e515'] as const
/** Calldata of `nonces(owner)`. */
const noncesCall = (owner: Hex): Hex => `0x7ecebe00${addressWord(owner)}`
/** EIP-2612 requires no `version()`; tokens without it use this version in their domain. */
const usualVersion = '1'
const timeoutMs = 2_000

/**
 * The token's EIP-712 domain, by agreement; `undefined` if the token lacks `name()` or `DOMAIN_SEPARATOR()`, or if the
 * separator is of another domain.
 */
export async function readDomain(
  client: JsonRpcClient,
  chainId: number,
  token: string,
): Promise<TokenDomain | undefined> {
  const calls = domainReads.map((data) => callOf(token, data))
  const { answers } = await client.agree(calls, { timeoutMs, project: comparable })
  const [name, version, separator] = answers
  if (name?.ok !== true || separator?.ok !== true) return undefined
  const domain = {
    name: readText(name),
    version: version?.ok === true ? readText(version) : usualVersion,
    chainId,
  }
  const verifyingContract = parseBytes(token, 'token')
  const expected = bytesToHex(domainSeparator({ ...domain, verifyingContract }))
  return parseBytes(separator.result, 'DOMAIN_SEPARATOR') === expected ? domain : undefined
}

/** The owner's next EIP-2612 nonce, from one endpoint: a wrong one only makes the permit fail. */
export async function readNonce(client: JsonRpcClient, token: string, owner: Hex): Promise<bigint> {
  const [answer] = await client.batch([callOf(token, noncesCall(owner))], { timeoutMs })
  if (answer?.ok !== true)
    throw new UpstreamUnavailableError(`A token of chain ${client.chainId} does not tell its nonces.`)
  return readUintResult(parseBytes(answer.result, 'nonces'), 'nonces')
}

/** All refusals compare as equal, because nodes word them differently. */
function comparable(answers: readonly RpcAnswer[]): unknown {
  return answers.map((answer) => (answer.ok ? answer.result : 'refused'))
}

function readText({ result }: Extract<RpcAnswer, { ok: true }>): string {
  return readStringResult(parseBytes(result, 'eth_call'), 'eth_call')
}

function callOf(token: string, data: Hex) {
  return { method: 'eth_call', params: [{ to: token, data }, 'latest'] }
}
