import type { SeenCall } from './faultMode.ts'
import { faultyRequest } from './faultyAnswer.ts'
import type { NodeAnswer, NodePersonality } from './nodePersonality.ts'
import { hexQuantity, mapAnswers } from './rpcBody.ts'

/** A request as the proxy read it. `isRpc`: its calls are calls of JSON-RPC. */
export type ReadRequest = {
  readonly body: string
  readonly calls: readonly SeenCall[]
  readonly isRpc: boolean
}

/** An HTTP answer of the proxy or of the node behind it. */
export type WireAnswer = {
  readonly status: number
  readonly body: string
  /** Content type; default JSON. */
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Bytes of white space before the body. */
  readonly padding?: number
}

/** The real node behind the proxy. */
type Node = {
  readonly ask: (body: string) => Promise<WireAnswer>
  readonly readHead: () => Promise<bigint>
}

/**
 * Makes the function by which a fault proxy answers as a hosted node of that kind does. The function counts requests and
 * remembers transactions, so each proxy has its own.
 */
export function createPersonality(personality: NodePersonality, nowMs: () => number = Date.now) {
  const { when, answer } = personality
  const meetsRequestCondition = createRequestCondition(personality, nowMs)
  const firstSeenMsById = new Map<unknown, number>()
  let requestsBehind = 0

  /** True while a late node does not show a transaction yet. The entry is a log, or of a list of transactions. */
  const isFresh = (entry: unknown): boolean => {
    if (answer.kind !== 'late') return false
    const { transactionHash, signature, txid } = Object(entry)
    const id = transactionHash ?? signature ?? txid
    const firstSeenMs = firstSeenMsById.get(id) ?? nowMs()
    firstSeenMsById.set(id, firstSeenMs)
    return nowMs() - firstSeenMs < answer.ms
  }

  /** `member` is the true answer to `call`, alone or in a batch. */
  function changeMember(member: Record<string, unknown>, call: SeenCall): Record<string, unknown> {
    const { result } = member
    switch (answer.kind) {
      case 'error':
        return errorTo(member['id'], answer, call)
      case 'empty':
        return { ...member, result: Array.isArray(result) ? [] : null }
      case 'late':
        return { ...member, result: withoutFresh(result, isFresh) }
      default:
        return member
    }
  }

  return async function respond(request: ReadRequest, node: Node): Promise<WireAnswer> {
    const { body, calls, isRpc } = request
    const concernedCalls = calls.filter(({ method }) => personality.calls?.test(method) ?? true)
    if (concernedCalls.length === 0) return node.ask(body)
    if (answer.kind === 'behind') {
      const blocks = BigInt(answer.blocks[requestsBehind++ % answer.blocks.length] ?? 0)
      const head = await node.readHead()
      return askBehind(request, node, head > blocks ? head - blocks : 0n)
    }
    // Undefined where the condition is one of each call.
    const isRequestConcerned = meetsRequestCondition?.(request)
    if (isRequestConcerned === false) return node.ask(body)
    if (answer.kind === 'page') return answer
    // A refusal that is not limited to some methods is of the whole request; others are below, call by call.
    if (isRequestConcerned && answer.kind === 'error' && personality.calls === undefined)
      return errorToRequest(request, answer)
    const head = when.kind === 'stateAge' ? await node.readHead() : 0n
    const truth = await node.ask(body)
    if (answer.kind === 'long') return { ...truth, padding: answer.bytes }
    if (!isRpc) return truth
    const isConcerned = (call: SeenCall, member: Record<string, unknown>) =>
      concernedCalls.includes(call) &&
      (isRequestConcerned === true || meetsCallCondition(personality, { call, member, head }))
    let changedCount = 0
    const changedBody = mapAnswers(truth.body, calls, (member, call) => {
      if (call === undefined || !isConcerned(call, member)) return member
      changedCount += 1
      return changeMember(member, call)
    })
    // A batch keeps its status: only some of its calls may have failed.
    const isSingleError = answer.kind === 'error' && changedCount > 0 && calls.length === 1
    const status = (isSingleError ? answer.status : undefined) ?? truth.status
    return { ...truth, body: changedBody, status }
  }
}

/** The condition of a whole request; undefined where the personality has a condition of each call. */
function createRequestCondition(
  { when }: NodePersonality,
  nowMs: () => number,
): ((request: ReadRequest) => boolean) | undefined {
  let count = 0
  let recent: readonly number[] = []
  switch (when.kind) {
    case 'batch':
      return ({ calls }) => calls.length > when.above
    case 'bodyBytes':
      return ({ body }) => Buffer.byteLength(body) > when.above
    case 'every':
      return () => {
        count += 1
        return count % when.request === 0
      }
    case 'rate':
      return () => {
        const now = nowMs()
        recent = recent.filter((ms) => now - ms < 1_000)
        if (recent.length >= when.above) return true
        recent = [...recent, now]
        return false
      }
    default:
      return undefined
  }
}

