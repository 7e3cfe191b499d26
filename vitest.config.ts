import { defineConfig } from 'vitest/config'
import { LongestFirst } from './scripts/testRunner/longestFirst.ts'
import { endToEndFiles, type Suite, suiteFiles, suites } from './scripts/testRunner/suites.ts'

if (Number.parseInt(process.versions.node, 10) < 24)
  throw new Error('tests start TypeScript: run them by npm test, or vitest by node scripts/run.mjs')

/** `expect.poll` waits a second by default, which a loaded machine may need for nothing at all. */
const patient = { poll: { timeout: 20_000 } }

/** Loading the same modules for every file took longer than most files. */
const loadedOnce = { isolate: false }

/** A project of files that start real nodes, databases and services, once per file. */
function endToEnd(
  name: string,
  files: { readonly include: readonly string[]; readonly exclude: readonly string[] },
  maxWorkers = 2,
) {
  return {
    test: {
      name,
      expect: patient,
      globalSetup: ['scripts/testRunner/bundled.mjs'],
      include: [...files.include],
      exclude: [...files.exclude],
      testTimeout: 120_000,
      hookTimeout: 120_000,
      maxWorkers,
      ...loadedOnce,
      sequence: { groupOrder: 1 },
    },
  }
}

/** On two cores. Files of these suites wait for blocks and clocks half of the time; those of the others keep two busy. */
const workersOf: Partial<Record<Suite, number>> = { settlement: 3, operations: 3, families: 3, production: 3 }

const inSuites = suites.flatMap((suite) => suiteFiles[suite])

/** `unit` needs nothing but code; `e2e` is the rest of `npm test`; the others are suites of their own. */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    experimental: { fsModuleCache: true },
    projects: [
      {
        test: {
          name: 'unit',
          expect: patient,
          include: ['packages/*/src/**/*.test.ts', 'apps/*/src/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: inSuites,
          testTimeout: 60_000,
          maxWorkers: 2,
          ...loadedOnce,
        },
      },
      endToEnd('e2e', { include: endToEndFiles, exclude: inSuites }),
      ...suites.map((suite) =>
        endToEnd(suite, { include: suiteFiles[suite], exclude: [] }, workersOf[suite]),
      ),
    ],
  },
})
