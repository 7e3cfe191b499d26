// Goal: no body makes the oracle fail. Near-valid bodies with hostile members, and raw bytes, over every
// attestation route: each answer is below 500 and has the documented error shape.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { paths, type TestApp, testApp } from '../../test/fixtures/oracleApp.ts'
import {
  depositB,
  depositFacts,
  depositTransaction,
  evidence,
  fillTransaction,
  nativeCurrency,
  orderAddressB,
  paymentFacts,
  promised,
  recipient,
  refundTransaction,
  world,
} from '../../test/fixtures/world.ts'
import {
  depositsExample,
  fillsExample,
  noFillOrRefundExample,
  nonceMappingExample,
  recoveryExample,
  refundsExample,
  withdrawalFlowExample,
  withdrawalsExample,
} from '../wire/requestExamples.ts'

const runs = process.env['CAUSEWAY_FAULTS'] === '1' ? 10_000 : 1_000
const flow = { ...withdrawalFlowExample, chainId: 'ethereum', currency: nativeCurrency, recipient }

let open: TestApp
beforeAll(async () => {
  const scripts = {
    ethereum: {
      deposits: { [depositTransaction]: depositFacts([depositB]) },
      payments: {
        [refundTransaction]: paymentFacts({
          transfers: [{ recipient: depositB.depositor, currency: nativeCurrency, amount: 10n ** 19n }],
        }),
      },
      withdrawals: {
        [withdrawalsExample.withdrawal]: {
          kind: 'withdrawal',
          withdrawalId: `0x${'42'.repeat(32)}`,
          depository: depositB.depository,
          status: 'executed',
          currency: nativeCurrency,
          amount: 1000n,
          recipient,
          executingTransactionId: withdrawalsExample.transactionId,
          evidence: evidence('ethereum'),
        },
      },
    },
    base: { payments: { [fillTransaction]: paymentFacts() } },
  } as const
  const context = world(scripts, { [orderAddressB]: depositB.amount }, {}, promised())
  open = await testApp({ context })
})
afterAll(() => open.app.close())

const hostile = fc.oneof(
  fc.string({ maxLength: 100 }),
  fc.constantFrom<unknown>(
    null,
    true,
    -1,
    1.5,
    2 ** 53,
    [],
    {},
    '0x',
    '__proto__',
    'constructor',
    'toString',
  ),
  fc.constantFrom(
    'ethereum',
    'base',
    'solana',
    'bitcoin',
    'relay',
    'silent',
    '9'.repeat(78),
    `0x${'f'.repeat(64)}`,
  ),
  fc.constantFrom(nativeCurrency, recipient, depositTransaction, '\u0000', '\ud800', '-0', '1e999'),
  fc.jsonValue({ maxDepth: 2 }).map((value): unknown => value),
)

/** Paths of the body at which a value may be replaced. */
function pathsOf(
  value: unknown,
  prefix: readonly (string | number)[] = [],
): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [prefix]
  const own = Object.entries(value).flatMap(([key, member]) => pathsOf(member, [...prefix, key]))
  return prefix.length === 0 ? own : [prefix, ...own]
}

function replaced(value: unknown, path: readonly (string | number)[], by: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return by
  const copy: unknown = structuredClone(value)
  if (Array.isArray(copy))
    return copy.map((member, index) => (String(index) === key ? replaced(member, rest, by) : member))
  if (typeof copy !== 'object' || copy === null) return copy
  const members = Object.entries(copy).map(([name, member]) =>
    name === key ? [name, replaced(member, rest, by)] : [name, member],
  )
  return Object.fromEntries(members)
}

function nearValid(example: object) {
  const places = pathsOf(example)
  const change = fc.tuple(fc.constantFrom(...places), hostile)
  return fc
    .tuple(fc.array(change, { maxLength: 2 }), fc.boolean(), fc.boolean())
    .map(([changes, force, extra]) => {
      const body = changes.reduce<unknown>((value, [path, by]) => replaced(value, path, by), example)
      return typeof body === 'object' && body !== null
        ? { ...body, ...(force && { force: true }), ...(extra && { mode: 'slow', unknown: 1 }) }
        : body
    })
}

describe.each([
  [paths.deposits, depositsExample],
  [paths.withdrawals, withdrawalsExample],
  [paths.fills, fillsExample],
  [paths.refunds, refundsExample],
  [paths.initiation, flow],
  [paths.initiated, flow],
  [paths.requestedWithdrawals, { ...flow, transactionId: depositTransaction }],
  [paths.recovery, recoveryExample],
  [paths.noFillOrRefund, noFillOrRefundExample],
  [paths.nonceMapping, nonceMappingExample],
])('POST %s', (url, example) => {
  const text = fc.oneof(
    { weight: 8, arbitrary: nearValid(example).map((body) => JSON.stringify(body)) },
    { weight: 1, arbitrary: fc.string({ maxLength: 300 }) },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.nat(2_000), fc.string({ maxLength: 3 })).map(([at, noise]) => {
        const whole = JSON.stringify(example)
        return whole.slice(0, at) + noise + whole.slice(at + 1)
      }),
    },
  )

  test(`answers ${runs} hostile bodies without failing`, async () => {
    const codes = new Set<string>()
    await fc.assert(
      fc.asyncProperty(text, fc.boolean(), async (payload, isKeyed) => {
        const response = await open.app.inject({
          method: 'POST',
          url,
          payload,
          headers: { 'content-type': 'application/json', ...(isKeyed && { 'x-api-key': 'a-valid-key' }) },
        })
        const body = response.json()
        codes.add(response.statusCode === 200 ? 'accepted' : body.errorCode)
        if (response.statusCode === 200) return
        expect(response.statusCode, JSON.stringify({ payload, body })).toBeLessThan(500)
        expect(body).toMatchObject({ statusCode: response.statusCode, errorCode: expect.any(String) })
      }),
      { numRuns: runs, endOnFailure: true },
    )
    expect(codes.size).toBeGreaterThan(2)
  })
})
