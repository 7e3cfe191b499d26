import { reasonText } from '../../requests/status/reasons.ts'
import { findRequests } from '../../requests/timeline/readTimeline.ts'
import type { Timeline } from '../../requests/timeline/timeline.ts'
import { timelineAnswer } from '../../requests/timeline/timelineAnswer.ts'
import type { Command, CommandContext, Output } from './command.ts'
import { CommandError } from './commandError.ts'

const idMax = 100

export const whyCommands: readonly Command[] = [
  {
    words: 'why',
    about: 'Tell what became of a request, step by step; changes nothing',
    operands: ['request, order or transaction'],
    run: (context, args) => tellWhy(context, args.operand('request, order or transaction')),
  },
]

/** @throws CommandError when nothing is known by the id */
async function tellWhy(
  { administration, database }: Pick<CommandContext, 'administration' | 'database'>,
  id: string,
): Promise<Output> {
  if (id.length > idMax) throw new CommandError('An id is at most 100 characters long.')
  const matches = await findRequests(database, id)
  const requestIds = [...new Set(matches.map(({ requestId }) => requestId))]
  if (requestIds.length === 0)
    throw new CommandError(
      'No request has this id, no order, and none of their deposits, fills, refunds and reported transactions. Requests are deleted by their age: see retention.',
    )
  const timelines: Timeline[] = []
  for (const requestId of requestIds) timelines.push(await administration.timelines.read(requestId))
  return {
    data: { requests: timelines.map(timelineAnswer) },
    lines: timelines.flatMap((timeline, index) => [...(index === 0 ? [] : ['']), ...linesOf(timeline)]),
  }
}

function linesOf({ requestId, orderId, status, reason, steps }: Timeline): readonly string[] {
  return [
    `request ${requestId}${orderId === undefined ? '' : `, order ${orderId}`}`,
    `status ${status}${reason === undefined ? '' : ` (${reason}): ${reasonText(reason)}`}`,
    ...steps.flatMap(({ step, atMs, text, evidence }) => [
      `${new Date(atMs).toISOString()}  ${step}  ${text}`,
      ...evidence.map(
        ({ kind, label, value, chainId }) =>
          `    ${kind} ${label}: ${value}${chainId === undefined ? '' : ` on chain ${chainId}`}`,
      ),
    ]),
  ]
}
