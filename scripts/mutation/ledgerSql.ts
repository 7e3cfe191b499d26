import { startVitest, type TestCase, type TestModule } from 'vitest/node'
import {
  type FunctionChange,
  functionChangeVariable,
} from '../../packages/ledger/test/support/mutatedFunction.ts'
import { type SqlMutant, sqlMutants } from './sqlMutants.ts'

/** Two at a time: each has a database of its own. */
const workers = 2

/**
 * Runs the ledger's tests as they are, and again with each of the changed functions.
 * @returns whether each change fails the test that it names, which passes without it
 */
export async function trySqlMutants(): Promise<boolean> {
  const files = [...new Set(sqlMutants.map(({ file }) => file))]
  const vitest = await startVitest(
    'test',
    [],
    { watch: false, reporters: [{}], config: false },
    {
      test: {
        root: process.cwd(),
        experimental: { fsModuleCache: true },
        projects: [
          ...files.map((file) => projectOf(`as it is: ${file}`, file)),
          ...sqlMutants.map((mutant, index) => projectOf(String(index), mutant.file, mutant)),
        ],
        maxWorkers: workers,
      },
    },
  )
  const modules = new Map(vitest.state.getTestModules().map((module) => [module.project.name, module]))
  await vitest.close()
  const problems = [
    ...files.flatMap((file) =>
      failedTitles(modules.get(`as it is: ${file}`)).map((title) => `as it is: ${title}`),
    ),
    ...sqlMutants.flatMap((mutant, index) => {
      const failed = failedTitles(modules.get(String(index)))
      return failed.some((title) => title.includes(mutant.test))
        ? []
        : [`${describe(mutant)}: failed: ${failed.join(' | ') || 'nothing'}`]
    }),
  ]
  for (const problem of problems) console.log(problem)
  console.log(
    `${problems.length === 0 ? 'ok  ' : 'FAIL'} ledger-sql: ${sqlMutants.length} mutants, ${problems.length} problems`,
  )
  return problems.length === 0
}

function projectOf(name: string, file: string, change?: FunctionChange) {
  return {
    test: {
      name,
      include: [`packages/ledger/test/${file}.test.ts`],
      expect: { poll: { timeout: 10_000 } },
      testTimeout: 30_000,
      hookTimeout: 60_000,
      isolate: false,
      ...(change !== undefined && { env: { [functionChangeVariable]: JSON.stringify(change) } }),
    },
  }
}

function failedTitles(module: TestModule | undefined): readonly string[] {
  if (module === undefined) return ['the file did not run']
  const tests: readonly TestCase[] = [...module.children.allTests('failed')]
  return [...module.errors().map(({ message }) => message), ...tests.map(({ fullName }) => fullName)]
}

function describe({ function: name, text, replacement }: SqlMutant): string {
  return `${name}: ${text} → ${replacement || '(nothing)'}`
}
