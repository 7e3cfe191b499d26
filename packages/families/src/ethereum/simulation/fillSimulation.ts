import { type Hex, UpstreamUnavailableError } from '@causeway/core'
import type { JsonRpcClient, RpcAnswer } from '@causeway/rpc'
import {
  createLruCache,
  MalformedAnswerError,
  parseBytes,
  parseList,
  parseRecord,
  unlessUnreadable,
} from '@causeway/rpc'
import type { SimulatedFill } from '../../shared/quotingChain.ts'
import { readAbi } from '../contracts/abiReader.ts'
import { allowanceCall, balanceOfCall } from '../contracts/erc20Calls.ts'
import type { ContractCall } from '../contracts/multicall.ts'
import type { CallSimulator, CallsToSimulate } from './simulateCalls.ts'
import { DestinationCallFailedError, revertReason } from './simulationErrors.ts'
import type { StateOverrides } from './simulationRequests.ts'

export type FillSimulatorOptions = {
  readonly client: Pick<JsonRpcClient, 'chainId' | 'agree'>
  readonly simulator: CallSimulator
  /** Timeout of one search for a token's storage, in milliseconds. Default 300. */
  readonly timeoutMs?: number
}

/** Measures fills of orders with calls, as their solver would send them. */
export interface FillSimulator {
  /**
   * Gas units of the whole transaction. If the solver has too little of the token, or too low an allowance for the fill
   * contract, it is simulated as if it had both.
   * @throws DestinationCallFailedError with the failing call's index in the order; and the errors of `CallSimulator`
   */
  gasOfFill(fill: SimulatedFill): Promise<bigint>
}

const tokensMax = 1_000
/** Most storage slots that are tried, the lowest first; the view of a plain mapping reads fewer. */
const slotsMax = 8
/** Amount that is written into a slot: large, and recognisable when a view returns it. */
const markerAmount: Hex = `0x${(2n ** 120n).toString(16).padStart(64, '0')}`

/**
 * Makes the simulator of one chain's fills. A fill is first simulated on the real state. If a token's
 * transfer fails there, it is simulated once more with written funds, or is unavailable if no slot for them
 * is found. A failure of the second run, or any other of the first, is the order's. @source rule Q-164
 */
export function createFillSimulator(options: FillSimulatorOptions): FillSimulator {
  const { client, simulator, timeoutMs = 300 } = options
  const overridesCache = createLruCache<StateOverrides>(tokensMax)

  /**
   * Overrides that give the solver balance and allowance of a token. Found once for each token, because its storage
   * layout does not change; `undefined` if the slots cannot be found.
   */
  async function findFunds(token: Hex, { from, to }: SimulatedFill): Promise<StateOverrides | undefined> {
    const key = `${token} ${from} ${to}`.toLowerCase()
    const cached = overridesCache.get(key)
    if (cached !== undefined) return cached
    const [balance, allowance] = await Promise.all([
      findSlot(client, timeoutMs, balanceOfCall(token, from)),
      findSlot(client, timeoutMs, allowanceCall(token, from, to)),
    ])
    if (balance === undefined || allowance === undefined) return undefined
    const overrides = { [token]: { stateDiff: { [balance]: markerAmount, [allowance]: markerAmount } } }
    overridesCache.set(key, overrides)
    return overrides
  }

  async function gasWithFunds(fill: SimulatedFill, unfunded: DestinationCallFailedError): Promise<bigint> {
    // A fill of native coin pays and sweeps no token, so that none of its failures leads here.
    const overrides = fill.token === undefined ? undefined : await findFunds(fill.token, fill)
    if (overrides === undefined) {
      throw new UpstreamUnavailableError(`Chain ${client.chainId} cannot simulate calls at the moment.`, {
        code: 'RPC_HTTP_ERROR',
        data: { chainId: client.chainId },
        cause: unfunded,
      })
    }
    return simulator.gasOf({ ...simulationOf(fill), overrides })
  }

  return {
    async gasOfFill(fill) {
      try {
        return await simulator.gasOf(simulationOf(fill)).catch((error: unknown) => {
          if (!(error instanceof DestinationCallFailedError) || !isTokenRefused(error)) throw error
          return gasWithFunds(fill, error)
        })
      } catch (error) {
        throw error instanceof DestinationCallFailedError ? withOrderIndex(error, client.chainId) : error
      }
    },
  }
}

