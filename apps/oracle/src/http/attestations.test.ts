// The routes over scripted chains: what callers see, whatever they send.
import { type DepositFacts, UpstreamUnavailableError } from '@causeway/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { orderB, orderBSignature } from '../../../../packages/core/test/vectors/orders.ts'
import {
  paths,
  type TestApp,
  testApp,
  testKey,
  testPeerKey,
  withReader,
} from '../../test/fixtures/oracleApp.ts'
import { inputsB } from '../../test/fixtures/requests.ts'
import {
  depositB,
  depositFacts,
  depositTransaction,
  fillTransaction,
  paymentFacts,
  scriptedReader,
  world,
} from '../../test/fixtures/world.ts'
import type { PreparedQuorums } from '../peers/preparedQuorums.ts'

const deposit = { chainId: 'ethereum', transactionId: depositTransaction }
const fill = {
  order: orderB,
  orderSignature: orderBSignature,
  inputs: inputsB,
  fill: { transactionId: fillTransaction },
}
const scripts = {
  ethereum: { deposits: { [depositTransaction]: depositFacts([depositB]) } },
  base: { payments: { [fillTransaction]: paymentFacts() } },
}

let open: TestApp
beforeAll(async () => {
  open = await testApp({ context: world(scripts) })
})
afterAll(() => open.app.close())

function post(url: string, payload: object | string, headers: Record<string, string> = {}, to = open) {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload)
  return to.app.inject({
    method: 'POST',
    url,
    payload: body,
    headers: { 'content-type': 'application/json', ...headers },
  })
}

describe('an attestation', () => {
  test('of a deposit carries the published signatures over message and execution', async () => {
    const response = await post(paths.deposits, deposit)
    expect(response.statusCode).toBe(200)
    const { messages, execution } = response.json()
    const oracleSigner = '0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a'
    expect(messages[0].signatures).toEqual([
      {
        oracleSigner,
        signature:
          '0x2e639563ee00d7284978658449a3be56e95ab1622347b2ea19f959eddd6452463d957f72ecbd75a4b212ba6912050711eff0fb86650cd2806bc307df3e877c3b1c',
      },
    ])
    expect(execution.signatures).toEqual([
      {
        oracleChainId: '537713',
        oracleContract: '0x795f9464ee05a34fe1e18925ca4e4753dcd60058',
        oracleSigner,
        signature:
          '0xb040c92bb3ee60df2323f77c484268e3d07bea489c6e9cdee0a0281f9a631b6462b695604c8a6cc381a82a3d282369de1d17460edc4fae314cc5e713659fa8c41b',
      },
    ])
  })

  test('of a fill carries the published execution signature', async () => {
    const response = await post(paths.fills, fill)
    expect(response.json().execution.signatures[0].signature).toBe(
      '0x2a3f855baeb34695af4623fc5395e368cf62bbe76c64d67b72a1db3c6b3455366dca500239a9a385e098099b46da4aba9ebb005c680f9d17b0d4f4352d7b96d81b',
    )
  })

  test('ignores unknown fields and switches: the signed bytes stay the same', async () => {
    const plain = await post(paths.deposits, deposit)
    const more = await post(paths.deposits, {
      ...deposit,
      unknown: [1],
      mode: 'slow',
      requestPeerSignatures: true,
    })
    expect(more.json()).toEqual(plain.json())
  })

  test('shows its evidence on request, outside of what is signed', async () => {
    const { evidence, ...rest } = (await post(paths.deposits, { ...deposit, includeEvidence: true })).json()
    expect(evidence).toEqual([
      {
        chainId: 'ethereum',
        blockHash: `0x${'b1'.repeat(32)}`,
        blockNumber: '100',
        finalityRule: '10 blocks and 60 seconds',
        agreeingEndpoints: ['one'],
      },
    ])
    expect(rest).toEqual((await post(paths.deposits, deposit)).json())
  })

  test('in fast mode is refused', async () => {
    expect((await post(paths.deposits, { ...deposit, mode: 'fast' })).statusCode).toBe(400)
  })
})

