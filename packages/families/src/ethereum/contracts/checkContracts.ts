import { UpstreamUnavailableError } from '@causeway/core'
import type { EndpointAnswers, JsonRpcClient, RpcAnswer, RpcOptions } from '@causeway/rpc'
import { MalformedAnswerError, parseBytes } from '@causeway/rpc'
import type { ChainFinding } from '../../shared/chainFinding.ts'
import { type ContractSetting, type ExpectedReads, readsOf } from './checkedReads.ts'
import { codeFindings, type ExpectedCode } from './expectedCode.ts'
import { type ContractAnswer, decodeAggregate3, multicallRequest } from './multicall.ts'

/** Configured values of one chain that its contracts can confirm. Problems name the settings. */
export type ContractExpectations = ExpectedReads & {
  /** Decimal chain id. */
  readonly chainId: bigint
  readonly multicall3: ContractSetting
  /** Must have code. */
  readonly contracts: readonly ContractSetting[]
  /** Must have this code, on every endpoint. */
  readonly codes: readonly ExpectedCode[]
}

/**
 * Compares a chain with its configuration, at start. Every endpoint is asked for its chain id and for the code in
 * `codes`, because any of them may be used; the rest is one batch to one endpoint.
 * @returns problems that name settings; empty when all fits
 * @throws UpstreamUnavailableError when no endpoint answers: nothing is known then
 */
export async function checkContracts(
  client: JsonRpcClient,
  expected: ContractExpectations,
  options?: RpcOptions,
): Promise<readonly string[]> {
  return (await contractFindings(client, expected, options)).map(({ problem }) => problem)
}

/**
 * As `checkContracts`, with the parts of each problem. A wrong chain ends the comparison, since all else
 * would differ too; then follow contracts without code, and, through Multicall3, the values of those that
 * have it.
 * @throws UpstreamUnavailableError when no endpoint answers
 */
export async function contractFindings(
  client: JsonRpcClient,
  expected: ContractExpectations,
  options?: RpcOptions,
): Promise<readonly ChainFinding[]> {
  const each = await client.askEach([{ method: 'eth_chainId', params: [] }], options)
  const wrongChains = chainIdFindings(client.chainId, each, expected.chainId)
  if (wrongChains.length > 0) return wrongChains
  if (each.every(({ answers }) => answers === undefined)) {
    throw new UpstreamUnavailableError(`Chain ${client.chainId} cannot be read at the moment.`, {
      code: 'RPC_HTTP_ERROR',
      data: { chainId: client.chainId },
    })
  }

  const settings = [expected.multicall3, ...expected.contracts, ...expected.feeds, ...expected.tokens]
  const reads = readsOf(expected)
  const multicall3 = expected.multicall3.address
  const codeRequests = settings.map(({ address }) => ({ method: 'eth_getCode', params: [address, 'latest'] }))
  const readRequest = multicallRequest({ multicall3, calls: reads.map(({ call }) => call), block: 'latest' })
  const answers = await client.batch([...codeRequests, readRequest], options)

  const missing = new Set(
    settings.filter((_, index) => !hasCode(answers[index])).map(({ address }) => address),
  )
  const codes = [
    ...settings
      .filter(({ address }) => missing.has(address))
      .map((setting) => missingContract(client.chainId, setting)),
    // Silent endpoints are no finding here, so one answer is enough.
    ...(await codeFindings({ client, expected: expected.codes, threshold: 1 }, options)),
  ]
  if (missing.has(multicall3)) return codes // The other reads go through it.
  const results = decodeReads(answers.at(-1), reads.length)
  const values = reads.flatMap(({ call, check }, index) =>
    // Without code there is nothing to compare, and the missing contract is a finding already.
    missing.has(call.target) ? [] : check(results[index]),
  )
  return [...codes, ...values]
}

function missingContract(chainId: string, { setting, address }: ContractSetting): ChainFinding {
  const problem = `${setting}: there is no contract on ${chainId}`
  return { kind: 'contract', setting, value: address, said: 'no code', problem }
}

function chainIdFindings(
  chain: string,
  each: readonly EndpointAnswers[],
  expected: bigint,
): readonly ChainFinding[] {
  return each.flatMap(({ alias, answers }): readonly ChainFinding[] => {
    const [answer] = answers ?? []
    if (answer === undefined) return [] // A silent endpoint contradicts nothing.
    const shown = answer.ok && typeof answer.result === 'string' ? toBigint(answer.result) : undefined
    if (shown === expected) return []
    const problem = `httpRpcUrl of ${chain}: ${alias} is not on chain ${expected}`
    const identity = shown === undefined ? `no chain id at ${alias}` : `chain ${shown} at ${alias}`
    return [
      {
        kind: 'network',
        setting: `chains: ${chain}.httpRpcUrl`,
        value: `chain ${expected}`,
        said: identity,
        problem,
      },
    ]
  })
}

function toBigint(text: string): bigint | undefined {
  return /^0x[0-9a-fA-F]{1,64}$/.test(text) ? BigInt(text) : undefined
}

function hasCode(answer: RpcAnswer | undefined): boolean {
  if (answer?.ok !== true) throw new MalformedAnswerError('eth_getCode')
  return parseBytes(answer.result, 'eth_getCode') !== '0x'
}

function decodeReads(answer: RpcAnswer | undefined, count: number): readonly ContractAnswer[] {
  if (count === 0) return []
  if (answer?.ok !== true) throw new MalformedAnswerError('aggregate3')
  return decodeAggregate3(answer.result, count)
}
