// Goal: a source of liquidity may be slow, wrong or hostile, and no request waits for it or is answered worse for it.
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Secret } from '@causeway/core'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import { testConfig, testRegistry, usdc } from '../../test/fixtures/market.ts'
import { createFindLiquidity } from './externalLiquidity.ts'

const settings = {
  ...testConfig(),
  externalLiquidity: { maxFeeBps: 50, maxReadySeconds: 240, timeoutMs: 200 },
}
const [chain] = testRegistry().chains
const currency = chain?.currencies.get(usdc)

async function find(listener: RequestListener) {
  const server: Server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  // CAST: it listens on a port.
  const { port } = server.address() as AddressInfo
  const from = { url: `http://127.0.0.1:${port}/liquidity`, apiKey: new Secret('key-of-the-source') }
  const findLiquidity = createFindLiquidity(from, settings, pino({ enabled: false }))
  if (findLiquidity === undefined || currency === undefined) throw new Error('there is no source')
  return findLiquidity({ currency, amount: 5_000_000n })
}

const answering = (text: string, status = 200): RequestListener => {
  return (_request, response) => response.writeHead(status).end(text)
}
const good = { available: '5000000', feeBps: 3, readySeconds: 60 }

test('the source is told what is wanted, with its key, and its offer is taken', async () => {
  const seen: unknown[] = []
  const offer = await find((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      seen.push(request.method, request.headers['x-api-key'], JSON.parse(Buffer.concat(chunks).toString()))
      response.end(JSON.stringify(good))
    })
  })
  expect(offer).toEqual({ available: 5_000_000n, feeBps: 3, readySeconds: 60 })
  const wanted = { chainId: currency?.chainId, currency: usdc, amount: '5000000' }
  expect(seen).toEqual(['POST', 'key-of-the-source', wanted])
})

describe('nothing is counted on where the source', () => {
  test.each<[string, RequestListener]>([
    ['has nothing', answering('', 204)],
    ['fails', answering('{}', 500)],
    ['sends the client elsewhere', (_request, response) => response.writeHead(302, { location: '/' }).end()],
    ['never answers', () => {}],
    ['drops the connection', (request) => request.socket.destroy()],
    ['sends no JSON', answering('<html>')],
    ['sends more than fits', answering(JSON.stringify({ ...good, note: 'x'.repeat(20_000) }))],
    ['offers a number', answering(JSON.stringify({ ...good, available: 5 }))],
    ['offers less than nothing', answering(JSON.stringify({ ...good, available: '-5' }))],
    ['offers zero', answering(JSON.stringify({ ...good, available: '0' }))],
    ['costs too much', answering(JSON.stringify({ ...good, feeBps: 51 }))],
    ['takes too long', answering(JSON.stringify({ ...good, readySeconds: 241 }))],
    ['pays for being asked', answering(JSON.stringify({ ...good, feeBps: -1 }))],
  ])('%s', async (_what, listener) => {
    expect(await find(listener)).toBeUndefined()
  })
})

test('there is no source without a URL, and none that may come after the deadline of an order', () => {
  const logger = pino({ enabled: false })
  expect(createFindLiquidity({ url: undefined, apiKey: undefined }, settings, logger)).toBeUndefined()
  const late = { ...settings, externalLiquidity: { ...settings.externalLiquidity, maxReadySeconds: 540 } }
  expect(() => createFindLiquidity({ url: 'http://127.0.0.1:1', apiKey: undefined }, late, logger)).toThrow(
    'maxReadySeconds',
  )
})
