// Goal: what a user holds is told of every currency, each by the side that it lies on. Who gains by breaking it: nobody; a
// wallet would show that its owner has nothing. Method: the shipped reader over one endpoint of the test.
import { createServer } from 'node:http'
import { hyperliquidCodec } from '@causeway/core'
import { expect, onTestFinished, test } from 'vitest'
import { createJsonRpcClient } from '../../rpc/client.ts'
import { hyperliquidHeadTracking } from './calls.ts'
import { hyperliquidQuotingChain } from './hyperliquidQuotingChain.ts'

const hype = `0x${'0d'.repeat(16)}`
const user = `0x${'5a'.repeat(20)}`

/** Opens the chain over an exchange that answers by the question's type and refuses all other types. */
async function openChain(said: Readonly<Record<string, unknown>>) {
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
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  const now = () => Date.now()
  const dialect = { headTracking: hyperliquidHeadTracking, wire: 'paths' } as const
  const client = createJsonRpcClient({ chainId: 'hyperliquid', endpoints: [{ url }], now, ...dialect })
  onTestFinished(async () => {
    await client.close()
    server.closeAllConnections()
    server.close()
  })
  return hyperliquidQuotingChain.open({
    ...{ client, multicall3: undefined, currentHead: () => undefined, now, onFailure: () => {} },
    ...{ budgetMs: 20_000, neededWithinMs: 20_000 },
  })
}

const exchange = {
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
