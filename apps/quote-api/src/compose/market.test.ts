import { describe, expect, test } from 'vitest'
import { warnOfFewVoices } from './market.ts'

describe('the start warns', () => {
  const warnings = (hosts: readonly string[], threshold: number) => {
    const lines: string[] = []
    const voters = hosts.map((voice, index) => ({ alias: `${voice}#${index}`, voice }))
    const log = { info() {}, warn: (_figures: object, line: string) => void lines.push(line) }
    warnOfFewVoices('base', { voters, threshold }, log)
    return lines.join()
  }

  test.each([
    ['that one endpoint alone agrees with nobody', ['a'], 1, /nothing that is read of this chain is agreed/],
    ['that several URLs of one host agree with nobody', ['a', 'a'], 1, /nothing that is read/],
    ['that two stop when one is silent', ['a', 'b'], 2, /not priced while one of them is silent/],
    ['that a minority may be believed', ['a', 'b', 'c'], 1, /a minority/],
    ['of nothing with three and two', ['a', 'b', 'c'], 2, /^$/],
    ['of nothing with five and three', ['a', 'b', 'c', 'd', 'e'], 3, /^$/],
  ])('%s', (_name, hosts, threshold, line) => {
    expect(warnings(hosts, threshold)).toMatch(line)
  })
})