describe('refusals', () => {
  test.each<[string, string, object | string, number, string]>([
    ['malformed JSON', paths.deposits, '{', 400, 'INVALID_REQUEST'],
    ['an empty body', paths.deposits, '', 400, 'INVALID_REQUEST'],
    ['a missing field', paths.deposits, { chainId: 'ethereum' }, 400, 'INVALID_REQUEST'],
    ['a wrong type', paths.deposits, { ...deposit, chainId: 5 }, 400, 'INVALID_REQUEST'],
    ['a __proto__ member', paths.deposits, '{"__proto__":{},"chainId":"ethereum"}', 400, 'INVALID_REQUEST'],
    ['a body of 70 KB', paths.deposits, { ...deposit, unknown: 'x'.repeat(70_000) }, 413, 'BODY_TOO_LARGE'],
    [
      'a body of 1.2 MB',
      paths.deposits,
      { ...deposit, unknown: 'x'.repeat(1_200_000) },
      413,
      'BODY_TOO_LARGE',
    ],
    ['an unknown chain', paths.deposits, { ...deposit, chainId: 'moon' }, 400, 'UNKNOWN_CHAIN'],
    [
      'a chain named constructor',
      paths.deposits,
      { ...deposit, chainId: 'constructor' },
      400,
      'UNKNOWN_CHAIN',
    ],
    ['a chain without endpoint', paths.deposits, { ...deposit, chainId: 'silent' }, 400, 'CHAIN_UNAVAILABLE'],
    [
      'a transaction id that is no hex',
      paths.deposits,
      { ...deposit, transactionId: 'no' },
      400,
      'INVALID_TRANSACTION_ID',
    ],
    [
      'a transaction that is not found',
      paths.deposits,
      { ...deposit, transactionId: `0x${'ef'.repeat(32)}` },
      400,
      'TRANSACTION_MISSING',
    ],
    [
      'an order on an unknown chain',
      paths.fills,
      { ...fill, order: { ...orderB, output: { ...orderB.output, chainId: 'moon' } } },
      400,
      'UNKNOWN_CHAIN',
    ],
    [
      'a salt that is no number',
      paths.fills,
      { ...fill, order: { ...orderB, salt: 'pepper' } },
      400,
      'INVALID_REQUEST',
    ],
    ['force without a key', paths.fills, { ...fill, force: true }, 401, 'FORCE_UNAUTHORIZED'],
    ['an unknown route', '/attestations/moon/v1', {}, 404, 'NOT_FOUND'],
  ])('%s', async (_what, url, body, status, errorCode) => {
    const response = await post(url, body)
    expect(response.statusCode).toBe(status)
    expect(response.json()).toMatchObject({ errorCode, statusCode: status, message: expect.any(String) })
    expect(response.headers['x-request-id']).toBeTruthy()
  })

  test('have an id, which the log names beside the one that the caller sent', async () => {
    const unknown = { ...deposit, transactionId: `0x${'ef'.repeat(32)}` }
    const response = await post(paths.deposits, unknown, { 'x-request-id': 'mine-1' })
    const line = open.lines.find((entry) => entry['clientRequestId'] === 'mine-1')
    expect(JSON.stringify(line ?? {})).toContain(`"${response.headers['x-request-id']}"`)
  })

  test('a form is 415', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await post(paths.deposits, 'a=b', headers)).statusCode).toBe(415)
  })

  test('hex in upper case is served with the same identifiers', async () => {
    const upper = { ...deposit, transactionId: `0x${'AA'.repeat(32)}` }
    expect((await post(paths.deposits, upper)).json()).toEqual((await post(paths.deposits, deposit)).json())
  })
})

