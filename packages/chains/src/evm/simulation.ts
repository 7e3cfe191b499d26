import { type Hex, UpstreamUnavailableError } from '@causeway/core'
import type { JsonRpcClient, RpcAnswer, RpcCall } from '../rpc/jsonRpc.ts'
import { NodeError } from '../rpc/nodeError.ts'
import { parseList, parseQuantity, parseRecord, toQuantity } from './quantity.ts'
import { revertReason } from './revertReason.ts'
import { DestinationCallFailedError, SimulationUnsupportedError } from './simulationErrors.ts'

/** A call to run on a destination. `value` in wei. */
export type SimulatedCall = { readonly to: Hex; readonly value: bigint; readonly data: Hex }

export type Simulation = {
  readonly from: Hex
  readonly calls: readonly SimulatedCall[]
  /** Gas units that all calls together may use. */
  readonly gasMax: bigint
  readonly timeoutMs: number
}

type Refusal = { readonly code: number; readonly message: string; readonly data?: unknown }

const simulateMethod = 'eth_simulateV1'

/**
 * Runs the calls one after another in one hypothetical block, whose gas limit is the cap.
 * @returns gas units used, or `undefined` when the node does not know the method
 * @throws DestinationCallFailedError, UpstreamUnavailableError
 * @source execution-apis, `eth_simulateV1`
 */
export async function simulateInOrder(
  client: JsonRpcClient,
  simulation: Simulation,
): Promise<bigint | undefined> {
  const { gasMax, timeoutMs } = simulation
  try {
    const blocks = parseList(
      await client.request(simulationRequest(simulation), { timeoutMs }),
      simulateMethod,
    )
    const results = parseList(parseRecord(blocks[0], simulateMethod)['calls'], simulateMethod)
    if (results.length !== simulation.calls.length) return undefined
    const used = results.map((result, index) => callGas(result, { chainId: client.chainId, index, gasMax }))
    return sumWithin(used, gasMax, client.chainId)
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    if (isUnknownMethod(error)) return undefined
    throw refusalError(client.chainId, error, { gasMax })
  }
}

/**
 * Estimates every call by itself on the newest state: for nodes without `eth_simulateV1`. A call that
 * fails may only miss what an earlier one does, so with several calls a failure proves nothing.
 * @throws DestinationCallFailedError, SimulationUnsupportedError, UpstreamUnavailableError
 */
export async function estimateEach(client: JsonRpcClient, simulation: Simulation): Promise<bigint> {
  const { calls, gasMax, timeoutMs } = simulation
  const answers = await client.batch(estimateRequests(simulation), { timeoutMs })
  const { chainId } = client
  const used = answers.map((answer: RpcAnswer, index) => {
    if (answer.ok) return parseQuantity(answer.result, 'eth_estimateGas')
    if (answer.code === invalidParams) throw new SimulationUnsupportedError(chainId)
    const error = refusalError(chainId, answer, { index, gasMax })
    const proven = calls.length === 1 || error instanceof UpstreamUnavailableError
    throw proven ? error : new SimulationUnsupportedError(chainId)
  })
  return sumWithin(used, gasMax, chainId)
}

function simulationRequest({ from, calls, gasMax }: Simulation): RpcCall {
  const block = {
    blockOverrides: { gasLimit: toQuantity(gasMax) },
    stateOverrides: balanceOverride(from, calls),
    // Without a limit of its own, a call may use what the block has left.
    calls: calls.map((call) => transactionOf(from, call)),
  }
  return { method: simulateMethod, params: [{ blockStateCalls: [block], validation: false }, 'latest'] }
}

function estimateRequests({ from, calls, gasMax }: Simulation): readonly RpcCall[] {
  return calls.map((call) => ({
    method: 'eth_estimateGas',
    params: [
      { ...transactionOf(from, call), gas: toQuantity(gasMax) },
      'latest',
      balanceOverride(from, calls),
    ],
  }))
}

function transactionOf(from: Hex, { to, value, data }: SimulatedCall) {
  return { from, to, value: toQuantity(value), data }
}

function balanceOverride(from: Hex, calls: readonly SimulatedCall[]) {
  const balance = calls.reduce((sum, { value }) => sum + value, 0n)
  return { [from]: { balance: toQuantity(balance) } }
}

function callGas(result: unknown, args: { chainId: string; index: number; gasMax: bigint }): bigint {
  const call = parseRecord(result, simulateMethod)
  const gas = parseQuantity(call['gasUsed'], simulateMethod)
  if (parseQuantity(call['status'], simulateMethod) === 1n) return gas
  const error = typeof call['error'] === 'object' && call['error'] !== null ? call['error'] : {}
  const message = 'message' in error ? String(error.message) : ''
  const isOutOfGas = /out of gas/i.test(message) || gas >= args.gasMax
  throw new DestinationCallFailedError({
    chainId: args.chainId,
    index: args.index,
    reason: isOutOfGas ? overCap(args.gasMax) : revertReason(call['returnData']),
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
const executionReverted = 3

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
  if (
    code === executionReverted ||
    /revert|invalid ?(fe)? ?opcode|EVM error|stack (under|over)/i.test(message)
  ) {
    return new DestinationCallFailedError({ ...place, reason: revertReason(data) })
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
