import { get } from 'node:http'
import type { ManagedProcess } from './managedProcess.ts'
import { describeEnd, StartFailure } from './processEnd.ts'

export type ReadinessOptions = {
  /** Answers 200 when the process is ready. */
  readonly url: string
  readonly report: (line: string) => void
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number
  /** After this time `report` gets a line. */
  readonly slowMs?: number
}

/** Poll interval for eight services at once: shorter polls take processor time from the starting services. */
const pollMs = 150
const askTimeoutMs = 2_000

/** Polls `url` until it answers 200. @throws StartFailure, with the log's end, when the process ends or time is over */
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

function isReady(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    // `get` takes a tenth of the processor time of `fetch`.
    const request = get(url, { timeout: askTimeoutMs }, (response) => {
      response.resume()
      response.once('close', () => resolve(response.statusCode === 200))
    })
    request.once('timeout', () => request.destroy())
    // Nobody listens yet.
    request.once('error', () => resolve(false))
  })
}
