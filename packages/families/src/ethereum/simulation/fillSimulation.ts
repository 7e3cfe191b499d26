import { type Hex, UpstreamUnavailableError } from '@causeway/core'
import type { JsonRpcClient, RpcAnswer } from '@causeway/rpc'
import { createLruCache, MalformedAnswerError, parseBytes, parseList, parseRecord } from '@causeway/rpc'
import type { SimulatedFill } from '../../shared/quotingChain.ts'
import { readAbi } from '../contracts/abiReader.ts'
import { allowanceCall, balanceOfCall } from '../contracts/erc20Calls.ts'
import type { ContractCall } from '../contracts/multicall.ts'
import type { CallSimulator, Simulated } from './simulateCalls.ts'
import type { StateOverrides } from './simulation.ts'
import { DestinationCallFailedError, revertReason } from './simulationErrors.ts'

export type FillSimulatorOptions = {
  readonly client: Pick<JsonRpcClient, 'chainId' | 'agree'>
  readonly simulator: CallSimulator
  /** Timeout of one search for a token's storage, in milliseconds. Default 300. */
  readonly timeoutMs?: number
}

/** Measures fills of orders with calls, as their solver would send them. */
export interface FillSimulator {
  /**
   * Gas units of the whole transaction. A solver that holds too little of the token at this moment, or has not
   * allowed the fill contract to take it yet, is taken to have done both.
   * @throws DestinationCallFailedError naming the call that fails by its place in the order, and what
   * `CallSimulator` throws
   */
  gasOfFill(fill: SimulatedFill): Promise<bigint>
}

const tokensMax = 1_000
/** Storage that a balance is made of: more than this is no plain mapping. */
const slotsMax = 8
const mark: Hex = `0x${(2n ** 120n).toString(16).padStart(64, '0')}`

/** @source rule Q-164 */
export function createFillSimulator(options: FillSimulatorOptions): FillSimulator {
  const { client, simulator, timeoutMs = 300 } = options
  const overridesCache = createLruCache<StateOverrides>(tokensMax)

  /**
   * Overrides that fund the solver for a payment of the token; found once per token, because its storage never moves.
   */
  async function fundsOf(token: Hex, { from, to }: SimulatedFill): Promise<StateOverrides | undefined> {
    const key = `${token} ${from} ${to}`.toLowerCase()
    const cached = overridesCache.get(key)
    if (cached !== undefined) return cached
    const slots = await Promise.all(
      [balanceOfCall(token, from), allowanceCall(token, from, to)].map((view) =>
        slotOf(client, timeoutMs, view),
      ),
    )
    const [balance, allowance] = slots
    if (balance === undefined || allowance === undefined) return undefined
    const overrides = { [token]: { stateDiff: { [balance]: mark, [allowance]: mark } } }
    overridesCache.set(key, overrides)
    return overrides
  }

  async function asFunded(fill: SimulatedFill, unfunded: DestinationCallFailedError): Promise<bigint> {
    const overrides = fill.token === undefined ? undefined : await fundsOf(fill.token, fill)
    if (overrides === undefined) {
      throw new UpstreamUnavailableError(`Chain ${client.chainId} cannot simulate calls at the moment.`, {
        ...{ code: 'RPC_HTTP_ERROR', data: { chainId: client.chainId }, cause: unfunded },
      })
    }
    return simulator.gasOf({ ...simulatedOf(fill), overrides })
  }

  return {
    async gasOfFill(fill) {
      try {
        return await simulator.gasOf(simulatedOf(fill)).catch((error: unknown) => {
          if (!(error instanceof DestinationCallFailedError) || !isTokenRefused(error)) throw error
          return asFunded(fill, error)
        })
      } catch (error) {
        throw error instanceof DestinationCallFailedError ? asOrdered(error, client.chainId) : error
      }
    },
  }
}

/** The one place of storage that a view returns as it is. */
async function slotOf(
  client: FillSimulatorOptions['client'],
  timeoutMs: number,
  { target, callData }: ContractCall,
): Promise<Hex | undefined> {
  const call = { to: target, data: callData }
  const listed = await client.agree([{ method: 'eth_createAccessList', params: [call, 'latest'] }], {
    ...{ timeoutMs, project: (answers: readonly RpcAnswer[]) => storageOf(answers[0], target).join() },
  })
  const slots = storageOf(listed.answers[0], target)
  if (slots.length === 0) return undefined
  const reads = slots.map((slot) => ({
    method: 'eth_call',
    params: [call, 'latest', { [target]: { stateDiff: { [slot]: mark } } }],
  }))
  const { answers } = await client.agree(reads, { timeoutMs })
  return slots.find((_, index) => {
    const answer = answers[index]
    return answer?.ok === true && answer.result === mark
  })
}

const simulatedOf = (fill: SimulatedFill): Simulated => ({
  from: fill.from,
  calls: [fill],
  gasPriceWei: fill.gasPriceWei,
})

/** `CallFailed(uint256,bytes)` of an order's clone. */
const callFailed = '0x5c0dee5d'
/** `TokenCallFailed(address,bytes)`: a token does not move, on the way in or when the rest is swept. */
const tokenCallFailed = '0x54a3dcad'
/** `NativeTransferFailed(address,uint256)` */
const nativeTransferFailed = '0xa5b05eec'

const isTokenRefused = ({ revertData }: DestinationCallFailedError): boolean =>
  revertData?.startsWith(tokenCallFailed) === true

/** Error of the fill contract, translated to the index of the order's calls. */
function asOrdered(error: DestinationCallFailedError, chainId: string): DestinationCallFailedError {
  const { revertData } = error
  if (revertData === undefined) {
    const reason = String(error.data?.['reason'])
    return new DestinationCallFailedError({ chainId, reason })
  }
  return new DestinationCallFailedError({ chainId, revertData, ...decoded(revertData) })
}

function decoded(data: Hex): { readonly index?: number; readonly reason: string } {
  const selector = data.slice(0, 10)
  try {
    const words = readAbi(`0x${data.slice(10)}`, 'a fill')
    if (selector === callFailed) return { index: words.position(0), reason: revertReason(bytesAt(words)) }
    if (selector === tokenCallFailed)
      return { reason: `token ${words.slice(12, 20)} does not move: ${revertReason(bytesAt(words))}` }
    if (selector === nativeTransferFailed) return { reason: `${words.slice(12, 20)} takes no native coin` }
  } catch (error) {
    if (!(error instanceof MalformedAnswerError)) throw error
  }
  return { reason: revertReason(data) }
}

/** The second member of an error, whose first is one word. */
function bytesAt(words: ReturnType<typeof readAbi>): Hex {
  const start = words.position(32)
  return words.slice(start + 32, words.position(start))
}

/** Storage of one contract that an access list names, lower case and in one order. */
function storageOf(answer: RpcAnswer | undefined, contract: Hex): readonly Hex[] {
  if (answer?.ok !== true) return []
  const requestName = 'eth_createAccessList'
  try {
    const entries = parseList(parseRecord(answer.result, requestName)['accessList'], requestName)
    const slots = entries.flatMap((entry) => {
      const { address, storageKeys } = parseRecord(entry, requestName)
      return parseBytes(address, requestName) === contract.toLowerCase()
        ? parseList(storageKeys, requestName)
        : []
    })
    return slots
      .map((slot) => parseBytes(slot, requestName))
      .sort()
      .slice(0, slotsMax)
  } catch (error) {
    if (error instanceof MalformedAnswerError) return []
    throw error
  }
}
