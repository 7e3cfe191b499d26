import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseOutcome, type TestRunOutcome } from './testRunOutcome.ts'

/** The suite of `npm test` itself, among the names of all others. */
export const npmTest = 'npm-test'

/** Passed tests of the last whole run of a suite. */
export type KeptRun = {
  readonly suite: string
  readonly endedAtMs: number
  /** Titles of tests and groups that passed, by the path of their file in the repository. */
  readonly passed: ReadonlyMap<string, readonly string[]>
}

const folderOf = (root: string): string => join(root, 'node_modules', '.cache', 'test-runs')

/** Replaces what was kept of the suite before. */
export function keepRun(root: string, suite: string, outcome: TestRunOutcome): void {
  mkdirSync(folderOf(root), { recursive: true })
  writeFileSync(join(folderOf(root), `${suite}.json`), JSON.stringify(outcome))
}

/** Kept runs of every suite that ran whole on this machine, in the order of their names. */
export function readKeptRuns(root: string): readonly KeptRun[] {
  mkdirSync(folderOf(root), { recursive: true })
  return readdirSync(folderOf(root))
    .toSorted()
    .map((name) => {
      const path = join(folderOf(root), name)
      const { files } = parseOutcome(readFileSync(path, 'utf8'))
      return {
        suite: name.replace('.json', ''),
        endedAtMs: statSync(path).mtimeMs,
        passed: new Map(
          files.map(({ file, passedTests, passedGroups }) => [
            relative(root, file),
            [...passedGroups, ...passedTests],
          ]),
        ),
      }
    })
}