describe('force', () => {
  const warnLevel = 40
  const forcedTotal = (metrics: string) =>
    Number(
      /^oracle_forced_attestations_total\{kind="fills",key="operator",service="oracle"\} (\d+)$/m.exec(
        metrics,
      )?.[1] ?? 0,
    )
  const scrape = (from: TestApp) => from.metrics.registry.metrics()

  test('is served with a valid key and written down with the label of the key', async () => {
    const before = forcedTotal(await scrape(open))
    const response = await post(paths.fills, { ...fill, force: true }, { 'x-api-key': testKey })
    expect(response.statusCode).toBe(200)
    const answered = open.lines.filter(({ event }) => event === 'force_answered').at(-1)
    expect(answered).toMatchObject({ level: warnLevel, keyLabel: 'operator', kind: 'fills' })
    expect(answered).toMatchObject({ payments: [fillTransaction] })
    expect(JSON.stringify(open.lines)).not.toContain(testKey)
    expect(forcedTotal(await scrape(open))).toBe(before + 1)
  })

  test('P-87: that a key of a peer asks for is refused and written down, on fills and refunds', async () => {
    const refund = { order: orderB, orderSignature: orderBSignature, inputs: inputsB, refunds: [] }
    for (const [path, body] of [
      [paths.fills, fill],
      [paths.refunds, refund],
    ] as const) {
      const response = await post(path, { ...body, force: true }, { 'x-api-key': testPeerKey })
      expect([response.statusCode, response.json().errorCode]).toEqual([401, 'FORCE_UNAUTHORIZED'])
    }
    const refused = open.lines.filter(({ event }) => event === 'force_refused')
    expect(refused.map(({ kind, keyLabel, level }) => [kind, keyLabel, level])).toEqual([
      ['fills', 'neighbour', warnLevel],
      ['refunds', 'neighbour', warnLevel],
    ])
    expect(JSON.stringify(open.lines)).not.toContain(testPeerKey)
    expect(await scrape(open)).toMatch(
      /^oracle_force_refused_total\{kind="refunds",reason="peer_key",service="oracle"\} 1$/m,
    )
  })

  test('P-87: that is off is refused to everybody, and what it changes is not', async () => {
    const off = await testApp({ context: world(scripts), allowsForce: false })
    for (const headers of [{}, { 'x-api-key': testKey }, { 'x-api-key': testPeerKey }]) {
      const response = await post(paths.fills, { ...fill, force: true }, headers, off)
      expect([response.statusCode, response.json()]).toEqual([
        400,
        expect.objectContaining({ errorCode: 'FORCE_DISABLED', errorData: expect.any(String) }),
      ])
    }
    expect((await post(paths.fills, { ...fill, force: false }, {}, off)).statusCode).toBe(200)
    await off.app.close()
  })

  test.each(Object.getOwnPropertyNames(Object.prototype))('the name %s is no key', async (name) => {
    const response = await post(paths.fills, { ...fill, force: true }, { 'x-api-key': name })
    expect(response.statusCode).toBe(401)
  })
})

