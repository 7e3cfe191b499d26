// Goal: pages whose public client listens to a websocket are told what its polling would tell. Method: the package as
// npm has it, where it finds a window and a websocket as in a browser, against a whole local network.
import type { Hex } from '@causeway/core'
import * as published from '@relayprotocol/relay-sdk'
import { erc20Abi } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { type PublicClientBed, startPublicClientBed } from './support/publicClientBed.ts'

/** Text messages received by the client's sockets. */
const told: string[] = []
const opened: string[] = []

class WatchedSocket extends WebSocket {
  constructor(url: string) {
    super(url)
    opened.push(url)
    this.on('message', (data) => told.push(String(data)))
  }
}

let bed: PublicClientBed

beforeAll(async () => {
  bed = await startPublicClientBed()
  vi.stubGlobal('WebSocket', WatchedSocket)
  vi.stubGlobal('window', { WebSocket: WatchedSocket })
}, 240_000)
afterAll(async () => {
  vi.unstubAllGlobals()
  await bed?.stop()
}, 60_000)

test('a bridge ends by what is pushed', async () => {
  const { base, optimism } = bed.session.network.deployment
  const socketUrl = `${bed.url.replace('http', 'ws')}/intents/status/ws`
  const client = bed.connect(published, { websocket: { enabled: true, url: socketUrl } })
  const recipient: Hex = privateKeyToAddress(generatePrivateKey())
  const quote = await client.actions.getQuote({
    chainId: base.chainId,
    toChainId: optimism.chainId,
    user: bed.user(0),
    recipient,
    currency: base.tokens.USDC,
    toCurrency: optimism.tokens.USDC,
    tradeType: 'EXACT_INPUT',
    amount: '25000000',
  })
  const { data } = await client.actions.execute({ quote, wallet: bed.wallet(0, 'base') })
  expect(data.steps.flatMap((step) => step.items ?? []).every(({ status }) => status === 'complete')).toBe(
    true,
  )
  expect(opened).toEqual([socketUrl])
  expect(
    told.some(
      (text) => text.includes('"status":"success"') && text.includes(String(quote.steps.at(-1)?.requestId)),
    ),
  ).toBe(true)
  const { client: chain } = bed.session.network.chains.optimism.chain
  const held = await chain.readContract({
    address: optimism.tokens.USDC,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [recipient],
  })
  expect(held).toBe(BigInt(quote.details?.currencyOut?.amount ?? 0))
})
