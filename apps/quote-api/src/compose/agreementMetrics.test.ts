import { createHttpMetrics } from '@causeway/http'
import { describe, expect, test } from 'vitest'
import { createAgreementMetrics, warnOfFewVoices } from './agreementMetrics.ts'

test('metrics show how many agreed, and which endpoint dissented how often', async () => {
  const metrics = createHttpMetrics({ service: 'test' })
  const report = createAgreementMetrics(metrics)
  const said = { agreed: 2, required: 2, configured: 3, dissenting: ['rpc.example#1'] }
  report('base', 'state', said)
  report('base', 'state', said)
  const text = await metrics.registry.metrics()
  expect(text).toMatch(/market_endpoints_agreed\{.*on="state".*\} 2\n/)
  expect(text).toMatch(/market_endpoints_required\{.*\} 2\n/)
  expect(text).toMatch(/market_endpoint_dissents_total\{.*endpoint="rpc.example#1".*\} 2\n/)
})

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
