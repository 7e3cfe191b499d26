import { type Hex, UpstreamUnavailableError } from '@causeway/core'
import type { EndpointAnswers, JsonRpcClient, RpcAnswer, RpcOptions } from '@causeway/rpc'
import { MalformedAnswerError, parseBytes } from '@causeway/rpc'
import type { ChainFinding, ContractGetter } from '../../shared/chainFinding.ts'
import { contractInterface } from '../rules/contractInterface.ts'
import { readStringResult, readUintResult } from './abiReader.ts'
import { decimalsCall, descriptionCall } from './erc20Calls.ts'
import { codeFindings, type ExpectedCode } from './expectedCode.ts'
import { type ContractAnswer, type ContractCall, decodeAggregate3, multicallRequest } from './multicall.ts'

type ContractSetting = { readonly setting: string; readonly address: Hex }

/** Configured values of one chain that its contracts can confirm. Problems name the settings. */
export type ContractExpectations = {
  /** Decimal chain id. */
  readonly chainId: bigint
  readonly multicall3: ContractSetting
  /** Must have code. */
  readonly contracts: readonly ContractSetting[]
  /** Must have this code, on every endpoint. */
  readonly codes: readonly ExpectedCode[]
  /** Price feeds: `description()` and `decimals()`. */
  readonly feeds: readonly (ContractSetting & { readonly description: string; readonly decimals: number })[]
  /** Tokens: `decimals()`. The native currency is not among them. */
  readonly tokens: readonly (ContractSetting & { readonly decimals: number })[]
  /** Constructor arguments and constants of a contract, each one word, by the getter that returns it. */
  readonly words: readonly (ContractSetting & {
    readonly getter: 'depository' | 'depositRouter' | 'DEPOSIT_CODE_HASH' | 'SWEEP_CODE_HASH'
    /** An address or 32 bytes, lower case. */
    readonly word: Hex
  })[]
  /** Symbols of tokens and data of pools. Starts leave them out; the check of a whole configuration has them. */
  readonly values?: readonly (ContractSetting & ExpectedValue)[]
}

/** A configured value and the getter that must return it. Words that are addresses are in lower case. */
export type ExpectedValue =
  | { readonly getter: 'symbol'; readonly text: string }
  | { readonly getter: 'token0' | 'token1' | 'factory'; readonly word: Hex }
  | { readonly getter: 'fee' | 'tickSpacing'; readonly number: number }

const getters = contractInterface([
  'function depository() view returns (address)',
  'function depositRouter() view returns (address)',
  'function DEPOSIT_CODE_HASH() view returns (bytes32)',
  'function SWEEP_CODE_HASH() view returns (bytes32)',
  'function symbol() view returns (string)',
  'function token0() view returns (address)',
  'function token1() view returns (address)',
  'function factory() view returns (address)',
  'function fee() view returns (uint24)',
  'function tickSpacing() view returns (int24)',
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
  return (await contractFindings(client, expected, options)).map(({ problem }) => problem)
}

/** As `checkContracts`, with the parts of each problem. @throws UpstreamUnavailableError when no endpoint answers */
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

  const contractsWithCode = [
    expected.multicall3,
    ...expected.contracts,
    ...expected.feeds,
    ...expected.tokens,
  ]
  const reads = readsOf(expected)
  const codeRequests = contractsWithCode.map(({ address }) => ({
    method: 'eth_getCode',
    params: [address, 'latest'],
  }))
  const multicall3 = expected.multicall3.address
  const readRequest = multicallRequest({ multicall3, calls: reads.map(({ call }) => call), block: 'latest' })
  const answers = await client.batch([...codeRequests, readRequest], options)

  const missing = new Set(
    contractsWithCode.filter((_, index) => !hasCode(answers[index])).map(({ address }) => address),
  )
  const foundCodes = [
    ...contractsWithCode
      .filter(({ address }) => missing.has(address))
      .map(({ setting, address }): ChainFinding => {
        const problem = `${setting}: there is no contract on ${client.chainId}`
        return { kind: 'contract', setting, value: address, said: 'no code', problem }
      }),
    ...(await codeFindings({ client, expected: expected.codes, threshold: 1 }, options)),
  ]
  if (missing.has(multicall3)) return foundCodes
  const results = decodeReads(answers.at(-1), reads.length)
  return [
    ...foundCodes,
    ...reads.flatMap(({ call, check }, index) => (missing.has(call.target) ? [] : check(results[index]))),
  ]
}