/**
 * The storage slot whose value a view returns unchanged, such as a mapping's entry for a balance: each slot that the
 * view reads is overridden in turn, to see which one changes the result to `markerAmount`.
 */
async function findSlot(
  client: FillSimulatorOptions['client'],
  timeoutMs: number,
  { target, callData }: ContractCall,
): Promise<Hex | undefined> {
  const call = { to: target, data: callData }
  const listed = await client.agree([{ method: 'eth_createAccessList', params: [call, 'latest'] }], {
    timeoutMs,
    project: (answers: readonly RpcAnswer[]) => listedSlots(answers[0], target).join(),
  })
  const slots = listedSlots(listed.answers[0], target)
  if (slots.length === 0) return undefined
  const reads = slots.map((slot) => ({
    method: 'eth_call',
    params: [call, 'latest', { [target]: { stateDiff: { [slot]: markerAmount } } }],
  }))
  const { answers } = await client.agree(reads, { timeoutMs })
  return slots.find((_, index) => {
    const answer = answers[index]
    return answer?.ok === true && answer.result === markerAmount
  })
}

const simulationOf = (fill: SimulatedFill): CallsToSimulate => ({
  from: fill.from,
  calls: [fill],
  gasPriceWei: fill.gasPriceWei,
})

/** `CallFailed(uint256,bytes)` of an order's clone. */
const callFailed = '0x5c0dee5d'
/** `TokenCallFailed(address,bytes)`: a token's transfer fails, into the contract or when the rest is swept. */
const tokenCallFailed = '0x54a3dcad'
/** `NativeTransferFailed(address,uint256)` */
const nativeTransferFailed = '0xa5b05eec'

const isTokenRefused = ({ revertData }: DestinationCallFailedError): boolean =>
  revertData?.startsWith(tokenCallFailed) === true

/** The fill contract's error in terms of the order: the index of the failing call, and its reason. */
function withOrderIndex(error: DestinationCallFailedError, chainId: string): DestinationCallFailedError {
  const { revertData } = error
  if (revertData === undefined) {
    const reason = String(error.data?.['reason'])
    // The index is left out: it is the fill's among the simulated calls, not one of the order's calls.
    return new DestinationCallFailedError({ chainId, reason })
  }
  return new DestinationCallFailedError({ chainId, revertData, ...decodeFailure(revertData) })
}

function decodeFailure(data: Hex): { readonly index?: number; readonly reason: string } {
  const selector = data.slice(0, 10)
  try {
    const words = readAbi(`0x${data.slice(10)}`, 'a fill')
    // An address stands in the last 20 of the first word's 32 bytes.
    if (selector === callFailed)
      return { index: words.position(0), reason: revertReason(secondMember(words)) }
    if (selector === tokenCallFailed)
      return { reason: `token ${words.slice(12, 20)} does not move: ${revertReason(secondMember(words))}` }
    if (selector === nativeTransferFailed) return { reason: `${words.slice(12, 20)} takes no native coin` }
  } catch (error) {
    if (!(error instanceof MalformedAnswerError)) throw error
  }
  return { reason: revertReason(data) }
}

/** The `bytes` that are an error's second member; the first is one word. */
function secondMember(words: ReturnType<typeof readAbi>): Hex {
  const start = words.position(32)
  return words.slice(start + 32, words.position(start))
}

/** Storage slots of one contract in an access list, in lower case, sorted so that endpoints' answers compare. */
function listedSlots(answer: RpcAnswer | undefined, contract: Hex): readonly Hex[] {
  if (answer?.ok !== true) return []
  const requestName = 'eth_createAccessList'
  const slots = unlessUnreadable(() => {
    const entries = parseList(parseRecord(answer.result, requestName)['accessList'], requestName)
    const keys = entries.flatMap((entry) => {
      const { address, storageKeys } = parseRecord(entry, requestName)
      return parseBytes(address, requestName) === contract.toLowerCase()
        ? parseList(storageKeys, requestName)
        : []
    })
    return keys.map((slot) => parseBytes(slot, requestName))
  })
  return (slots ?? []).toSorted().slice(0, slotsMax)
}
