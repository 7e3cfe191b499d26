import { UpstreamUnavailableError } from '@causeway/core'
import { createFindings, type Finding, type FindingCode, type Findings } from '@causeway/core/config'
import type { ReadinessCheck } from '@causeway/http'
import type { ServiceParts } from '../openService.ts'
import { examineOracles, type ListedOracles } from './surroundings.ts'

/** A finding counts after two looks in a row, so it shows within a minute. */
const lookEveryMs = 15_000

/** Error codes by which `/ready` shows findings about neighbours. */
const findingErrorCodes: Readonly<Partial<Record<FindingCode, string>>> = {
  'peer-refuses': 'PEER_REFUSES',
  'peer-silent': 'PEER_SILENT',
  'signer-shared': 'SIGNER_SHARED',
  'signer-unlisted': 'SIGNER_UNLISTED',
  'threshold-unreachable': 'THRESHOLD_UNREACHABLE',
}

/** The part of a pino logger that the watch uses. */
type Log = {
  warn(fields: object, message: string): void
  info(fields: object, message: string): void
}

export type NeighbourWatch = {
  /** Shown without making the process unready, because every other process has the same neighbours. */
  readonly check: ReadinessCheck
  close(): void
}

/**
 * Repeats the doctor's examination of neighbours (oracles that this service depends on) while the service runs. The check
 * fails by findings of two looks in a row, so that a neighbour that merely restarts is not reported.
 * @param options.name what is watched, e.g. `oracle signers`
 * @param options.look one examination, which adds its findings
 * @param options.codes findings that this watch reports; others are reported elsewhere
 * @source rule O-127
 */
export function watchNeighbours(options: {
  readonly name: string
  readonly look: (findings: Findings) => Promise<void>
  readonly codes: readonly FindingCode[]
  readonly log: Log
  readonly everyMs?: number
}): NeighbourWatch {
  const { name, look, codes, log, everyMs = lookEveryMs } = options
  let previousFindings: readonly Finding[] = []
  let reportedFindings: readonly Finding[] = []
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  async function lookOnce(): Promise<void> {
    const collected = createFindings()
    await look(collected)
    const currentFindings = collected.list.filter(({ code }) => codes.includes(code))
    const lastingFindings = currentFindings.filter((finding) =>
      previousFindings.some((previous) => keyOf(previous) === keyOf(finding)),
    )
    const hasChanged = lastingFindings.map(keyOf).join() !== reportedFindings.map(keyOf).join()
    previousFindings = currentFindings
    reportedFindings = lastingFindings
    // Only changes are logged.
    if (!hasChanged || isClosed) return
    const findings = lastingFindings.map(({ setting, seen, fix }) => `${setting}: ${seen}. ${fix}`)
    if (findings.length > 0)
      log.warn({ event: 'neighbours_differ', findings }, `${name} are not as the settings say`)
    else log.info({ event: 'neighbours_agree' }, `${name} are as the settings say again`)
  }

  async function repeat(): Promise<void> {
    await lookOnce().catch((error: unknown) => log.warn({ err: error }, `${name} could not be looked at`))
    scheduleNext()
  }
  function scheduleNext(): void {
    if (!isClosed) timer = setTimeout(() => void repeat(), everyMs).unref()
  }
  scheduleNext()

  return {
    check: {
      name,
      isShownOnly: true,
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

/** Adds the watch to a service's readiness and shutdown. @param watch undefined: there are no neighbours */
export function registerNeighbours(
  { check, onClose }: Pick<ServiceParts<'jobs'>, 'check' | 'onClose'>,
  watch: NeighbourWatch | undefined,
): void {
  if (watch === undefined) return
  check(watch.check)
  onClose('jobs', `watch of ${watch.check.name}`, () => watch.close())
}

/** Leaves out `seen`, whose text may differ from look to look. */
const keyOf = ({ code, setting }: Finding): string => `${code} ${setting}`

/**
 * Watches for oracles in `ORACLES` that sign with another address than the listed one. Whether enough of them answer is
 * checked elsewhere, by the poller of halts.
 */
export function watchOracleSigners(oracles: ListedOracles, log: Log): NeighbourWatch {
  return watchNeighbours({
    name: 'oracle signers',
    look: (findings) => examineOracles(oracles, 'nothing settles', findings),
    codes: ['signer-unlisted'],
    log,
  })
}
