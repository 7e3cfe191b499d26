import { formatAmount } from '@causeway/core'
import type { ReadinessReport } from '@causeway/http'
import type { MarketHealth } from '@causeway/market'
import { z } from 'zod'
import type { Standing } from '../../requests/status/readStanding.ts'
import { endText, type Reason, reasonText } from '../../requests/status/reasons.ts'
import { type ChainStop, everyChain, stopAdvice } from '../../requests/stops/stopStore.ts'
import type { Overview } from './overviewReading.ts'

const parts = ['quotes', 'deposits', 'fills', 'attestations', 'settlement', 'money', 'webhooks'] as const
type Part = (typeof parts)[number]

/** From the best to the worst; `unknown`: it cannot be told. */
const states = ['moves', 'unknown', 'partly', 'stands'] as const
export type MoveState = (typeof states)[number]

const stateSchema = z.enum(states)
const problemSchema = z.object({
  parts: z.array(z.enum(parts)),
  state: stateSchema.exclude(['moves']).describe('`stands`: nothing of these parts moves'),
  what: z.string(),
  since: z.iso.datetime().optional(),
  do: z.string(),
})

/** Whether quotes, deposits, fills, attestations, settlement, money and webhooks move, and what keeps them from it. */
export const statusSchema = z.object({
  state: stateSchema.describe('The worst of all parts'),
  parts: z.array(
    z.object({
      part: z.enum(parts),
      state: stateSchema,
      since: z.iso.datetime().optional().describe('Since when not'),
    }),
  ),
  problems: z.array(problemSchema).describe('The worst first'),
})
export type Status = z.output<typeof statusSchema>
type Problem = z.output<typeof problemSchema>

export type StatusFacts = {
  readonly nowMs: number
  readonly readiness: ReadinessReport
  /** Since when checks of it fail, as far as somebody asked. */
  readonly failingSince: ReadonlyMap<string, Date>
  readonly stops: readonly ChainStop[]
  readonly market: MarketHealth
  /** Keys of quoted chains by their id. */
  readonly chainNames: ReadonlyMap<number, string>
  /** Keys of chains that have an endpoint. */
  readonly readChains: ReadonlySet<string>
  readonly oracles: readonly { readonly name: string; readonly signer: string }[]
  readonly oracleAnswers: readonly {
    readonly oracle: string
    readonly said: string
    readonly count: number
  }[]
  /** Undefined while the database does not answer. */
  readonly stored: StoredFacts | undefined
}

/** Facts that every process of the database has alike. */
export type StoredFacts = Pick<Overview, 'sponsors' | 'failingWebhooks' | 'oracleHalts'> & {
  readonly standing: readonly Standing[]
  readonly ledgerHaltedAt: Date | undefined
  readonly haltedTopUps: readonly { readonly chainId: number; readonly reason: string }[]
}

/** Pure. */
export function judgeStatus(facts: StatusFacts): Status {
  const { stored } = facts
  return statusOf([
    ...readinessProblems(facts),
    ...stopProblems(facts),
    ...marketProblems(facts),
    ...oracleProblems(facts),
    ...(stored === undefined
      ? [unread]
      : [...standingProblems(stored), ...moneyProblems(stored), ...webhookProblems(stored)]),
  ])
}

/** Weighs problems: a part is as badly off as the worst of its own. */
export function statusOf(found: readonly Problem[]): Status {
  const problems = found.toSorted((one, other) => rank(other.state) - rank(one.state) || byAge(one, other))
  const judged = parts.map((part) => {
    const own = problems.filter((one) => one.parts.includes(part))
    const [since] = own.flatMap((one) => one.since ?? []).sort()
    return { part, state: worst(own), ...(since !== undefined && { since }) }
  })
  return { state: worst(judged), parts: judged, problems }
}

const rank = (state: MoveState): number => states.indexOf(state)
const worst = (all: readonly { readonly state: MoveState }[]): MoveState =>
  states[Math.max(0, ...all.map(({ state }) => rank(state)))] ?? 'moves'
