import type { CommandResult } from './command.ts'
import { suites } from './suites.ts'

/** Words of every run of `npm run test:all`, in order: `npm test` itself, then each suite. */
export const allRuns: readonly (readonly string[])[] = [[], ...suites.map((suite) => [`--suite=${suite}`])]

/**
 * Runs all to the end, whatever fails, and prints a line for each once all have run.
 * @param parts.isStopped asked before each: nothing more is begun @returns whether all ran and all passed
 */
export async function runEverySuite(parts: {
  readonly run: (words: readonly string[]) => Promise<CommandResult>
  readonly isStopped: () => boolean
  readonly print: (line: string) => void
}): Promise<boolean> {
  const { run, isStopped, print } = parts
  const done: { readonly name: string; readonly result: CommandResult }[] = []
  for (const words of allRuns) {
    if (isStopped()) break
    const name = ['npm test', ...words].join(' -- ')
    print(`\n--- ${name} ---`)
    done.push({ name, result: await run(words) })
  }
  print(`\n${done.length} of ${allRuns.length} runs:`)
  for (const { name, result } of done) print(stepLine(name, result))
  return done.length === allRuns.length && done.every(({ result }) => result.ok)
}

export function stepLine(name: string, { ok, durationMs }: CommandResult): string {
  return `${ok ? 'ok  ' : 'FAIL'} ${name} (${(durationMs / 1000).toFixed(1)} s)`
}
