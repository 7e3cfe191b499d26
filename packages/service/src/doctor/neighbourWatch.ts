import { UpstreamUnavailableError } from '@causeway/core'
import { createFindings, type Finding, type FindingCode, type Findings } from '@causeway/core/config'
import type { ReadinessCheck } from '@causeway/http'
import type { ServiceParts } from '../openService.ts'
import { examineOracles, type ListedOracles } from './surroundings.ts'

/** Two looks and what they may take are less than a minute. */
const lookEveryMs = 15_000

/** As `/ready` shows findings about neighbours. */
const findingErrorCodes: Readonly<Partial<Record<FindingCode, string>>> = {
  'peer-refuses': 'PEER_REFUSES',
  'peer-silent': 'PEER_SILENT',
  'signer-shared': 'SIGNER_SHARED',
  'signer-unlisted': 'SIGNER_UNLISTED',
  'threshold-unreachable': 'THRESHOLD_UNREACHABLE',
}

/** Log of the watch; pino's loggers fit. */
type Log = {
  warn(fields: object, message: string): void
  info(fields: object, message: string): void
}

export type NeighbourWatch = {
  /** Only shown: each process has the same neighbours. */
  readonly check: ReadinessCheck
  close(): void
}

/**
 * Looks at neighbours as the doctor does, again and again, after the look that the start had. Its check fails by what
 * two looks in a row found, because a neighbour that restarts is no mistake.
 * @param options.codes findings that are told; the rest is told elsewhere
 * @source rule O-127
 */
export function watchNeighbours(options: {
  readonly name: string
  readonly look: (found: Findings) => Promise<void>
  readonly codes: readonly FindingCode[]
  readonly log: Log
  readonly everyMs?: number
}): NeighbourWatch {
  const { name, look, codes, log, everyMs = lookEveryMs } = options
  let before: readonly Finding[] = []
  let reportedFindings: readonly Finding[] = []
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  async function lookOnce(): Promise<void> {
    const found = createFindings()
    await look(found)
    const now = found.list.filter(({ code }) => codes.includes(code))
    const lasting = now.filter((one) => before.some((other) => keyOf(one) === keyOf(other)))
    const isOther = lasting.map(keyOf).join() !== reportedFindings.map(keyOf).join()
    before = now
    reportedFindings = lasting
    if (!isOther || isClosed) return
    const findings = lasting.map(({ setting, seen, fix }) => `${setting}: ${seen}. ${fix}`)
    if (findings.length > 0)
      log.warn({ event: 'neighbours_differ', findings }, `${name} are not as the settings say`)
    else log.info({ event: 'neighbours_agree' }, `${name} are as the settings say again`)
  }

  async function repeat(): Promise<void> {
    await lookOnce().catch((error: unknown) => log.warn({ err: error }, `${name} could not be looked at`))
    wait()
  }
  function wait(): void {
    if (!isClosed) timer = setTimeout(() => void repeat(), everyMs).unref()
  }
  wait()

  return {
    check: {
      ...{ name, isShownOnly: true },
      async check() {
        const [first] = reportedFindings
        if (first === undefined) return
        const code = findingErrorCodes[first.code]
        throw new UpstreamUnavailableError(
          `${first.setting}: ${first.seen}`,
          code === undefined ? {} : { code },
        )
      },
    },
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}

/** The watch of a service: shown, and closed with it. @param watch undefined: there are no neighbours */
export function registerNeighbours(
  { check, onClose }: Pick<ServiceParts<'jobs'>, 'check' | 'onClose'>,
  watch: NeighbourWatch | undefined,
): void {
  if (watch === undefined) return
  check(watch.check)
  onClose('jobs', `watch of ${watch.check.name}`, () => watch.close())
}

const keyOf = ({ code, setting }: Finding): string => `${code} ${setting}`

/** Finds oracles in `ORACLES` that sign with another address. The poller of halts checks that enough answer. */
export function watchOracleSigners(oracles: ListedOracles, log: Log): NeighbourWatch {
  return watchNeighbours({
    name: 'oracle signers',
    look: (findings) => examineOracles(oracles, 'nothing settles', findings),
    codes: ['signer-unlisted'],
    log,
  })
}
