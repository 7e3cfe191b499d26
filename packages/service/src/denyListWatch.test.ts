import { createHttpMetrics, createReadiness } from '@causeway/http'
import { expect, test } from 'vitest'
import { denyListCheck, logDenyList, watchDenyList } from './denyListWatch.ts'

test('O-178: is not ready once nobody could look at the list for too long, with the reason by name', async () => {
  const health = { entries: 10, ageSeconds: 5, isStale: false }
  const readiness = createReadiness({ checks: [denyListCheck({ health: () => health })] })
  expect(await readiness.report()).toMatchObject({ ready: true, checks: { 'deny list': 'ok' } })
  health.isStale = true
  expect(await readiness.report()).toMatchObject({
    ready: false,
    reasons: { 'deny list': 'DENY_LIST_STALE' },
  })
})

test('size and age are read when metrics are scraped', async () => {
  const health = { entries: 10, ageSeconds: 5, isStale: false }
  const metrics = createHttpMetrics({ service: 'quote-api' })
  watchDenyList(metrics, { health: () => health })
  health.entries = 11
  health.ageSeconds = 7.5
  const text = await metrics.registry.metrics()
  expect(text).toMatch(/^deny_list_entries(\{.*\})? 11$/m)
  expect(text).toMatch(/^deny_list_age_seconds(\{.*\})? 7.5$/m)
})

test('a list that stays as it was is an error, one that is replaced is none', () => {
  const lines: unknown[] = []
  const keep =
    (level: string) =>
    (...line: unknown[]) =>
      void lines.push([level, ...line])
  const tell = logDenyList({ info: keep('info'), error: keep('error') } as never)
  tell({ kind: 'replaced', setting: 'DENY_LIST_FILE', entries: 3 })
  tell({ kind: 'kept', setting: 'DENY_LIST_URL', problem: 'the list is no JSON' })
  expect(lines).toEqual([
    ['info', { setting: 'DENY_LIST_FILE', entries: 3 }, 'the deny list is replaced'],
    [
      'error',
      { setting: 'DENY_LIST_URL', problem: 'the list is no JSON' },
      'the deny list stays as it was: an operator must look',
    ],
  ])
})
