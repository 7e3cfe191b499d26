// Goal: whoever looks at metrics while something is broken sees the rest. Adversary: a database that is away, an
// endpoint that fails or lies, and callers who want to make series.

import { createHttpMetrics, watchPool, watchSeries } from '@causeway/http'
import { expect, test } from 'vitest'
import { createEndpointMetrics } from './endpointWatch.ts'
import { createAgreementMetrics, watchMarket } from './marketWatch.ts'
import { createServiceMetrics } from './serviceMetrics.ts'

const bare = () => createHttpMetrics({ service: 'test' })

test('O-196: a reading that fails leaves its own series out and no other, and they are back with it', async () => {
  const { registry } = bare()
  let isAway = false
  watchSeries(registry, { name: 'from_database', help: 'Read', labelNames: ['of'] }, async () => {
    if (isAway) throw new Error('away')
    return [{ labels: { of: 'it' }, value: 7 }]
  })
  watchSeries(registry, { name: 'single', help: 'Read', labelNames: [] }, () => {
    if (isAway) throw new Error('away')
    return [{ labels: {}, value: 8 }]
  })
  watchSeries(registry, { name: 'in_memory', help: 'Read', labelNames: [] }, () => [{ labels: {}, value: 9 }])
  const shown = async () =>
    (await registry.metrics()).split('\n').filter((line) => /^[^#]/.test(line) && !/^(http|log)_/.test(line))
  const whole = [
    'from_database{of="it",service="test"} 7',
    'single{service="test"} 8',
    'in_memory{service="test"} 9',
  ]
  expect(await shown()).toEqual(whole)
  isAway = true
  expect(await shown()).toEqual(['in_memory{service="test"} 9'])
  isAway = false
  expect(await shown()).toEqual(whole)
})

test('a reading that hangs leaves out its own series alone, and is not begun again meanwhile', async () => {
  const { registry } = bare()
  let begun = 0
  let release: () => void = () => undefined
  watchSeries(registry, { name: 'from_database', help: 'Read', labelNames: [] }, () => {
    begun += 1
    return new Promise((resolve) => {
      release = () => resolve([{ labels: {}, value: 7 }])
    })
  })
  watchSeries(registry, { name: 'in_memory', help: 'Read', labelNames: [] }, () => [{ labels: {}, value: 9 }])
  const shown = (text: string, name: string) => new RegExp(`^${name}\\{.*\\} (.*)$`, 'm').exec(text)?.[1]
  for (const _scrape of [1, 2]) {
    const text = await registry.metrics()
    expect([shown(text, 'from_database'), shown(text, 'in_memory')]).toEqual([undefined, '9'])
  }
  expect(begun).toBe(1)
  const scrape = registry.metrics()
  release()
  expect(shown(await scrape, 'from_database')).toBe('7')
  expect(begun).toBe(1)
})

test('no gauge of the process is named like a counter', async () => {
  const text = await createServiceMetrics('test').registry.metrics()
  expect(text).toContain('process_resident_memory_bytes')
  expect(text).not.toMatch(/^# TYPE \S+_total (?!counter)/m)
})

test('metrics show how many agreed, and which endpoint dissented how often', async () => {
  const metrics = bare()
  const report = createAgreementMetrics(metrics)
  const said = { agreed: 2, required: 2, configured: 3, dissenting: ['rpc.example#1'] }
  report('base', 'state', said)
  report('base', 'state', said)
  const text = await metrics.registry.metrics()
  expect(text).toMatch(/market_endpoints_agreed\{.*on="state".*\} 2\n/)
  expect(text).toMatch(/market_endpoints_required\{.*\} 2\n/)
  expect(text).toMatch(/market_endpoint_dissents_total\{.*endpoint="rpc.example#1".*\} 2\n/)
})

test('an endpoint is counted by what became of each question, and timed where it answered', async () => {
  const metrics = bare()
  const observer = createEndpointMetrics(metrics)('base', 'rpc.example#1')
  observer.exchanged(0.02, undefined)
  observer.exchanged(3, 'timeout')
  observer.exchanged(3, 'timeout')
  observer.outvoted()
  const text = await metrics.registry.metrics()
  const of = 'chain="base",endpoint="rpc.example#1"'
  expect(text).toContain(`chain_endpoint_requests_total{${of},outcome="answered",service="test"} 1`)
  expect(text).toContain(`chain_endpoint_requests_total{${of},outcome="timeout",service="test"} 2`)
  expect(text).toContain(`chain_endpoint_answer_duration_seconds_count{service="test",${of}} 1`)
  expect(text).toContain(`chain_endpoint_outvoted_total{${of},service="test"} 1`)
})

test('a market shows prices, their sources and heads; what has no value yet has no series', async () => {
  const metrics = bare()
  let readings = 0
  watchMarket(metrics, () => {
    readings += 1
    return {
      prices: [
        {
          key: 'ETH/USD',
          confidence: 'degraded',
          spreadBps: '25',
          sources: [
            { source: 'feed base 0x1', state: 'fresh', ageMs: 12_000, readAgeMs: 1_500 },
            { source: 'pyth', state: 'faulty' },
          ],
        },
        { key: 'USDC/USD', confidence: 'refused', sources: [] },
      ],
      chains: [
        {
          chain: 'base',
          quotable: true,
          state: 'ok',
          readAgeMs: 250,
          consecutiveFailures: 0,
          head: { number: '77', ageMs: -100 },
        },
        { chain: 'feeds', quotable: false, state: 'no_data', consecutiveFailures: 3 },
      ],
    }
  })
  const text = await metrics.registry.metrics()
  const value = (series: string) =>
    text
      .split('\n')
      .find((line) => line.startsWith(series))
      ?.split(' ')
      .at(-1)
  expect(value('market_price_confidence{price="ETH/USD",confidence="degraded"')).toBe('1')
  expect(value('market_price_confidence{price="ETH/USD",confidence="fresh"')).toBe('0')
  expect(value('market_price_confidence{price="USDC/USD",confidence="refused"')).toBe('1')
  expect(value('market_price_sources_fresh{price="ETH/USD"')).toBe('1')
  expect(value('market_price_spread_ratio{price="ETH/USD"')).toBe('0.0025')
  expect(value('market_price_spread_ratio{price="USDC/USD"')).toBe('Nan')
  expect(value('market_price_source_age_seconds{price="ETH/USD",source="feed base 0x1"')).toBe('12')
  expect(value('market_price_source_read_age_seconds{price="ETH/USD",source="pyth"')).toBeUndefined()
  expect(value('market_chain_state{chain="base",state="ok"')).toBe('1')
  expect(text).not.toMatch(/market_chain_state\{chain="feeds"/)
  expect(value('market_head_block{chain="base"')).toBe('77')
  expect(value('market_head_age_seconds{chain="base"')).toBe('-0.1')
  expect(value('market_read_age_seconds{chain="base"')).toBe('0.25')
  expect(value('market_refresh_failures{chain="feeds"')).toBe('3')
  expect(readings).toBe(1)
})

test('a pool shows what is in use and what waits, as it is when asked', async () => {
  const metrics = bare()
  let usage = { inUse: 1, waiting: 0, limit: 6 }
  watchPool(metrics, () => usage)
  usage = { inUse: 6, waiting: 4, limit: 6 }
  const text = await metrics.registry.metrics()
  expect(text).toContain('database_pool_connections_in_use{service="test"} 6')
  expect(text).toContain('database_pool_waiting{service="test"} 4')
  expect(text).toContain('database_pool_connections_max{service="test"} 6')
})
