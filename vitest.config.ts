import { defineConfig } from 'vitest/config'

/** `expect.poll` waits a second by default, which a loaded machine may need for nothing at all. */
const patient = { poll: { timeout: 20_000 } }

const source = { resolve: { conditions: ['source'] }, ssr: { resolve: { conditions: ['source'] } } }

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
          // Loading the same modules for 200 files took longer than the tests.
          isolate: false,
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
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
