import { z } from 'zod'
import { type Resolution, resolutions } from '../../requests/settlement/parked/parkedRules.ts'
import type { RequestExplanation } from '../admin/requestAdministration.ts'
import type { Command } from './command.ts'
import { readId32, readReason, readValue, reasonFlag } from './readValue.ts'
import { tableOf } from './tableOf.ts'

const resolution = z.enum(resolutions, `expected one of ${resolutions.join(', ')}`)
const listedMax = 1_000
/** Ends of the sentence about a resolved request. */
const outcomes: Readonly<Record<Resolution, string>> = {
  unpaid: 'has ended; nothing was debited',
  refund: 'is refunded by the solver',
  release: 'goes on; no deny list stops it any more',
  recover: 'is given up for good; its depositor recovers the deposit on the hub',
}

export const requestCommands: readonly Command[] = [
  {
    words: 'requests parked',
    about: 'List what makes no progress, longest first',
    async run({ administration }) {
      const requests = await administration.requests.parked({ limit: listedMax })
      const rows = requests.map((request) => ({
        request: request.requestId ?? request.subject ?? '',
        reason: request.reason,
        status: request.status ?? '-',
        since: request.since.toISOString(),
        microUsdc: request.debitMicroUsd.toString(),
        tries: String(request.tries),
        account: request.account ?? '-',
        transaction: request.transaction ?? '-',
        report: request.report ?? '-',
        endsBy: request.endsBy,
      }))
      return { data: { requests }, lines: rows.length === 0 ? ['Everything moves.'] : tableOf(rows) }
    },
  },
  {
    words: 'requests find',
    about: 'Find requests by a request id, an order id or the hash of a transaction',
    operands: ['id'],
    async run({ administration }, args) {
      const matches = await administration.requests.find(args.operand('id'))
      const rows = matches.map((match) => ({
        request: match.requestId,
        by: match.by,
        status: match.status,
        from: String(match.originChainId),
        to: String(match.destinationChainId),
        made: match.createdAt.toISOString(),
      }))
      return { data: { requests: matches }, lines: tableOf(rows) }
    },
  },
  {
    words: 'requests explain',
    about: 'Show all that is known about a request and what can be done; changes nothing',
    operands: ['request'],
    async run({ administration }, args) {
      const requestId = readId32(args.operand('request'), '<request>')
      const explanation = await administration.requests.explain(requestId)
      return { data: explanation, lines: linesOf(explanation) }
    },
  },
  {
    words: 'requests retry',
    changes: true,
    about: 'Let the usual rules look at a parked request again',
    operands: ['request'],
    flags: { reason: reasonFlag },
    async run({ administration, actor }, args) {
      const requestId = readId32(args.operand('request'), '<request>')
      const stage = await administration.requests.retry(requestId, { actor, reason: readReason(args) })
      return { data: { requestId, stage }, lines: [`Request ${requestId} is ${stage} again.`] }
    },
  },
  {
    words: 'requests resolve',
    changes: true,
    about:
      'End a parked request: unpaid (filled, the sponsor keeps its money), refund (not filled), release (not denied), or recover (on the hub, by its depositor)',
    operands: ['request'],
    flags: {
      as: { value: '<resolution>', about: `One of ${resolutions.join(', ')}`, isRequired: true },
      reason: reasonFlag,
    },
    async run({ administration, actor }, args) {
      const requestId = readId32(args.operand('request'), '<request>')
      const chosen = readValue(resolution, args.text('as'), '--as')
      await administration.requests.resolve(requestId, chosen, { actor, reason: readReason(args) })
      const line = outcomes[chosen]
      return { data: { requestId, resolution: chosen }, lines: [`Request ${requestId} ${line}.`] }
    },
  },
]

function linesOf(explanation: RequestExplanation): readonly string[] {
  const { requestId, status, failReason, stage, parked } = explanation
  const lists = (['deposits', 'work', 'holds', 'recovery', 'actions'] as const).flatMap((name) =>
    explanation[name].map((row) => `${name}: ${JSON.stringify(row)}`),
  )
  const standstillLines =
    parked === undefined
      ? ['It moves, or has ended.']
      : [
          `stands still: ${parked.reason}. ${parked.meaning}`,
          `ends by: ${parked.endsBy}`,
          `retry: ${parked.retryStage === undefined ? 'it goes on by itself' : `goes on as ${parked.retryStage}`}`,
          `resolve: ${parked.resolutions.join(', ') || 'not possible'}`,
        ]
  return [
    `request ${requestId}: status ${status}${failReason === undefined ? '' : ` (${failReason})`}, stage ${stage ?? 'none'}`,
    ...standstillLines,
    ...lists,
  ]
}