const byAge = (one: Problem, other: Problem): number => (one.since ?? '9').localeCompare(other.since ?? '9')

/** A problem with its moment as text. */
const problem = (found: Omit<Problem, 'since'>, since?: Date): Problem => ({
  ...found,
  ...(since !== undefined && { since: since.toISOString() }),
})

const unread = problem({
  ...{ parts: parts.filter((part) => part !== 'quotes'), state: 'unknown' },
  what: 'The database did not tell what is on its way.',
  do: 'Look at the database: npm run causeway -- doctor',
})

type Check = Omit<Problem, 'state' | 'since'>

/** What is meant by checks of `/ready`; one that is not among them is told by its name. */
const checks: Readonly<Record<string, Check>> = {
  database: {
    parts: [...parts],
    what: 'The database takes no writes: it is away, starting, read-only or full',
    do: 'Look at its log and its disk, and whether it is a standby: npm run causeway -- doctor',
  },
  jobs: {
    parts: [...parts],
    what: 'No process runs the jobs of the database',
    do: 'Start a quote-api without JOBS=off, and look at the log of the one that ran them.',
  },
  'order signer': {
    parts: ['quotes'],
    what: 'The key that signs orders does not sign',
    do: 'Look at the key management service: npm run causeway -- doctor',
  },
  'fill wallet': { parts: ['quotes'], what: 'No wallet pays orders', do: 'Set FILL_WALLET_ADDRESS.' },
  market: {
    parts: ['quotes'],
    what: 'No chain can be priced',
    do: 'Look at the endpoints and the price sources: npm run causeway -- doctor',
  },
  'deny list': {
    parts: ['quotes'],
    what: 'The deny list is too old',
    do: 'Look at its source: docs/operating/runbook.md#denyliststale',
  },
  requests: {
    parts: ['quotes'],
    what: 'More requests are there than this process answers',
    do: 'Add processes, or end the key that floods: docs/operating/runbook.md#servicesheds',
  },
  clock: {
    parts: ['quotes'],
    what: "The clock of this machine differs from the database's",
    do: 'Let NTP set it.',
  },
  'solver work': {
    parts: ['fills', 'settlement'],
    what: 'No solver asks for work: nothing is filled or refunded',
    do: 'Look at the solver, its log, and the key that it shows: npm run solver -- doctor',
  },
}

/** Problems that `/ready` names. `stops` is a list of its own, which says more. */
export function readinessProblems({
  readiness,
  nowMs,
  failingSince,
}: Pick<StatusFacts, 'readiness' | 'nowMs' | 'failingSince'>): readonly Problem[] {
  const failed = Object.entries(readiness.checks).filter(
    ([name, said]) => said === 'failed' && name !== 'stops',
  )
  const found = failed.map(([name]) => {
    const known = checks[name]
    const reason = readiness.reasons?.[name]
    const ageSeconds = readiness.agesSeconds?.[name]
    const what = known?.what ?? `The check ${name} of /ready fails`
    return problem(
      {
        parts: known?.parts ?? ['quotes'],
        state: known === undefined && readiness.ready ? 'partly' : 'stands',
        what: reason === undefined ? `${what}.` : `${what} (${reason}).`,
        do: known?.do ?? 'Ask the doctor: npm run causeway -- doctor',
      },
      ageSeconds === undefined ? failingSince.get(name) : new Date(nowMs - ageSeconds * 1_000),
    )
  })
  if (!readiness.draining) return found
  const draining = { what: 'This process is stopping.', do: 'Ask another one, or start it again.' }
  return [...found, problem({ parts: ['quotes'], state: 'stands', ...draining })]
}

const stopped: Readonly<Record<ChainStop['toldBy'], readonly Part[]>> = {
  operator: ['quotes', 'fills'],
  oracles: ['quotes', 'fills', 'attestations'],
  solver: ['quotes', 'fills'],
  watcher: ['quotes', 'deposits'],
  head: ['quotes', 'deposits', 'fills'],
}

