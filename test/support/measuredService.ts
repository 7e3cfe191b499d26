import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const repositoryRoot = fileURLToPath(new URL('../..', import.meta.url))
const probe = new URL('coverageProbe.mjs', import.meta.url).href
const ranSchema = z.array(z.object({ url: z.string(), name: z.string(), at: z.number() }))
const startTimeoutMs = 60_000

export type RanFunction = z.infer<typeof ranSchema>[number]

/** A service whose functions are counted. */
export type MeasuredService = {
  readonly publicUrl: string
  /** Functions of packages and apps that ran since the last call. */
  ranSince(): Promise<readonly RanFunction[]>
  stop(): Promise<void>
}

/** @param script `main.ts` of a service, from the repository's root */
export async function startMeasured(
  script: string,
  environment: Readonly<Record<string, string>>,
): Promise<MeasuredService> {
  const child = spawn(process.execPath, ['--import', probe, script], {
    cwd: repositoryRoot,
    env: { PATH: process.env['PATH'], LOG_LEVEL: 'info', ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let output = ''
  const publicUrl = await new Promise<string>((resolve, reject) => {
    const fail = () => reject(new Error(`${script} does not listen: ${output}`))
    const timer = setTimeout(fail, startTimeoutMs)
    void ended.then(fail)
    const keep = (chunk: Buffer) => {
      output += chunk.toString()
      // While a database starts, another listener says so at an address of its own.
      const url = /"publicUrl":"([^"]+)"[^}]*is listening/.exec(output)?.[1]
      if (url === undefined) return
      clearTimeout(timer)
      resolve(url)
    }
    child.stdout?.on('data', keep)
    child.stderr?.on('data', keep)
  })
  return {
    publicUrl,
    ranSince: () =>
      new Promise((resolve) => {
        child.once('message', (message) => resolve(ranSchema.parse(message)))
        child.send('take')
      }),
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
