// `npm run tools -- broken-behaviours [id...]`: each behaviour of the list is broken in a copy of this checkout, and its
// tests must fail there. They pass before anything is broken, so that what fails is the behaviour.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type BrokenBehaviour,
  breakText,
  brokenBehavioursPath,
  chooseBehaviours,
  listProblems,
  parseBrokenBehaviours,
} from './brokenBehaviours/list.ts'
import { copyCheckout } from './checkoutCopy.ts'
import { createCommandRunner } from './testRunner/command.ts'
import { projectOf } from './testRunner/suites.ts'
import { countTests } from './testRunner/testRunOutcome.ts'
import { runVitest } from './testRunner/vitestRun.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const runner = createCommandRunner()
/** All tests together take some minutes; those of a broken behaviour may wait for what never comes. */
const timeoutsMs = { whole: 1_800_000, broken: 300_000 }

/** @param ids of behaviours; none means all @returns whether every one of them is caught */
export async function breakBehaviours(ids: readonly string[]): Promise<boolean> {
  const list = parseBrokenBehaviours(readFileSync(join(root, brokenBehavioursPath), 'utf8'))
  const behaviours = chooseBehaviours(list, ids)
  const problems = listProblems(behaviours, (path) => readFileSync(join(root, path), 'utf8'))
  for (const problem of problems) console.log(`FAIL ${brokenBehavioursPath}: ${problem}`)
  if (problems.length > 0) return false

  const copy = mkdtempSync(join(tmpdir(), 'causeway-broken-'))
  const remove = () => rmSync(copy, { recursive: true, force: true })
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      // The tests run in a group of their own, which no Ctrl-C reaches.
      runner.signal('SIGTERM')
      remove()
      process.exit(130)
    })
  try {
    copyCheckout(root, copy)
    if (!(await isGreen(copy, behaviours))) return false
    let caughtCount = 0
    for (const behaviour of behaviours) if (await isCaught(copy, behaviour)) caughtCount += 1
    console.log(`${caughtCount} of ${behaviours.length} broken behaviours are caught`)
    return caughtCount === behaviours.length
  } finally {
    remove()
  }
}

/** Runs the tests of all behaviours before one is broken. */
async function isGreen(copy: string, behaviours: readonly BrokenBehaviour[]): Promise<boolean> {
  const { result, outcome } = await runTests(copy, 'whole', [
    ...new Set(behaviours.flatMap(({ tests }) => tests)),
  ])
  if (result.ok) return true
  console.log(result.output)
  const failed = outcome === undefined ? 'vitest' : `${countTests(outcome).failed} tests`
  console.log(`FAIL ${failed} failed before anything was broken`)
  return false
}

/** Breaks one behaviour, runs its tests and prints its line. */
async function isCaught(copy: string, behaviour: BrokenBehaviour): Promise<boolean> {
  const { id, area, file, tests } = behaviour
  const path = join(copy, file)
  const before = readFileSync(path, 'utf8')
  writeFileSync(path, breakText(before, behaviour))
  const { outcome } = await runTests(copy, 'broken', tests).finally(() => writeFileSync(path, before))
  // A file that does not load fails no test, and says nothing about the behaviour.
  const caughtBy = outcome?.files.flatMap(({ failedTests }) => failedTests.map(({ title }) => title))[0]
  const verdict = caughtBy === undefined ? 'NOT CAUGHT' : 'caught    '
  console.log(`${verdict}  ${area.padEnd(11)}  ${id.padEnd(40)}  ${caughtBy ?? tests.join(', ')}`)
  return caughtBy !== undefined
}

function runTests(copy: string, state: 'whole' | 'broken', tests: readonly string[]) {
  const projects = [...new Set(tests.map(projectOf))].map((project) => `--project=${project}`)
  return runVitest({
    runner,
    root: copy,
    env: { ...process.env, NO_COLOR: '1' },
    args: [...projects, '--bail=1', ...tests],
    timeoutMs: timeoutsMs[state],
    isQuiet: true,
  })
}
