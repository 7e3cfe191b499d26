// vitest's own JSON report leaves out what the second try depends on: the message of a test that ran out
// of time, and errors outside of tests.
import { writeFileSync } from 'node:fs'
import type { Reporter, SerializedError, TestCase, TestModule, TestSpecification, Vitest } from 'vitest/node'
import type { TestFileOutcome, TestRunOutcome } from './testRunOutcome.ts'

/** The environment variable with the path to write to. */
export const outcomeFileVariable = 'CAUSEWAY_TEST_OUTCOME'

/** After so many milliseconds begun tests end, with what they started, and no other begins. Unset: no limit. */
export const stopAfterVariable = 'CAUSEWAY_TEST_STOP_AFTER_MS'

/** So often at most the outcome is written while tests run: that of all tests is a megabyte. */
const writeEveryMs = 2_000

/** Writes a {@link TestRunOutcome} as JSON: while tests run, for a run that is stopped, and when all have ended. */
export default class OutcomeReporter implements Reporter {
  readonly #ended = new Map<string, TestFileOutcome>()
  #files: readonly string[] = []
  #writtenAtMs = 0

  onInit(vitest: Vitest): void {
    const stopAfterMs = Number(process.env[stopAfterVariable] ?? 0)
    if (stopAfterMs > 0) setTimeout(() => vitest.cancelCurrentRun('keyboard-input'), stopAfterMs).unref()
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#files = specifications.map(({ moduleId }) => moduleId)
    this.#write([])
  }

  onTestModuleEnd(module: TestModule): void {
    this.#ended.set(module.moduleId, fileOutcome(module))
    if (performance.now() - this.#writtenAtMs >= writeEveryMs) this.#write([])
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    for (const module of modules) this.#ended.set(module.moduleId, fileOutcome(module))
    this.#write(unhandled)
  }

  #write(unhandled: readonly SerializedError[]): void {
    const path = process.env[outcomeFileVariable]
    if (path === undefined) throw new Error(`${outcomeFileVariable} is not set`)
    this.#writtenAtMs = performance.now()
    const outcome: TestRunOutcome = {
      files: [...this.#ended.values()],
      errorsOutsideTests: unhandled.map(messageOf),
      notEnded: this.#files.filter((file) => !this.#ended.has(file)),
    }
    writeFileSync(path, JSON.stringify(outcome))
  }
}

function fileOutcome(module: TestModule): TestFileOutcome {
  const tests = [...module.children.allTests()]
  const failed = tests.filter((test) => test.result().state === 'failed')
  const groups = [...module.children.allSuites()]
  return {
    file: module.moduleId,
    passedTests: tests.filter((test) => test.result().state === 'passed').map(({ name }) => name),
    passedGroups: groups.filter((group) => group.state() === 'passed').map(({ name }) => name),
    skipped: tests.filter((test) => !['passed', 'failed'].includes(test.result().state)).length,
    failedTests: failed.map((test) => ({ title: test.name, message: messagesOf(test) })),
    failedHooks: [module, ...groups].flatMap((suite) => suite.errors().map(messageOf)),
  }
}

function messagesOf(test: TestCase): string {
  return (test.result().errors ?? []).map(messageOf).join('\n')
}

/** With its causes: that of a failed `expect.poll` says that it waited. */
function messageOf({ message, cause }: SerializedError): string {
  return cause === undefined ? message : `${message}\n${messageOf(cause)}`
}
