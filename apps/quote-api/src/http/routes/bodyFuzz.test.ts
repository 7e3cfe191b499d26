// Goal: no body makes the service fail. Near-valid bodies with hostile members and raw bytes, over every
// route that takes a body: each answer is below 500 and has the documented error shape.
import { feeComponents } from '@causeway/core'
import type { HttpApp } from '@causeway/http'
import { describedOperations } from '@causeway/localnet'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testApp } from '../../../test/fixtures/app.ts'
import { checkErrorData } from '../../../test/fixtures/errorDataForms.ts'
import {
  chainA,
  chainB,
  marketWithPools,
  native,
  recipient,
  tide,
  usdc,
  usdx,
  user,
  weth,
} from '../../../test/fixtures/market.ts'
import { linkedKey, testSponsor } from '../../../test/fixtures/sponsor.ts'

const runs = process.env['CAUSEWAY_FAULTS'] === '1' ? 10_000 : 1_000
let app: HttpApp

beforeAll(async () => {
  app = await testApp({
    market: { current: marketWithPools() },
    takeCalls: async () => {},
    ...testSponsor(10n ** 30n),
  })
})
afterAll(() => app.close())

const valid: Record<string, unknown> = {
  user,
  recipient,
  originChainId: chainA,
  destinationChainId: chainB,
  originCurrency: usdc,
  destinationCurrency: native,
  amount: '100000000',
  tradeType: 'EXACT_INPUT',
}

const hostileText = fc.oneof(
  fc.string({ maxLength: 200 }),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    '\u0000',
    '0x',
    '-0',
    'NaN',
    '1e999',
    '\ud800',
    '9'.repeat(78),
  ),
  fc.bigInt({ min: 0n, max: 2n ** 256n }).map(String),
  fc.constantFrom(native, usdc, weth, usdx, tide, user),
)
const hostile = fc.oneof(
  { weight: 4, arbitrary: hostileText },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown> },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(null, true, false, -1, 0, 1.5, 2 ** 53, Number.MAX_VALUE),
  },
)
/** Mostly absent: every hostile part refuses a body, and some bodies must get past validation. */
function sometimes<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })
}

