import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bundledScript } from '../processes/bundledScript.ts'

const repositoryRoot = fileURLToPath(new URL('../../../..', import.meta.url))

export type SolverProcess = {
  readonly pid: number
  /** Everything it printed so far, both streams. */
  output(): string
  /** Once it works. @throws Error with its output when it ended before */
  ready(): Promise<void>
  /** Resolves with the exit code or signal. */
  readonly ended: Promise<string>
  kill(signal: NodeJS.Signals): void
}

/**
 * `main.ts` of the solver in a process of its own, for tests. Whoever starts it ends it.
 * @param environment of `solverEnvironment`, with the key
 */
export function spawnSolver(environment: Readonly<Record<string, string>>): SolverProcess {
  return spawnPart('apps/solver/src/main.ts', environment, 'solver is ready')
}

/** `main.ts` of the allocator; see `spawnSolver`. @param variables its whole environment: see `allocatorEnvironment` */
export function spawnAllocator(variables: Readonly<Record<string, string>>): SolverProcess {
  return spawnPart('apps/allocator/src/main.ts', variables, 'allocator is listening')
}

/** `main.ts` of an oracle; see `spawnSolver`. @param variables its whole environment */
export function spawnOracle(variables: Readonly<Record<string, string>>): SolverProcess {
  return spawnPart('apps/oracle/src/main.ts', variables, 'oracle is listening')
}

function spawnPart(
  script: string,
  variables: Readonly<Record<string, string>>,
  readyText: string,
): SolverProcess {
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
  // Whoever does not wait for it need not hear that it never was.
  ready.catch(() => {})
  return {
    pid: child.pid,
    output: () => output,
    ready: () => ready,
    ended,
    kill: (signal) => void child.kill(signal),
  }
}
