import { z } from 'zod'

/** Parts of the service whose health `status` tells. */
export const statusParts = [
  'quotes',
  'deposits',
  'fills',
  'attestations',
  'settlement',
  'money',
  'webhooks',
] as const
export type Part = (typeof statusParts)[number]

/** States from the best to the worst; `unknown`: it cannot be determined; `partly`: some of it moves. */
const states = ['moves', 'unknown', 'partly', 'stands'] as const
export type MoveState = (typeof states)[number]

const stateSchema = z.enum(states)
const problemSchema = z.object({
  parts: z.array(z.enum(statusParts)),
  state: stateSchema.exclude(['moves']).describe('`stands`: nothing of these parts moves'),
  what: z.string(),
  since: z.iso.datetime().optional(),
  do: z.string(),
})

/** Health of quotes, deposits, fills, attestations, settlement, money and webhooks, with the problems of each. */
export const statusSchema = z.object({
  state: stateSchema.describe('The worst of all parts'),
  parts: z.array(
    z.object({
      part: z.enum(statusParts),
      state: stateSchema,
      since: z.iso.datetime().optional().describe('Since when not'),
    }),
  ),
  problems: z.array(problemSchema).describe('The worst first'),
})
export type Status = z.output<typeof statusSchema>
export type Problem = z.output<typeof problemSchema>

/** Derives the status from all problems: a part has the state of its worst problem, the whole that of its worst part. */
export function statusOf(allProblems: readonly Problem[]): Status {
  const problems = allProblems.toSorted(
    (one, other) => rank(other.state) - rank(one.state) || byAge(one, other),
  )
  const partStates = statusParts.map((part) => {
    const partProblems = problems.filter(({ parts }) => parts.includes(part))
    const [since] = partProblems.flatMap((partProblem) => partProblem.since ?? []).sort()
    return { part, state: worst(partProblems), ...(since !== undefined && { since }) }
  })
  return { state: worst(partStates), parts: partStates, problems }
}

const rank = (state: MoveState): number => states.indexOf(state)
const worst = (all: readonly { readonly state: MoveState }[]): MoveState =>
  states[Math.max(0, ...all.map(({ state }) => rank(state)))] ?? 'moves'
/** Oldest first; `9` sorts a problem without a time last. */
const byAge = (one: Problem, other: Problem): number => (one.since ?? '9').localeCompare(other.since ?? '9')

/** Makes a problem, with the time of its start as text. */
export const problem = (details: Omit<Problem, 'since'>, since?: Date): Problem => ({
  ...details,
  ...(since !== undefined && { since: since.toISOString() }),
})
