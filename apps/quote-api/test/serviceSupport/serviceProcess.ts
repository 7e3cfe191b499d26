import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { bundledScript } from '@causeway/localnet'
import { z } from 'zod'
import { repositoryRoot } from '../fixtures/service.ts'

export type ServiceEnd = { readonly code: number | null; readonly signal: NodeJS.Signals | null }

export type ServiceUrls = { readonly publicUrl: string; readonly opsUrl: string; readonly adminUrl: string }

/** `main.ts` in a process of its own. */
export type ServiceProcess = {
  readonly pid: number
  /** Everything it printed so far, both streams. */
  output(): string
  /** URLs of the process, once it listens. @throws Error with its output when it ended before */
  listening(): Promise<ServiceUrls>
  signal(name: NodeJS.Signals): void
  readonly ended: Promise<ServiceEnd>
  /** Ends it whatever state it is in; resolves when it is gone. */
  stop(): Promise<ServiceEnd>
}

const mainFile = join(repositoryRoot, bundledScript('apps/quote-api/src/main.ts'))
const listeningLine = z.object({
  msg: z.literal('quote-api is listening'),
  publicUrl: z.string(),
  opsUrl: z.string(),
  adminUrl: z.string(),
})
const stopTimeoutMs = 20_000

/**
 * Starts the service as an operator does, with exactly this environment. Its addresses come from its
 * own log, so `LOG_LEVEL` must be `info` for `listening`.
 */
export function spawnService(environment: Readonly<Record<string, string>>): ServiceProcess {
  const child = spawn(process.execPath, [mainFile], {
    cwd: repositoryRoot,
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const { pid } = child
  if (pid === undefined) throw new Error('the service could not be spawned')
  let output = ''
  const ended = new Promise<ServiceEnd>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  const addresses = new Promise<ServiceUrls>((resolve, reject) => {
    const keep = (chunk: Buffer) => {
      output += chunk.toString()
      const found = findListeningLine(output)
      if (found !== undefined) resolve(found)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    void ended.then(() => reject(new Error(`the service ended before it listened: ${output}`)))
  })
  // Whoever does not ask for the addresses need not hear that there are none.
  addresses.catch(() => {})
  return {
    pid,
    output: () => output,
    listening: () => addresses,
    signal: (name) => void child.kill(name),
    ended,
    async stop() {
      child.kill('SIGTERM')
      const force = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
      const end = await ended
      clearTimeout(force)
      return end
    },
  }
}

function findListeningLine(output: string): ServiceUrls | undefined {
  for (const line of output.split('\n')) {
    const parsed = listeningLine.safeParse(parseJson(line))
    if (parsed.success) return parsed.data
  }
  return undefined
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
