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

export type WireAnswer = {
  readonly status: number
  readonly body: string
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Bytes of white space before the body. */
  readonly padding?: number
}

type Node = {
  readonly ask: (body: string) => Promise<WireAnswer>
  readonly readHead: () => Promise<bigint>
}

/** Answers requests as a hosted node of that kind does. It remembers what it was asked, so each endpoint has its own. */
export function createPersonality(personality: NodePersonality, nowMs: () => number = Date.now) {
  const { when, answer } = personality
  const refusesWhole = createCounter(personality, nowMs)
  const firstMs = new Map<unknown, number>()
  let turn = 0

  const isFresh = (entry: unknown): boolean => {
    if (answer.kind !== 'late') return false
    const { transactionHash, signature, txid } = Object(entry)
    const id = transactionHash ?? signature ?? txid
    const first = firstMs.get(id) ?? nowMs()
    firstMs.set(id, first)
    return nowMs() - first < answer.ms
  }

  function changed(member: Record<string, unknown>, call: SeenCall): Record<string, unknown> {
    const { result } = member
    switch (answer.kind) {
      case 'error':
        return refusal(member['id'], answer, call)
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
    const named = calls.filter(({ method }) => personality.calls?.test(method) ?? true)
    if (named.length === 0) return node.ask(body)
    if (answer.kind === 'behind') {
      const blocks = BigInt(answer.blocks[turn++ % answer.blocks.length] ?? 0)
      const head = await node.readHead()
      return askBehind(request, node, head > blocks ? head - blocks : 0n)
    }
    const isWhole = refusesWhole?.(request)
    if (isWhole === false) return node.ask(body)
    if (answer.kind === 'page') return answer
    if (isWhole && answer.kind === 'error' && personality.calls === undefined)
      return refusedRequest(request, answer)
    const head = when.kind === 'stateAge' ? await node.readHead() : 0n
    const truth = await node.ask(body)
    if (answer.kind === 'long') return { ...truth, padding: answer.bytes }
    if (!isRpc) return truth
    const isConcerned = (call: SeenCall, member: Record<string, unknown>) =>
      named.includes(call) && (isWhole === true || meets(personality, { call, member, head }))
    let refused = 0
    const shown = mapAnswers(truth.body, calls, (member, call) => {
      if (call === undefined || !isConcerned(call, member)) return member
      refused += 1
      return changed(member, call)
    })
    const status = answer.kind === 'error' && refused > 0 && calls.length === 1 ? answer.status : undefined
    return { ...truth, body: shown, status: status ?? truth.status }
  }
}

/** Conditions of a whole request; absent where calls have one each. */
function createCounter(
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

type CallSeen = {
  readonly call: SeenCall
  readonly member: Record<string, unknown>
  readonly head: bigint
}

function meets({ when }: NodePersonality, { call, member: { result }, head }: CallSeen): boolean {
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
        !/^eth_(getLogs|newFilter)$/.test(call.method)
      )
    case 'versionBelow':
      return call.params.some((param) => Object(param)['maxSupportedTransactionVersion'] < when.version)
    default:
      return false
  }
}

function rangeOf({ params: [filter] }: SeenCall): { readonly from: bigint; readonly blocks: bigint } {
  const { fromBlock, toBlock } = Object(filter)
  const [from, to] = [numberOf(fromBlock), numberOf(toBlock)]
  return from === undefined || to === undefined ? { from: 0n, blocks: 0n } : { from, blocks: to - from + 1n }
}

function numberOf(value: unknown): bigint | undefined {
  const text = typeof value === 'string' ? value : Object(value)['blockNumber']
  return typeof text === 'string' && /^0x[0-9a-f]{1,16}$/.test(text) ? BigInt(text) : undefined
}

type NodeError = Extract<NodeAnswer, { kind: 'error' }>

function refusal(id: unknown, { code, message }: NodeError, call: SeenCall): Record<string, unknown> {
  const { from } = rangeOf(call)
  const last = from + BigInt(/(\d+)K? block range/.exec(message)?.[1] ?? 1) - 1n
  const words = message.replace('{from}', hexQuantity(from)).replace('{last}', hexQuantity(last))
  return { jsonrpc: '2.0', id, error: { code, message: words } }
}

/** One error for all calls of a request: a batch has no id. */
function refusedRequest({ calls }: ReadRequest, answer: NodeError): WireAnswer {
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

/** A node whose newest block is `head` has nothing above it, and no error for a range that ends there. */
async function askBehind({ body, calls }: ReadRequest, node: Node, head: bigint): Promise<WireAnswer> {
  const truth = await node.ask(faultyRequest({ kind: 'staleHead', block: head }, body))
  const isAbove = (value: unknown) => (numberOf(value) ?? 0n) > head
  const shown = mapAnswers(truth.body, calls, (member, call) => {
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
  return { ...truth, body: shown }
}
