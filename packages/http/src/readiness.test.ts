import { UpstreamUnavailableError } from '@causeway/core'
import { expect, test } from 'vitest'
import { createReadiness } from './readiness.ts'

const holds = { name: 'database', check: async () => {} }

test('ready when every check holds', async () => {
  expect(await createReadiness({ checks: [holds] }).report()).toEqual({
    ready: true,
    draining: false,
    checks: { database: 'ok' },
  })
})

test('a failing, throwing or late check makes it not ready and is told to the operator', async () => {
  const told: string[] = []
  const readiness = createReadiness({
    timeoutMs: 20,
    checks: [
      holds,
      { name: 'rejects', check: async () => Promise.reject(new Error('secret')) },
      {
        name: 'throws',
        check: () => {
          throw new Error('secret')
        },
      },
      { name: 'hangs', check: () => new Promise(() => {}) },
    ],
    onFailure: (name) => told.push(name),
  })
  const report = await readiness.report()
  expect(report).toEqual({
    ready: false,
    draining: false,
    checks: { database: 'ok', rejects: 'failed', throws: 'failed', hangs: 'failed' },
  })
  expect(told.sort()).toEqual(['hangs', 'rejects', 'throws'])
})

test('O-22: a check that is shown only fails visibly and takes no traffic away', async () => {
  const check = async () =>
    Promise.reject(new UpstreamUnavailableError('away', { code: 'DATABASE_STARTING' }))
  const checks = [holds, { name: 'shared', check, isShownOnly: true }]
  expect(await createReadiness({ checks }).report()).toEqual({
    ready: true,
    draining: false,
    checks: { database: 'ok', shared: 'failed' },
    reasons: { shared: 'DATABASE_STARTING' },
  })
})

test('O-59: an age that a check knows is shown, also of one that fails', async () => {
  const silent = new UpstreamUnavailableError('silent', { code: 'JOBS_SILENT', data: { ageSeconds: 31 } })
  const checks = [
    { name: 'recent', check: async () => 1.4 },
    { name: 'old', check: async () => Promise.reject(silent) },
  ]
  expect(await createReadiness({ checks }).report()).toMatchObject({
    ready: false,
    agesSeconds: { recent: 1, old: 31 },
    reasons: { old: 'JOBS_SILENT' },
  })
})

test('a check recovers', async () => {
  let broken = true
  const readiness = createReadiness({
    checks: [{ name: 'x', check: async () => (broken ? Promise.reject(new Error('no')) : undefined) }],
  })
  expect((await readiness.report()).ready).toBe(false)
  broken = false
  expect((await readiness.report()).ready).toBe(true)
})

test('once draining it is never ready again', async () => {
  const readiness = createReadiness({ checks: [holds] })
  readiness.startDraining()
  expect(readiness.isDraining()).toBe(true)
  expect(await readiness.report()).toEqual({ ready: false, draining: true, checks: { database: 'ok' } })
})