describe('limits', () => {
  const limited = async (trustedProxies: readonly string[] = []) =>
    testApp({ context: world(scripts), rateLimit: { max: 2, windowMs: 60_000 }, trustedProxies })

  test('serve two requests per window without a valid key, then 429 with its headers', async () => {
    const to = await limited()
    const statuses: number[] = []
    for (const key of [undefined, 'unknown', 'constructor', '__proto__', undefined]) {
      const headers: Record<string, string> = key === undefined ? {} : { 'x-api-key': key }
      const response = await post(paths.deposits, deposit, headers, to)
      statuses.push(response.statusCode)
      expect(response.headers['x-ratelimit-limit']).toBe('2')
      if (response.statusCode !== 429) continue
      expect(Number(response.headers['retry-after'])).toBeGreaterThan(0)
      expect(response.json()).toMatchObject({ error: 'Rate limit exceeded', errorCode: 'RATE_LIMITED' })
    }
    expect(statuses).toEqual([200, 200, 429, 429, 429])
    await to.app.close()
  })

  test('hold whichever name of Object.prototype is sent as a key', async () => {
    const to = await limited()
    const statuses: number[] = []
    for (const name of Object.getOwnPropertyNames(Object.prototype)) {
      statuses.push((await post(paths.deposits, deposit, { 'x-api-key': name }, to)).statusCode)
    }
    expect(statuses).toEqual(statuses.map((_status, index) => (index < 2 ? 200 : 429)))
    await to.app.close()
  })

  test('count requests whose body is never read as valid', async () => {
    const to = await limited()
    for (const status of [400, 400, 429])
      expect((await post(paths.fills, '{', {}, to)).statusCode).toBe(status)
    await to.app.close()
  })

  test('do not hold the key of a peer either', async () => {
    const to = await limited()
    for (let count = 0; count < 5; count++) {
      const response = await post(paths.deposits, deposit, { 'x-api-key': testPeerKey }, to)
      expect([response.statusCode, response.headers['x-ratelimit-limit']]).toEqual([200, undefined])
    }
    await to.app.close()
  })

  test('do not hold a valid key, which carries no limit headers', async () => {
    const to = await limited()
    for (let count = 0; count < 5; count += 1) {
      const response = await post(paths.deposits, deposit, { 'x-api-key': testKey }, to)
      expect(response.statusCode).toBe(200)
      expect(response.headers).not.toHaveProperty('x-ratelimit-limit')
    }
    await to.app.close()
  })

  test('leave out liveness, readiness, the start page and the documentation, and nothing like them', async () => {
    const to = await limited()
    for (const url of [
      '/lives/v1',
      '/lives/ready/v1',
      '/',
      '/documentation',
      '/documentation/json',
      '/documentation/yaml',
      '/documentation/static/swagger-ui.css',
    ]) {
      for (let count = 0; count < 3; count += 1) {
        expect((await to.app.inject({ method: 'GET', url })).statusCode).toBeLessThan(400)
      }
    }
    for (const url of ['/lives/v2', '/documentation/nothing', '/documentation/static/nothing.js']) {
      for (let count = 0; count < 3; count += 1) {
        expect((await to.app.inject({ method: 'GET', url })).statusCode).toBe(404)
      }
    }
    const statuses = await Promise.all(
      ['/livesX', '/lives', '/chains/v1', '/documentationX'].map(async (url) => {
        const { statusCode } = await to.app.inject({ method: 'GET', url })
        return statusCode
      }),
    )
    expect(statuses.filter((status) => status === 429)).toHaveLength(2)
    await to.app.close()
  })

  test('are not escaped by a spoofed x-forwarded-for', async () => {
    const to = await limited()
    const statuses = []
    for (const address of ['1.1.1.1', '2.2.2.2', '3.3.3.3']) {
      statuses.push((await post(paths.deposits, deposit, { 'x-forwarded-for': address }, to)).statusCode)
    }
    expect(statuses).toEqual([200, 200, 429])
    await to.app.close()
  })

  test('tell clients apart behind a proxy that is trusted', async () => {
    const to = await limited(['127.0.0.1'])
    for (const address of ['1.1.1.1', '2.2.2.2', '3.3.3.3']) {
      const response = await post(paths.deposits, deposit, { 'x-forwarded-for': address }, to)
      expect(response.statusCode).toBe(200)
    }
    await to.app.close()
  })
})

