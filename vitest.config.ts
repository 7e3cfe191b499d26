import { defineConfig } from 'vitest/config'
import { LongestFirst } from './scripts/testRunner/longestFirst.ts'
import { endToEndFiles, suiteFiles, suites } from './scripts/testRunner/suites.ts'

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
      // On two cores: a third one would use the quarter of the time that two wait for clocks and other processes, and on a
      // slow machine more waits run out than it saves.
      maxWorkers: 2,
      ...loadedOnce,
      sequence: { groupOrder: 1 },
    },
  }
}

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
      ...suites.map((suite) => endToEnd(suite, { include: suiteFiles[suite], exclude: [] })),
    ],
  },
})
