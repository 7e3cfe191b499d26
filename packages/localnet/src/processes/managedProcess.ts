import { spawn } from 'node:child_process'
import { collectOutput } from '../nodes/processOutput.ts'
import { hasLivingMember } from './processIdentity.ts'
import type { RunFile } from './runFile.ts'

export type ProcessOptions = {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly directory: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly logFile: string
  readonly runFile: RunFile
  /** Time it may take to end after the request to end, ms. */
  readonly graceMs: number
  /** True gives it a standard input for `tell`. The input closes when this process ends, however it ends. */
  readonly hasInput?: boolean
}

/** A child process that is recorded in the run file and writes its output to a log file. */
export type ManagedProcess = {
  readonly name: string
  readonly pid: number
  readonly logFile: string
  /** Resolves when the process is gone, with its exit code or signal in words. */
  readonly ended: Promise<string>
  hasEnded(): boolean
  lastOutput(): string
  /** Writes one line to its standard input. */
  tell(line: string): void
  /** SIGTERM, and SIGKILL when that is not enough; the processes it started go with it. */
  stop(): Promise<void>
}

/** Starts a process in a group of its own, so that Ctrl-C in the terminal reaches only its starter. */
export async function startProcess(options: ProcessOptions): Promise<ManagedProcess> {
  const { name, logFile, runFile, graceMs, hasInput = false } = options
  const output = collectOutput(logFile)
  const child = spawn(options.command, [...options.args], {
    cwd: options.directory,
    env: options.environment,
    stdio: [hasInput ? 'pipe' : 'ignore', output.stdio, output.stdio],
    detached: true,
  })
  output.attach(child)
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
    child.once('error', (error) => resolve(error.message))
  })
  const { pid } = child
  if (pid === undefined) throw new Error(`${name} did not start: ${await ended}`)
  // A write to a process that has ended needs no error of its own: `ended` reports the end.
  child.stdin?.on('error', () => undefined)
  await runFile.add(name, pid)
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  return {
    name,
    pid,
    logFile,
    ended,
    hasEnded,
    lastOutput: () => output.tail(),
    tell: (line) => void child.stdin?.write(`${line}\n`),
    async stop() {
      if (!hasEnded()) child.kill('SIGTERM')
      const force = setTimeout(() => child.kill('SIGKILL'), graceMs)
      await ended
      clearTimeout(force)
      await endGroup(pid, graceMs)
      await runFile.remove(pid)
    },
  }
}

/** Ends the processes that a killed process left in its group, for example a database. */
async function endGroup(groupId: number, timeoutMs: number): Promise<void> {
  if (process.platform === 'win32' || !(await hasLivingMember(groupId))) return
  const deadline = performance.now() + timeoutMs
  signalGroup(groupId, 'SIGTERM')
  while (await hasLivingMember(groupId)) {
    if (performance.now() > deadline) return signalGroup(groupId, 'SIGKILL')
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

/** Does nothing when the group has no member any more. */
function signalGroup(groupId: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-groupId, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