/** A call, its true answer, and the head of the chain, which is 0 where no condition needs it. */
type AnsweredCall = {
  readonly call: SeenCall
  readonly member: Record<string, unknown>
  readonly head: bigint
}

function meetsCallCondition(
  { when }: NodePersonality,
  { call, member: { result }, head }: AnsweredCall,
): boolean {
  switch (when.kind) {
    case 'always':
      return true
    case 'logRange':
      return rangeOf(call).blocks > when.above
    case 'entries':
      return Array.isArray(result) && result.length > when.above
    case 'stateAge':
      return head - (numberOf(call.params.at(-1)) ?? head) > when.above
    case 'blockObject':
      return (
        call.params.some((param) => 'blockHash' in Object(param) || 'blockNumber' in Object(param)) &&
        // The object of these is a filter, which may have a `blockHash`.
        !/^eth_(getLogs|newFilter)$/.test(call.method)
      )
    case 'versionBelow':
      return call.params.some((param) => Object(param)['maxSupportedTransactionVersion'] < when.version)
    default:
      return false
  }
}

/** Blocks of a log filter, ends included; none where an end is a tag such as `latest`. */
function rangeOf({ params: [filter] }: SeenCall): { readonly from: bigint; readonly blocks: bigint } {
  const { fromBlock, toBlock } = Object(filter)
  const [from, to] = [numberOf(fromBlock), numberOf(toBlock)]
  return from === undefined || to === undefined ? { from: 0n, blocks: 0n } : { from, blocks: to - from + 1n }
}

/** The block number of a parameter, which may be an object of EIP-1898; undefined for a tag. */
function numberOf(value: unknown): bigint | undefined {
  const text = typeof value === 'string' ? value : Object(value)['blockNumber']
  return typeof text === 'string' && /^0x[0-9a-f]{1,16}$/.test(text) ? BigInt(text) : undefined
}

type NodeError = Extract<NodeAnswer, { kind: 'error' }>

/** The error to one call. Its message suggests a range as long as the limit that it names. */
function errorTo(id: unknown, { code, message }: NodeError, call: SeenCall): Record<string, unknown> {
  const { from } = rangeOf(call)
  const [, limit = '1'] = /(\d+K?) block range/.exec(message) ?? []
  const last = from + BigInt(limit.replace('K', '000')) - 1n
  const filledMessage = message.replace('{from}', hexQuantity(from)).replace('{last}', hexQuantity(last))
  return { jsonrpc: '2.0', id, error: { code, message: filledMessage } }
}

/** One error for all calls of a request: a batch has no id. */
function errorToRequest({ calls }: ReadRequest, answer: NodeError): WireAnswer {
  const [call, ...others] = calls
  const id = others.length > 0 ? null : call?.id
  const { status = 200, code, message, headers = {} } = answer
  return { status, headers, body: JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }) }
}

function withoutFresh(result: unknown, isFresh: (entry: unknown) => boolean): unknown {
  if (Array.isArray(result)) return result.filter((entry) => !isFresh(entry))
  const { logs } = Object(result)
  return Array.isArray(logs) ? { ...Object(result), logs: logs.filter((log) => !isFresh(log)) } : result
}

/** Answers as a node whose newest block is `head`: nothing above it exists, and a log range may end above it. */
async function askBehind(request: ReadRequest, node: Node, head: bigint): Promise<WireAnswer> {
  const { calls } = request
  const truth = await node.ask(faultyRequest({ kind: 'staleHead', block: head }, request.body))
  const isAbove = (value: unknown) => (numberOf(value) ?? 0n) > head
  const body = mapAnswers(truth.body, calls, (member, call) => {
    const { result } = member
    if (call === undefined) return member
    if (call.method === 'eth_blockNumber') return { ...member, result: hexQuantity(head) }
    if (Array.isArray(result)) {
      return { ...member, result: result.filter((entry) => !isAbove(Object(entry)['blockNumber'])) }
    }
    if (isAbove(Object(result)['blockNumber']) || isAbove(Object(result)['number'])) {
      return { ...member, result: null }
    }
    if (!call.params.some(isAbove)) return member
    return { jsonrpc: '2.0', id: member['id'], error: { code: -32_000, message: 'header not found' } }
  })
  return { ...truth, body }
}
