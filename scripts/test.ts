// `npm test`: the static checks beside the unit tests, then the end-to-end tests, which start every real part. With words
// of one package or file: its tests, lint and types, without what reads the whole repository.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { oneCommand, takeCommandLine } from '@causeway/cli'
import { checks } from './checks/all.ts'
import { readRepositoryFiles } from './checks/repositoryFiles.ts'
import { findUnprovenRows } from './checks/specification.ts'
import { type CommandResult, createCommandRunner } from './testRunner/command.ts'
import { runEverySuite, stepLine } from './testRunner/everySuite.ts'
import { keepRun, npmTest } from './testRunner/keptRuns.ts'
import { outcomeFileVariable } from './testRunner/outcomeReporter.ts'
import {
  bitcoindSuite,
  filteredArguments,
  longSizesVariable,
  oneAtATime,
  type Suite,
  suiteArguments,
  suites,
} from './testRunner/suites.ts'
import {
  countsLine,
  countTests,
  filesToTryAgain,
  joinOutcomes,
  parseOutcome,
  passedByFile,
  type TestRunOutcome,
  withSecondTry,
} from './testRunner/testRunOutcome.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const about = 'Static checks, unit tests and end-to-end tests; or what is named.'
const program = oneCommand('npm test --', about, {
  operands: ['[words...]'],
  handsOn: true,
  flags: {
    'check-only': { about: 'Static checks alone: npm run check' },
    all: { about: 'npm test, then every suite: npm run test:all' },
    suite: { value: '<name>', about: `A suite of its own: ${[...suites, bitcoindSuite].join(', ')}` },
  },
  notes: 'Other words are those of vitest: packages/core, test/demo.test.ts, -t "rounds down", --shard=1/2.',
})
const { args } = takeCommandLine(process.argv.slice(2), program)
const suite = suiteOf(args.text('suite'))
const vitestWords = args.list('words')
const isWhole = vitestWords.length === 0
const bin = (path: string): string => join(root, 'node_modules', path)
const compiler = bin('typescript-7/bin/tsc')
const cached = (name: string): string => join(root, 'node_modules', '.cache', name)
const env = { ...process.env, ...(suite === 'faults' && { [longSizesVariable]: '1' }) }

const runner = createCommandRunner()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    runner.signal(signal)
    process.exitCode = 130
  })
}

const namedFiles = vitestWords.filter((word) => existsSync(join(root, word)))
const linted = namedFiles.length > 0 ? namedFiles : ['.']
const types = cached('types.tsbuildinfo')
const staticCommands: readonly { readonly name: string; readonly command: readonly string[] }[] = [
  {
    name: 'types',
    command: [compiler, ...['-p', 'tsconfig.check.json', '--incremental', '--tsBuildInfoFile', types]],
  },
  {
    // The console is checked on its own: browsers and Node have different globals.
    name: 'types of the console',
    command: [compiler, '-p', 'packages/console'],
  },
  {
    name: 'lint',
    command: [bin('@biomejs/biome/bin/biome'), 'ci', '--colors=off', '--max-diagnostics=100', ...linted],
  },
  ...(isWhole ? [{ name: 'unused code', command: [bin('knip/bin/knip.js'), '--no-config-hints'] }] : []),
]

function runChecks(): CommandResult {
  const startedAtMs = performance.now()
  const files = readRepositoryFiles(root)
  const output = checks
    .flatMap((check) => check.find(files).map(({ file, problem }) => `${check.name}: ${file}: ${problem}\n`))
    .join('')
  return { ok: output === '', durationMs: performance.now() - startedAtMs, output }
}

function printStep(name: string, result: CommandResult): void {
  console.log(stepLine(name, result))
}

/** @returns what every check that failed told, so that one run shows everything that must be mended */
async function runStatic(): Promise<readonly string[]> {
  const commands = staticCommands.map(async ({ name, command }) => {
    const result = await runner.run(command, { cwd: root, env })
    printStep(name, result)
    return { name, result }
  })
  const rules = isWhole ? [{ name: 'repository rules', result: runChecks() }] : []
  for (const { name, result } of rules) printStep(name, result)
  if (!isWhole)
    console.log('left to `npm run check`: repository rules and unused code, which read every file')
  const failures = [...rules, ...(await Promise.all(commands))].filter(({ result }) => !result.ok)
  return failures.map(({ name, result }) => `\n--- ${name} ---\n${result.output}`)
}

function areGood(failures: readonly string[]): boolean {
  for (const failure of failures) console.log(failure)
  return failures.length === 0
}

