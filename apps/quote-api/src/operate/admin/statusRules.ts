import { formatAmount, orderRefused } from '@causeway/core'
import type { MarketHealth } from '@causeway/market'
import type { ListedStandstill } from '../../requests/status/readStanding.ts'
import { endText, type Reason, reasonText } from '../../requests/status/reasons.ts'
import { type ChainStop, everyChain, stopAdvice } from '../../requests/stops/stopStore.ts'
import type { Overview } from './overviewReading.ts'
import { type ReadinessFacts, readinessProblems } from './readinessProblems.ts'
import { type Part, type Problem, problem, type Status, statusOf, statusParts } from './status.ts'

/** Facts from which the status of a running service is derived. */
export type StatusFacts = ReadinessFacts & {
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

/** Facts from the database, which are the same in every process. */
export type StoredFacts = Pick<Overview, 'sponsors' | 'failingWebhooks' | 'oracleHalts'> & {
  readonly standing: readonly ListedStandstill[]
  readonly ledgerHaltedAt: Date | undefined
  readonly haltedTopUps: readonly { readonly chainId: number; readonly reason: string }[]
}

/** Derives from the facts what moves and what does not. Pure. */
export function judgeStatus(facts: StatusFacts): Status {
  const { stored } = facts
  return statusOf([
    ...readinessProblems(facts),
    ...stopProblems(facts),
    ...marketProblems(facts),
    ...oracleProblems(facts),
    ...(stored === undefined
      ? [databaseProblem]
      : [...standingProblems(stored), ...moneyProblems(stored), ...webhookProblems(stored)]),
  ])
}

const databaseProblem = problem({
  parts: statusParts.filter((part) => part !== 'quotes'),
  state: 'unknown',
  what: 'The database did not tell what is on its way.',
  do: 'Look at the database: npm run causeway -- doctor',
})

/** Parts that a stop affects, by who stopped the chain. */
const partsOfStop: Readonly<Record<ChainStop['toldBy'], readonly Part[]>> = {
  operator: ['quotes', 'fills'],
  oracles: ['quotes', 'fills', 'attestations'],
  solver: ['quotes', 'fills'],
  terms: ['quotes', 'fills', 'settlement'],
  watcher: ['quotes', 'deposits'],
  head: ['quotes', 'deposits', 'fills'],
  network: ['quotes'],
}

function stopProblems({ stops, chainNames }: StatusFacts): readonly Problem[] {
  return stops.map(({ chainId, toldBy, reason, actor, since }) => {
    const name = chainId === everyChain ? 'all' : (chainNames.get(chainId) ?? String(chainId))
    return problem(
      {
        parts: [...partsOfStop[toldBy]],
        state: chainId === everyChain ? 'stands' : 'partly',
        what: `${name === 'all' ? 'All chains are' : `Chain ${name} is`} stopped by ${actor}: ${reason}.`,
        do: stopAdvice(toldBy, name),
      },
      since,
    )
  })
}

function marketProblems({ market, stops, readChains, nowMs }: StatusFacts): readonly Problem[] {
  // Chains without new blocks are listed as stops already.
  const headStops = new Set(stops.flatMap(({ chainId, toldBy }) => (toldBy === 'head' ? [chainId] : [])))
  const chains = market.chains.flatMap(({ chain, chainId, state, quotable, head }) => {
    if (state === 'ok' || !quotable || !readChains.has(chain) || headStops.has(chainId)) return []
    return [
      problem(
        {
          parts: ['quotes'],
          state: 'partly',
          what: `Chain ${chain} is not quoted: ${state}.`,
          do: 'Look whether it makes blocks, and at its endpoints: docs/operating/runbook.md#chainnotquoted',
        },
        head && new Date(nowMs - head.ageMs),
      ),
    ]
  })
  const prices = market.prices.flatMap(({ key, confidence, refusal, sources }) => {
    // If no source of a price was ever read, its chain has no endpoint, which is reported elsewhere.
    if (confidence !== 'refused' || sources.every(({ readAgeMs }) => readAgeMs === undefined)) return []
    return [
      problem({
        parts: ['quotes'],
        state: 'partly',
        what: `There is no price of ${key}: ${refusal}.`,
        do: 'GET /prices/health shows its sources: docs/operating/runbook.md#pricerefused',
      }),
    ]
  })
  return [...chains, ...prices]
}

function oracleProblems({ oracles, oracleAnswers, stored, chainNames }: StatusFacts): readonly Problem[] {
  return oracles.flatMap(({ name, signer }) => {
    const answers = oracleAnswers.filter(({ oracle, count }) => oracle === name && count > 0)
    const signsNothing = answers.length > 0 && answers.every(({ said }) => said !== 'signed')
    // Halts are stored under the signer in lower case.
    const halts = stored?.oracleHalts.find(({ oracle }) => oracle === signer.toLowerCase())?.chainIds ?? []
    const haltedNames = halts.map((chainId) => chainNames.get(chainId) ?? String(chainId)).join(', ')
    const affected = { parts: ['attestations'], state: 'partly' } satisfies Partial<Problem>
    const problems: Problem[] = []
    if (signsNothing) {
      problems.push({
        ...affected,
        what: `The oracle ${name} has signed nothing that this process asked it for.`,
        do: 'Ask its operator: docs/operating/runbook.md#oracledoesnotsign',
      })
    }
    if (haltedNames !== '') {
      problems.push({
        ...affected,
        what: `The oracle ${name} has halted ${haltedNames}.`,
        do: 'Ask its operator what changed: docs/operating/runbook.md#oraclechainhalted',
      })
    }
    return problems
  })
}

/** The part that a reason of a standstill affects; other reasons affect settlement. */
const partOfReason: Readonly<Partial<Record<Reason, Part>>> = {
  DEPOSIT_CONFIRMATION_TIMEOUT: 'deposits',
  TRANSACTION_UNREADABLE: 'deposits',
  UNDECIDED: 'deposits',
  PAYMENT_NOT_SWEPT: 'deposits',
  SOLVER_SILENT: 'fills',
  SOLVER_WAITS: 'fills',
  CHAIN_STOPPED: 'fills',
  SOLVER_BALANCE_TOO_LOW: 'fills',
  TRANSACTION_SUBMISSION_FAILED: 'fills',
  DOES_NOT_PAY: 'fills',
  TRANSACTION_REVERTED: 'fills',
  TRANSACTION_NOT_INCLUDED: 'fills',
  EXECUTION_REVERTED: 'fills',
  QUOTED_GAS_LIMIT_EXCEEDED: 'fills',
  [orderRefused]: 'fills',
  ATTESTATION_MISSING: 'attestations',
  ATTESTATION_TIMED_OUT: 'attestations',
  SEEN_BUT_DENIED: 'attestations',
  CHAIN_STANDS: 'attestations',
  FILL_NOT_SEEN: 'attestations',
  ATTESTED_BUT_NOT_SEEN: 'attestations',
}

/** One problem per reason, for refunds and for the rest, with the time of the longest standstill. */
function standingProblems({ standing }: StoredFacts): readonly Problem[] {
  const groupOf = ({ reason, isRefund }: ListedStandstill) => `${reason} ${isRefund}`
  // Listed longest first, so that in reversed order the oldest of a group replaces the others.
  const oldestByGroup = new Map(standing.toReversed().map((entry) => [groupOf(entry), entry]))
  return [...oldestByGroup].map(([group, { reason, isRefund, since }]) => {
    const count = standing.filter((entry) => groupOf(entry) === group).length
    const requestNoun = isRefund ? 'refund' : 'request'
    const noun = reason === 'TRANSACTION_UNREADABLE' ? 'transaction' : requestNoun
    const part = isRefund ? 'settlement' : (partOfReason[reason] ?? 'settlement')
    return problem(
      {
        parts: [part],
        state: 'partly',
        what: `${count} ${noun}${count === 1 ? ' stands' : 's stand'} still: ${reasonText(reason)}`,
        do: `npm run causeway -- requests parked lists what stands. Ends by: ${endText(reason)}`,
      },
      since,
    )
  })
}

const dollars = (microUsd: bigint): string => `$${formatAmount(microUsd, 6).replace(/\.0$/, '')}`

function moneyProblems({ ledgerHaltedAt, haltedTopUps, sponsors }: StoredFacts): readonly Problem[] {
  const affected = { parts: ['money'], state: 'partly' } satisfies Partial<Problem>
  const haltedLedger = {
    parts: ['money'],
    state: 'stands',
    what: 'Nothing is reserved of sponsors: the books do not add up.',
    do: 'npm run causeway -- ledger verify, then docs/operating/runbook.md#ledgerhalted',
  } satisfies Problem
  return [
    ...(ledgerHaltedAt === undefined ? [] : [problem(haltedLedger, ledgerHaltedAt)]),
    ...haltedTopUps.map(({ chainId, reason }) =>
      problem({
        ...affected,
        what: `No top-up on chain ${chainId} is credited: ${reason}.`,
        do: 'npm run causeway -- topup halted, then docs/operating/runbook.md#topupshalted',
      }),
    ),
    // Less is left than was spent within a day. A frozen wallet spends nothing, so it is not told of.
    ...sponsors
      .filter(
        ({ isFrozen, availableMicroUsd, spentMicroUsd }) => !isFrozen && availableMicroUsd <= spentMicroUsd,
      )
      .map(({ wallet, availableMicroUsd, spentMicroUsd }) =>
        problem({
          ...affected,
          what: `The sponsor ${wallet} has ${dollars(availableMicroUsd)} left and spent ${dollars(spentMicroUsd)} in 24 hours.`,
          do: 'Ask its owner for a top-up: once it is spent, nothing of its keys is sponsored.',
        }),
      ),
  ]
}

function webhookProblems({ failingWebhooks }: StoredFacts): readonly Problem[] {
  return failingWebhooks.flatMap(({ apiKeyId, host, waiting, problem: reason, failingSince }) => {
    // No message waits behind a failure: messages were only given up, and `webhooks show` counts those.
    if (failingSince === undefined) return []
    const waits = waiting === 1 ? '1 message waits' : `${waiting} messages wait`
    return [
      problem(
        {
          parts: ['webhooks'],
          state: 'partly',
          what: `${waits} for ${host}, of the key ${apiKeyId}: ${reason ?? 'they fail'}.`,
          do: `Ask its owner; npm run causeway -- webhooks show ${apiKeyId}, docs/operating/runbook.md#webhookswait`,
        },
        failingSince,
      ),
    ]
  })
}
