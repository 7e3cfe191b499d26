import type { Hex } from '@causeway/core'
import { bytesToHex, hexToBytes } from '@causeway/core'
import { isCreditableOwner, zeroAddress } from './owner.ts'
import { readTail, type Tail, tailBytes, tailMarker } from './tail.ts'
import { isTransferTo, matchTokenCall, type TokenCall } from './tokenCall.ts'
import type {
  CallFrame,
  ClassifiedTransfer,
  SuspenseReason,
  TopUpFacts,
  TopUpLog,
  TopUpTarget,
  TopUpVerdict,
} from './topUp.ts'

/** Verdict on one transfer, and the tail of the call that made it. */
type Judgement = { readonly verdict: TopUpVerdict; readonly tail: Hex | undefined }
type Call = { readonly caller: Hex; readonly input: Hex }

/**
 * Classifies each transfer to custody of a transaction: whom to credit, or why it waits in suspense. The log is the
 * proof of the money; calldata only names the credited wallet, and each call only for its own log: bytes nested in
 * another call credit nobody. Transfers of 0, by custody itself, or of a failed transaction are left out.
 * @source rules L-56, L-57
 */
export function classifyTopUps(facts: TopUpFacts, target: TopUpTarget): readonly ClassifiedTransfer[] {
  if (!facts.succeeded) return []
  const judgements =
    facts.trace === undefined ? judgeByTransaction(facts, target) : judgeByFrames(facts.trace, facts, target)
  return facts.logs.flatMap((log, index) => {
    const judgement = judgements[index]
    if (judgement === undefined || !movesMoney(log, target)) return []
    return isTopUp({ log, ...judgement }, facts, target) ? [{ log, ...judgement }] : []
  })
}

/**
 * True if a transfer is a top-up, also a broken one. A transfer that credits a wallet always is. Otherwise transfers
 * from the operator's own accounts are none. At an account that receives other money too (`isTaggedOnly`), such as a
 * solver's wallet, a transfer is one only if somebody else sent the transaction and its calldata has a marker, even
 * inside another call: such a marker credits nobody, but lets the sender claim what a smart wallet sent.
 */
function isTopUp(
  { log, verdict }: ClassifiedTransfer,
  facts: TopUpFacts,
  { custody, isTaggedOnly = false, ownAccounts = [] }: TopUpTarget,
): boolean {
  if (verdict.kind === 'credit') return true
  if (ownAccounts.includes(log.from)) return false
  return !isTaggedOnly || (facts.from !== custody && facts.input.includes(tailMarker))
}

/** True if only a trace can tell whom the transfers are for: they were not made by one direct call of the token. */
export function needsTrace(facts: TopUpFacts, target: TopUpTarget): boolean {
  if (!facts.succeeded || !facts.logs.some((log) => movesMoney(log, target))) return false
  return facts.to !== target.token || facts.logs.length > 1
}

function movesMoney(log: TopUpLog, target: TopUpTarget): boolean {
  return log.value > 0n && log.from !== target.custody
}

/** The transaction's own calldata labels one log at most: the first that it explains. */
function judgeByTransaction(facts: TopUpFacts, target: TopUpTarget): readonly Judgement[] {
  if (facts.to !== target.token) return facts.logs.map(() => suspendedJudgement('indirect'))
  const call = { caller: facts.from, input: facts.input }
  const judged = facts.logs.map((log) => judgeCall(call, log, target))
  const labelledIndex = judged.findIndex((judgement) => judgement !== undefined)
  if (labelledIndex === -1) return facts.logs.map(() => suspendedJudgement('unknown_call'))
  return judged.map((judgement, index) =>
    index === labelledIndex && judgement !== undefined ? judgement : suspendedJudgement('indirect'),
  )
}

/**
 * Judges by a trace: the n-th call of the token made the n-th log, as both lists have every transfer to
 * custody, also of 0. If their lengths differ or a pair does not fit, all transfers are doubtful.
 */
function judgeByFrames(trace: CallFrame, facts: TopUpFacts, target: TopUpTarget): readonly Judgement[] {
  const { logs } = facts
  const mismatch = logs.map(() => suspendedJudgement('trace_mismatch'))
  if (!isTraceOf(trace, facts)) return mismatch
  const frames = tokenTransferFrames(trace, target)
  if (frames.length !== logs.length) return mismatch
  const judged: Judgement[] = []
  for (const [index, log] of logs.entries()) {
    const frame = frames[index]
    const judgement = frame && judgeCall({ caller: frame.from, input: frame.input }, log, target)
    if (judgement === undefined) return mismatch
    judged.push(judgement)
  }
  return judged
}

/** True if the outermost call of the trace is the transaction itself, so that it is no other transaction's trace. */
function isTraceOf(trace: CallFrame, { from, to, input }: TopUpFacts): boolean {
  return trace.from === from && trace.to === to && trace.input === input
}

/** `undefined` when the call does not explain the log. */
function judgeCall(call: Call, log: TopUpLog, target: TopUpTarget): Judgement | undefined {
  const input = hexToBytes(call.input)
  const { from, value } = log
  const tokenCall = matchTokenCall(input, { caller: call.caller, from, to: target.custody, value })
  if (tokenCall === undefined) return undefined
  const { kind, argumentsEnd } = tokenCall
  const bytes = input.subarray(argumentsEnd, argumentsEnd + tailBytes)
  return {
    verdict: verdictOf(readTail(input, argumentsEnd), { kind, caller: call.caller }, target),
    tail: bytes.length === tailBytes ? bytesToHex(bytes) : undefined,
  }
}

/** Credits the owner that the tail names; if it names nobody, the caller of a plain `transfer`. */
function verdictOf(
  tail: Tail,
  { kind, caller }: Pick<TokenCall, 'kind'> & Pick<Call, 'caller'>,
  target: TopUpTarget,
): TopUpVerdict {
  if (tail.kind === 'absent') return suspenseVerdict('no_tail')
  if (tail.kind === 'broken') return suspenseVerdict('bad_tail')
  if (tail.isTrailed && !target.allowTrailing) return suspenseVerdict('trailing_bytes')
  const isNamed = tail.owner !== zeroAddress
  if (!isNamed && kind === 'transferFrom') return suspenseVerdict('ambiguous_sender')
  const owner = isNamed ? tail.owner : caller
  if (!isCreditableOwner(owner, target)) return suspenseVerdict('bad_owner')
  return { kind: 'credit', parse: tail.isTrailed ? 'ok_trailing' : 'ok', owner }
}

function suspenseVerdict(parse: SuspenseReason): TopUpVerdict {
  return { kind: 'suspense', parse }
}

function suspendedJudgement(parse: SuspenseReason): Judgement {
  return { verdict: suspenseVerdict(parse), tail: undefined }
}

/**
 * The calls of a transaction that moved the token to custody, in the order they ran. Calls below a reverted one had no
 * effect and are skipped; of a delegated call only its inner calls count.
 */
function tokenTransferFrames(trace: CallFrame, target: TopUpTarget): readonly CallFrame[] {
  const transferFrames: CallFrame[] = []
  const waiting: CallFrame[] = [trace]
  for (let frame = waiting.pop(); frame !== undefined; frame = waiting.pop()) {
    if (frame.isReverted) continue
    const callsToken = frame.type === 'CALL' && frame.to === target.token
    if (callsToken && isTransferTo(hexToBytes(frame.input), target.custody)) transferFrames.push(frame)
    for (const call of frame.calls.toReversed()) waiting.push(call)
  }
  return transferFrames
}
