// `npm run test:mutation -- <part>`: changes the pure rules of a part one expression at a time, in a copy of the checkout,
// and runs the unit tests that reach it. Prints each change that no test noticed. Ends with 1 where these are too many.
// `ledger-sql` is a list of changed SQL functions instead, each with the test of the ledger that must fail.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { oneCommand, takeCommandLine } from '@causeway/cli'
import { equivalents } from './mutation/equivalents/equivalents.ts'
import { type MutatedPart, mutatedParts } from './mutation/rules.ts'
import { isGood, readMutants, reportSchema, type Score, scoreMutants, scoreText } from './mutation/score.ts'
import { makeScratchTree } from './mutation/scratchTree.ts'
import { createCommandRunner } from './testRunner/command.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const ledgerSql = 'ledger-sql'
const { args } = takeCommandLine(
  process.argv.slice(2),
  oneCommand('npm run test:mutation --', 'Shows which changes of pure rules no unit test notices.', {
    operands: ['part...'],
    flags: {
      concurrency: { value: '<number>', about: 'Mutants at a time; 2 by default' },
      again: { about: 'Print the last report without a run' },
      survivors: { about: 'Run those alone that survived the last time, and keep the rest' },
      whole: { about: 'Run every mutant, also those whose code and tests are as in the last run' },
    },
    notes: `Parts: ${[...Object.keys(mutatedParts), ledgerSql].join(', ')}.`,
  }),
)
const runner = createCommandRunner()
const noRules = ['**/*.test.ts', '**/testSupport/**', '**/*.generated.ts']
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => runner.signal(signal))

/** @returns whether tests notice enough */
async function tryPart(name: string, part: MutatedPart): Promise<boolean> {
  const folder = join(root, '.cache', 'mutation', name)
  const reportFile = join(folder, 'report.json')
  if (!args.isOn('again') && !(await mutate(name, part, folder, reportFile))) return false
  const score = readScore(reportFile)
  console.log(scoreText(name, score))
  return isGood(score)
}

function readScore(reportFile: string): Score {
  return scoreMutants(
    readMutants(reportSchema.parse(JSON.parse(readFileSync(reportFile, 'utf8')))),
    equivalents,
  )
}

async function mutate(name: string, part: MutatedPart, folder: string, reportFile: string): Promise<boolean> {
  const tree = join(folder, 'tree')
  makeScratchTree(root, tree)
  mkdirSync(folder, { recursive: true })
  const settings = join(folder, 'stryker.json')
  writeFileSync(settings, JSON.stringify(strykerSettings(part, folder, reportFile), undefined, 2))
  const { ok } = await runner.run(
    [join(tree, 'node_modules/@stryker-mutator/core/bin/stryker.js'), 'run', settings],
    {
      cwd: tree,
      env: { ...process.env, CAUSEWAY_MUTATED_PART: name },
      live: true,
    },
  )
  return ok
}

function strykerSettings({ rules, except = [] }: MutatedPart, folder: string, reportFile: string): object {
  const survivors = args.isOn('survivors')
    ? readScore(reportFile).survivors.map(({ range }) => range)
    : undefined
  return {
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner', join(root, 'scripts/mutation/ignoreSentences.ts')],
    ignorers: ['sentences'],
    vitest: { configFile: 'scripts/mutation/vitest.config.ts', related: false },
    mutate: [...(survivors ?? rules), ...[...except, ...noRules].map((glob) => `!${glob}`)],
    inPlace: true,
    coverageAnalysis: 'perTest',
    // Code that runs once, as a module loads, would need every test for each mutant.
    ignoreStatic: true,
    disableTypeChecks: false,
    concurrency: Number(args.text('concurrency') ?? 2),
    timeoutMS: 10_000,
    timeoutFactor: 1.5,
    incremental: true,
    incrementalFile: join(folder, 'incremental.json'),
    force: args.isOn('whole') || survivors !== undefined,
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: reportFile },
    tempDirName: join(folder, 'temporary'),
    allowConsoleColors: false,
  }
}

async function tryNamed(name: string): Promise<boolean> {
  if (name === ledgerSql) return (await import('./mutation/ledgerSql.ts')).trySqlMutants()
  const part = mutatedParts[name]
  if (part !== undefined) return tryPart(name, part)
  console.error(`${name} is no part: npm run test:mutation -- --help names them.`)
  process.exit(2)
}

let areGood = true
for (const name of args.list('part')) areGood = (await tryNamed(name)) && areGood
// A run of vitest leaves handles open.
process.exit(areGood ? 0 : 1)
