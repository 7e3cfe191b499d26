// Goal: nobody can set a port that clients refuse to ask. Method: each setting of each service and of the local network, and
// the list itself, held against the `fetch` of this Node.

import { listenPort, portsRefusedByFetch } from '@causeway/core/config'
import { expect, test } from 'vitest'
import { examineAllocator } from '../../apps/allocator/src/compose/examine.ts'
import { examineOwnOracle } from '../../apps/oracle/src/compose/examine.ts'
import { examineQuoteApi } from '../../apps/quote-api/src/compose/examine.ts'
import { examineSolver } from '../../apps/solver/src/compose/examine.ts'
import { readPlaces } from '../start/options.ts'
import { root } from './writeJson.ts'

const listeners = {
  'quote-api': { examine: examineQuoteApi, settings: ['HTTP_PORT', 'PORT', 'OPS_PORT', 'ADMIN_PORT'] },
  oracle: { examine: examineOwnOracle, settings: ['HTTP_PORT', 'PORT', 'OPS_PORT'] },
  solver: { examine: examineSolver, settings: ['OPS_PORT'] },
  allocator: { examine: examineAllocator, settings: ['OPS_PORT'] },
}
const refused = 'must be another port, because fetch and browsers refuse to ask this one'

const each = Object.entries(listeners).flatMap(([service, { examine, settings }]) =>
  settings.map((setting) => ({ service, setting, examine })),
)

test.each(each)('O-30: $setting of $service is no port that fetch refuses', async ({ setting, examine }) => {
  const variables = { ENVIRONMENT: 'local', [setting]: '6000' }
  const findings = await examine(variables, { repositoryRoot: root, nowMs: Date.now, scope: 'settings' })
  expect(findings.filter((one) => one.setting === setting)).toMatchObject([
    { code: 'setting-wrong', severity: 'stops', seen: `is "6000" and ${refused}` },
  ])
})

test.each(['CAUSEWAY_QUOTE_PORT', 'CAUSEWAY_ORACLE_PORT', 'CAUSEWAY_CHAIN_PORT'])(
  'O-30: %s is no port that fetch refuses',
  (setting) => {
    const parse = () => readPlaces({ [setting]: '6000' }, root)
    expect(parse).toThrow(refused)
    expect(parse).toThrow(setting)
  },
)

/** `undefined` where nothing listens, which is another failure. */
async function refusalOf(port: number): Promise<string | undefined> {
  const failure: unknown = await fetch(`http://127.0.0.1:${port}`).then(
    () => undefined,
    (error: unknown) => error,
  )
  const cause = failure instanceof Error && failure.cause instanceof Error ? failure.cause.message : undefined
  return cause === 'bad port' ? cause : undefined
}

test('O-30: the list is that of fetch', async () => {
  const neighbours = [...portsRefusedByFetch].flatMap((port) => [port - 1, port, port + 1])
  const asked = [...new Set(neighbours)].filter((port) => port > 0)
  const bad = await Promise.all(asked.map(async (port) => ((await refusalOf(port)) ? [port] : [])))
  expect(new Set(bad.flat())).toEqual(portsRefusedByFetch)
  for (const port of [0, 80, 3000, 5999, 6001, 8545]) expect(listenPort.parse(String(port))).toBe(port)
})
