import { contractInterface, type Hex, UpstreamUnavailableError } from '@causeway/core'
import type { EndpointAnswers, JsonRpcClient, RpcAnswer, RpcOptions } from '../../rpc/jsonRpc.ts'
import { MalformedAnswerError } from '../../rpc/malformedAnswer.ts'
import { parseBytes } from '../../rpc/quantity.ts'
import { readStringResult, readUintResult } from './abiReader.ts'
import { decimalsCall, descriptionCall } from './erc20Calls.ts'
import { codeProblems, type ExpectedCode } from './expectedCode.ts'
import { type ContractAnswer, type ContractCall, decodeAggregate3, multicallRequest } from './multicall.ts'

type Placed = { readonly setting: string; readonly address: Hex }

/** What configuration says about one chain and the chain can confirm. Settings are named in problems. */
export type ContractExpectations = {
  /** Decimal chain id. */
  readonly chainId: bigint
  readonly multicall3: Placed
  /** Must have code. */
  readonly contracts: readonly Placed[]
  /** Must have this code, on every endpoint. */
  readonly codes: readonly ExpectedCode[]
  /** Price feeds: `description()` and `decimals()`. */
  readonly feeds: readonly (Placed & { readonly description: string; readonly decimals: number })[]
  /** Tokens: `decimals()`. The native currency is not among them. */
  readonly tokens: readonly (Placed & { readonly decimals: number })[]
  /** Values without arguments that a contract was made with, each one word. */
  readonly words: readonly (Placed & {
    readonly getter: 'depository' | 'depositRouter' | 'DEPOSIT_CODE_HASH' | 'SWEEP_CODE_HASH'
    /** An address or 32 bytes, lower case. */
    readonly word: Hex
  })[]
}

const made = contractInterface([
  'function depository() view returns (address)',
  'function depositRouter() view returns (address)',
  'function DEPOSIT_CODE_HASH() view returns (bytes32)',
  'function SWEEP_CODE_HASH() view returns (bytes32)',
])

/**
 * Compares a chain with its configuration, at start. Every endpoint is asked for its chain id, because
 * any of them may be used; the rest is one batch.
 * @returns problems that name settings; empty when all fits
 * @throws UpstreamUnavailableError when no endpoint answers: nothing is known then
 */
export async function checkContracts(
  client: JsonRpcClient,
  expected: ContractExpectations,
  options?: RpcOptions,
): Promise<readonly string[]> {
  const each = await client.askEach([{ method: 'eth_chainId', params: [] }], options)
  const strangers = chainIdProblems(client.chainId, each, expected.chainId)
  if (strangers.length > 0) return strangers
  if (each.every(({ answers }) => answers === undefined)) {
    throw new UpstreamUnavailableError(`Chain ${client.chainId} cannot be read at the moment.`, {
      code: 'RPC_HTTP_ERROR',
      data: { chainId: client.chainId },
    })
  }

  const placed = [expected.multicall3, ...expected.contracts, ...expected.feeds, ...expected.tokens]
  const reads = readsOf(expected)
  const codeRequests = placed.map(({ address }) => ({ method: 'eth_getCode', params: [address, 'latest'] }))
  const multicall3 = expected.multicall3.address
  const readRequest = multicallRequest({ multicall3, calls: reads.map(({ call }) => call), block: 'latest' })
  const answers = await client.batch([...codeRequests, readRequest], options)

  const missing = new Set(placed.filter((_, index) => !hasCode(answers[index])).map(({ address }) => address))
  const foundCodes = [
    ...placed
      .filter(({ address }) => missing.has(address))
      .map(({ setting }) => `${setting}: there is no contract on ${client.chainId}`),
    ...(await codeProblems({ client, expected: expected.codes, threshold: 1 }, options)),
  ]
  if (missing.has(multicall3)) return foundCodes
  const results = decodeReads(answers.at(-1), reads.length)
  return [
    ...foundCodes,
    ...reads.flatMap(({ call, check }, index) => (missing.has(call.target) ? [] : check(results[index]))),
  ]
}

function chainIdProblems(
  chain: string,
  each: readonly EndpointAnswers[],
  expected: bigint,
): readonly string[] {
  return each.flatMap(({ alias, answers }) => {
    const [answer] = answers ?? []
    if (answer === undefined) return []
    const right = answer.ok && typeof answer.result === 'string' && toBigint(answer.result) === expected
    return right ? [] : [`httpRpcUrl of ${chain}: ${alias} is not on chain ${expected}`]
  })
}

function toBigint(text: string): bigint | undefined {
  return /^0x[0-9a-fA-F]{1,64}$/.test(text) ? BigInt(text) : undefined
}

type Read = {
  readonly call: ContractCall
  readonly check: (answer: ContractAnswer | undefined) => readonly string[]
}

function readsOf({ feeds, tokens, words }: ContractExpectations): readonly Read[] {
  const decimals = ({ setting, address, decimals: wanted }: Placed & { decimals: number }): Read => ({
    call: decimalsCall(address),
    check: (answer) =>
      readUint(answer) === BigInt(wanted) ? [] : [`${setting}: decimals() is not the configured one`],
  })
  const descriptions = feeds.map(
    ({ setting, address, description }): Read => ({
      call: descriptionCall(address),
      check: (answer) =>
        readText(answer) === description ? [] : [`${setting}: description() is not the configured one`],
    }),
  )
  const getters = words.map(
    ({ setting, address, getter, word }): Read => ({
      call: { target: address, callData: made.encode(getter, []) },
      check: (answer) =>
        readUint(answer) === BigInt(word) ? [] : [`${setting}: ${getter}() is not the configured one`],
    }),
  )
  return [...descriptions, ...feeds.map(decimals), ...tokens.map(decimals), ...getters]
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

function readUint(answer: ContractAnswer | undefined): bigint | undefined {
  return readOr(answer, (data) => readUintResult(data, 'a contract at start'))
}

function readText(answer: ContractAnswer | undefined): string | undefined {
  return readOr(answer, (data) => readStringResult(data, 'description'))
}

/** A contract of another kind reverts or returns something else: that is a wrong address, not a wrong node. */
function readOr<Value>(answer: ContractAnswer | undefined, read: (data: Hex) => Value): Value | undefined {
  if (answer?.success !== true) return undefined
  try {
    return read(answer.returnData)
  } catch (error) {
    if (error instanceof MalformedAnswerError) return undefined
    throw error
  }
}
