import { expect, test } from 'vitest'
import { createProgress } from './progress.ts'

test('a stage shows the seconds since the stage before it, or since a restart of the clock', () => {
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
  nowMs = 60_000
  progress.restart()
  nowMs = 60_500
  progress.stage('stopped', 'all of it')
  expect(lines).toEqual([
    '  chains        1.3 s  three of them',
    'a sentence',
    '  quote-api    12.0 s  the service',
    '  stopped       0.5 s  all of it',
  ])
})
