import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { translatedScript } from '../network/services/translatedScript.ts'

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
 * @param configFile path of a `SolverConfigFile`
 */
export function spawnSolver(configFile: string): SolverProcess {
  const child = spawn(process.execPath, [translatedScript('packages/localnet/src/solver/main.ts')], {
    cwd: repositoryRoot,
    env: { PATH: process.env['PATH'], SOLVER_CONFIG_FILE: configFile },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (child.pid === undefined) throw new Error('the solver could not be spawned')
  let output = ''
  const ended = new Promise<string>((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`))
  })
  const ready = new Promise<void>((resolve, reject) => {
    const collect = (chunk: Buffer) => {
      output += chunk.toString()
      if (output.includes('ready on port')) resolve()
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    void ended.then((how) => reject(new Error(`the solver ended with ${how}: ${output}`)))
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
