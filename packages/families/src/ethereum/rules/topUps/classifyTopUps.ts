import type { Hex } from '@causeway/core'
import { bytesToHex, hexToBytes } from '@causeway/core'
import { isCreditableOwner, zeroAddress } from './owner.ts'
import { readTail, tailBytes, tailMarker } from './tail.ts'
import { isTransferTo, matchTokenCall } from './tokenCall.ts'
import type {
  CallFrame,
  ClassifiedTransfer,
  SuspenseReason,
  TopUpFacts,
  TopUpLog,
  TopUpTarget,
  TopUpVerdict,
} from './topUp.ts'

type Judgement = { readonly verdict: TopUpVerdict; readonly tail: Hex | undefined }
type Call = { readonly caller: Hex; readonly input: Hex }

/**
 * Classification of each transfer of a transaction. The log is authoritative; calldata only labels its beneficiary, and
 * each call labels its own log only: bytes nested in another call are never searched. Transfers of nothing, by custody
 * itself, or of a failed transaction are left out.
 * @source rules L-56, L-57
 */
export function classifyTopUps(facts: TopUpFacts, target: TopUpTarget): readonly ClassifiedTransfer[] {
  if (!facts.succeeded) return []
  const judgements =
    facts.trace === undefined ? judgeByTransaction(facts, target) : judgeByFrames(facts, target)
  return facts.logs.flatMap((log, index) => {
    const judgement = judgements[index]
    if (judgement === undefined || !movesMoney(log, target)) return []
    return isTopUp({ log, ...judgement }, facts, target) ? [{ log, ...judgement }] : []
  })
}

/**
 * True if a transfer is a top-up. A solver is paid, refunded and funded all day, and such transfers credit nobody
 * unless the transaction carries a marker that names a sponsor. Transfers from the operator's own accounts, or in the
 * account's own transactions, are top-ups only if they name one.
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

/** True when only a trace could tell whom the transfers are for. */
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
  const own = judged.findIndex((judgement) => judgement !== undefined)
  if (own === -1) return facts.logs.map(() => suspendedJudgement('unknown_call'))
  return judged.map((judgement, index) =>
    index === own && judgement !== undefined ? judgement : suspendedJudgement('indirect'),
  )
}

/** The n-th call pairs with the n-th log; one pair that does not fit makes all of them doubtful. */
function judgeByFrames(facts: TopUpFacts, target: TopUpTarget): readonly Judgement[] {
  const { trace, logs } = facts
  const mismatch = logs.map(() => suspendedJudgement('trace_mismatch'))
  if (trace === undefined || !isTraceOf(facts)) return mismatch
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

function isTraceOf({ trace, from, to, input }: TopUpFacts): boolean {
  return trace?.from === from && trace.to === to && trace.input === input
}

/** `undefined` when the call does not explain the log. */
function judgeCall(call: Call, log: TopUpLog, target: TopUpTarget): Judgement | undefined {
  const input = hexToBytes(call.input)
  const { from, value } = log
  const tokenCall = matchTokenCall(input, { caller: call.caller, from, to: target.custody, value })
  if (tokenCall === undefined) return undefined
  const { kind, argumentsEnd } = tokenCall
  const tail = readTail(input, argumentsEnd)
  const bytes = input.subarray(argumentsEnd, argumentsEnd + tailBytes)
  const judge = (verdict: TopUpVerdict) => ({
    verdict,
    tail: bytes.length === tailBytes ? bytesToHex(bytes) : undefined,
  })
  if (tail.kind === 'absent') return judge(suspenseVerdict('no_tail'))
  if (tail.kind === 'broken') return judge(suspenseVerdict('bad_tail'))
  if (tail.isTrailed && !target.allowTrailing) return judge(suspenseVerdict('trailing_bytes'))
  if (tail.owner === zeroAddress && kind === 'transferFrom') return judge(suspenseVerdict('ambiguous_sender'))
  const owner = tail.owner === zeroAddress ? call.caller : tail.owner
  if (!isCreditableOwner(owner, target)) return judge(suspenseVerdict('bad_owner'))
  return judge({ kind: 'credit', parse: tail.isTrailed ? 'ok_trailing' : 'ok', owner })
}

function suspenseVerdict(parse: SuspenseReason): TopUpVerdict {
  return { kind: 'suspense', parse }
}

function suspendedJudgement(parse: SuspenseReason): Judgement {
  return { verdict: suspenseVerdict(parse), tail: undefined }
}

/**
 * The calls of a transaction that moved the token to custody, in the order they ran. A call below a
 * reverted one had no effect; a delegated call runs in its caller's place and moves nothing of its own.
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
