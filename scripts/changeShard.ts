// `npm run tools -- change-shard`: one shard of a suite beside `npm test`, for `.ci/run`. A test that fails is run again
// on the commit that the change began at, which tells old failures from new ones.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chooseShard, touchedSuites } from './testRunner/changeShard.ts'
import { createCommandRunner } from './testRunner/command.ts'
import { applyKnownRed, knownRedLine, knownRedPath, parseKnownRed } from './testRunner/knownRed.ts'
import { shareOf } from './testRunner/longestFirst.ts'
import { tryAgain } from './testRunner/secondTry.ts'
import { suiteArguments, suiteFiles } from './testRunner/suites.ts'
import { countsLine, countTests, type TestRunOutcome } from './testRunner/testRunOutcome.ts'
import { runVitest } from './testRunner/vitestRun.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const runner = createCommandRunner()

/** @param minutes the shard is stopped after so long @param base commit that the change began at, where it is not the merge base with `origin/main` */
export async function runChangeShard(minutes: number, base: string | undefined): Promise<boolean> {
  if (!(minutes > 0)) throw new Error('--minutes: expected a number above 0')
  const endsAtMs = performance.now() + minutes * 60_000
  const leftMs = (): number => Math.max(endsAtMs - performance.now(), 1_000)
  const today = new Date().toISOString().slice(0, 10)
  const knownRed = parseKnownRed(readFileSync(join(root, knownRedPath), 'utf8'))
  const commit = base ?? mergeBase()
  const touched = commit === undefined ? [] : touchedSuites(changedPaths(commit))
  const { suite, index, count } = chooseShard(touched, new Date())
  const reason = touched.length > 0 ? `the change touches ${touched.join(', ')}` : 'in turn by the day'
  console.log(`shard ${index} of ${count} of ${suite}: ${reason}`)

  const run = (args: readonly string[]) =>
    runVitest({ runner, root, env: process.env, args, timeoutMs: leftMs() })
  // By their names, and not by vitest's own share: its list of a run has the files of all shards.
  const files = shareOf(suiteFiles[suite], { index, count })
  const { outcome: first } = await run([...suiteArguments(suite), ...files])
  if (first === undefined) return fail('vitest ended without an outcome, or with an error of its own')
  const outcome = await tryAgain(first, async (args) => (await run(args)).outcome, pathOf)

  const { outcome: judged, warnings, failures } = applyKnownRed(outcome, knownRed, today, pathOf)
  for (const warning of warnings) console.log(`WARN ${warning}`)
  for (const failure of failures) console.log(`FAIL ${failure}`)
  const unfinished = outcome.files.filter(({ skipped }) => skipped > 0).map(({ file }) => file)
  for (const file of [...unfinished, ...outcome.notEnded])
    console.log(`WARN not run in ${minutes} minutes: ${pathOf(file)}`)
  const counts = countTests(judged)
  if (counts.failed > 0) await tellOldFailures(judged, commit, leftMs(), today)
  console.log(countsLine(counts, outcome.filesTriedAgain))
  return counts.failed === 0 && failures.length === 0
}

/** Says of each failed test whether it failed before the change too, and how such a one may wait. */
async function tellOldFailures(
  outcome: TestRunOutcome,
  commit: string | undefined,
  timeoutMs: number,
  today: string,
): Promise<void> {
  const failed = outcome.files.flatMap(({ file, failedTests }) =>
    failedTests.map(({ title }) => ({ file: pathOf(file), title })),
  )
  if (commit === undefined) return console.log('no commit is known that the change began at')
  const before = await runOn(commit, [...new Set(failed.map(({ file }) => file))], timeoutMs)
  for (const { file, title } of failed) {
    const test = `${file} > ${title}`
    const failedBefore = before?.files.some(
      (old) => old.file.endsWith(`/${file}`) && old.failedTests.some((one) => one.title === title),
    )
    console.log(
      failedBefore
        ? `FAIL ${test} failed at ${commit.slice(0, 8)} too. To go on add this to ${knownRedPath}: ${knownRedLine(test, today)}`
        : `FAIL ${test}`,
    )
  }
}

/** @returns undefined where that commit's tests do not run */
async function runOn(
  commit: string,
  files: readonly string[],
  timeoutMs: number,
): Promise<TestRunOutcome | undefined> {
  const checkout = mkdtempSync(join(tmpdir(), 'causeway-before-'))
  try {
    if (git('worktree', 'add', '--detach', checkout, commit) === undefined) return undefined
    // Its own start installs its packages.
    const installed = spawnSync(process.execPath, ['scripts/run.mjs', '--runtime'], { cwd: checkout })
    if (installed.status !== 0) return undefined
    return (await runVitest({ runner, root: checkout, env: process.env, args: files, timeoutMs })).outcome
  } finally {
    git('worktree', 'remove', '--force', checkout)
    rmSync(checkout, { recursive: true, force: true })
  }
}

const pathOf = (file: string): string => relative(root, file)

function fail(why: string): false {
  console.log(`FAIL ${why}`)
  return false
}

/** The commit that this branch left the main branch at; undefined in a checkout that is the main branch or holds none. */
function mergeBase(): string | undefined {
  const base = git('merge-base', 'HEAD', 'origin/main')
  return base === git('rev-parse', 'HEAD') ? undefined : base
}

const changedPaths = (commit: string): readonly string[] =>
  (git('diff', '--name-only', commit, 'HEAD') ?? '').split('\n').filter((path) => path !== '')

/** @returns what git printed, undefined where it failed */
function git(...words: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', words, { cwd: root, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}