const call = fc.record({
  to: fc.oneof(fc.constant(user), hostile),
  value: fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 256n }).map(String), hostile),
  data: fc.oneof(
    fc.uint8Array({ maxLength: 64 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`),
    hostile,
  ),
})

/** A valid body with some members replaced, added or dropped. */
const nearValid = fc
  .record({
    changes: fc.dictionary(
      fc.constantFrom(
        ...Object.keys(valid),
        'slippageTolerance',
        'refundTo',
        'topupGas',
        'topupGasAmount',
        'usePermit',
        'useDepositAddress',
        'explicitDeposit',
        'forceSolverExecution',
        'overridePriceImpact',
        'txsGasLimit',
        'subsidizeFees',
        'subsidizeRent',
        'maxSubsidizationAmount',
        'depositFeePayer',
        'sponsoredFeeComponents',
        'chainIds',
        'term',
        'tokens',
        'limit',
      ),
      hostile,
      { maxKeys: 2 },
    ),
    txs: sometimes(fc.array(call, { maxLength: 3 })),
    appFees: sometimes(
      fc.array(
        fc.record({
          recipient: fc.oneof(fc.constant(user), hostile),
          fee: fc.oneof(fc.nat(20_000).map(String), hostile),
        }),
        { maxLength: 3 },
      ),
    ),
    sponsorship: sometimes(
      fc.record(
        {
          subsidizeFees: fc.boolean(),
          maxSubsidizationAmount: fc.bigInt({ min: 0n, max: 10n ** 6n }).map(String),
          sponsoredFeeComponents: fc.subarray([...feeComponents], { minLength: 1 }),
        },
        { requiredKeys: [] },
      ),
    ),
    same: fc.boolean(),
    tradeType: fc.constantFrom('EXACT_INPUT', 'EXACT_OUTPUT', 'EXPECTED_OUTPUT'),
    amount: fc.oneof(
      fc.bigInt({ min: 10n ** 6n, max: 10n ** 11n }).map(String),
      fc.bigInt({ min: 0n, max: 2n ** 130n }).map(String),
    ),
    origin: fc.constantFrom(usdc, native, weth, usdx, tide),
  })
  .map(({ changes, txs, appFees, sponsorship, same, tradeType, amount, origin }) => ({
    ...valid,
    tradeType,
    amount,
    originCurrency: origin,
    ...(same && { destinationChainId: chainA }),
    ...(txs !== undefined && { txs }),
    ...(appFees !== undefined && { appFees }),
    ...sponsorship,
    ...changes,
  }))

const text = fc.oneof(
  { weight: 6, arbitrary: nearValid.map((body) => JSON.stringify(body)) },
  { weight: 1, arbitrary: fc.string({ maxLength: 500 }) },
  {
    weight: 2,
    arbitrary: fc.tuple(nearValid, fc.nat(300), fc.string({ maxLength: 3 })).map(([body, at, noise]) => {
      const whole = JSON.stringify(body)
      return whole.slice(0, at) + noise + whole.slice(at + 1)
    }),
  },
)

const word = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`)
const mostly = <T>(usual: T) =>
  fc.oneof({ weight: 20, arbitrary: fc.constant<unknown>(usual) }, { weight: 1, arbitrary: hostile })

/** Calls of a smart account with some members that nobody would send. */
const calls = fc
  .record({
    executionKind: mostly('rawCalls'),
    requestId: fc.oneof({ weight: 9, arbitrary: word }, { weight: 1, arbitrary: hostile }),
    data: fc.record({
      chainId: mostly(chainA),
      to: mostly(user),
      data: mostly('0xc3c16ee4'),
      value: fc.oneof(mostly('0'), fc.constantFrom<unknown>('0x0', '0x', '-1', 0, '9'.repeat(79))),
    }),
    authorizationList: sometimes(
      fc.array(
        fc.record({
          chainId: mostly(chainA),
          address: mostly(user),
          nonce: mostly(0),
          yParity: fc.oneof(fc.constantFrom<unknown>(0, 1, 2, 27), hostile),
          r: mostly('0x1'),
          s: mostly('0x1'),
        }),
        { maxLength: 2 },
      ),
    ),
    executionOptions: sometimes(
      fc.record({ referrer: hostile, subsidizeFees: fc.boolean() }, { requiredKeys: [] }),
    ),
    originGasOverhead: sometimes(fc.oneof(fc.constantFrom<unknown>(80_000, '80000'), hostile)),
  })
  .map(({ authorizationList, data, ...rest }) =>
    JSON.stringify({
      ...rest,
      data: { ...data, ...(authorizationList !== undefined && { authorizationList }) },
    }),
  )

describe.each([
  ['/price', text, {}],
  ['/quote', text, {}],
  ['/quote/v2', text, {}],
  ['/quote/v2 of a sponsor', text, { authorization: `Bearer ${linkedKey}` }],
  ['/currencies/v2', text, {}],
  ['/execute of a key', calls, { 'x-api-key': linkedKey }],
])('POST %s', (name, bodies, headers) => {
  const url = name.replace(/ .*/, '')
  test(`answers ${runs} hostile bodies without failing`, async () => {
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(bodies, async (payload) => {
        const response = await app.inject({
          method: 'POST',
          url,
          payload,
          headers: { 'content-type': 'application/json', ...headers },
        })
        if (response.statusCode === 200) {
          accepted += 1
          return
        }
        const body = response.json()
        expect(response.statusCode, JSON.stringify({ payload, body })).toBeLessThan(500)
        expect(body).toMatchObject({
          statusCode: response.statusCode,
          message: expect.any(String),
          errorCode: expect.any(String),
        })
        expect('errorData' in body).toBe(response.statusCode === 400)
        checkErrorData(body)
      }),
      { numRuns: runs, endOnFailure: true },
    )
    expect(accepted).toBeGreaterThan(runs / 100)
  })
})

const queryMember = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...[chainA, chainB, 0, -1, 1.5, 2 ** 53].map(String)) },
  { weight: 1, arbitrary: fc.constantFrom(user, usdc, native, 'usdc', 'eth', 'relay24hBuyTxCount') },
  { weight: 2, arbitrary: hostileText.map((value) => Buffer.from(value).toString()) },
)
const queryNames = [
  ...['chainId', 'originChainId', 'destinationChainId', 'user', 'currency', 'address', 'sortBy', 'limit'],
  ...['id', 'depositAddress', '__proto__'],
]

describe.each([
  '/chains/health',
  '/chains/liquidity',
  '/swap-sources',
  '/currencies/trending',
  '/currencies/token/price',
  '/currencies/token/price/v2',
  '/config/v2',
  '/transactions/status',
  '/requests/v3',
])('GET %s', (path) => {
  test('answers hostile queries without failing, as it is described', async () => {
    const operation = describedOperations((await app.inject({ url: '/documentation/json' })).body).find(
      ({ method, url }) => method === 'GET' && url.replace(/\?.*$/, '') === path,
    )
    if (operation === undefined) throw new Error(`${path} is not described`)
    const query = fc.array(fc.tuple(fc.constantFrom(...queryNames), queryMember), { maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(query, async (members) => {
        const example = [...new URLSearchParams(operation.url.replace(/^[^?]*\??/, ''))]
        const all = [
          ...example.filter(([name]) => !members.some(([changed]) => changed === name)),
          ...members,
        ]
        const response = await app.inject({ url: `${path}?${new URLSearchParams(all)}` })
        const said = JSON.stringify({ all, body: response.body })
        expect(response.statusCode, said).toBeLessThan(500)
        if (response.statusCode === 200) return
        expect(operation.codes[response.statusCode], said).toContain(response.json().errorCode)
      }),
      { numRuns: runs / 5, endOnFailure: true },
    )
  })
})
