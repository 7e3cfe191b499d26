// A rehearsal in a folder of its own, and the shell of an operator beside it.
import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { canListen } from '@causeway/database'
import { waitUntil } from '@causeway/localnet'
import { openShell, type PageShell } from './pageShell.ts'

export type RehearsalBed = {
  /** Folder of the operator's settings, keys and state. */
  readonly deploy: string
  readonly shell: PageShell
  /** A shell that knows nothing of the first one. */
  openTerminal(exported?: Readonly<Record<string, string>>): Promise<PageShell>
  /** Values from other parties, by name. */
  readonly given: Readonly<Record<string, string>>
  /** First port of quote-api, and the one below the first of oracles. */
  readonly ports: { readonly quote: number; readonly oracle: number }
  stop(): Promise<void>
}

const startPatienceMs = 300_000
/** Ports that the page uses from its two first ones on. */
const portsNeeded = 15

export async function startRehearsalBed(repositoryRoot: string): Promise<RehearsalBed> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-rehearsal-'))
  // The database server runs as an account of its own where tests run as root.
  await chmod(folder, 0o755)
  const directory = join(folder, '.rehearsal')
  const givenFile = join(directory, 'given.env')
  const child = spawn('npm', ['run', 'rehearsal'], {
    cwd: repositoryRoot,
    env: { ...process.env, CAUSEWAY_REHEARSAL_DIR: directory },
    // A group of its own: npm stands between a signal and the script.
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  const stopRehearsal = () => stopGroup(child)
  try {
    await waitUntil('the rehearsal is ready', () => output.includes('The rehearsal is ready'), {
      patienceMs: startPatienceMs,
      circumstances: () => output,
    })
    const deploy = join(directory, 'operator')
    const ranges = { quote: await takeRange(20_000), oracle: await takeRange(25_000) }
    const ports = { quote: ranges.quote.first, oracle: ranges.oracle.first }
    const openTerminal = (exported: Readonly<Record<string, string>> = {}) =>
      openShell(repositoryRoot, {
        ...exported,
        GIVEN: givenFile,
        DEPLOY: deploy,
        CAUSEWAY_REHEARSAL_DIR: directory,
        QUOTE_PORT: String(ports.quote),
        ORACLE_PORT: String(ports.oracle),
      })
    const shell = await openTerminal()
    return {
      deploy,
      shell,
      openTerminal,
      ports,
      given: variablesIn(await readFile(givenFile, 'utf8')),
      async stop() {
        await shell.close()
        await stopRehearsal()
        for (const { mark } of Object.values(ranges)) mark.close()
        await rm(folder, { recursive: true, force: true })
      },
    }
  } catch (error) {
    await stopRehearsal()
    throw error
  }
}

/** Waits for all of it: npm ends before the script has stopped its database. */
async function stopGroup({ pid }: ChildProcess): Promise<void> {
  if (pid === undefined || !signalGroup(pid, 'SIGTERM')) return
  await waitUntil('the rehearsal has ended', () => !signalGroup(pid, 0), { patienceMs: startPatienceMs })
}

/** @returns whether anybody got it */
function signalGroup(id: number, signal: 'SIGTERM' | 0): boolean {
  try {
    return process.kill(-id, signal)
  } catch {
    return false
  }
}

/**
 * The first port from which on so many are free, and a listener on the port behind them: the services of another bed begin
 * later, so that its ports look free until then.
 */
async function takeRange(from: number): Promise<{ readonly first: number; readonly mark: Server }> {
  for (let first = from; first < from + 4_000; first += 100) {
    const mark = await listenOn(first + portsNeeded)
    if (mark === undefined) continue
    const ports = Array.from({ length: portsNeeded }, (_, index) => first + index)
    const free = await Promise.all(ports.map((port) => canListen(port, '127.0.0.1')))
    if (free.every(Boolean)) return { first, mark }
    mark.close()
  }
  throw new Error('no free ports')
}

/** Undefined where somebody listens there. */
function listenOn(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer().unref()
    server.once('error', () => resolve(undefined))
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

function variablesIn(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...text.matchAll(/^([A-Z0-9_]+)='([^']*)'$/gm)].map(([, name = '', value = '']) => [name, value]),
  )
}