/** @returns undefined when vitest ended without an outcome, or with an error that no test shows */
async function runVitest(name: string, args: readonly string[]): Promise<TestRunOutcome | undefined> {
  const path = cached('test-outcome.json')
  mkdirSync(dirname(path), { recursive: true })
  rmSync(path, { force: true })
  const reporters = ['--reporter=default', '--reporter=./scripts/testRunner/outcomeReporter.ts']
  const command = [bin('vitest/vitest.mjs'), 'run', ...reporters, ...args]
  const vitestEnv = { ...env, [outcomeFileVariable]: path }
  const result = await runner.run(command, { cwd: root, env: vitestEnv, live: true })
  printStep(name, result)
  const outcome = existsSync(path) ? parseOutcome(readFileSync(path, 'utf8')) : undefined
  const isTold = result.ok || (outcome !== undefined && countTests(outcome).failed > 0)
  return isTold ? outcome : undefined
}

/** A wait that does not run out again alone is named, and the run passes. */
async function tryAgain(first: TestRunOutcome, again: readonly string[]): Promise<TestRunOutcome> {
  if (again.length === 0) return first
  const names = again.map((file) => relative(root, file)).join(', ')
  console.log(`once more, alone: ${names}`)
  const second = await runVitest('second try', [oneAtATime, ...again])
  if (second === undefined) return first
  const result = withSecondTry(first, second)
  if (countTests(result).failed === 0) console.log(`WARN failed among others and passed alone: ${names}`)
  return result
}

function filesWithLongSizes(): readonly string[] {
  return readRepositoryFiles(root)
    .filter(({ path, text }) => path.endsWith('.test.ts') && text.includes(longSizesVariable))
    .map(({ path }) => path)
}

/** True if all tests of the runs passed, at the second try where there is one. */
async function judge(outcomes: readonly (TestRunOutcome | undefined)[]): Promise<boolean> {
  const told = outcomes.filter((outcome) => outcome !== undefined)
  if (told.length < outcomes.length) {
    console.log('FAIL vitest ended without an outcome, or with an error of its own')
    return false
  }
  const first = joinOutcomes(told)
  const again = process.exitCode === undefined ? filesToTryAgain(first) : []
  const outcome = await tryAgain(first, again)
  const counts = countTests(outcome)
  // A filter leaves tests out on purpose; otherwise a test that does not run proves nothing.
  const leftOut = isWhole ? counts.skipped : 0
  if (leftOut > 0) console.log(`FAIL ${leftOut} tests were skipped`)
  if (isWhole && process.exitCode === undefined) keepRun(root, suite ?? npmTest, outcome)
  const unproven = findUnprovenRows(readRepositoryFiles(root), passedByPath(outcome))
  for (const { file, problem } of unproven) console.log(`FAIL proofs: ${file}: ${problem}`)
  console.log(countsLine(counts, again.length))
  return counts.failed === 0 && leftOut === 0 && unproven.length === 0
}

function passedByPath(outcome: TestRunOutcome): ReadonlyMap<string, readonly string[]> {
  return new Map([...passedByFile(outcome)].map(([file, titles]) => [relative(root, file), titles]))
}

function suiteOf(name: string | undefined): Suite | typeof bitcoindSuite | undefined {
  const suiteNames = [...suites, bitcoindSuite] as const
  const suite = suiteNames.find((one) => one === name)
  if (suite !== undefined || name === undefined) return suite
  console.error(`--suite: expected one of ${suiteNames.join(', ')}.`)
  return process.exit(2)
}

async function runAll(): Promise<boolean> {
  if (args.isOn('all')) {
    return runEverySuite({
      run: (words) =>
        runner.run(['--conditions=source', import.meta.filename, ...words], { cwd: root, env, live: true }),
      isStopped: () => process.exitCode !== undefined,
      print: (line) => console.log(line),
    })
  }
  if (args.isOn('check-only')) return areGood(await runStatic())
  if (suite !== undefined) {
    return judge([await runVitest('tests', [...suiteArguments(suite, filesWithLongSizes), ...vitestWords])])
  }
  const firstArguments = isWhole ? ['--project', 'unit'] : filteredArguments(vitestWords)
  // The checks leave a core idle most of their time.
  const [first, failures] = await Promise.all([runVitest('tests', firstArguments), runStatic()])
  const isChecked = areGood(failures)
  if (!isWhole) return (await judge([first])) && isChecked
  return isChecked && judge([first, await runVitest('end-to-end tests', ['--project', 'e2e'])])
}

const ok = await runAll()
if (!ok && process.exitCode === undefined) process.exitCode = 1
