import { readinessSchema } from '@causeway/http'
import { z } from 'zod'
import type { QuoteApiConfig } from '../../config/config.ts'
import { readinessProblems } from '../admin/readinessProblems.ts'
import { type MoveState, type Status, statusOf, statusParts, statusSchema } from '../admin/status.ts'
import type { Command, Output } from './command.ts'
import { tableOf } from './tableOf.ts'

const askMs = 5_000

export const statusCommands: readonly Command[] = [
  {
    words: 'status',
    about: 'Tell what moves and what does not, since when, and what to do; asks the running service',
    runOnChains: async ({ config }) => outputOf(await askService(config)),
  },
]

const stateTexts: Readonly<Record<MoveState, string>> = {
  moves: 'moves',
  partly: 'moves in part',
  stands: 'STANDS',
  unknown: 'cannot be told',
}

function outputOf(status: Status): Output {
  const { state, parts, problems } = status
  return {
    data: status,
    lines: [
      state === 'moves' ? 'Everything moves.' : `Something does not move: ${problems.length} to look at.`,
      '',
      ...tableOf(
        parts.map(({ part, state: partState, since = '' }) => ({ part, is: stateTexts[partState], since })),
      ),
      ...problems.flatMap(({ parts: affectedParts, what, since, do: advice }) => [
        '',
        what,
        `  keeps back: ${affectedParts.join(', ')}`,
        ...(since === undefined ? [] : [`  since:      ${since}`]),
        `  do:         ${advice}`,
      ]),
    ],
    ...(state === 'unknown' ? { isUnknown: true } : { isFailure: state !== 'moves' }),
  }
}

type ListenAddress = { readonly host: string; readonly port: number }

/** Asks the running service with these settings, because only it knows its prices and endpoints. */
async function askService({ admin, ops }: Pick<QuoteApiConfig, 'admin' | 'ops'>): Promise<Status> {
  const { apiKey } = admin
  const address = reachableAddress(admin)
  const answer = await ask(`http://${address}/admin/status`, apiKey && { 'x-api-key': apiKey.reveal() })
  if ('problem' in answer)
    return (await askReadiness(ops)) ?? reportUnknown(`quote-api ${answer.problem} at ${address}`)
  const parsed = statusSchema.safeParse(answer.body)
  if (parsed.success) return parsed.data
  if (answer.status === 401) return reportUnknown(`quote-api refuses ADMIN_API_KEY at ${address}`)
  return reportUnknown(
    `The answer at ${address} is of no quote-api of this release (status ${answer.status})`,
  )
}

/** A process that waits for its database has no admin listener yet, but its `/ready` says what it waits for. */
async function askReadiness(ops: ListenAddress): Promise<Status | undefined> {
  const answer = await ask(`http://${reachableAddress(ops)}/ready`, undefined)
  const { data: readiness } = readinessSchema.safeParse('body' in answer ? answer.body : undefined)
  if (readiness === undefined) return undefined
  const problems = readinessProblems({ readiness, nowMs: Date.now(), failingSince: new Map() })
  return problems.length === 0 ? undefined : statusOf(problems)
}

function reportUnknown(text: string): Status {
  return statusOf([
    {
      parts: [...statusParts],
      state: 'unknown',
      what: `${text}.`,
      do: 'Look whether it runs, and at the end of its log: npm run causeway -- doctor. ADMIN_HOST and ADMIN_PORT are those of this command.',
    },
  ])
}

/** Loopback address for each address that means all interfaces, which cannot be connected to. */
const loopbackOf: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

function reachableAddress({ host, port }: ListenAddress): string {
  const name = loopbackOf[host] ?? host
  return `${name.includes(':') ? `[${name}]` : name}:${port}`
}

type Answer = { readonly status: number; readonly body: unknown } | { readonly problem: string }

const causeSchema = z.object({ cause: z.object({ code: z.string() }) })

async function ask(url: string, headers: Record<string, string> | undefined): Promise<Answer> {
  try {
    const signal = AbortSignal.timeout(askMs)
    const response = await fetch(url, {
      ...(headers !== undefined && { headers }),
      // A redirect could lead the key elsewhere.
      redirect: 'error',
      signal,
    })
    return { status: response.status, body: await response.json().catch(() => undefined) }
  } catch (error) {
    const code = causeSchema.safeParse(error).data?.cause.code
    return { problem: code === undefined ? 'does not answer' : `does not answer (${code})` }
  }
}
