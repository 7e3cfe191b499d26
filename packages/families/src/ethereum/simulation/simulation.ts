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

/** State that is other than the chain's while calls are simulated. */
export type StateOverrides = Readonly<Record<Hex, { readonly stateDiff: Readonly<Record<Hex, Hex>> }>>

export type Simulation = {
  readonly from: Hex
  readonly calls: readonly SimulatedCall[]
  readonly overrides?: StateOverrides | undefined
  /** Bid of the sender, which code can see; absent: nothing. */
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

/** Milliseconds that late endpoints have left to contradict, once enough have answered. */
const patienceMs = 100

/**
 * Runs the calls one after another in one hypothetical block, whose gas limit is the cap, at every endpoint.
 * @returns gas units that enough endpoints say alike, or the median of enough of them; `undefined` when the
 * nodes do not know the method
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
 * Estimates every call by itself, at every endpoint: for nodes without `eth_simulateV1`. A call that
 * fails may only miss what an earlier one does, so with several calls a failure proves nothing.
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
  const heard = new Map<string, Vote<Outcome>>()
  return client.poll<Outcome>(calls, {
    timeoutMs,
    patienceMs,
    decide(votes, isLast) {
      const outcomes = votes.map((vote) => {
        const { alias, voice, value } = vote
        const cached = heard.get(alias)
        const outcome = cached ?? { alias, voice, value: value && readSafely(read, value) }
        heard.set(alias, outcome)
        return outcome
      })
      return decideOutcome(outcomes, electorate, isLast ? chainId : undefined)
    },
  })
}

/** @param lastOf the chain's id once nobody else will speak @throws UpstreamDisagreementError */
function decideOutcome(
  votes: readonly Vote<Outcome>[],
  electorate: Electorate,
  lastOf: string | undefined,
): Outcome | undefined {
  const verdict = tally(votes, electorate, outcomeKey)
  if (verdict.status === 'agreed') return verdict.value
  const amounts = votes.map(({ alias, voice, value }) => {
    const gas = typeof value === 'object' && 'gas' in value ? value.gas : undefined
    return { alias, voice, value: gas }
  })
  const isEnough = lastOf !== undefined || verdict.status === 'disagreed'
  const gas = isEnough ? medianOfVoices(amounts, electorate, (each) => each) : undefined
  if (gas !== undefined) return { gas }
  if (lastOf === undefined) return undefined
  const spoken = votes.filter(({ value }) => value !== undefined)
  // Nobody usable: the poll says why. Too few for a median: they contradict each other.
  if (spoken.length < electorate.threshold) return undefined
  throw disagreement(lastOf, Math.min(spoken.length, estimatesNeeded(electorate)))
}

function outcomeKey(outcome: Outcome): string {
  if (outcome === 'unknown_method') return outcome
  return 'gas' in outcome
    ? `${outcome.gas}`
    : `${outcome.failure.code} ${outcome.failure.data?.['index'] ?? ''}`
}

/** Nonsense and trouble of one node are its silence. */
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
  const used = results.map((result, index) => callGas(result, { chainId, index, gasMax }))
  return { gas: sumWithin(used, gasMax, chainId) }
}

function estimatedOutcome(
  answers: readonly RpcAnswer[],
  chainId: string,
  { calls, gasMax }: Simulation,
): Outcome {
  const used = answers.map((answer, index) => {
    if (answer.ok) return parseQuantity(answer.result, 'eth_estimateGas')
    if (answer.code === invalidParams) throw new SimulationUnsupportedError(chainId)
    const error = refusalError(chainId, answer, { index, gasMax })
    const proven = calls.length === 1 || error instanceof UpstreamUnavailableError
    throw proven ? error : new SimulationUnsupportedError(chainId)
  })
  return { gas: sumWithin(used, gasMax, chainId) }
}

function simulationRequest(simulation: Simulation): RpcCall {
  const { from, calls, gasMax, block: at, overrides } = simulation
  const block = {
    blockOverrides: { gasLimit: toQuantity(gasMax) },
    stateOverrides: { ...balanceOverride(simulation), ...overrides },
    // Without a limit of its own, a call may use what the block has left.
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

/** A balance of what the calls send along, and of the gas of each at its price. */
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
  // A call inside a call leaves its callers a part of what it spent: one in 64 at each depth.
  const isSpent = gas * 16n >= args.gasMax * 15n
  const isOutOfGas = /out of gas/i.test(message) || isSpent
  throw new DestinationCallFailedError({
    chainId: args.chainId,
    index: args.index,
    reason: isOutOfGas ? overCap(args.gasMax) : revertReason(call['returnData']),
    ...(!isOutOfGas && { revertData: call['returnData'] }),
  })
}

function sumWithin(used: readonly bigint[], gasMax: bigint, chainId: string): bigint {
  const sum = used.reduce((total, gas) => total + gas, 0n)
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
 * Tells a call that fails in the EVM from a node that fails. Nodes give execution errors different codes
 * but say what happened; what is not recognised is the node's trouble, never the caller's.
 */
function refusalError(
  chainId: string,
  refusal: Refusal,
  args: { index?: number; gasMax: bigint },
): DestinationCallFailedError | UpstreamUnavailableError {
  const { code, message, data } = refusal
  const place = { chainId, ...(args.index !== undefined && { index: args.index }) }
  if (gasLimitCodes.has(code) || /out of gas|gas required exceeds|intrinsic gas/i.test(message)) {
    return new DestinationCallFailedError({ ...place, reason: overCap(args.gasMax) })
  }
  if (isExecutionFailure(refusal)) {
    return new DestinationCallFailedError({ ...place, reason: revertReason(data), revertData: data })
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
