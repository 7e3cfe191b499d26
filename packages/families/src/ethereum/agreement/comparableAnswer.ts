import type { RpcAnswer, RpcCall } from '@causeway/rpc'
import { comparisonText, logRange, parseList, parseRecord, toQuantity, unlessUnreadable } from '@causeway/rpc'

/**
 * The part of an answer that all honest nodes give alike, whatever their software, as a text to compare votes by.
 * `undefined` for an answer that is no vote: an error of the node, a block that it does not have, malformed data.
 * @source docs/internals/agreed-reads.md
 */
export function comparableAnswer(call: RpcCall, answer: RpcAnswer): string | undefined {
  if (!answer.ok) return isExecutionFailure(answer) ? 'reverted' : undefined
  const { result } = answer
  if (result === null || result === undefined) return undefined
  if (typeof result === 'string') return result.toLowerCase()
  return unlessUnreadable(() => comparisonText(project(call.method, result)).toLowerCase())
}

/**
 * As `comparableAnswer`, for one call of a batch. Logs between two heights depend on the endpoint's branch, and are
 * incomplete if its chain ends below the range. They are therefore compared together with the block below the range and
 * its last block, which the same batch must ask for.
 * @source F-121
 */
export function comparableInBatch(
  calls: readonly RpcCall[],
  answers: readonly RpcAnswer[],
  index: number,
): string | undefined {
  const textAt = (position: number) => {
    const [call, answer] = [calls[position], answers[position]]
    return call && answer && comparableAnswer(call, answer)
  }
  const range = calls[index] && logRange(calls[index])
  if (range === undefined) return textAt(index)
  // The block below proves the branch that the range continues; the last block, that the endpoint has the whole range.
  const ends = [range.from - 1, range.to].map((height) => textAt(calls.findIndex(asksForBlock(height))))
  const texts = [textAt(index), ...ends]
  return texts.includes(undefined) ? undefined : texts.join('\n')
}

/**
 * True if the call ran and failed: by error code 3, or by the message of go-ethereum, Erigon, reth, Besu or Nethermind.
 * Any other error is a failure of the node and says nothing about the call.
 */
export function isExecutionFailure(error: { readonly code: number; readonly message: string }): boolean {
  return error.code === 3 || executionFailure.test(error.message)
}

const asksForBlock =
  (height: number) =>
  ({ method, params }: RpcCall) =>
    method === 'eth_getBlockByNumber' && params[0] === toQuantity(height)

/** Only the members that we read: nodes add others of their own to blocks, logs and fee histories. */
function project(method: string, result: unknown): unknown {
  switch (method) {
    case 'eth_getBlockByNumber':
    case 'eth_getBlockByHash':
      return pick(result, ['number', 'hash', 'parentHash', 'timestamp', 'baseFeePerGas'], method)
    case 'eth_getLogs':
      return parseList(result, method).map((log) =>
        pick(log, ['address', 'topics', 'data', 'blockHash', 'logIndex'], method),
      )
    case 'eth_feeHistory':
      return [
        pick(result, ['oldestBlock', 'baseFeePerGas', 'reward'], method),
        // The ratios are not read, only their number.
        parseList(parseRecord(result, method)['gasUsedRatio'], method).length,
      ]
    default:
      return result
  }
}

function pick(value: unknown, names: readonly string[], method: string): readonly unknown[] {
  const record = parseRecord(value, method)
  return names.map((name) => record[name] ?? null)
}

const executionFailure =
  /revert|out ?of ?gas|invalid ?(?:fe ?)?(?:opcode|jump)|\bEVM error|VM execution error|stack (?:under|over|limit)|stack(?:Under|Over)flow|write protection|return data out of bounds|gas uint64 overflow/i