function stopProblems({ stops, chainNames }: StatusFacts): readonly Problem[] {
  return stops.map(({ chainId, toldBy, reason, actor, since }) => {
    const name = chainId === everyChain ? 'all' : (chainNames.get(chainId) ?? String(chainId))
    return problem(
      {
        parts: [...stopped[toldBy]],
        state: chainId === everyChain ? 'stands' : 'partly',
        what: `${name === 'all' ? 'All chains are' : `Chain ${name} is`} stopped by ${actor}: ${reason}.`,
        do: stopAdvice(toldBy, name),
      },
      since,
    )
  })
}

function marketProblems({ market, stops, readChains, nowMs }: StatusFacts): readonly Problem[] {
  const standing = new Set(stops.flatMap(({ chainId, toldBy }) => (toldBy === 'head' ? [chainId] : [])))
  const chains = market.chains.flatMap(({ chain, chainId, state, quotable, head }) => {
    if (state === 'ok' || !quotable || !readChains.has(chain) || standing.has(chainId)) return []
    return [
      problem(
        {
          ...{ parts: ['quotes'], state: 'partly', what: `Chain ${chain} is not quoted: ${state}.` },
          do: 'Look whether it makes blocks, and at its endpoints: docs/operating/runbook.md#chainnotquoted',
        },
        head && new Date(nowMs - head.ageMs),
      ),
    ]
  })
  const prices = market.prices.flatMap(({ key, confidence, refusal, sources }) => {
    // A price that no source was ever read for belongs to a chain without an endpoint.
    if (confidence !== 'refused' || sources.every(({ readAgeMs }) => readAgeMs === undefined)) return []
    return [
      problem({
        ...{ parts: ['quotes'], state: 'partly', what: `There is no price of ${key}: ${refusal}.` },
        do: 'GET /prices/health shows its sources: docs/operating/runbook.md#pricerefused',
      }),
    ]
  })
  return [...chains, ...prices]
}

function oracleProblems({ oracles, oracleAnswers, stored, chainNames }: StatusFacts): readonly Problem[] {
  return oracles.flatMap(({ name, signer }) => {
    const said = oracleAnswers.filter(({ oracle, count }) => oracle === name && count > 0)
    const isMute = said.length > 0 && said.every((one) => one.said !== 'signed')
    const halts = stored?.oracleHalts.find(({ oracle }) => oracle === signer.toLowerCase())?.chainIds ?? []
    const halted = halts.map((chainId) => chainNames.get(chainId) ?? String(chainId)).join(', ')
    const at = { parts: ['attestations'], state: 'partly' } satisfies Partial<Problem>
    return [
      ...(isMute
        ? [
            problem({
              ...{ ...at, what: `The oracle ${name} has signed nothing that this process asked it for.` },
              do: 'Ask its operator: docs/operating/runbook.md#oracledoesnotsign',
            }),
          ]
        : []),
      ...(halted === ''
        ? []
        : [
            problem({
              ...{ ...at, what: `The oracle ${name} has halted ${halted}.` },
              do: 'Ask its operator what changed: docs/operating/runbook.md#oraclechainhalted',
            }),
          ]),
    ]
  })
}

/** Reasons of a standstill by the part that they are of; any other is of settlement. */
const partOfReason: Readonly<Partial<Record<Reason, Part>>> = {
  ...{ DEPOSIT_CONFIRMATION_TIMEOUT: 'deposits', TRANSACTION_UNREADABLE: 'deposits', UNDECIDED: 'deposits' },
  ...{ PAYMENT_NOT_SWEPT: 'deposits', SOLVER_SILENT: 'fills', SOLVER_WAITS: 'fills', CHAIN_STOPPED: 'fills' },
  ...{ SOLVER_BALANCE_TOO_LOW: 'fills', TRANSACTION_SUBMISSION_FAILED: 'fills', DOES_NOT_PAY: 'fills' },
  ...{ TRANSACTION_REVERTED: 'fills', TRANSACTION_NOT_INCLUDED: 'fills', EXECUTION_REVERTED: 'fills' },
  ...{ QUOTED_GAS_LIMIT_EXCEEDED: 'fills', ATTESTATION_MISSING: 'attestations' },
  ...{ ATTESTATION_TIMED_OUT: 'attestations', SEEN_BUT_DENIED: 'attestations', CHAIN_STANDS: 'attestations' },
  ...{ FILL_NOT_SEEN: 'attestations', ATTESTED_BUT_NOT_SEEN: 'attestations' },
}

