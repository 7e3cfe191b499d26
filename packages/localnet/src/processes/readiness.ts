import { z } from 'zod'
import type { ManagedProcess } from './managedProcess.ts'
import { describeEnd, StartFailure } from './processEnd.ts'

export type ReadinessOptions = {
  /** Answers 200 when the process is ready. */
  readonly url: string
  readonly report: (line: string) => void
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number
  /** After this long a line says what is waited for. */
  readonly slowMs?: number
}

/** Of eight services at once: what asks takes its part of the processor that they start with. */
const pollMs = 150
const askTimeoutMs = 2_000
/** Chains whose deposits nobody has read since the last start sell nothing; the first look ends that. */
const settleMs = 30_000
/** Said by an oracle whose folder is new, until it signs: no time changes it. */
const firstStart = 'STATE_EMPTY'

/**
 * Waits until the process is ready, and some seconds for what it shows beside that.
 * @throws StartFailure with the log file and its last lines, when the process ends or the time is over
 */
export async function waitUntilReady(process: ManagedProcess, options: ReadinessOptions): Promise<void> {
  const { url, timeoutMs = 90_000, slowMs = 8_000 } = options
  const startedAt = performance.now()
  let isReported = false
  let readyAt: number | undefined
  for (;;) {
    const readiness = await readinessAt(url)
    if (readiness === 'ready') return
    if (readiness === 'settling') {
      readyAt ??= performance.now()
      if (performance.now() - readyAt > settleMs) return
    }
    options.signal?.throwIfAborted()
    const elapsedMs = performance.now() - startedAt
    if (process.hasEnded()) throw notReady(process, `ended with ${await process.ended}`)
    if (elapsedMs > timeoutMs)
      throw notReady(process, `is not ready after ${Math.round(timeoutMs / 1_000)} s`)
    if (elapsedMs > slowMs && !isReported) {
      options.report(`Still waiting for ${process.name}: see ${process.logFile}`)
      isReported = true
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}

function notReady({ name, logFile, lastOutput }: ManagedProcess, how: string): StartFailure {
  return new StartFailure(describeEnd({ name, how, logFile, lastOutput: lastOutput() }))
}

async function readinessAt(url: string): Promise<'ready' | 'settling' | 'no'> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(askTimeoutMs) })
    const { reasons } = reportSchema.parse(await response.json())
    if (response.status !== 200) return 'no'
    return Object.values(reasons).every((reason) => reason === firstStart) ? 'ready' : 'settling'
  } catch {
    // Nobody listens yet.
    return 'no'
  }
}

const reportSchema = z.object({ reasons: z.record(z.string(), z.string()).default({}) })
