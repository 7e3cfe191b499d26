import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bundledScript } from '../processes/bundledScript.ts'

const repositoryRoot = fileURLToPath(new URL('../../../..', import.meta.url))

/** A service that a test runs as a process: a solver, an allocator or an oracle. */
export type SpawnedService = {
  readonly pid: number
  /** Everything it printed so far, both streams. */
  output(): string
  /** Resolves once the service logs that it is ready. @throws Error with its output when it ended before */
  ready(): Promise<void>
  /** Resolves with the exit code or signal. */
  readonly ended: Promise<string>
  kill(signal: NodeJS.Signals): void
}

/**
 * Runs the solver's `main.ts` in a process, for tests, which have to end it.
 * @param environment that of `solverEnvironment`, with the keys
 */
export function spawnSolver(environment: Readonly<Record<string, string>>): SpawnedService {
  return spawnService('apps/solver/src/main.ts', environment, 'solver is ready')
}

/** As `spawnSolver`, the allocator. @param variables its whole environment: see `allocatorEnvironment` */
export function spawnAllocator(variables: Readonly<Record<string, string>>): SpawnedService {
  return spawnService('apps/allocator/src/main.ts', variables, 'allocator is listening')
}

/** As `spawnSolver`, an oracle. @param variables its whole environment */
export function spawnOracle(variables: Readonly<Record<string, string>>): SpawnedService {
  return spawnService('apps/oracle/src/main.ts', variables, 'oracle is listening')
}

function spawnService(
  script: string,
  variables: Readonly<Record<string, string>>,
  readyText: string,
): SpawnedService {
  const child = spawn(process.execPath, [bundledScript(script)], {
    cwd: repositoryRoot,
    env: { PATH: process.env['PATH'], ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (child.pid === undefined) throw new Error(`${script} could not be spawned`)
  let output = ''
  const ended = new Promise<string>((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`))
  })
  const ready = new Promise<void>((resolve, reject) => {
    const collect = (chunk: Buffer) => {
      output += chunk.toString()
      if (output.includes(readyText)) resolve()
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    void ended.then((how) => reject(new Error(`${script} ended with ${how}: ${output}`)))
  })
  // Without this a test that does not wait for readiness would fail by an unhandled rejection.
  ready.catch(() => {})
  return {
    pid: child.pid,
    output: () => output,
    ready: () => ready,
    ended,
    kill: (signal) => void child.kill(signal),
  }
}
