// Goal: the public widget, on a page as its documentation puts it there, swaps against this service from load to
// success without a change to it. Method: the package as npm has it, in Chromium without a screen; a whole local
// network; a wallet whose key stays outside of the page. Nobody but this machine is asked for anything that counts.
import { spawn } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Hex } from '@causeway/core'
import { waitUntil } from '@causeway/localnet'
import type { Page } from 'playwright-core'
import { createWalletClient, defineChain, erc20Abi, http, isHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type ConfigCopy, copyConfigs } from '../apps/quote-api/test/serviceSupport/configCopy.ts'
import { nativeCurrency, type PublicClientBed, startPublicClientBed } from './support/publicClientBed.ts'
import type { UserChain } from './support/sessionBed.ts'
import { startWidgetPage, type WidgetPage } from './support/widgetPage.ts'

const patience = { timeout: 60_000, interval: 250 }
const swapTimeoutMs = 300_000
const pictures = fileURLToPath(new URL('../node_modules/.cache/widget-pictures/', import.meta.url))

let bed: PublicClientBed
let widget: WidgetPage
let configs: ConfigCopy

beforeAll(async () => {
  await mkdir(pictures, { recursive: true })
  widget = await startWidgetPage()
  configs = await copyConfigs()
  await configs.edit('quote.local.json', withPictures)
  bed = await startPublicClientBed({ CONFIG_DIR: configs.directory })
}, 480_000)
afterAll(async () => {
  await widget?.stop()
  await bed?.stop()
  await configs?.remove()
}, 60_000)

const quoteFileSchema = z.looseObject({
  chains: z.record(z.string(), z.looseObject({ currencies: z.array(z.looseObject({ symbol: z.string() })) })),
})

/** One chain and its USDC have pictures, on this machine; the other chain has none. */
function withPictures(json: unknown): unknown {
  const file = quoteFileSchema.parse(json)
  const { base, ...others } = file.chains
  const currencies = base?.currencies.map((currency) =>
    currency.symbol === 'USDC' ? { ...currency, logoUri: widget.pictureUrl('usdc') } : currency,
  )
  const pictured = { ...base, iconUrl: widget.pictureUrl('base'), currencies }
  const plain = Object.entries(others).map(([key, { iconUrl: _, ...chain }]) => [key, chain] as const)
  return { ...file, chains: { base: pictured, ...Object.fromEntries(plain) } }
}

const chainOf = (key: UserChain) => bed.session.network.chains[key]
const deploymentOf = (key: UserChain) => bed.session.network.deployment[key]
type Currency = { readonly chain: UserChain; readonly symbol: 'USDC' | 'USDX' | 'ETH' }

const listedSchema = z.array(
  z.looseObject({ symbol: z.string(), metadata: z.looseObject({ logoURI: z.string() }) }),
)

/** As a site gets it, with the picture that the service names. */
async function tokenOf({ chain, symbol }: Currency) {
  const { chainId } = chainOf(chain)
  const address = symbol === 'ETH' ? nativeCurrency : deploymentOf(chain).tokens[symbol]
  const response = await fetch(`${bed.url}/currencies/v2`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ chainIds: [chainId], address }),
  })
  const [listed] = listedSchema.parse(await response.json())
  const logoURI = listed?.metadata.logoURI ?? ''
  return { chainId, address, name: symbol, symbol, decimals: symbol === 'ETH' ? 18 : 6, logoURI }
}

function balanceOf({ chain, symbol }: Currency, holder: Hex): Promise<bigint> {
  const { client } = chainOf(chain).chain
  if (symbol === 'ETH') return client.getBalance({ address: holder })
  const address = deploymentOf(chain).tokens[symbol]
  return client.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [holder] })
}

/** Addresses of the pictures that a currency is shown with. */
function picturesOf({ chain, symbol }: Currency): readonly string[] {
  if (chain !== 'base') return []
  return symbol === 'USDC'
    ? [widget.pictureUrl('base'), widget.pictureUrl('usdc')]
    : [widget.pictureUrl('base')]
}

