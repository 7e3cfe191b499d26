// Resources and their fields, states, and the endpoints.
import { beforeAll, describe, expect, test } from 'vitest'
import { ask, isSignedBy, stranger, withKey } from '../support/attesting.ts'
import {
  type Description,
  operationOf,
  readDescription,
  requestSchema,
} from '../support/interfaceDescription.ts'
import type { Story } from '../support/oracleStory.ts'
import type { OracleWorld } from '../support/oracleWorld.ts'

export function describeResources(at: () => OracleWorld, story: () => Story): void {
  test('O-resource-01: one chain is listed per enabled chain', async () => {
    const { status, body } = await ask(at().first, '/chains/v1')
    expect(status).toBe(200)
    const ids = body.chains.map(({ id }: { id: string }) => id)
    expect([new Set(ids).size, ids]).toEqual([7, expect.arrayContaining(['base', 'solana', 'lighter'])])
    for (const chain of body.chains)
      expect(chain).toMatchObject({
        id: expect.any(String),
        vmType: expect.any(String),
        ready: expect.any(Boolean),
      })
  })

  test('O-resource-02: health is an object whose status is ok', async () => {
    const { status, body } = await ask(at().first, '/lives/v1')
    expect([status, body]).toMatchObject([200, { status: 'ok' }])
  })

  test.each(['deposit', 'executed', 'fill', 'refund'] as const)(
    'O-resource-03: an attestation has a payload, a signing domain and arrays of signatures: a %s',
    (name) => {
      const { message, messages = [message], execution } = story()[name].answer.body
      expect(messages[0]).toMatchObject({ data: {}, result: {}, signatures: [{}, {}] })
      expect(execution).toMatchObject({ idempotencyKey: expect.any(String), actions: [expect.any(String)] })
      for (const { oracleChainId, oracleContract, oracleSigner, signature } of execution.signatures) {
        expect([oracleChainId, oracleContract]).toEqual([
          String(at().network.chains.hub.chainId),
          at().network.deployment.hub.oracle.toLowerCase(),
        ])
        expect([oracleSigner, signature]).toEqual([
          expect.stringMatching(/^0x[0-9a-f]{40}$/),
          expect.stringMatching(/^0x[0-9a-f]{130}$/),
        ])
      }
    },
  )
}

export function describeStates(at: () => OracleWorld, story: () => Story): void {
  test('O-resource-05: no state is kept: an oracle that was never asked answers what another did', async () => {
    const { path, body } = story().deposit
    const [one, other] = [await ask(at().first, path, body), await ask(at().open, path, body)]
    expect(one.body.execution.idempotencyKey).toBe(other.body.execution.idempotencyKey)
    expect([isSignedBy(at(), path, one, at().first), isSignedBy(at(), path, other, at().open)]).toEqual([
      true,
      true,
    ])
  })
}

const attestations = [
  ...['depository-deposits', 'depository-withdrawals', 'solver-fills', 'solver-refunds'],
  ...['withdrawal-initiation', 'withdrawal-initiated'],
].map((name) => `/attestations/${name}/v1`)
const forced = ['/attestations/solver-fills/v1', '/attestations/solver-refunds/v1']

export function describeEndpoints(at: () => OracleWorld, story: () => Story): void {
  let description: Description
  beforeAll(async () => {
    description = await readDescription(at().first.url)
  })
  const answered = (name: keyof Story) => [story()[name].path, story()[name].answer.status]

  test('O-route-01: GET /lives/v1 answers health', async () => {
    expect(await ask(at().first, '/lives/v1', undefined, {})).toMatchObject({
      status: 200,
      body: { status: 'ok' },
    })
  })

  test('O-route-02: GET /chains/v1 lists the enabled chains', async () => {
    const { status, body } = await ask(at().open, '/chains/v1')
    expect([status, body.chains.length]).toEqual([200, 7])
  })

  test('O-route-03: GET /documentation is a page, and holds the exact schemas', async () => {
    const page = await ask(at().first, '/documentation')
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching(/^text\/html/),
    ])
    for (const path of attestations) {
      const { properties = {}, required = [] } = requestSchema(description, 'POST', path)
      expect(required.length, path).toBeGreaterThan(0)
      expect(Object.keys(properties)).toEqual(expect.arrayContaining([...required]))
      expect(Object.keys(operationOf(description, 'POST', path).responses)).toEqual(
        expect.arrayContaining(['200', '400']),
      )
    }
  })

  test.each([
    ['O-route-04', 'deposit', 'depository-deposits'],
    ['O-route-05', 'executed', 'depository-withdrawals'],
    ['O-route-06', 'fill', 'solver-fills'],
    ['O-route-07', 'refund', 'solver-refunds'],
    ['O-route-08', 'initiation', 'withdrawal-initiation'],
    ['O-route-09', 'initiated', 'withdrawal-initiated'],
  ] as const)('%s: a %s is attested at POST /attestations/%s/v1', (_id, name, route) => {
    expect(answered(name)).toEqual([`/attestations/${route}/v1`, 200])
  })

  test.each(attestations)('O-route-10: %s takes requestPeerSignatures, a boolean', async (path) => {
    expect(requestSchema(description, 'POST', path).properties).toMatchObject({
      requestPeerSignatures: { type: 'boolean' },
    })
    const { body = {} } = Object.values(story()).find((told) => told.path === path) ?? {}
    for (const requestPeerSignatures of ['true', 1, null]) {
      const answer = await ask(at().first, path, { ...body, requestPeerSignatures })
      expect([answer.status, answer.body.message]).toEqual([
        400,
        expect.stringContaining('requestPeerSignatures'),
      ])
    }
  })

  test('O-route-10: force is taken by fills and refunds, and by no other route', () => {
    const taking = attestations.filter(
      (path) => 'force' in (requestSchema(description, 'POST', path).properties ?? {}),
    )
    expect(taking).toEqual(forced)
  })

  test.each(forced)('O-route-10: %s takes force, a boolean', async (path) => {
    expect(requestSchema(description, 'POST', path).properties).toMatchObject({ force: { type: 'boolean' } })
    const { body = {} } = Object.values(story()).find((told) => told.path === path) ?? {}
    const answer = await ask(at().first, path, { ...body, force: 'yes' })
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining('force')])
  })

  describe('force', () => {
    const unpaid: Readonly<Record<string, object>> = {
      '/attestations/solver-fills/v1': { fill: { transactionId: `0x${'7'.repeat(64)}` } },
      '/attestations/solver-refunds/v1': {
        refunds: [{ transactionId: `0x${'7'.repeat(64)}`, inputIndex: 0, refundIndex: 0 }],
      },
    }
    test.each(forced)('O-route-10: %s requires a valid key for it', async (path) => {
      const { body } = path === forced[0] ? story().fill : story().refund
      const question = { ...body, ...unpaid[path] }
      expect((await ask(at().first, path, question)).status).toBe(400)
      for (const headers of [{}, { 'x-api-key': 'nobody has it' }]) {
        const refusal = await ask(
          at().first,
          path,
          { ...question, force: true },
          { ...headers, ...stranger() },
        )
        expect(refusal.status).toBe(401)
      }
      const answer = await ask(at().first, path, { ...question, force: true }, withKey)
      expect([answer.status, isSignedBy(at(), path, answer, at().first)]).toEqual([200, true])
    })
  })
}
