import { expect, test } from 'vitest'
import { createProgress } from './progress.ts'

test('a stage shows the seconds since the stage before it', () => {
  const lines: string[] = []
  let nowMs = 5_000
  const progress = createProgress(
    (line) => lines.push(line),
    () => nowMs,
  )
  nowMs = 6_260
  progress.stage('chains', 'three of them')
  progress.line('a sentence')
  nowMs = 18_260
  progress.stage('quote-api', 'the service')
  expect(lines).toEqual([
    '  chains       1.3 s  three of them',
    'a sentence',
    '  quote-api   12.0 s  the service',
  ])
})
