import { type Hex, UpstreamUnavailableError } from '@causeway/core'
import type { RpcAnswer, RpcCall } from '@causeway/rpc'
import {
  disagreement,
  type Electorate,
  estimatesNeeded,
  MalformedAnswerError,
  medianOfVoices,
  NodeError,
  parseList,
  parseQuantity,
  parseRecord,
  tally,
  toQuantity,
  type Vote,
} from '@causeway/rpc'
import type { SimulatedCall } from '../../shared/quotingChain.ts'
import type { PollingClient } from '../agreement/agreedReads.ts'
import { isExecutionFailure } from '../agreement/comparableAnswer.ts'
import { DestinationCallFailedError, revertReason, SimulationUnsupportedError } from './simulationErrors.ts'

/** Storage that is replaced while calls are simulated, by contract and slot. */
export type StateOverrides = Readonly<Record<Hex, { readonly stateDiff: Readonly<Record<Hex, Hex>> }>>

/** Calls to simulate, and on which state. */
export type Simulation = {
  readonly from: Hex
  readonly calls: readonly SimulatedCall[]
  readonly overrides?: StateOverrides | undefined
  /** Gas price of the sender, which contracts can read; absent: 0. */
  readonly gasPriceWei?: bigint | undefined
  /** Number of the block whose state they run on; undefined: the newest of each endpoint. */
  readonly block: bigint | undefined
  /** Gas units that all calls together may use. */
  readonly gasMax: bigint
  readonly timeoutMs: number
}

/** One endpoint's result of the calls. */
type Outcome =
  | { readonly gas: bigint }
  | { readonly failure: DestinationCallFailedError | SimulationUnsupportedError }
  /** The node does not know the method. */
  | 'unknown_method'

type Refusal = { readonly code: number; readonly message: string; readonly data?: unknown }

const simulateMethod = 'eth_simulateV1'

/** Once enough endpoints have answered, late ones have so many milliseconds to contradict them. */
const patienceMs = 100

/**
 * Runs the calls one after another in one hypothetical block, whose gas limit is `gasMax`, at every endpoint.
 * @returns the gas units that enough endpoints share, else the median of enough of them; `undefined` if the nodes do
 * not know the method
 * @throws DestinationCallFailedError when enough endpoints say so; UpstreamDisagreementError,
 * UpstreamUnavailableError
 * @source execution-apis, `eth_simulateV1`
 */
export async function simulateInOrder(
  client: PollingClient,
  simulation: Simulation,
): Promise<bigint | undefined> {
  const outcome = await askAll(client, [simulationRequest(simulation)], simulation, ([answer]) =>
    simulatedOutcome(answer, client.chainId, simulation),
  )
  return outcome === 'unknown_method' ? undefined : gasOrThrow(outcome)
}

/**
 * Estimates each call by itself at every endpoint, for nodes without `eth_simulateV1`. With several calls a failure
 * proves nothing, since a call may depend on the effect of an earlier one.
 * @throws DestinationCallFailedError, SimulationUnsupportedError, UpstreamDisagreementError,
 * UpstreamUnavailableError
 */
export async function estimateEach(client: PollingClient, simulation: Simulation): Promise<bigint> {
  const outcome = await askAll(client, estimateRequests(simulation), simulation, (answers) =>
    estimatedOutcome(answers, client.chainId, simulation),
  )
  if (outcome === 'unknown_method') throw new SimulationUnsupportedError(client.chainId)
  return gasOrThrow(outcome)
}

/** Result over all endpoints: an outcome that enough share, else the median of enough gas amounts. */
function askAll(
  client: PollingClient,
  calls: readonly RpcCall[],
  { timeoutMs }: Simulation,
  read: (answers: readonly RpcAnswer[]) => Outcome | undefined,
): Promise<Outcome> {
  const { electorate, chainId } = client
  const outcomesByAlias = new Map<string, Vote<Outcome>>()
  return client.poll<Outcome>(calls, {
    timeoutMs,
    patienceMs,
    decide(votes, isLast) {
      const outcomes = votes.map((vote) => {
        const { alias, voice, value } = vote
        const cached = outcomesByAlias.get(alias)
        const outcome = cached ?? { alias, voice, value: value && readSafely(read, value) }
        outcomesByAlias.set(alias, outcome)
        return outcome
      })
      return decideOutcome(outcomes, electorate, isLast ? chainId : undefined)
    },
  })
}

