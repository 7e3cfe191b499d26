import { expect, test } from 'vitest'
import { allRuns, runEverySuite } from './everySuite.ts'
import { suites } from './suites.ts'

/** @param failing words of the runs that fail @param most runs before somebody stops it */
async function runAll(failing: readonly string[], most = allRuns.length) {
  const ran: (readonly string[])[] = []
  const lines: string[] = []
  const ok = await runEverySuite({
    async run(words) {
      ran.push(words)
      return { ok: !failing.includes(words.join()), durationMs: 61_000, output: '' }
    },
    isStopped: () => ran.length >= most,
    print: (line) => lines.push(line),
  })
  return { ok, ran, summary: lines.slice(lines.findIndex((line) => line.endsWith(' runs:'))) }
}

test('O-134: npm test and every suite run in order, and the summary at the end has a line of each', async () => {
  const { ok, ran, summary } = await runAll([])
  expect(ran).toEqual([[], ...suites.map((suite) => [`--suite=${suite}`])])
  expect(summary).toEqual([
    `\n${suites.length + 1} of ${suites.length + 1} runs:`,
    'ok   npm test (61.0 s)',
    ...suites.map((suite) => `ok   npm test -- --suite=${suite} (61.0 s)`),
  ])
  expect(ok).toBe(true)
})

test('O-134: a suite that fails stops no other, and fails all', async () => {
  const { ok, ran, summary } = await runAll(['--suite=clients'])
  expect([ok, ran.length]).toEqual([false, allRuns.length])
  expect(summary.filter((line) => line.startsWith('FAIL'))).toEqual([
    'FAIL npm test -- --suite=clients (61.0 s)',
  ])
})

test('O-134: once it is stopped nothing more begins, and what did not run is no success', async () => {
  const { ok, ran, summary } = await runAll([], 2)
  expect([ok, ran.length, summary[0]]).toEqual([false, 2, `\n2 of ${allRuns.length} runs:`])
})
