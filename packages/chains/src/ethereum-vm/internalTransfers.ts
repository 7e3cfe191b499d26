import type { RpcAnswer, RpcCall } from '../rpc/jsonRpc.ts'
import { MalformedAnswerError } from '../rpc/malformedAnswer.ts'
import { parseAddress, parseList, parseQuantity, parseRecord, resultOf } from '../rpc/quantity.ts'
import type { NativeTransfer } from './events.ts'

const what = 'debug_traceTransaction'
/** Deeper than any chain lets a call go. */
const depthMax = 1_100
/** Call frames of one transaction that are read. */
const framesMax = 20_000
/** These run with the caller's own balance: the value they report moved before. */
const movesNothing: ReadonlySet<string> = new Set(['DELEGATECALL', 'STATICCALL', 'CALLCODE'])

export function traceCall(transactionId: string): RpcCall {
  return { method: what, params: [transactionId, { tracer: 'callTracer' }] }
}

/**
 * Native coin that contracts moved inside a transaction, in call order. The value of the transaction itself
 * is not among them, nor is what a failed call gave back.
 * @throws MalformedAnswerError
 * @source design.md 9, P7; go-ethereum, "callTracer"
 */
export function parseInternalTransfers(answer: RpcAnswer | undefined): readonly NativeTransfer[] {
  const found: NativeTransfer[] = []
  let frames = 0
  const visit = (value: unknown, depth: number): void => {
    frames += 1
    if (depth > depthMax || frames > framesMax) throw new MalformedAnswerError(what)
    const frame = parseRecord(value, what)
    const { type, error } = frame
    if (typeof type !== 'string') throw new MalformedAnswerError(what)
    if (error !== undefined && error !== null) return
    if (depth > 0 && !movesNothing.has(type)) {
      const amount = parseQuantity(frame['value'] ?? '0x0', what)
      const { from, to } = frame
      if (amount > 0n) found.push({ from: parseAddress(from, what), to: parseAddress(to, what), amount })
    }
    for (const inner of parseList(frame['calls'] ?? [], what)) visit(inner, depth + 1)
  }
  visit(resultOf(answer, what), 0)
  return found
}
