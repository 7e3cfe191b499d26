import { type Hex, hexToBytes, keccak256Hex } from '@causeway/core'
import type { JsonRpcClient, RpcOptions } from '@causeway/rpc'
import { answersOfEnough, endpointOf } from '@causeway/rpc'
import type { ChainFinding } from '../../shared/chainFinding.ts'
import type { KnownCode, ReliedContract } from '../../shared/knownCode.ts'

/** A configured address, and the test that its runtime code must pass. */
export type ExpectedCode = {
  readonly setting: string
  /** Lower case. */
  readonly address: Hex
  readonly isRight: (code: Hex) => boolean
}

/** `codeHashes` of a chain: by address in lower case, the keccak256 of its code, or `unchecked` for any code. */
export type CodeHashes = Readonly<Record<string, string>> | undefined

/** The code expected of each contract: the hash in `codeHashes`, else code that this release knows. */
export function expectedCodes(
  contracts: readonly { readonly name: ReliedContract; readonly setting: string; readonly address: Hex }[],
  { isKnown, codeHashes }: { readonly isKnown: KnownCode; readonly codeHashes: CodeHashes },
): readonly ExpectedCode[] {
  return contracts.map(({ name, setting, address }) => {
    const recorded = codeHashes?.[address]
    if (recorded === 'unchecked') return { setting, address, isRight: (code) => code !== '0x' }
    if (recorded !== undefined)
      return { setting, address, isRight: (code) => keccak256Hex(hexToBytes(code)) === recorded }
    return { setting, address, isRight: (code) => isKnown({ name, address }, code) }
  })
}

/** Warns of contracts whose code `codeHashes` leaves unchecked. Every service logs it at every start. */
export function warnOfUncheckedCode(
  chains: Iterable<{ readonly id: string; readonly codeHashes?: CodeHashes }>,
  log: { warn(fields: object, message: string): void },
): void {
  for (const { id: chain, codeHashes = {} } of chains) {
    const addresses = Object.entries(codeHashes).flatMap(([address, hash]) =>
      hash === 'unchecked' ? [address] : [],
    )
    if (addresses.length === 0) continue
    log.warn({ event: 'code_unchecked', chain, addresses }, 'the code of these contracts is not compared')
  }
}

/**
 * Compares code on every endpoint. A signature or payment may rest on any of them, so a single endpoint with other code
 * stops the start.
 * @returns problems that name settings; empty when all that answered fit
 * @throws UpstreamUnavailableError when fewer hosts answer than `threshold`
 */
export async function codeProblems(
  comparison: CodeComparison,
  options?: RpcOptions,
): Promise<readonly string[]> {
  return (await codeFindings(comparison, options)).map(({ problem }) => problem)
}

type CodeComparison = {
  readonly client: JsonRpcClient
  readonly expected: readonly ExpectedCode[]
  readonly threshold: number
}

/** As `codeProblems`, with the parts of each problem. @throws as `codeProblems` */
export async function codeFindings(
  { client, expected, threshold }: CodeComparison,
  options?: RpcOptions,
): Promise<readonly ChainFinding[]> {
  if (expected.length === 0) return []
  const calls = expected.map(({ address }) => ({ method: 'eth_getCode', params: [address, 'latest'] }))
  const each = await client.askEach(calls, options)
  const { chainId } = client
  const said = each.map(({ answers, ...voter }) => ({ ...voter, said: answers }))
  return answersOfEnough({ chainId, threshold }, said).flatMap(({ alias, said: answers }) => {
    const endpoint = endpointOf(chainId, alias)
    return expected.flatMap(({ setting, address, isRight }, index) => {
      const code = codeOf(answers[index])
      const findingOf = (actual: string, problem: string): readonly ChainFinding[] => [
        { kind: 'code', setting, value: address, said: `${actual} at ${alias}`, problem },
      ]
      if (code === undefined) return findingOf('no answer', `${endpoint} tells no code at ${setting}`)
      if (isRight(code)) return []
      if (code === '0x') return findingOf('no code', `${endpoint} shows no contract at ${setting}`)
      return findingOf(
        `code of hash ${keccak256Hex(hexToBytes(code))}`,
        `${endpoint} shows other code at ${setting} than this release or codeHashes knows`,
      )
    })
  })
}

function codeOf(answer: { readonly ok: boolean; readonly result?: unknown } | undefined): Hex | undefined {
  if (answer?.ok !== true || typeof answer.result !== 'string') return undefined
  // CAST: what fits the pattern is hex.
  return /^0x([0-9a-fA-F]{2})*$/.test(answer.result) ? (answer.result.toLowerCase() as Hex) : undefined
}
