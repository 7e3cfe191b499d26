// vitest's own JSON report leaves out what the second try depends on: the message of a test that ran out
// of time, and errors outside of tests.
import { writeFileSync } from 'node:fs'
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node'
import type { TestFileOutcome, TestRunOutcome } from './testRunOutcome.ts'

/** The environment variable with the path to write to. */
export const outcomeFileVariable = 'CAUSEWAY_TEST_OUTCOME'

/** Writes a {@link TestRunOutcome} as JSON when all tests have ended. */
export default class OutcomeReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const outcome: TestRunOutcome = {
      files: modules.map(fileOutcome),
      errorsOutsideTests: unhandled.map(messageOf),
    }
    const path = process.env[outcomeFileVariable]
    if (path === undefined) throw new Error(`${outcomeFileVariable} is not set`)
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
    failedTests: failed.map(messagesOf),
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
