import { type Hex, maxBigint } from '@causeway/core'
import type { HeadTracking, RpcAnswer, RpcCall } from '@causeway/rpc'
import {
  MalformedAnswerError,
  parseHash,
  parseList,
  parseRecord,
  resultOf,
  unlessUnreadable,
} from '@causeway/rpc'
import { isNothing, parseHasContract, parseHeader, parseInteger, prefixed } from '../reading/answers.ts'
import { contractRequest, headRequest, type TronRequest } from '../reading/requests.ts'
import { nodeAddress } from '../rules/quoting/tronQuoting.ts'

/**
 * Calls that quoting and paying make to nodes through a `ChainClient`, and strict parsers of the answers, which throw
 * `MalformedAnswerError`. `callOf`: a request as a call, whose method is the path.
 * @source TRON developer documentation, "HTTP API"
 */
export const callOf = ({ path, body }: TronRequest): RpcCall => ({ method: path, params: [body] })

export const headCall = callOf(headRequest)

export const tronHeadTracking: HeadTracking = {
  call: headCall,
  readHead: ({ method }, result) =>
    method === headCall.method ? unlessUnreadable(() => parseHeader(result)?.number) : undefined,
}

/** Number, hash and time of the node's newest block. */
export function parseHead(answer: RpcAnswer | undefined): {
  readonly number: bigint
  readonly hash: Hex
  readonly timestampSeconds: bigint
} {
  const header = parseHeader(resultOf(answer, 'getblock'))
  if (header === undefined) throw new MalformedAnswerError('getblock')
  return header
}

export const parametersCall: RpcCall = { method: '/wallet/getchainparameters', params: [{}] }

/** Prices of the chain, set by vote. */
export type ChainPrices = { readonly sunPerEnergy: bigint; readonly sunPerByte: bigint }

/** Nodes leave out a value that is 0. */
export function parsePrices(answer: RpcAnswer | undefined): ChainPrices {
  const requestName = 'getchainparameters'
  const { chainParameter } = parseRecord(resultOf(answer, requestName), requestName)
  const parameters = new Map(
    parseList(chainParameter, requestName).map((entry) => {
      const { key, value = 0 } = parseRecord(entry, requestName)
      return [key, value] as const
    }),
  )
  return {
    sunPerEnergy: parseInteger(parameters.get('getEnergyFee'), requestName),
    sunPerByte: parseInteger(parameters.get('getTransactionFee'), requestName),
  }
}

/** An account as it is at the node's newest block. */
export const accountCall = (address: string): RpcCall =>
  callOf({ path: '/wallet/getaccount', body: { address: nodeAddress(address) } })

/** Balance in sun (millionths of a TRX); `undefined` for a missing account: its first payment creates it. */
export function parseCoin(answer: RpcAnswer | undefined): bigint | undefined {
  const requestName = 'getaccount'
  const body = resultOf(answer, requestName)
  return isNothing(body)
    ? undefined
    : parseInteger(parseRecord(body, requestName)['balance'] ?? 0, requestName)
}

/** Asks for the energy and bandwidth that an account has staked, or was lent. */
export const resourcesCall = (address: string): RpcCall =>
  callOf({ path: '/wallet/getaccountresource', body: { address: nodeAddress(address) } })

/** Energy that an account has left; a missing member is 0. @source tronweb 6.5.1, Types.AccountResourceMessage */
export function parseOwnEnergy(answer: RpcAnswer | undefined): bigint {
  const requestName = 'getaccountresource'
  const { EnergyLimit = 0, EnergyUsed = 0 } = parseRecord(resultOf(answer, requestName), requestName)
  return maxBigint(0n, parseInteger(EnergyLimit, requestName) - parseInteger(EnergyUsed, requestName))
}

/** Call for the contract at an address. */
export const codeCall = (address: string): RpcCall =>
  callOf(contractRequest(`0x${nodeAddress(address).slice(2)}`))

export const parseIsContract = (answer: RpcAnswer | undefined): boolean =>
  parseHasContract(resultOf(answer, 'getcontract'))

/** A call that a node simulates. */
export type TriedCall = {
  /** Account that would call, base58. */
  readonly owner: string
  /** Base58. */
  readonly contract: string
  /** Signature of the function, such as `balanceOf(address)`. */
  readonly selector: string
  /** Calldata: four bytes of the function, and its arguments. */
  readonly data: Hex
  /** Sun that are sent with it, at most 2^53 − 1: nodes read a JSON number. */
  readonly coin?: bigint | undefined
}

/** Hex digits of the function in calldata. */
const selectorDigits = 8

/** Simulates a call. @param from `walletsolidity`: at the newest final block; `wallet`: at the newest one */
export function tryCall(
  { owner, contract, selector, data, coin = 0n }: TriedCall,
  from: 'wallet' | 'walletsolidity' = 'wallet',
): RpcCall {
  return callOf({
    path: `/${from}/triggerconstantcontract`,
    body: {
      owner_address: nodeAddress(owner),
      contract_address: nodeAddress(contract),
      function_selector: selector,
      parameter: data.slice(2 + selectorDigits),
      ...(coin > 0n && { call_value: Number(coin) }),
    },
  })
}

/** Result of a simulated call. */
export type TriedRun =
  /** `words`: what it returned, in hex without `0x`. */
  | { readonly succeeds: true; readonly energy: bigint; readonly words: string }
  /** `reason`: the node's own words. */
  | { readonly succeeds: false; readonly reason: string }

/** The answer to a call that reverts has `result: true` too, but with a message or code beside it. */
export function parseRun(answer: RpcAnswer | undefined): TriedRun {
  const requestName = 'triggerconstantcontract'
  const body = parseRecord(resultOf(answer, requestName), requestName)
  const { result, message, code } = parseRecord(body['result'], requestName)
  if (message !== undefined || code !== undefined)
    return { succeeds: false, reason: String(message ?? code).slice(0, reasonMax) }
  if (result !== true) throw new MalformedAnswerError(requestName)
  const [words = ''] = parseList(body['constant_result'] ?? [], requestName)
  if (typeof words !== 'string') throw new MalformedAnswerError(requestName)
  return { succeeds: true, energy: parseInteger(body['energy_used'], requestName), words }
}

/** Characters of a node's words that are kept. */
const reasonMax = 200

/** The one word that a simulated call returned. @throws MalformedAnswerError, also if the call reverts */
export function parseWord(answer: RpcAnswer | undefined): bigint {
  const run = parseRun(answer)
  if (!run.succeeds) throw new MalformedAnswerError('triggerconstantcontract')
  return BigInt(parseHash(prefixed(run.words), 'triggerconstantcontract'))
}