const requestSchema = z.object({ method: z.string(), params: z.array(z.unknown()).default([]) })
const transactionSchema = z.object({
  to: z.custom<Hex>(isHex),
  data: z.custom<Hex>(isHex).optional(),
  value: z.string().optional(),
})
const callsSchema = z.object({ calls: z.array(transactionSchema) })

async function askNode(
  url: string | undefined,
  method: string,
  params: readonly unknown[],
): Promise<unknown> {
  const response = await fetch(url ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return z.object({ result: z.unknown() }).parse(await response.json()).result
}

/** An injected wallet of one user. It knows what is asked of a wallet, and asks its node for the rest. */
function walletOf(userIndex: number, origin: UserChain, { isBatching }: { readonly isBatching: boolean }) {
  const key = bed.session.network.keys.users[userIndex]
  if (key === undefined) throw new Error(`no user ${userIndex}`)
  const account = privateKeyToAccount(key.privateKey)
  let chainId = chainOf(origin).chainId
  const url = () => [chainOf('base'), chainOf('optimism')].find((chain) => chain.chainId === chainId)?.url
  const client = () =>
    createWalletClient({
      account,
      chain: defineChain({
        id: chainId,
        name: 'local',
        nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
        rpcUrls: { default: { http: [url() ?? ''] } },
      }),
      transport: http(url()),
    })
  const send = ({ to, data = '0x', value = '0x0' }: z.output<typeof transactionSchema>) =>
    client().sendTransaction({ to, data, value: BigInt(value) })
  const asked: string[] = []
  return {
    address: account.address,
    asked,
    async request(message: unknown): Promise<unknown> {
      const { method, params } = requestSchema.parse(message)
      asked.push(method)
      const hexChain = `0x${chainId.toString(16)}`
      switch (method) {
        case 'eth_requestAccounts':
        case 'eth_accounts':
          return [account.address]
        case 'eth_chainId':
          return hexChain
        case 'wallet_switchEthereumChain': {
          chainId = Number(z.object({ chainId: z.string() }).parse(params[0]).chainId)
          return null
        }
        case 'wallet_requestPermissions':
        case 'wallet_getPermissions':
          return []
        case 'wallet_getCapabilities':
          if (!isBatching) return { error: { code: -32601, message: 'no such method' } }
          return { [hexChain]: { atomic: { status: 'supported' } } }
        case 'eth_sendTransaction':
          return send(transactionSchema.parse(params[0]))
        case 'wallet_sendCalls': {
          for (const call of callsSchema.parse(params[0]).calls) await send(call)
          // The id of a bundle is no hash of a transaction.
          return { id: `0x${'b5'.repeat(32)}` }
        }
        default:
          return askNode(url(), method, params)
      }
    },
  }
}

type Swap = { readonly from: Currency; readonly to: Currency; readonly amount: string }

/** Runs in the page: what a wallet's extension puts there. */
const injectWallet = `
  window.ethereum = {
    isMetaMask: true,
    on() {},
    removeListener() {},
    async request(message) {
      const answer = await window.askWallet(message)
      if (answer?.error) throw Object.assign(new Error(answer.error.message), answer.error)
      return answer
    },
  }
`

/** Pictures, names of accounts and a list of exchanges: the widget does without. Nothing else is asked elsewhere. */
const cosmetic = ['assets.relay.link', 'api.ensideas.com']

/** The page with a wallet, and what it asked for. */
async function openPage(swap: Swap, wallet: ReturnType<typeof walletOf>, api: string) {
  const context = await widget.browser.newContext({ viewport: { width: 520, height: 900 } })
  const page = await context.newPage()
  const asked: string[] = []
  const refused: string[] = []
  const foreign = new Set<string>()
  const thrown: string[] = []
  page.on('pageerror', (error) => thrown.push(error.stack ?? error.message))
  const seen: (string | Promise<string>)[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(api)) return
    asked.push(new URL(request.url()).pathname)
    seen.push(JSON.stringify(request.headers()), request.postData() ?? '')
  })
  page.on('response', (response) => {
    // A page that is closed meanwhile has nothing more to read.
    if (response.url().startsWith(api)) seen.push(response.text().catch(() => ''))
    if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`)
  })
  await context.route(
    (url) => url.hostname !== '127.0.0.1',
    (route) => {
      foreign.add(new URL(route.request().url()).hostname)
      return route.abort()
    },
  )
  await page.exposeFunction('askWallet', (message: unknown) => wallet.request(message))
  await page.addInitScript(injectWallet)
  const nodes = Object.fromEntries(
    (['base', 'optimism'] as const).map((key) => [chainOf(key).chainId, chainOf(key).url]),
  )
  const setting = {
    api,
    nodes,
    account: wallet.address,
    amount: swap.amount,
    from: await tokenOf(swap.from),
    to: await tokenOf(swap.to),
  }
  await page.route('**/settings.json', (route) => route.fulfill({ json: setting }))
  await page.goto(widget.url)
  const texts = () => Promise.all(seen)
  return { page, asked, refused, foreign, thrown, texts, close: () => context.close() }
}

const eventsOf = async (page: Page) => z.array(z.string()).parse(await page.evaluate('window.widgetEvents'))

/** The example of the guide, for the page of the widget. */
async function startSponsorProxy(apiKey: string) {
  const script = fileURLToPath(new URL('../docs/guides/examples/sponsorProxy.ts', import.meta.url))
  const child = spawn(process.execPath, [script], {
    env: {
      PATH: process.env['PATH'],
      QUOTE_API: bed.url,
      API_KEY: apiKey,
      PORT: '0',
      ALLOWED_ORIGIN: new URL(widget.url).origin,
      MAX_SUBSIDY_MICRO_USD: '5000000',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  await waitUntil('the example listens', () => /^listening \S+\n/.test(output))
  return { url: output.trim().split(' ')[1] ?? '', stop: () => child.kill('SIGKILL') }
}

/** From load to the screen that says it is done; what the service was asked for on the way. */
async function swapInPage(name: string, swap: Swap, wallet: ReturnType<typeof walletOf>, api = bed.url) {
  const opened = await openPage(swap, wallet, api)
  const { page, asked, refused, foreign, thrown } = opened
  try {
    const root = page.locator('#root')
    // Both sides and their prices, before a wallet is there.
    await expect
      .poll(async () => ((await root.textContent()) ?? '').match(/\$\d[\d,]*\.\d\d/g)?.length ?? 0, patience)
      .toBeGreaterThanOrEqual(2)
    expect(wallet.asked).not.toContain('eth_sendTransaction')
    // Once they are loaded.
    const shown = () =>
      page
        .locator('img')
        .evaluateAll((all) => all.flatMap((one) => (one.naturalWidth > 0 ? [one.currentSrc] : [])))
    const configured = new Set([swap.from, swap.to].flatMap(picturesOf))
    await expect.poll(async () => new Set(await shown()), patience).toEqual(configured)
    await page.screenshot({ path: `${pictures}${name}-priced.png` })
    await page.getByRole('button', { name: /connect wallet/i }).click({ timeout: patience.timeout })
    // "Swap", "Approve & Swap" and the like, once the quote for this wallet is there.
    const swapButton = page.getByRole('button', { name: /^(approve & )?swap$|^review$/i })
    // A click can meet a button that a newer price replaces at this moment: whoever sees nothing happen clicks again.
    await waitUntil('the swap is begun', async () => {
      if ((await eventsOf(page)).includes('SWAP_CTA_CLICKED')) return true
      await swapButton
        .last()
        .click({ timeout: 1_000 })
        .catch(() => undefined)
      return false
    })
    await expect.poll(() => eventsOf(page), patience).toContain('page:success')
    const done = page.getByText(/completed in/i)
    await done.waitFor({ timeout: patience.timeout })
    await page.screenshot({ path: `${pictures}${name}-done.png` })
    expect(await eventsOf(page)).toContain('SWAP_SUCCESS')
    // The local chains have no explorer; the widget then names one of its own, with the real hash.
    const links = () => page.locator('a[href*="/tx/0x"]').evaluateAll((all) => all.map(String))
    const hashes = swap.from.chain === swap.to.chain ? 1 : 2
    await expect.poll(async () => (await links()).length, patience).toBeGreaterThanOrEqual(hashes)
    expect(refused.filter((line) => line.includes(api))).toEqual([])
    expect([...foreign].filter((host) => !cosmetic.includes(host))).toEqual([])
    return { asked, texts: await opened.texts() }
  } catch (error) {
    await page.screenshot({ path: `${pictures}${name}-failed.png` })
    const circumstances = [JSON.stringify(await eventsOf(page)), await page.locator('body').textContent()]
    throw new Error([...circumstances, ...thrown].join('\n'), { cause: error })
  } finally {
    await opened.close()
  }
}

describe('the widget, from load to success', { timeout: swapTimeoutMs }, () => {
  test('bridges a token', async () => {
    const wallet = walletOf(0, 'base', { isBatching: false })
    const from: Currency = { chain: 'base', symbol: 'USDC' }
    const to: Currency = { chain: 'optimism', symbol: 'USDC' }
    const [paid, held] = await Promise.all([balanceOf(from, wallet.address), balanceOf(to, wallet.address)])
    const { asked } = await swapInPage('token', { from, to, amount: '25' }, wallet)
    expect(paid - (await balanceOf(from, wallet.address))).toBe(25_000_000n)
    const received = (await balanceOf(to, wallet.address)) - held
    expect(received).toBeGreaterThan(24_500_000n)
    expect(received).toBeLessThan(25_000_000n)
    expect(asked).toEqual(
      expect.arrayContaining(['/chains', '/currencies/v2', '/currencies/token/price', '/quote/v2']),
    )
  })

  test('bridges native coin', async () => {
    const wallet = walletOf(1, 'base', { isBatching: false })
    const from: Currency = { chain: 'base', symbol: 'ETH' }
    const to: Currency = { chain: 'optimism', symbol: 'ETH' }
    const held = await balanceOf(to, wallet.address)
    await swapInPage('native', { from, to, amount: '0.02' }, wallet)
    const received = (await balanceOf(to, wallet.address)) - held
    expect(received).toBeGreaterThan(19n * 10n ** 15n)
    expect(received).toBeLessThan(20n * 10n ** 15n)
  })

  test('swaps on one chain, and reports it', async () => {
    const wallet = walletOf(3, 'optimism', { isBatching: false })
    const from: Currency = { chain: 'optimism', symbol: 'USDC' }
    const to: Currency = { chain: 'optimism', symbol: 'USDX' }
    const held = await balanceOf(to, wallet.address)
    const { asked } = await swapInPage('swap', { from, to, amount: '5' }, wallet)
    expect(wallet.asked).not.toContain('wallet_sendCalls')
    expect(asked.filter((path) => path.startsWith('/transactions/'))).not.toEqual([])
    expect(await balanceOf(to, wallet.address)).toBeGreaterThan(held)
  })

  test('through the example proxy the sponsor pays, and no page sees his key', async () => {
    const { sponsorApiKey = '' } = bed.session
    const proxy = await startSponsorProxy(sponsorApiKey)
    try {
      const wallet = walletOf(4, 'base', { isBatching: false })
      const from: Currency = { chain: 'base', symbol: 'USDC' }
      const to: Currency = { chain: 'optimism', symbol: 'USDC' }
      const held = await balanceOf(to, wallet.address)
      const { texts } = await swapInPage('sponsored', { from, to, amount: '25' }, wallet, proxy.url)
      expect((await balanceOf(to, wallet.address)) - held).toBe(25_000_000n)
      expect(sponsorApiKey).not.toBe('')
      expect(texts.join()).toContain('feeSponsorship')
      expect(texts.join()).not.toContain(sponsorApiKey)
    } finally {
      proxy.stop()
    }
  })

  test('swaps on one chain in a bundle of its wallet, which nobody reports', async () => {
    const wallet = walletOf(2, 'base', { isBatching: true })
    const from: Currency = { chain: 'base', symbol: 'USDC' }
    const to: Currency = { chain: 'base', symbol: 'USDX' }
    const held = await balanceOf(to, wallet.address)
    const { asked } = await swapInPage('bundle', { from, to, amount: '5' }, wallet)
    expect(wallet.asked).toContain('wallet_sendCalls')
    expect(asked).not.toContain('/transactions/index')
    expect(asked).not.toContain('/transactions/single')
    expect(await balanceOf(to, wallet.address)).toBeGreaterThan(held)
  })
})
