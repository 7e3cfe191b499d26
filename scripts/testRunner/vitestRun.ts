import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { CommandResult, CommandRunner } from './command.ts'
import { outcomeFileVariable, stopAfterVariable } from './outcomeReporter.ts'
import { countTests, parseOutcome, type TestRunOutcome } from './testRunOutcome.ts'

export type VitestRun = {
  readonly runner: Pick<CommandRunner, 'run' | 'signal'>
  /** The checkout whose tests run. */
  readonly root: string
  readonly env: NodeJS.ProcessEnv
  readonly args: readonly string[]
  /** After so long no test begins, and after two minutes more the run is killed. Without one it takes what it needs. */
  readonly timeoutMs?: number
  /** Keeps the output in the result instead of showing it. */
  readonly isQuiet?: boolean
}

/** A test that has begun may take so long to end. */
const lastTestMs = 120_000

/** Runs vitest with this checkout's reporter. @returns no outcome where vitest ended by an error that no test shows */
export async function runVitest(
  run: VitestRun,
): Promise<{ readonly result: CommandResult; readonly outcome: TestRunOutcome | undefined }> {
  const { runner, root, env, args, timeoutMs, isQuiet = false } = run
  const path = join(root, 'node_modules', '.cache', 'test-outcome.json')
  mkdirSync(dirname(path), { recursive: true })
  rmSync(path, { force: true })
  const reporters = ['--reporter=default', `--reporter=${join(import.meta.dirname, 'outcomeReporter.ts')}`]
  const command = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...reporters, ...args]
  const startedAtMs = performance.now()
  const timer =
    timeoutMs === undefined ? undefined : setTimeout(() => runner.signal('SIGTERM'), timeoutMs + lastTestMs)
  const result = await runner
    .run(command, {
      cwd: root,
      live: !isQuiet,
      env: {
        ...env,
        [outcomeFileVariable]: path,
        ...(timeoutMs !== undefined && { [stopAfterVariable]: String(timeoutMs) }),
      },
      isGroup: timeoutMs !== undefined,
    })
    .finally(() => clearTimeout(timer))
  const outcome = existsSync(path) ? parseOutcome(readFileSync(path, 'utf8')) : undefined
  const isStopped = timeoutMs !== undefined && performance.now() - startedAtMs >= timeoutMs
  const isExplained = result.ok || isStopped || (outcome !== undefined && countTests(outcome).failed > 0)
  return { result, outcome: isExplained ? outcome : undefined }
}
