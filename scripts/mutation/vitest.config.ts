import { defineConfig } from 'vitest/config'
import { bundledTests } from './bundledTests.ts'
import { mutatedParts } from './rules.ts'

const tests = mutatedParts[process.env['CAUSEWAY_MUTATED_PART'] ?? '']?.tests ?? []

/** Tests of one part alone. Every mutant has a worker of its own, in which files share the modules that they load. */
export default defineConfig({
  plugins: [bundledTests(tests)],
  test: {
    root: process.cwd(),
    include: [...tests],
    expect: { poll: { timeout: 20_000 } },
    testTimeout: 60_000,
    isolate: false,
  },
})
