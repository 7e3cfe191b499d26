// Goal: whatever part of the running service fails as nobody foresaw, its caller gets the documented 500 and learns
// nothing of the cause. Each part throws through its own interface, and the caller asks over a socket.
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  expectDocumentedFailure,
  unforeseenFailures,
} from '../../../../packages/http/test/fixtures/unforeseenFailures.ts'
import { type TestAppOptions, testApp } from '../../test/fixtures/app.ts'
import { chainA, chainB, recipient, usdc, user } from '../../test/fixtures/market.ts'

const body = {
  user,
  recipient,
  originChainId: chainA,
  destinationChainId: chainB,
  originCurrency: usdc,
  destinationCurrency: usdc,
  amount: '100000000',
  tradeType: 'EXACT_INPUT',
}
const post = (path: string) => (url: string) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })
const get = (path: string) => (url: string) => fetch(`${url}${path}`)

/** The caller, and the parts of the service that its route cannot do without. */
const failing: readonly (readonly [
  string,
  (url: string) => Promise<Response>,
  (fail: () => never) => TestAppOptions,
])[] = [
  ['POST /price, by its market', post('/price'), (fail) => ({ snapshot: fail })],
  ['POST /quote, by its market', post('/quote'), (fail) => ({ snapshot: fail })],
  ['POST /quote/v2, by its store', post('/quote/v2'), (fail) => ({ store: async () => fail() })],
  ['POST /quote, by its source of randomness', post('/quote'), (fail) => ({ randomBytes: fail })],
  [
    'GET /app-fees/{wallet}/balances, by its ledger',
    get(`/app-fees/${user}/balances`),
    (fail) => ({
      balances: {
        sponsorCurrency: { chainId: chainA, address: usdc, symbol: 'USDC', name: 'USD Coin', decimals: 6 },
        topUpAddress: undefined,
        readBalance: async () => fail(),
      },
    }),
  ],
  [
    'GET /intents/status/v3, by its store',
    get(`/intents/status/v3?requestId=0x${'ab'.repeat(32)}`),
    (fail) => ({ statuses: { read: async () => fail() } }),
  ],
]

describe.each(failing)('%s', (_route, ask, failBy) => {
  test.each(unforeseenFailures)('Q-7: answers the documented 500 to %s', async (_what, thrown) => {
    let times = 0
    const fail = (): never => {
      times += 1
      throw thrown
    }
    const app = await testApp(failBy(fail))
    onTestFinished(() => app.close())
    await expectDocumentedFailure(await ask(await app.listen({ host: '127.0.0.1', port: 0 })))
    expect(times).toBeGreaterThan(0)
  })
})
