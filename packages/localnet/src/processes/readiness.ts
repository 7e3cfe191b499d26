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

const pollMs = 50
const askTimeoutMs = 2_000

/** @throws StartFailure with the log file and its last lines, when the process ends or the time is over */
export async function waitUntilReady(process: ManagedProcess, options: ReadinessOptions): Promise<void> {
  const { url, timeoutMs = 90_000, slowMs = 8_000 } = options
  const startedAt = performance.now()
  let isReported = false
  while (!(await isReady(url))) {
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

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(askTimeoutMs) })
    await response.arrayBuffer()
    return response.status === 200
  } catch {
    // Nobody listens yet.
    return false
  }
}
