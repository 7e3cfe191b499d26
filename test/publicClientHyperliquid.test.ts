// Goal: the published client bridges from Hyperliquid without a change: it signs what the transfer is for, posts that, signs
// the transfer and hands it to the exchange. It bridges to Hyperliquid as to any chain. Adversaries: none; this is what an honest app does. Method: the package as npm
// has it with a wallet of viem, pointed at the service over anvil, the hub's own contract and a Hyperliquid of stand-ins.
// The client names the exchange's public host, which is led to our endpoint; a solver works by hand.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { waitUntil } from '@causeway/localnet'
import {
  adaptViemWallet,
  axios,
  createClient,
  type Execute,
  type RelayClient,
} from '@relayprotocol/relay-sdk'
import { configureDynamicChains } from '@relayprotocol/relay-sdk/chain-utils'
import { createWalletClient, erc20Abi, type Hex, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { base } from 'viem/chains'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OpenWork } from '../apps/quote-api/test/settlementSupport/scriptedSolver.ts'
import { type FamilySettling, startFamilySettling } from './support/familySettling.ts'
import {
  fundedHyperliquidUser,
  type HyperliquidChain,
  hyperliquidChainId,
  payOnHyperliquid,
  perps,
  startHyperliquidChain,
} from './support/hyperliquidSettling.ts'

let at: Omit<HyperliquidChain, 'stop'> & FamilySettling
let client: RelayClient
let redirected = 0

const publicHost = 'https://api.hyperliquid.xyz/exchange'

beforeAll(async () => {
  at = await startFamilySettling((network) => startHyperliquidChain(network, true))
  client = createClient({ baseApiUrl: at.url, source: 'public-client.test', pollingInterval: 250 })
  await configureDynamicChains()
  // The client goes through the package as well as through its own export of it.
  const fromClient = createRequire(createRequire(import.meta.url).resolve('@relayprotocol/relay-sdk'))
  const folder = dirname(fromClient.resolve('axios/package.json'))
  const packaged: { default: typeof axios } = await import(pathToFileURL(join(folder, 'index.js')).href)
  for (const one of new Set([axios, packaged.default]))
    one.interceptors.request.use((config) => {
      if (config.url !== publicHost) return config
      redirected += 1
      return { ...config, url: `${at.nodes[0]?.url}/exchange` }
    })
}, 240_000)
afterAll(() => at?.stop())

const usdcOnBase = (holder: Hex) =>
  at.network.chains.base.chain.client.readContract({
    address: at.network.deployment.base.tokens.USDC,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [holder],
  })

const walletOf = (key: Hex) =>
  createWalletClient({
    account: privateKeyToAccount(key),
    chain: base,
    transport: http(at.network.chains.base.url),
  })

test('Hyperliquid is among the chains of the service, as the client knows it', () => {
  const chain = client.chains.find(({ id }) => id === hyperliquidChainId)
  expect(chain).toMatchObject({ vmType: 'hypevm', currency: { address: perps, symbol: 'USDC', decimals: 8 } })
})

test('dollars are authorized and sent by the published client, and arrive on Base as they were quoted', async () => {
  const { account: user, key } = fundedHyperliquidUser(at)
  const recipient = privateKeyToAddress(generatePrivateKey())
  const wallet = walletOf(key)
  const quote = await client.actions.getQuote({
    chainId: hyperliquidChainId,
    currency: perps,
    amount: '10000000000',
    toChainId: 8453,
    toCurrency: at.network.deployment.base.tokens.USDC,
    user,
    recipient,
    tradeType: 'EXACT_INPUT',
  })
  expect(quote.steps.map(({ id }) => id)).toEqual(['authorize', 'deposit'])
  const [done] = await Promise.all([
    client.actions.execute({ quote, wallet: adaptViemWallet(wallet) }),
    fillByHand(quote),
  ])
  const items = done.data.steps.flatMap((step) => step.items ?? [])
  expect(items.map(({ status }) => status)).toEqual(['complete', 'complete'])
  expect(await usdcOnBase(recipient)).toBe(BigInt(quote.details?.currencyOut?.amount ?? 0))
  expect(redirected).toBe(1)
})

test('to Hyperliquid a wallet deposits dollars of Base, and they arrive as they were quoted', async () => {
  const { address: user, privateKey } = at.requests.user
  const recipient = privateKeyToAddress(generatePrivateKey())
  const quote = await client.actions.getQuote({
    chainId: 8453,
    currency: at.network.deployment.base.tokens.USDC,
    amount: '200000000',
    toChainId: hyperliquidChainId,
    toCurrency: perps,
    user,
    recipient,
    tradeType: 'EXACT_INPUT',
  })
  const [done] = await Promise.all([
    client.actions.execute({ quote, wallet: adaptViemWallet(walletOf(privateKey)) }),
    fillByHand(quote, payThere),
  ])
  const items = done.data.steps.flatMap((step) => step.items ?? [])
  expect(items.map(({ status }) => status)).toEqual(['complete', 'complete'])
  expect(items.at(-1)?.txHashes).toMatchObject([{ chainId: hyperliquidChainId }])
  expect(at.venue.balanceOf(recipient, '')).toBe(BigInt(quote.details?.currencyOut?.amount ?? 0))
})

async function payThere(item: OpenWork): Promise<void> {
  const told = await at.requests.solver.report(item.id, await payOnHyperliquid(at, item))
  expect(told.status).toBe(200)
}

async function fillByHand(
  { steps }: Execute,
  pay: (item: OpenWork) => Promise<unknown> = (item) => at.requests.solver.carryOut(item),
): Promise<void> {
  const requestId = steps.at(-1)?.requestId
  await waitUntil('its fill is offered', async () => {
    const item = (await at.requests.solver.work()).find((one) => one.requestId === requestId)
    if (item === undefined) return false
    await pay(item)
    return true
  })
}
