import { defineConfig } from 'vitest/config'

/** `expect.poll` waits a second by default, which a loaded machine may need for nothing at all. */
const patient = { poll: { timeout: 20_000 } }

const source = { resolve: { conditions: ['source'] }, ssr: { resolve: { conditions: ['source'] } } }

/** Loading the same modules for every file took longer than most files. */
const loadedOnce = { isolate: false }

/** `unit` needs nothing but code; `e2e` starts real nodes and databases, once per file. */
export default defineConfig({
  test: {
    projects: [
      {
        ...source,
        test: {
          name: 'unit',
          expect: patient,
          include: ['packages/*/src/**/*.test.ts', 'apps/*/src/**/*.test.ts', 'scripts/**/*.test.ts'],
          testTimeout: 30_000,
          maxWorkers: 2,
          ...loadedOnce,
        },
      },
      {
        ...source,
        test: {
          name: 'e2e',
          expect: patient,
          globalSetup: ['scripts/testRunner/translated.mjs'],
          include: ['packages/*/test/**/*.test.ts', 'apps/*/test/**/*.test.ts', 'test/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // On two cores: with two, a quarter of the time was idle, waiting for clocks and other processes.
          maxWorkers: 3,
          ...loadedOnce,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
