import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  afterCutShort,
  afterFailure,
  afterHead,
  afterSend,
  afterSuccess,
  askingOrder,
  availability,
  type HealthState,
  initialHealth,
  isLagging,
  pauseMs,
  referenceHead,
} from './endpointHealth.ts'

const hung = { reason: 'timeout' } as const

function failing(times: number, nowMs: number, from: HealthState = initialHealth): HealthState {
  return Array.from({ length: times }).reduce<HealthState>(
    (state) => afterFailure(afterSend(state), hung, nowMs),
    from,
  )
}

describe('the breaker', () => {
  test('opens at the fifth failure in a row and not at the fourth', () => {
    expect(availability(failing(4, 0), 0)).toBe('ready')
    expect(availability(failing(5, 0), 0)).toBe('closed')
  })

  test('starts counting again after a success', () => {
    const mended = afterSuccess(failing(4, 0), 10)
    expect(availability(failing(4, 0, mended), 0)).toBe('ready')
  })

  test('lets one probe through after the pause, and no second one beside it', () => {
    const open = failing(5, 0)
    expect([availability(open, 999), availability(open, 1_000)]).toEqual(['closed', 'probe'])
    expect(availability(afterSend(open), 1_000)).toBe('closed')
  })

  test('closes when the probe succeeds and doubles the pause when it fails, up to 8 s', () => {
    const open = failing(5, 0)
    expect(availability(afterSuccess(afterSend(open), 5), 1_000)).toBe('ready')
    const pauses: number[] = []
    let state = open
    let nowMs = 0
    for (let round = 0; round < 6; round += 1) {
      pauses.push(pauseMs(state, nowMs))
      nowMs += pauseMs(state, nowMs)
      state = afterFailure(afterSend(state), hung, nowMs)
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 8_000, 8_000])
  })

  test('is not held open longer by calls that were already out', () => {
    const open = failing(5, 0)
    const late = afterFailure(afterFailure(open, hung, 900), hung, 950)
    expect(availability(late, 1_000)).toBe('probe')
  })

  test('starts the same pause again when the caller gives the probe up', () => {
    const open = failing(5, 0)
    expect(pauseMs(afterCutShort(afterSend(open), 50, 1_000), 1_000)).toBe(1_000)
  })

  test('allows at most one probe per pause, whatever happens', () => {
    const event = fc.constantFrom('send', 'success', 'failure', 'cut', 'limited')
    fc.assert(
      fc.property(fc.array(fc.tuple(event, fc.nat(500))), (events) => {
        let state = failing(5, 0)
        let nowMs = 0
        let lastProbeAtMs = Number.NEGATIVE_INFINITY
        for (const [kind, waitedMs] of events) {
          nowMs += waitedMs
          if (kind === 'success') state = failing(5, nowMs, afterSuccess(state, 5))
          if (kind === 'success') lastProbeAtMs = Number.NEGATIVE_INFINITY
          if (kind === 'failure') state = afterFailure(state, hung, nowMs)
          if (kind === 'cut') state = afterCutShort(state, 20, nowMs)
          if (kind === 'limited') state = afterFailure(state, { reason: 'rate_limited' }, nowMs)
          if (kind !== 'send' || availability(state, nowMs) !== 'probe') continue
          expect(nowMs - lastProbeAtMs).toBeGreaterThanOrEqual(1_000)
          lastProbeAtMs = nowMs
          state = afterSend(state)
        }
      }),
    )
  })
})

describe('the cool-down', () => {
  test('lasts as long as the endpoint asked for and counts as no failure', () => {
    const cooling = afterFailure(initialHealth, { reason: 'rate_limited', retryAfterMs: 3_000 }, 0)
    expect([availability(cooling, 2_999), availability(cooling, 3_000)]).toEqual(['closed', 'ready'])
    expect(cooling.consecutiveFailures).toBe(0)
  })

  test('lasts a second without a hint, and never no time at all', () => {
    expect(pauseMs(afterFailure(initialHealth, { reason: 'rate_limited' }, 0), 0)).toBe(1_000)
    const zero = afterFailure(initialHealth, { reason: 'rate_limited', retryAfterMs: 0 }, 0)
    expect(pauseMs(zero, 0)).toBe(100)
  })

  test('follows a 503 that names a time, which is a failure as well', () => {
    const state = afterFailure(initialHealth, { reason: 'http_status', retryAfterMs: 2_000 }, 0)
    expect([pauseMs(state, 0), state.consecutiveFailures]).toEqual([2_000, 1])
  })
})

describe('heads', () => {
  test.each([
    [[], undefined],
    [[5n], 5n],
    [[5n, 9n], 9n],
    [[5n, 9n, 1_000_000n], 9n],
    [[9n, 9n, 2n, 9n], 9n],
  ])('of %s are compared with %s', (heads, expected) => {
    expect(referenceHead(heads)).toBe(expected)
  })

  test('an endpoint lags above the allowed distance, and not while its head is unknown', () => {
    const at = (head: bigint) => afterHead(initialHealth, head)
    expect(isLagging(at(95n), 100n, 5)).toBe(false)
    expect(isLagging(at(94n), 100n, 5)).toBe(true)
    expect(isLagging(initialHealth, 100n, 5)).toBe(false)
    expect(isLagging(at(1n), undefined, 5)).toBe(false)
  })
})

describe('askingOrder', () => {
  const endpoint = (latencyMs: number | undefined, at: 'ready' | 'probe' | 'closed' = 'ready') => ({
    state: { ...initialHealth, latencyMs },
    availability: at,
  })

  test.each([
    ['keeps the configured order among similar latencies', [endpoint(30), endpoint(20)], [0, 1]],
    ['puts a clearly slower one behind', [endpoint(300), endpoint(20)], [1, 0]],
    ['sorts the slower ones by latency', [endpoint(300), endpoint(200), endpoint(5)], [2, 1, 0]],
    ['asks an unmeasured one in its place', [endpoint(undefined), endpoint(1)], [0, 1]],
    ['leaves the probe to the end', [endpoint(1, 'probe'), endpoint(500)], [1, 0]],
    ['uses a probe when nothing else is left', [endpoint(1, 'probe'), endpoint(1, 'closed')], [0]],
    ['leaves out what is closed', [endpoint(1, 'closed')], []],
  ])('%s', (_name, endpoints, order) => {
    expect(askingOrder(endpoints)).toEqual(order)
  })
})