describe('work', () => {
  /** A chain that answers when it is told to. */
  function gated(facts: DepositFacts = depositFacts([depositB])) {
    let release: () => void = () => undefined
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    let readings = 0
    const reader = scriptedReader('ethereum', {})
    return {
      readings: () => readings,
      release,
      reader: {
        ...reader,
        async readDeposits() {
          readings += 1
          await gate
          return facts
        },
      },
    }
  }

  test('of identical requests in flight is done once and signed once', async () => {
    const chain = gated()
    let signatures = 0
    const to = await testApp({
      context: withReader(world(scripts), chain.reader),
      signs: () => (signatures += 1),
    })
    const answers = Array.from({ length: 20 }, () => post(paths.deposits, deposit, {}, to))
    await expect.poll(() => chain.readings()).toBe(1)
    chain.release()
    const bodies = (await Promise.all(answers)).map((response) => response.body)
    expect(new Set(bodies).size).toBe(1)
    expect({ readings: chain.readings(), signatures }).toEqual({ readings: 1, signatures: 2 })
    await to.app.close()
  })

  test('for what is final is not done again', async () => {
    const chain = gated()
    chain.release()
    const to = await testApp({ context: withReader(world(scripts), chain.reader) })
    for (let count = 0; count < 3; count += 1) await post(paths.deposits, deposit, {}, to)
    expect(chain.readings()).toBe(1)
    expect(await to.metrics.registry.metrics()).toContain(
      'oracle_kept_answers_total{kind="deposits",service="oracle"} 2',
    )
    await to.app.close()
  })

  test('O-194: of a chain that is not configured counts under `other`', async () => {
    const to = await testApp({ context: world(scripts) })
    await post(paths.deposits, { ...deposit, chainId: 'moon' }, {}, to)
    expect(await to.metrics.registry.metrics()).toContain('chain="other",outcome="UNKNOWN_CHAIN"')
    await to.app.close()
  })

  test('counts as kept once, where what peers signed ahead is not enough', async () => {
    const prepared: PreparedQuorums = { prepare: async () => false, find: () => undefined }
    const to = await testApp({ context: world(scripts), prepared })
    for (let count = 0; count < 2; count += 1)
      await post(paths.deposits, { ...deposit, requestPeerSignatures: true }, {}, to)
    expect(await to.metrics.registry.metrics()).toContain(
      'oracle_kept_answers_total{kind="deposits",service="oracle"} 1',
    )
    await to.app.close()
  })

  test('for what is final is done again where nothing may be kept', async () => {
    const chain = gated()
    chain.release()
    const to = await testApp({ context: withReader(world(scripts), chain.reader), keptMax: 0 })
    for (let count = 0; count < 3; count += 1) await post(paths.deposits, deposit, {}, to)
    expect(chain.readings()).toBe(3)
    await to.app.close()
  })

  test('that is kept is not answered with any more when its chain is halted', async () => {
    const to = await testApp({ context: world(scripts) })
    expect((await post(paths.deposits, deposit, {}, to)).statusCode).toBe(200)
    const changed = { ...depositFacts([depositB]).evidence, blockHash: `0x${'ee'.repeat(32)}` } as const
    expect(() => to.watch.observe([changed])).toThrow(/halted/)
    const response = await post(paths.deposits, deposit, {}, to)
    expect(response.statusCode).toBe(503)
    expect(response.headers['retry-after']).toBe('60')
    expect(response.json()).toMatchObject({ errorCode: 'CHAIN_HALTED' })
    await to.app.close()
  })

  test('P-21: that is kept, and what peers signed ahead, end with the agreement on the head of its chain', async () => {
    const clock = { nowMs: 0 }
    let isSilent = false
    const verify = async () => {
      if (isSilent) throw new UpstreamUnavailableError('silent', { code: 'RPC_HTTP_ERROR' })
      return []
    }
    const prepared: PreparedQuorums = {
      prepare: async () => true,
      find: ({ own }) => ({ response: own, matched: 2, required: 2 }),
    }
    const to = await testApp({
      context: world(scripts),
      prepared,
      now: () => clock.nowMs,
      watched: [{ id: 'ethereum', verify, finalBlocks: () => undefined }],
    })
    const ask = async (requestPeerSignatures: boolean) => {
      const response = await post(paths.deposits, { ...deposit, requestPeerSignatures }, {}, to)
      return [response.statusCode, response.headers['x-quorum-matched'], response.json().errorCode]
    }
    await ask(false)
    expect([await ask(false), await ask(true)]).toEqual([
      [200, undefined, undefined],
      [200, '2', undefined],
    ])
    isSilent = true
    clock.nowMs = 30_001
    await to.watch.check()
    const refused = [503, undefined, 'RPC_HTTP_ERROR']
    expect([await ask(false), await ask(true)]).toEqual([refused, refused])
    isSilent = false
    expect([await ask(false), await ask(true)]).toEqual([
      [200, undefined, undefined],
      [200, '2', undefined],
    ])
    await to.app.close()
  })

  test('P-90: that takes too long ends as a retryable 503', async () => {
    const chain = gated()
    const to = await testApp({ context: withReader(world(scripts), chain.reader), deadlineMs: 50 })
    const response = await post(paths.deposits, deposit, {}, to)
    expect(response.statusCode).toBe(503)
    expect(response.json()).toMatchObject({ errorCode: 'REQUEST_TIMED_OUT', retryable: true })
    expect(response.headers['retry-after']).toBe('1')
    chain.release()
    await to.app.close()
  })

  test('beyond its bound is refused at once, and taken again when there is room', async () => {
    const chain = gated()
    const to = await testApp({ context: withReader(world(scripts), chain.reader), inFlightMax: 1 })
    const first = post(paths.deposits, deposit, {}, to)
    await expect.poll(() => chain.readings()).toBe(1)
    const other = { ...deposit, transactionId: `0x${'ab'.repeat(32)}` }
    const refused = await post(paths.deposits, other, {}, to)
    expect(refused.statusCode).toBe(503)
    expect(refused.json()).toMatchObject({ errorCode: 'OVERLOADED', retryable: true })
    chain.release()
    expect((await first).statusCode).toBe(200)
    expect((await post(paths.deposits, other, {}, to)).statusCode).toBe(200)
    await to.app.close()
  })
})

