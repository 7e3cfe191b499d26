import { statSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { bundledTests } from './bundledTests.ts'
import { mutatedParts } from './rules.ts'

const tests = mutatedParts[process.env['CAUSEWAY_MUTATED_PART'] ?? '']?.tests ?? []

/** The first test that fails ends the run of a mutant. */
class ShortestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sized = files.map((file) => ({ file, bytes: statSync(file.moduleId).size }))
    return sized.sort((a, b) => a.bytes - b.bytes).map(({ file }) => file)
  }
}

/** Tests of one part alone. Every mutant has a worker of its own, in which files share the modules that they load. */
export default defineConfig({
  plugins: [bundledTests(tests)],
  test: {
    root: process.cwd(),
    include: [...tests],
    expect: { poll: { timeout: 20_000 } },
    testTimeout: 60_000,
    isolate: false,
    sequence: { sequencer: ShortestFirst },
  },
})
