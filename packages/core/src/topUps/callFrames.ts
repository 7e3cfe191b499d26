import { hexToBytes } from '../hashing/hexBytes.ts'
import { isTransferTo } from './tokenCall.ts'
import type { CallFrame, TopUpTarget } from './topUp.ts'

/**
 * The calls of a transaction that moved the token to custody, in the order they ran. A call below a
 * reverted one had no effect; a delegated call runs in its caller's place and moves nothing of its own.
 */
export function tokenTransferFrames(trace: CallFrame, target: TopUpTarget): readonly CallFrame[] {
  const found: CallFrame[] = []
  const waiting: CallFrame[] = [trace]
  for (let frame = waiting.pop(); frame !== undefined; frame = waiting.pop()) {
    if (frame.isReverted) continue
    const callsToken = frame.type === 'CALL' && frame.to === target.token
    if (callsToken && isTransferTo(hexToBytes(frame.input), target.custody)) found.push(frame)
    for (const call of frame.calls.toReversed()) waiting.push(call)
  }
  return found
}
