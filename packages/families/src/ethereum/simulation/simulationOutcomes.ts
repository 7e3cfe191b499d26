import { UpstreamUnavailableError } from '@causeway/core'
import { NodeError, parseList, parseQuantity, parseRecord, type RpcAnswer } from '@causeway/rpc'
import { isExecutionFailure } from '../agreement/comparableAnswer.ts'
import { DestinationCallFailedError, revertReason, SimulationUnsupportedError } from './simulationErrors.ts'
import { type Simulation, simulateMethod } from './simulationRequests.ts'

/** One endpoint's result of the calls. */
export type Outcome =
  | { readonly gas: bigint }
  | { readonly failure: DestinationCallFailedError | SimulationUnsupportedError }
  /** The node does not know the method. */
  | 'unknown_method'

/** An error of a node. */
type Refusal = { readonly code: number; readonly message: string; readonly data?: unknown }

/**
 * Outcome in the answer to `simulationRequest`; `undefined` for none.
 * @throws DestinationCallFailedError if a call fails; UpstreamUnavailableError for a failure of the node;
 * MalformedAnswerError
 */
export function simulatedOutcome(
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
  // Such a node has another method of this name.
  if (results.length !== calls.length) return 'unknown_method'
  const gasOfCalls = results.map((result, index) => callGas(result, { chainId, index, gasMax }))
  return { gas: sumWithin(gasOfCalls, gasMax, chainId) }
}

/**
 * Outcome in the answers to `estimateRequests`. With several calls a failure proves nothing, since a call may depend on
 * the effect of an earlier one.
 * @throws as `simulatedOutcome`; SimulationUnsupportedError
 */
export function estimatedOutcome(
  answers: readonly RpcAnswer[],
  chainId: string,
  { calls, gasMax }: Simulation,
): Outcome {
  const gasOfCalls = answers.map((answer, index) => {
    if (answer.ok) return parseQuantity(answer.result, 'eth_estimateGas')
    // The node takes no state overrides.
    if (answer.code === invalidParams) throw new SimulationUnsupportedError(chainId)
    const error = refusalError(chainId, answer, { index, gasMax })
    const isProven = calls.length === 1 || error instanceof UpstreamUnavailableError
    throw isProven ? error : new SimulationUnsupportedError(chainId)
  })
  return { gas: sumWithin(gasOfCalls, gasMax, chainId) }
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

/** True also for refused parameters, as of a node with an earlier form of the method. */
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
  const failedCall = { chainId, ...(args.index !== undefined && { index: args.index }) }
  if (gasLimitCodes.has(code) || /out of gas|gas required exceeds|intrinsic gas/i.test(message)) {
    return new DestinationCallFailedError({ ...failedCall, reason: overCap(args.gasMax) })
  }
  if (isExecutionFailure(refusal)) {
    return new DestinationCallFailedError({ ...failedCall, reason: revertReason(data), revertData: data })
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
