import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'

const patienceMs = 10_000
const outputEnd = 4_000

/** Programs that this run starts, each in a process group of its own, so that what they start ends with them. */
export type Processes = {
  /** @returns standard output. @throws Error with the end of its output when it fails, or when all were told to end */
  quiet(program: string, args: readonly string[], options?: { readonly cwd?: string }): Promise<string>
  /** Shows its output as it comes. @throws Error when it fails, or when all were told to end */
  shown(program: string, args: readonly string[]): Promise<void>
  /** Runs beside this process. */
  start(program: string, args: readonly string[]): ChildProcess
  /** Ends every group that still runs, by SIGTERM and then by force; nothing is started after it. */
  endAll(): Promise<void>
}

export function createProcesses(): Processes {
  const running = new Set<ChildProcess>()
  let isEnding = false

  function start(program: string, args: readonly string[], stdio: StdioOptions, cwd?: string): ChildProcess {
    if (isEnding) throw new Error(`${program} is not started any more`)
    const child = spawn(program, args, { stdio, detached: true, ...(cwd !== undefined && { cwd }) })
    running.add(child)
    child.once('exit', () => running.delete(child))
    child.once('error', () => running.delete(child))
    return child
  }

  return {
    async quiet(program, args, options = {}) {
      const child = start(program, args, ['ignore', 'pipe', 'pipe'], options.cwd)
      const [out, all]: [string[], string[]] = [[], []]
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        out.push(text)
        all.push(text)
      })
      child.stderr?.setEncoding('utf8').on('data', (text: string) => all.push(text))
      await requireSuccess(child, `${program} ${args[0]}`, () => all.join('').slice(-outputEnd))
      return out.join('').trim()
    },
    shown: (program, args) => requireSuccess(start(program, args, 'inherit'), `${program} ${args[0]}`),
    start: (program, args) => start(program, args, 'inherit'),
    async endAll() {
      isEnding = true
      await Promise.all([...running].map(endGroup))
    },
  }
}

async function requireSuccess(child: ChildProcess, subject: string, output = () => ''): Promise<void> {
  const [code, signal] = await once(child, 'close')
  if (code !== 0) throw new Error(`${subject} ended with ${code ?? signal}\n${output()}`)
}

async function endGroup(child: ChildProcess): Promise<void> {
  const { pid } = child
  if (pid === undefined) return
  const ended = once(child, 'exit')
  signalGroup(pid, 'SIGTERM')
  const timer = setTimeout(() => signalGroup(pid, 'SIGKILL'), patienceMs)
  await ended
  clearTimeout(timer)
  // Children may outlive the group's first process.
  signalGroup(pid, 'SIGKILL')
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    // Nobody of it is left.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