function chainIdFindings(
  chain: string,
  each: readonly EndpointAnswers[],
  expected: bigint,
): readonly ChainFinding[] {
  return each.flatMap(({ alias, answers }): readonly ChainFinding[] => {
    const [answer] = answers ?? []
    if (answer === undefined) return []
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

/** A call of the multicall, and the comparison of its answer with the configuration. */
type CheckedRead = {
  readonly call: ContractCall
  readonly check: (answer: ContractAnswer | undefined) => readonly ChainFinding[]
}

/** Compares a getter's answer with the configured value; both are texts, so that findings can show them. */
function checkedRead(args: {
  readonly subject: ContractSetting
  readonly kind: ContractGetter
  readonly call: ContractCall
  readonly value: string
  readonly decode: (answer: ContractAnswer | undefined) => string | undefined
}): CheckedRead {
  const { subject, kind, call, value, decode } = args
  const { setting } = subject
  return {
    call,
    check(answer) {
      const shown = decode(answer)
      if (shown === value) return []
      const problem = `${setting}: ${kind}() is not the configured one`
      return [{ kind, setting, value, said: shown ?? `no answer to ${kind}()`, problem }]
    },
  }
}

function readsOf({ feeds, tokens, words, values = [] }: ContractExpectations): readonly CheckedRead[] {
  const numberOf = (answer: ContractAnswer | undefined) => readUint(answer)?.toString()
  const decimals = (subject: ContractSetting & { decimals: number }): CheckedRead => {
    const call = decimalsCall(subject.address)
    return checkedRead({ subject, kind: 'decimals', call, value: String(subject.decimals), decode: numberOf })
  }
  const descriptions = feeds.map((subject) => {
    const call = descriptionCall(subject.address)
    return checkedRead({ subject, kind: 'description', call, value: subject.description, decode: readText })
  })
  const getterCall = (
    { address: target }: ContractSetting,
    getter: Exclude<ContractGetter, GetterOfOthers>,
  ) => ({
    target,
    callData: getters.encode(getter, []),
  })
  const wordRead = (subject: ContractSetting, kind: Exclude<ContractGetter, GetterOfOthers>, word: Hex) => {
    const decode = (answer: ContractAnswer | undefined) => {
      const shown = readUint(answer)?.toString(16)
      return shown === undefined ? undefined : `0x${shown.padStart(word.length - 2, '0')}`
    }
    return checkedRead({ subject, kind, call: getterCall(subject, kind), value: word, decode })
  }
  const valueRead = (subject: ContractSetting & ExpectedValue): CheckedRead => {
    if ('word' in subject) return wordRead(subject, subject.getter, subject.word)
    const call = getterCall(subject, subject.getter)
    return 'text' in subject
      ? checkedRead({ subject, kind: subject.getter, call, value: subject.text, decode: readText })
      : checkedRead({ subject, kind: subject.getter, call, value: String(subject.number), decode: numberOf })
  }
  return [
    ...descriptions,
    ...feeds.map(decimals),
    ...tokens.map(decimals),
    ...words.map((subject) => wordRead(subject, subject.getter, subject.word)),
    ...values.map(valueRead),
  ]
}

/** Getters that have a call builder of their own, or that another family asks. */
type GetterOfOthers = 'description' | 'decimals' | 'tokenProgram'

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

/** `undefined` for a revert or for data that does not fit: the address is wrong then, not the node. */
function readOr<Value>(answer: ContractAnswer | undefined, read: (data: Hex) => Value): Value | undefined {
  if (answer?.success !== true) return undefined
  try {
    return read(answer.returnData)
  } catch (error) {
    if (error instanceof MalformedAnswerError) return undefined
    throw error
  }
}
