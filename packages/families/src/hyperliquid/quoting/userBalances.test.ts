// Goal: what a user holds is told of every currency, each by the side that it lies on. Who gains by breaking it: nobody; a
// wallet would show that its owner has nothing. Method: the shipped reader over one endpoint of the test.
import { createServer } from 'node:http'
import { Secret } from '@causeway/core'
import { hyperliquidCodec } from '@causeway/core/encodings'
import { createJsonRpcClient } from '@causeway/rpc'
import { expect, onTestFinished, test } from 'vitest'
import { hyperliquidHeadTracking } from './calls.ts'
import { hyperliquidQuotingChain } from './hyperliquidQuotingChain.ts'

const hype = `0x${'0d'.repeat(16)}`
const user = `0x${'5a'.repeat(20)}`

/** An exchange that answers by the question's type and refuses all other types. @returns its URL */
async function startExchange(said: Readonly<Record<string, unknown>>) {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString()
    })
    request.on('end', () => {
      const asked: unknown = JSON.parse(body)
      const type = typeof asked === 'object' && asked !== null && 'type' in asked ? String(asked.type) : ''
      response.writeHead(type in said ? 200 : 422).end(JSON.stringify(said[type] ?? {}))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
}

async function openChain(said: Readonly<Record<string, unknown>>) {
  const url = await startExchange(said)
  const now = () => Date.now()
  const dialect = { headTracking: hyperliquidHeadTracking, wire: 'paths' } as const
  const client = createJsonRpcClient({ chainId: 'hyperliquid', endpoints: [{ url }], ...dialect })
  onTestFinished(() => client.close())
  return hyperliquidQuotingChain.open({
    client,
    multicall3: undefined,
    currentHead: () => undefined,
    now,
    onFailure: () => {},
    budgetMs: 20_000,
    neededWithinMs: 20_000,
  })
}

const exchange = {
  userAbstraction: 'default',
  clearinghouseState: { withdrawable: '12.5' },
  spotMeta: { tokens: [{ name: 'HYPE', tokenId: hype, szDecimals: 2, index: 150 }] },
  spotClearinghouseState: { balances: [{ coin: 'HYPE', total: '3.25', hold: '1.0' }] },
}
const balanceOf = async (said: Readonly<Record<string, unknown>>, currency: string) =>
  (await (await openChain(said)).userFacts({ user, currency, spender: undefined })).balance

test('Q-80: a balance of Hyperliquid is that of its side, and unknown where its side does not say it', async () => {
  const { nativeCurrency } = hyperliquidCodec
  expect(await balanceOf(exchange, nativeCurrency)).toBe(1_250_000_000n)
  expect(await balanceOf(exchange, hype)).toBe(225n)
  expect(await balanceOf({ ...exchange, spotClearinghouseState: { balances: [] } }, hype)).toBe(0n)
  const { spotClearinghouseState: _left, ...silent } = exchange
  expect(await balanceOf(silent, hype)).toBeUndefined()
  expect(await balanceOf(exchange, `0x${'0e'.repeat(16)}`)).toBeUndefined()
})

test.each([
  ['14.79852012', '0.0', 1_479n],
  ['3.25', '1.009', 224n],
  ['3.25', '3.2500001', 0n],
  ['0.00999999', '0', 0n],
])('F-88: of a spot balance of %s with %s on hold whole units are free', async (total, hold, free) => {
  const spotClearinghouseState = { balances: [{ coin: 'HYPE', total, hold }] }
  expect(await balanceOf({ ...exchange, spotClearinghouseState }, hype)).toBe(free)
})

test.each([
  ['default', 1_250_000_000n],
  ['disabled', 1_250_000_000n],
  ['dexAbstraction', 1_250_000_000n],
  ['unifiedAccount', 0n],
  ['portfolioMargin', 0n],
  ['somethingNew', undefined],
  [undefined, undefined],
])('F-90: what an account of mode %s can send from its perps side', async (userAbstraction, balance) => {
  const { nativeCurrency } = hyperliquidCodec
  expect(await balanceOf({ ...exchange, userAbstraction }, nativeCurrency)).toBe(balance)
  // All of it lies on the spot side in each mode, and is sent from there.
  expect(await balanceOf({ ...exchange, userAbstraction }, hype)).toBe(225n)
})

test.each([
  [
    'unifiedAccount',
    [`${user} is a unified account, which sends nothing from its perps side; set its mode to disabled`],
  ],
  ['disabled', []],
])(
  'F-90: a fill wallet of mode %s is named at a start where it pays dollars of the perps side',
  async (mode, said) => {
    const url = await startExchange({ ...exchange, userAbstraction: mode, userRole: { role: 'user' } })
    // CAST: a chain as its file describes it, with the members that a connection looks at.
    const chain = {
      id: 'hyperliquid',
      endpoints: [new Secret(url)],
      rpcThreshold: 1,
      additionalData: {},
    } as never
    const client = hyperliquidQuotingChain.connect(chain)
    onTestFinished(() => client.close())
    const findings = await hyperliquidQuotingChain.network?.contradictions({
      client,
      fillWallet: user,
      depository: user,
      isLocal: false,
      currencies: [{ address: hyperliquidCodec.nativeCurrency, decimals: 8 }],
      // CAST: nothing else is compared.
    } as never)
    const problems = findings?.filter(({ kind }) => kind === 'refusal').map(({ problem }) => problem)
    expect(problems).toEqual(said)
  },
)