describe('discovery', () => {
  test('lists every chain, ready or not, without asking one', async () => {
    const response = await open.app.inject({ method: 'GET', url: '/chains/v1' })
    expect(response.json().chains[0]).toEqual({
      id: 'ethereum',
      vmType: 'ethereum-vm',
      hubChainId: '1',
      ready: true,
      halted: false,
    })
  })

  test('answers liveness and readiness', async () => {
    expect((await open.app.inject({ method: 'GET', url: '/lives/v1' })).json()).toEqual({ status: 'ok' })
    const ready = await open.app.inject({ method: 'GET', url: '/lives/ready/v1' })
    expect(ready.json()).toMatchObject({ ready: true })
  })

  test('describes every route with its schemas', async () => {
    const description = (await open.app.inject({ method: 'GET', url: '/documentation/json' })).json()
    const { paths: described, components } = description
    const named = (reference: string) => components.schemas[reference.replace(/.*\//, '')]
    expect(Object.keys(described).sort()).toEqual(
      [
        ...Object.values(paths),
        ...[paths.initiation, paths.initiated].map((path) => path.replace('v1', 'v2')),
        ...['/chains/v1', '/lives/ready/v1', '/lives/v1'],
      ].sort(),
    )
    for (const path of Object.values(paths)) {
      const { post: route } = described[path]
      const { schema, examples } = route.requestBody.content['application/json']
      const body = named(schema.$ref)
      const member = ['chainId', 'order', 'solverChainId', 'walletChainId'].find(
        (name) => name in body.properties,
      )
      expect(body.required).toContain(member)
      expect(examples.published.value).toBeTruthy()
      const answer = named(route.responses['200'].content['application/json'].schema.$ref)
      expect(answer.properties).toBeTruthy()
      expect(Object.keys(route.responses)).toEqual(expect.arrayContaining(['400', '401', '429', '503']))
    }
  })
})
