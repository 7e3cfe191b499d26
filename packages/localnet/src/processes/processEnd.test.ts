import { describe, expect, it } from 'vitest'
import { describeEnd } from './processEnd.ts'

describe('describeEnd', () => {
  const end = { name: 'quote-api', how: 'ended with exit code 1', logFile: '/logs/quote-api.log' }

  it('names the process, the log and its last lines', () => {
    const lastOutput = Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`).join('')
    const lines = describeEnd({ ...end, lastOutput }).split('\n')
    expect(lines[0]).toBe('quote-api ended with exit code 1; its log is /logs/quote-api.log')
    expect(lines.slice(1)).toEqual(Array.from({ length: 15 }, (_, index) => `line ${index + 26}`))
  })

  it('is one line when the process wrote nothing', () => {
    expect(describeEnd({ ...end, lastOutput: '\n' }).split('\n')).toHaveLength(1)
  })
})
