import type { ReadinessReport } from '@causeway/http'
import { type Problem, problem, statusParts } from './status.ts'

/** Description of a failed check: the parts of the service that it affects, what is wrong, what to do. */
type Check = Omit<Problem, 'state' | 'since'> & { readonly state?: 'partly' }

/** Descriptions of the checks of `/ready`, by name; a check without one is described by its name. */
const checks: Readonly<Record<string, Check>> = {
  database: {
    parts: [...statusParts],
    what: 'The database takes no writes: it is away, starting, read-only or full',
    do: 'Look at its log and its disk, and whether it is a standby: npm run causeway -- doctor',
  },
  jobs: {
    parts: [...statusParts],
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
  solver: {
    parts: ['quotes', 'fills'],
    // The difference stops only the chains that it concerns, and those are listed as stops.
    state: 'partly',
    what: 'A solver and this service differ in their settings',
    do: 'Mend the setting of the service that is wrong, and restart that one: npm run causeway -- doctor',
  },
  networks: {
    parts: ['quotes'],
    // The change stops only the chains that it concerns, and those are listed as stops.
    state: 'partly',
    what: 'A network is not as the files say',
    do: 'Look what changed: npm run causeway -- doctor, then docs/operating/networks.md',
  },
  'solver work': {
    parts: ['fills', 'settlement'],
    what: 'No solver asks for work: nothing is filled or refunded',
    do: 'Look at the solver, its log, and the key that it shows: npm run causeway -- solver doctor',
  },
  oracles: {
    parts: ['attestations'],
    what: 'Fewer oracles answer than must sign: nothing is attested',
    do: 'Compare ORACLES with what their operators gave you, and ask them: npm run causeway -- doctor',
  },
  'oracle signers': {
    parts: ['attestations'],
    state: 'partly',
    what: 'An oracle signs with another address than ORACLES lists, and counts for nothing',
    do: 'Ask its operator which address signs, and list that one: npm run causeway -- doctor',
  },
}

export type ReadinessFacts = {
  readonly nowMs: number
  readonly readiness: ReadinessReport
  /** Start of each check's failure, as far as it was observed. */
  readonly failingSince: ReadonlyMap<string, Date>
}

/** Problems from failed checks of `/ready`, except `stops`: `statusRules.ts` lists those in more detail. */
export function readinessProblems({ readiness, nowMs, failingSince }: ReadinessFacts): readonly Problem[] {
  const failedChecks = Object.entries(readiness.checks).filter(
    ([name, outcome]) => outcome === 'failed' && name !== 'stops',
  )
  const problems = failedChecks.map(([name]) => {
    const check = checks[name]
    const reason = readiness.reasons?.[name]
    const ageSeconds = readiness.agesSeconds?.[name]
    // A failed check that leaves the service ready stops nothing as a whole.
    const isOnlyShown = check === undefined && readiness.ready
    const text = check?.what ?? `The check ${name} of /ready fails`
    return problem(
      {
        parts: check?.parts ?? ['quotes'],
        state: check?.state ?? (isOnlyShown ? 'partly' : 'stands'),
        what: reason === undefined ? `${text}.` : `${text} (${reason}).`,
        do: check?.do ?? 'Ask the doctor: npm run causeway -- doctor',
      },
      // Few checks tell how long they fail; of the others only this process's observation is known.
      ageSeconds === undefined ? failingSince.get(name) : new Date(nowMs - ageSeconds * 1_000),
    )
  })
  if (!readiness.draining) return problems
  const draining = { what: 'This process is stopping.', do: 'Ask another one, or start it again.' }
  return [...problems, problem({ parts: ['quotes'], state: 'stands', ...draining })]
}
