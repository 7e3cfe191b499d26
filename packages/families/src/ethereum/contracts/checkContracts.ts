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

/** Configured facts of one chain that the chain can confirm. Problems name the settings. */
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
  /** Values without arguments that a contract was made with, each one word. */
  readonly words: readonly (ContractSetting & {
    readonly getter: 'depository' | 'depositRouter' | 'DEPOSIT_CODE_HASH' | 'SWEEP_CODE_HASH'
    /** An address or 32 bytes, lower case. */
    readonly word: Hex
  })[]
  /** Values that are not checked at start: symbols of tokens, and the pools' own data. */
  readonly values?: readonly (ContractSetting & ExpectedValue)[]
}

/** Addresses are lower case. */
export type ExpectedValue =
  | { readonly getter: 'symbol'; readonly text: string }
  | { readonly getter: 'token0' | 'token1' | 'factory'; readonly word: Hex }
  | { readonly getter: 'fee' | 'tickSpacing'; readonly number: number }

const made = contractInterface([
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

/** As `checkContracts`, in parts. @throws UpstreamUnavailableError when no endpoint answers */
export async function contractFindings(
  client: JsonRpcClient,
  expected: ContractExpectations,
  options?: RpcOptions,
): Promise<readonly ChainFinding[]> {
  const each = await client.askEach([{ method: 'eth_chainId', params: [] }], options)
  const strangers = chainIdFindings(client.chainId, each, expected.chainId)
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

type Read = {
  readonly call: ContractCall
  readonly check: (answer: ContractAnswer | undefined) => readonly ChainFinding[]
}

/** One answer against one value: both as texts, so that findings can show them. */
function read(args: {
  readonly at: ContractSetting
  readonly kind: ContractGetter
  readonly call: ContractCall
  readonly value: string
  readonly shownBy: (answer: ContractAnswer | undefined) => string | undefined
}): Read {
  const { at, kind, call, value, shownBy } = args
  const { setting } = at
  return {
    call,
    check(answer) {
      const shown = shownBy(answer)
      if (shown === value) return []
      const problem = `${setting}: ${kind}() is not the configured one`
      return [{ kind, setting, value, said: shown ?? `no answer to ${kind}()`, problem }]
    },
  }
}

function readsOf({ feeds, tokens, words, values = [] }: ContractExpectations): readonly Read[] {
  const numberOf = (answer: ContractAnswer | undefined) => readUint(answer)?.toString()
  const decimals = (at: ContractSetting & { decimals: number }): Read => {
    const call = decimalsCall(at.address)
    return read({ at, kind: 'decimals', call, value: String(at.decimals), shownBy: numberOf })
  }
  const descriptions = feeds.map((at) => {
    const call = descriptionCall(at.address)
    return read({ at, kind: 'description', call, value: at.description, shownBy: readText })
  })
  const getterCall = ({ address: target }: ContractSetting, getter: Exclude<ContractGetter, OwnCall>) => ({
    target,
    callData: made.encode(getter, []),
  })
  const wordRead = (at: ContractSetting, kind: Exclude<ContractGetter, OwnCall>, word: Hex) => {
    const shownBy = (answer: ContractAnswer | undefined) => {
      const shown = readUint(answer)?.toString(16)
      return shown === undefined ? undefined : `0x${shown.padStart(word.length - 2, '0')}`
    }
    return read({ at, kind, call: getterCall(at, kind), value: word, shownBy })
  }
  const valueRead = (at: ContractSetting & ExpectedValue): Read => {
    if ('word' in at) return wordRead(at, at.getter, at.word)
    const call = getterCall(at, at.getter)
    return 'text' in at
      ? read({ at, kind: at.getter, call, value: at.text, shownBy: readText })
      : read({ at, kind: at.getter, call, value: String(at.number), shownBy: numberOf })
  }
  return [
    ...descriptions,
    ...feeds.map(decimals),
    ...tokens.map(decimals),
    ...words.map((at) => wordRead(at, at.getter, at.word)),
    ...values.map(valueRead),
  ]
}

/** Asked by calls of their own, or of another family. */
type OwnCall = 'description' | 'decimals' | 'tokenProgram'

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
