import { type ChildProcess, spawn } from 'node:child_process'

export type CommandResult = {
  readonly ok: boolean
  readonly durationMs: number
  /** Output of the command, both streams in the order of arrival; empty when it was shown live. */
  readonly output: string
}

export type CommandOptions = {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Show the output as it comes instead of keeping it. */
  readonly live?: boolean
  /** Signals reach all processes that the command started too, such as nodes and databases of tests that are stopped. */
  readonly isGroup?: boolean
}

export type CommandRunner = {
  run(command: readonly string[], options: CommandOptions): Promise<CommandResult>
  /** Sends a signal to every command that still runs. */
  signal(name: NodeJS.Signals): void
}

/** Ends what a command left behind. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGTERM')
  } catch {
    // Nothing is left of it.
  }
}

/** Runs commands with this Node and remembers which ones are alive, so that a Ctrl-C reaches them. */
export function createCommandRunner(): CommandRunner {
  const running = new Map<ChildProcess, { readonly isGroup: boolean }>()
  return {
    async run([file, ...args], { cwd, env, live = false, isGroup = false }) {
      if (file === undefined) throw new Error('a command needs a file')
      const startedAtMs = performance.now()
      const child = spawn(process.execPath, [file, ...args], {
        cwd,
        env,
        stdio: live ? 'inherit' : ['ignore', 'pipe', 'pipe'],
        detached: isGroup,
      })
      running.set(child, { isGroup })
      let output = ''
      const keep = (chunk: Buffer) => {
        output += chunk.toString()
      }
      child.stdout?.on('data', keep)
      child.stderr?.on('data', keep)
      const exitCode = await new Promise<number | null>((resolve, reject) => {
        child.once('error', reject)
        child.once('close', resolve)
      }).finally(() => running.delete(child))
      if (isGroup && child.pid !== undefined) endGroup(child.pid)
      return { ok: exitCode === 0, durationMs: performance.now() - startedAtMs, output }
    },
    signal(name) {
      for (const [child, { isGroup }] of running)
        if (isGroup && child.pid !== undefined) process.kill(-child.pid, name)
        else child.kill(name)
    },
  }
}
