import { oneAtATime } from './suites.ts'
import { countTests, filesToTryAgain, type TestRunOutcome, withSecondTry } from './testRunOutcome.ts'

export type TriedOutcome = TestRunOutcome & { readonly filesTriedAgain: number }

/** Runs {@link filesToTryAgain} once more, alone. A wait that does not run out again is named, and the run passes. */
export async function tryAgain(
  first: TestRunOutcome,
  run: (args: readonly string[]) => Promise<TestRunOutcome | undefined>,
  pathOf: (file: string) => string,
): Promise<TriedOutcome> {
  const again = filesToTryAgain(first)
  if (again.length === 0) return { ...first, filesTriedAgain: 0 }
  const names = again.map(pathOf).join(', ')
  console.log(`once more, alone: ${names}`)
  const second = await run([oneAtATime, ...again])
  if (second === undefined) return { ...first, filesTriedAgain: again.length }
  const result = withSecondTry(first, second)
  if (countTests(result).failed === 0) console.log(`WARN failed among others and passed alone: ${names}`)
  return { ...result, filesTriedAgain: again.length }
}