/**
 * The outcome that the votes decide; `undefined` while more votes are needed.
 * @param chainIdIfLast set once no more votes will come @throws UpstreamDisagreementError
 */
function decideOutcome(
  votes: readonly Vote<Outcome>[],
  electorate: Electorate,
  chainIdIfLast: string | undefined,
): Outcome | undefined {
  const verdict = tally(votes, electorate, outcomeKey)
  if (verdict.status === 'agreed') return verdict.value
  const amounts = votes.map(({ alias, voice, value }) => {
    const gas = typeof value === 'object' && 'gas' in value ? value.gas : undefined
    return { alias, voice, value: gas }
  })
  const isEnough = chainIdIfLast !== undefined || verdict.status === 'disagreed'
  const gas = isEnough ? medianOfVoices(amounts, electorate, (each) => each) : undefined
  if (gas !== undefined) return { gas }
  if (chainIdIfLast === undefined) return undefined
  const usableVotes = votes.filter(({ value }) => value !== undefined)
  // With too few usable votes `poll` throws the endpoints' failures; else they contradict each other.
  if (usableVotes.length < electorate.threshold) return undefined
  throw disagreement(chainIdIfLast, Math.min(usableVotes.length, estimatesNeeded(electorate)))
}

function outcomeKey(outcome: Outcome): string {
  if (outcome === 'unknown_method') return outcome
  return 'gas' in outcome
    ? `${outcome.gas}`
    : `${outcome.failure.code} ${outcome.failure.data?.['index'] ?? ''}`
}

/** An endpoint's outcome; `undefined`, as if it were silent, for a malformed answer or a failure of the node. */
function readSafely(
  read: (answers: readonly RpcAnswer[]) => Outcome | undefined,
  answers: readonly RpcAnswer[],
): Outcome | undefined {
  try {
    return read(answers)
  } catch (error) {
    if (error instanceof DestinationCallFailedError || error instanceof SimulationUnsupportedError) {
      return { failure: error }
    }
    if (error instanceof MalformedAnswerError || error instanceof UpstreamUnavailableError) return undefined
    throw error
  }
}

function gasOrThrow(outcome: Exclude<Outcome, 'unknown_method'>): bigint {
  if ('gas' in outcome) return outcome.gas
  throw outcome.failure
}

function simulatedOutcome(
  answer: RpcAnswer | undefined,
  chainId: string,
  { calls, gasMax }: Simulation,
): Outcome | undefined {
  if (answer === undefined) return undefined
  if (!answer.ok) {
    if (isUnknownMethod(answer)) return 'unknown_method'
    throw refusalError(chainId, answer, { gasMax })
  }
  const blocks = parseList(answer.result, simulateMethod)
  const results = parseList(parseRecord(blocks[0], simulateMethod)['calls'], simulateMethod)
  if (results.length !== calls.length) return 'unknown_method'
  const gasOfCalls = results.map((result, index) => callGas(result, { chainId, index, gasMax }))
  return { gas: sumWithin(gasOfCalls, gasMax, chainId) }
}

function estimatedOutcome(
  answers: readonly RpcAnswer[],
  chainId: string,
  { calls, gasMax }: Simulation,
): Outcome {
  const gasOfCalls = answers.map((answer, index) => {
    if (answer.ok) return parseQuantity(answer.result, 'eth_estimateGas')
    if (answer.code === invalidParams) throw new SimulationUnsupportedError(chainId)
    const error = refusalError(chainId, answer, { index, gasMax })
    const isProven = calls.length === 1 || error instanceof UpstreamUnavailableError
    throw isProven ? error : new SimulationUnsupportedError(chainId)
  })
  return { gas: sumWithin(gasOfCalls, gasMax, chainId) }
}

function simulationRequest(simulation: Simulation): RpcCall {
  const { from, calls, gasMax, block: at, overrides } = simulation
  const block = {
    blockOverrides: { gasLimit: toQuantity(gasMax) },
    stateOverrides: { ...balanceOverride(simulation), ...overrides },
    // A call without its own gas limit may use the gas that the block has left.
    calls: calls.map((call) => transactionOf(from, call, simulation)),
  }
  return { method: simulateMethod, params: [{ blockStateCalls: [block], validation: false }, blockTag(at)] }
}

