// The whole local network as `npm start` runs it, in a folder and on ports of its own, whose services and nodes a
// test may kill, start again and hold up.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createDatabase, type Database, findEmbeddedPostgres } from '@causeway/database'
import {
  bundledScript,
  freeLoopbackPort,
  type Session,
  type SessionOptions,
  servicePlans,
  startSession,
} from '@causeway/localnet'
import { z } from 'zod'
import { firstServicePort } from '../../packages/localnet/test/support/servicePorts.ts'

export type UserChain = 'base' | 'optimism'

const repositoryRoot = fileURLToPath(new URL('../..', import.meta.url))
const firstPort = firstServicePort()
/** First port of a session with the other families. */
export const firstFamilyPort = firstPort + 24
const patienceMs = 120_000
const startsMax = 3

export type SessionBed = {
  readonly session: Session
  /** Every process of it, as Prometheus scrapes them. */
  readonly targets: readonly { readonly name: string; readonly opsUrl: string }[]
  /** URL of quote-api. */
  readonly url: string
  /** The folder of the network. */
  readonly directory: string
  /** The database of quote-api, as it is now; the caller closes it. */
  openDatabase(): Promise<Database>
  stop(): Promise<void>
}

/**
 * @param variables what every service gets besides what its network tells it
 * @param options default: chains of the EVM alone
 */
export async function startSessionBed(
  variables: Readonly<Record<string, string>> = {},
  options: Partial<Pick<SessionOptions, 'firstFamilyPort' | 'services' | 'endpoints'>> = {},
): Promise<SessionBed> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-session-'))
  const directory = join(folder, '.local')
  const environment = { ...sessionVariables, ...variables }
  const session = await startSessionIn(directory, { environment, ...options })
  const quoteApi = session.services.find(({ plan }) => plan.name === 'quote-api')
  return {
    session,
    targets: session.services.map(({ plan, ports }) => ({
      name: plan.name,
      opsUrl: `http://127.0.0.1:${ports['ops']}`,
    })),
    url: `http://127.0.0.1:${quoteApi?.ports['http']}`,
    directory,
    async openDatabase() {
      const connectionString = await findEmbeddedPostgres({ dataDirectory: join(directory, 'postgres') })
      if (connectionString === undefined) throw new Error('quote-api runs no database')
      return createDatabase({ connectionString, poolSize: 2 })
    },
    async stop() {
      await session.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const sessionVariables = { PATH: process.env['PATH'], LOG_LEVEL: 'warn' }

/** A session in a folder, on ports of this process. Default: every service, and chains of the EVM alone. */
export async function startSessionIn(
  directory: string,
  options: Partial<SessionOptions> = {},
): Promise<Session> {
  const [base, optimism, hub] = [await freeLoopbackPort(), await freeLoopbackPort(), await freeLoopbackPort()]
  return startSession({
    directory,
    fresh: false,
    services: servicePlans,
    ports: { base, optimism, hub },
    firstPorts: { quote: firstPort, oracle: firstPort + 10 },
    repositoryRoot,
    environment: sessionVariables,
    report: () => {},
    stageDone: () => {},
    signal: new AbortController().signal,
    ...options,
  })
}

/** A service that can be killed at any moment and comes back as it was. */
export type MortalService = {
  readonly name: string
  /** Id of the current process, if one runs. */
  pid(): number | undefined
  /**
   * SIGKILL, and a new process; resolves when that is ready.
   * @param changes variables that are other than before; default: the same settings
   */
  killAndRestart(changes?: Readonly<Record<string, string>>): Promise<void>
  /** Ends the process that this one started, if any. */
  stop(): Promise<void>
}

const environmentSchema = z.record(z.string(), z.string())

export function mortalServices({ session }: SessionBed): readonly MortalService[] {
  const lastWords = async (name: string) => {
    const log = await readFile(session.network.paths.logFile(name), 'utf8')
    return `${name} does not come up again: ${log.slice(-2_000)}`
  }
  return session.services.map(({ plan, ports, process: first }) => {
    let current: ChildProcess | undefined
    const kill = async () => {
      if (current !== undefined) return endChild(current, 'SIGKILL')
      if (!first.hasEnded()) process.kill(first.pid, 'SIGKILL')
      await first.ended
    }
    return {
      name: plan.name,
      pid: () => (current === undefined ? first.pid : current.pid),
      async killAndRestart(changes = {}) {
        await kill()
        const file = session.network.paths.serviceFile(plan.name)
        const environment = environmentSchema.parse(JSON.parse(await readFile(file, 'utf8')))
        const log = await open(session.network.paths.logFile(plan.name), 'a')
        // As under a supervisor: what does not come up, because its node is slow, say, is started again.
        for (let attempt = 1; ; attempt += 1) {
          current = spawn(process.execPath, [bundledScript(plan.script)], {
            cwd: repositoryRoot,
            env: { PATH: process.env['PATH'], LOG_LEVEL: 'warn', ...environment, ...changes },
            stdio: ['ignore', log.fd, log.fd],
          })
          if (await becomesReady(current, plan.readyUrl(ports))) break
          if (attempt === startsMax) throw new Error(await lastWords(plan.name))
        }
        await log.close()
      },
      async stop() {
        if (current !== undefined) await endChild(current, 'SIGTERM')
      },
    }
  })
}

async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  if (hasEnded()) return
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill(signal)
  await gone
}

/** @returns false when it ended instead */
async function becomesReady(child: ChildProcess, url: string): Promise<boolean> {
  const giveUpAtMs = Date.now() + patienceMs
  let said = 'nothing'
  while (child.exitCode === null && child.signalCode === null) {
    const isReady = await fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
      async (answer) => {
        said = await answer.text()
        return answer.ok
      },
      () => false,
    )
    if (isReady) return true
    if (Date.now() > giveUpAtMs) throw new Error(`${url} is not ready in time: ${said}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return false
}
