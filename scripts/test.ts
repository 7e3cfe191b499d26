// `npm test`: the static checks beside the unit tests, then the end-to-end tests, which start every real part. With words
// of one package or file: its tests, lint and types, without what reads the whole repository.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { oneCommand, takeCommandLine } from '@causeway/cli'
import { checks } from './checks/all.ts'
import { readRepositoryFiles } from './checks/repositoryFiles.ts'
import { findUnprovenRows } from './checks/specification.ts'
import { type CommandResult, createCommandRunner } from './testRunner/command.ts'
import { runEverySuite, stepLine } from './testRunner/everySuite.ts'
import { keepRun, npmTest } from './testRunner/keptRuns.ts'
import { applyKnownRed, knownRedPath, parseKnownRed } from './testRunner/knownRed.ts'
import { tryAgain } from './testRunner/secondTry.ts'
import {
  bitcoindSuite,
  filteredArguments,
  longSizesVariable,
  type Suite,
  suiteArguments,
  suiteFiles,
  suites,
} from './testRunner/suites.ts'
import {
  countsLine,
  countTests,
  joinOutcomes,
  passedByFile,
  type TestRunOutcome,
} from './testRunner/testRunOutcome.ts'
import { runVitest } from './testRunner/vitestRun.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const about = 'Static checks, unit tests and end-to-end tests; or what is named.'
const program = oneCommand('npm test --', about, {
  operands: ['[words...]'],
  handsOn: true,
  flags: {
    'check-only': { about: 'Static checks alone: npm run check' },
    all: { about: 'npm test, then every suite: npm run test:all' },
    long: { about: 'With --suite=faults: the long size of each of its files, and of others that have one' },
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
const isLong = args.isOn('long')
const env = { ...process.env, ...(isLong && { [longSizesVariable]: '1' }) }

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
async function runTests(name: string, args: readonly string[]): Promise<TestRunOutcome | undefined> {
  const { result, outcome } = await runVitest({ runner, root, env, args })
  printStep(name, result)
  return outcome
}

/** Files of every project: one with a long size may be in any suite. */
function filesWithLongSizes(): readonly string[] {
  return readRepositoryFiles(root)
    .filter(({ path, text }) => path.endsWith('.test.ts') && text.includes(longSizesVariable))
    .map(({ path }) => path)
}

const pathOf = (file: string): string => relative(root, file)

/** True if all tests of the runs passed, at the second try where there is one. */
async function judge(outcomes: readonly (TestRunOutcome | undefined)[]): Promise<boolean> {
  const told = outcomes.filter((outcome) => outcome !== undefined)
  if (told.length < outcomes.length) {
    console.log('FAIL vitest ended without an outcome, or with an error of its own')
    return false
  }
  const first = joinOutcomes(told)
  const isStopped = process.exitCode !== undefined
  const tried = isStopped
    ? { ...first, filesTriedAgain: 0 }
    : await tryAgain(first, (args) => runTests('second try', args), pathOf)
  const today = new Date().toISOString().slice(0, 10)
  const knownRed = parseKnownRed(readFileSync(join(root, knownRedPath), 'utf8'))
  const { outcome, warnings, failures } = applyKnownRed(tried, knownRed, today, pathOf)
  for (const warning of warnings) console.log(`WARN ${warning}`)
  for (const failure of failures) console.log(`FAIL ${failure}`)
  const counts = countTests(outcome)
  // A filter leaves tests out on purpose; otherwise a test that does not run proves nothing.
  const leftOut = isWhole ? counts.skipped : 0
  if (leftOut > 0) console.log(`FAIL ${leftOut} tests were skipped`)
  if (isWhole && !isStopped) keepRun(root, suite ?? npmTest, outcome)
  const unproven = findUnprovenRows(readRepositoryFiles(root), passedByPath(outcome))
  for (const { file, problem } of unproven) console.log(`FAIL proofs: ${file}: ${problem}`)
  console.log(countsLine(counts, tried.filesTriedAgain))
  return counts.failed === 0 && leftOut === 0 && unproven.length === 0 && failures.length === 0
}

function passedByPath(outcome: TestRunOutcome): ReadonlyMap<string, readonly string[]> {
  return new Map([...passedByFile(outcome)].map(([file, titles]) => [pathOf(file), titles]))
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
    // Files that have a long size stand in every project.
    const words = isLong
      ? [...new Set([...suiteFiles.faults, ...filesWithLongSizes()])]
      : suiteArguments(suite)
    return judge([await runTests('tests', [...words, ...vitestWords])])
  }
  const firstArguments = isWhole ? ['--project', 'unit'] : filteredArguments(vitestWords)
  // The checks leave a core idle most of their time.
  const [first, failures] = await Promise.all([runTests('tests', firstArguments), runStatic()])
  const isChecked = areGood(failures)
  if (!isWhole) return (await judge([first])) && isChecked
  return isChecked && judge([first, await runTests('end-to-end tests', ['--project', 'e2e'])])
}

const ok = await runAll()
if (!ok && process.exitCode === undefined) process.exitCode = 1