function estimateRequests(simulation: Simulation): readonly RpcCall[] {
  const { from, calls, gasMax, block, overrides } = simulation
  return calls.map((call) => ({
    method: 'eth_estimateGas',
    params: [
      { ...transactionOf(from, call, simulation), gas: toQuantity(gasMax) },
      blockTag(block),
      { ...balanceOverride(simulation), ...overrides },
    ],
  }))
}

function blockTag(number: bigint | undefined): string {
  return number === undefined ? 'latest' : toQuantity(number)
}

function transactionOf(
  from: Hex,
  { to, value, data }: SimulatedCall,
  { gasPriceWei }: Pick<Simulation, 'gasPriceWei'>,
) {
  const call = { from, to, value: toQuantity(value), data }
  if (gasPriceWei === undefined) return call
  const price = toQuantity(gasPriceWei)
  return { ...call, maxFeePerGas: price, maxPriorityFeePerGas: price }
}

/** A balance of the sender that pays the calls' values and gas. */
function balanceOverride({ from, calls, gasMax, gasPriceWei = 0n }: Simulation) {
  const balance = calls.reduce((sum, { value }) => sum + value + gasMax * gasPriceWei, 0n)
  return { [from]: { balance: toQuantity(balance) } }
}

function callGas(result: unknown, args: { chainId: string; index: number; gasMax: bigint }): bigint {
  const call = parseRecord(result, simulateMethod)
  const gas = parseQuantity(call['gasUsed'], simulateMethod)
  if (parseQuantity(call['status'], simulateMethod) === 1n) return gas
  const error = typeof call['error'] === 'object' && call['error'] !== null ? call['error'] : {}
  const message = 'message' in error ? String(error.message) : ''
  // Some nodes give no message. A nested call that runs out of gas leaves its callers 1/64 of it at each depth, so a
  // failure that used 15/16 of the cap counts as out of gas.
  const isSpent = gas * 16n >= args.gasMax * 15n
  const isOutOfGas = /out of gas/i.test(message) || isSpent
  throw new DestinationCallFailedError({
    chainId: args.chainId,
    index: args.index,
    reason: isOutOfGas ? overCap(args.gasMax) : revertReason(call['returnData']),
    ...(!isOutOfGas && { revertData: call['returnData'] }),
  })
}

function sumWithin(gasOfCalls: readonly bigint[], gasMax: bigint, chainId: string): bigint {
  const sum = gasOfCalls.reduce((total, gas) => total + gas, 0n)
  if (sum > gasMax) throw new DestinationCallFailedError({ chainId, reason: overCap(gasMax) })
  return sum
}

const invalidParams = -32_602
const unknownMethod = -32_601
/** Intrinsic gas above the limit; block gas limit reached. @source execution-apis, `eth_simulateV1` */
const gasLimitCodes: ReadonlySet<number> = new Set([-38_013, -38_015])

function isUnknownMethod({ code, message }: Refusal): boolean {
  return code === unknownMethod || code === invalidParams || /method.*(not|unsupported)/i.test(message)
}

/**
 * Distinguishes a call that fails in the EVM from a failure of the node. Nodes give execution errors different codes,
 * but known messages; an error that is not recognised counts as the node's, never the caller's.
 */
function refusalError(
  chainId: string,
  refusal: Refusal,
  args: { index?: number; gasMax: bigint },
): DestinationCallFailedError | UpstreamUnavailableError {
  const { code, message, data } = refusal
  const failurePlace = { chainId, ...(args.index !== undefined && { index: args.index }) }
  if (gasLimitCodes.has(code) || /out of gas|gas required exceeds|intrinsic gas/i.test(message)) {
    return new DestinationCallFailedError({ ...failurePlace, reason: overCap(args.gasMax) })
  }
  if (isExecutionFailure(refusal)) {
    return new DestinationCallFailedError({ ...failurePlace, reason: revertReason(data), revertData: data })
  }
  return new UpstreamUnavailableError(`Chain ${chainId} cannot simulate calls at the moment.`, {
    code: 'RPC_HTTP_ERROR',
    data: { chainId },
    cause: refusal instanceof Error ? refusal : new NodeError(refusal),
  })
}

function overCap(gasMax: bigint): string {
  return `more than ${gasMax} gas is needed`
}