function standingProblems({ standing }: StoredFacts): readonly Problem[] {
  const keyOf = ({ reason, isRefund }: Standing) => `${reason} ${isRefund}`
  // Longest first, as they are listed.
  const oldest = new Map(standing.toReversed().map((one) => [keyOf(one), one]))
  return [...oldest].map(([key, { reason, isRefund, since }]) => {
    const count = standing.filter((one) => keyOf(one) === key).length
    const noun = reason === 'TRANSACTION_UNREADABLE' ? 'transaction' : isRefund ? 'refund' : 'request'
    const part = isRefund ? 'settlement' : (partOfReason[reason] ?? 'settlement')
    return problem(
      {
        ...{ parts: [part], state: 'partly' },
        what: `${count} ${noun}${count === 1 ? ' stands' : 's stand'} still: ${reasonText(reason)}`,
        do: `npm run causeway -- requests parked lists what stands. Ends by: ${endText(reason)}`,
      },
      since,
    )
  })
}

const dollars = (microUsd: bigint): string => `$${formatAmount(microUsd, 6).replace(/\.0$/, '')}`

function moneyProblems({ ledgerHaltedAt, haltedTopUps, sponsors }: StoredFacts): readonly Problem[] {
  const at = { parts: ['money'], state: 'partly' } satisfies Partial<Problem>
  return [
    ...(ledgerHaltedAt === undefined
      ? []
      : [
          problem(
            {
              ...{ parts: ['money'], state: 'stands' },
              what: 'Nothing is reserved of sponsors: the books do not add up.',
              do: 'npm run causeway -- ledger verify, then docs/operating/runbook.md#ledgerhalted',
            },
            ledgerHaltedAt,
          ),
        ]),
    ...haltedTopUps.map(({ chainId, reason }) =>
      problem({
        ...{ ...at, what: `No top-up on chain ${chainId} is credited: ${reason}.` },
        do: 'npm run causeway -- topup halted, then docs/operating/runbook.md#topupshalted',
      }),
    ),
    ...sponsors
      .filter(
        ({ isFrozen, availableMicroUsd, spentMicroUsd }) => !isFrozen && availableMicroUsd <= spentMicroUsd,
      )
      .map(({ wallet, availableMicroUsd, spentMicroUsd }) =>
        problem({
          ...at,
          what: `The sponsor ${wallet} has ${dollars(availableMicroUsd)} left and spent ${dollars(spentMicroUsd)} in 24 hours.`,
          do: 'Ask its owner for a top-up: once it is spent, nothing of its keys is sponsored.',
        }),
      ),
  ]
}

function webhookProblems({ failingWebhooks }: StoredFacts): readonly Problem[] {
  return failingWebhooks.flatMap(({ apiKeyId, host, waiting, problem: why, failingSince }) => {
    if (failingSince === undefined) return []
    const waits = waiting === 1 ? '1 message waits' : `${waiting} messages wait`
    return [
      problem(
        {
          ...{ parts: ['webhooks'], state: 'partly' },
          what: `${waits} for ${host}, of the key ${apiKeyId}: ${why ?? 'they fail'}.`,
          do: `Ask its owner; npm run causeway -- webhooks show ${apiKeyId}, docs/operating/runbook.md#webhookswait`,
        },
        failingSince,
      ),
    ]
  })
}
