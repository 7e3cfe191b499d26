// Goal: counting what keys are answered takes bounded memory, whatever callers ask for and however long nobody
// takes the counts away.
import { expect, test } from 'vitest'
import { createUsageCounts } from './usageCounts.ts'

const answer = { apiKeyId: 'aaaaaaaaaa', endpoint: '/chains', statusCode: 200, errorCode: '' }

test('L-91: equal answers of one minute are one sum, others are apart', () => {
  let nowMs = 1_700_000_040_000
  const counts = createUsageCounts({ rowsMax: 10, now: () => nowMs })
  counts.add(answer)
  nowMs += 59_999
  counts.add(answer)
  counts.add({ ...answer, statusCode: 400, errorCode: 'AMOUNT_TOO_LOW' })
  counts.add({ ...answer, apiKeyId: 'bbbbbbbbbb' })
  nowMs += 1
  counts.add(answer)
  expect(counts.take()).toEqual([
    { ...answer, minuteSeconds: 1_700_000_040, answers: 2 },
    { ...answer, statusCode: 400, errorCode: 'AMOUNT_TOO_LOW', minuteSeconds: 1_700_000_040, answers: 1 },
    { ...answer, minuteSeconds: 1_700_000_100, answers: 1 },
    { ...answer, apiKeyId: 'bbbbbbbbbb', minuteSeconds: 1_700_000_040, answers: 1 },
  ])
  expect(counts.take()).toEqual([])
})

test('L-92: beyond the bound only known sums grow, and what is lost is told once', () => {
  const counts = createUsageCounts({ rowsMax: 2, now: () => 0 })
  for (const endpoint of ['/a', '/b', '/c', '/d', '/a']) counts.add({ ...answer, endpoint })
  expect(counts.takeLost()).toBe(2)
  expect(counts.takeLost()).toBe(0)
  expect(counts.take().map(({ endpoint, answers }) => [endpoint, answers])).toEqual([
    ['/a', 2],
    ['/b', 1],
  ])
  counts.add({ ...answer, endpoint: '/c' })
  expect([counts.take().length, counts.takeLost()]).toEqual([1, 0])
})
