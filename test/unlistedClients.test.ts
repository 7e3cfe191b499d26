// Goal: clients that no registry offers get what they ask for: their bodies are quoted, what they send for the answer moves
// the money, and a refusal has the words that they show. Adversaries: an approval of another contract than the one that
// Gem allows by itself, a swap that nobody reports, a look-up that shows another request. Method: what each sends and reads
// stands in fixtures, with source and commit; a whole local network; wallets that sign nothing else.
import type { Hex } from '@causeway/core'
import { createWalletClient, defineChain, erc20Abi, getAddress, http, isHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { published } from '../apps/quote-api/test/fixtures/publishedShapes.ts'
import { post, send } from '../apps/quote-api/test/serviceSupport/callService.ts'
import { type SessionBed, startSessionBed } from './support/sessionBed.ts'

type Client = (typeof published)[number]

let bed: SessionBed
beforeAll(async () => {
  bed = await startSessionBed()
}, 240_000)
afterAll(() => bed?.stop(), 60_000)

const patience = { timeout: 120_000, interval: 250 }
const base = () => bed.session.network.chains.base
const optimism = () => bed.session.network.chains.optimism
const tokens = (chain: 'base' | 'optimism') => bed.session.network.deployment[chain].tokens
const freshAddress = () => privateKeyToAddress(generatePrivateKey())

/** Each client has a user of its own. */
function userOf(client: Client) {
  const user = bed.session.network.keys.users[published.indexOf(client)]
  if (user === undefined) throw new Error(`no user for ${client.client}`)
  return privateKeyToAccount(user.privateKey)
}

/** From Base; by default 25 USDC to Optimism. */
const routeOf = (client: Client, recipient: Hex, change: object = {}) => ({
  user: userOf(client).address,
  recipient,
  amount: '25000000',
  originChainId: base().chainId,
  destinationChainId: optimism().chainId,
  originCurrency: tokens('base').USDC,
  destinationCurrency: tokens('optimism').USDC,
  ...change,
})

const headersOf = ({ isKeyed }: Client): Record<string, string> =>
  isKeyed === true ? { 'x-api-key': bed.session.sponsorApiKey ?? '' } : {}

const outputSchema = z.object({
  steps: z.array(z.object({ requestId: z.string() })),
  details: z.object({ currencyOut: z.object({ amount: z.string(), minimumAmount: z.string() }) }),
})

/** Asks as the client does and sends what it sends. @returns what was promised, and where it is followed */
async function execute(client: Client, route: ReturnType<typeof routeOf>) {
  const answer = await post(`${bed.url}/quote/v2`, client.quote(route), headersOf(client))
  expect(answer.status, answer.text).toBe(200)
  const quoted: unknown = JSON.parse(answer.text)
  const account = userOf(client)
  const { client: reader } = base().chain
  const wallet = createWalletClient({
    account,
    chain: defineChain({
      id: base().chainId,
      name: 'base',
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [base().url] } },
    }),
    transport: http(base().url),
  })
  const allowanceOf = (token: string, spender: string) =>
    reader.readContract({
      address: getAddress(token),
      abi: erc20Abi,
      functionName: 'allowance',
      args: [account.address, getAddress(spender)],
    })
  let depositTxHash = ''
  for (const { to, data, value } of await client.calls(quoted, route, allowanceOf)) {
    const call = { to: getAddress(to), data: z.custom<Hex>(isHex).parse(data), value: BigInt(value) }
    const hash = await wallet.sendTransaction(call)
    expect((await reader.waitForTransactionReceipt({ hash })).status).toBe('success')
    depositTxHash = hash
  }
  const { steps, details } = outputSchema.parse(quoted)
  const sent = { requestId: steps.at(-1)?.requestId ?? '', originChainId: base().chainId, depositTxHash }
  const hint = client.hint?.(sent)
  if (hint !== undefined) expect((await post(`${bed.url}${hint.url}`, hint.body)).status).toBe(200)
  const read = async (path: string) => {
    const status = await send(`${bed.url}${path}`, { headers: headersOf(client) })
    return status.status === 200 ? client.stateOf(JSON.parse(status.text)) : status.text
  }
  /** By its request, and by its transaction where it looks by that too. */
  const told = async () => {
    const state = await read(client.status(sent))
    const byTransaction = client.statusByTransaction?.(sent)
    return byTransaction === undefined || state !== 'success' ? state : read(byTransaction)
  }
  return { promised: details.currencyOut, told }
}

const balanceOf = (chain: 'base' | 'optimism', token: Hex, holder: Hex) =>
  bed.session.network.chains[chain].chain.client.readContract({
    address: token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [holder],
  })

describe.each(published)('$client', (client) => {
  test('Q-133: bridges a token by what its program sends', async () => {
    const recipient = freshAddress()
    const { promised, told } = await execute(client, routeOf(client, recipient))
    await expect.poll(told, patience).toBe('success')
    expect(await balanceOf('optimism', tokens('optimism').USDC, recipient)).toBe(BigInt(promised.amount))
  })

  test('Q-133: bridges native coin by what its program sends', async () => {
    const recipient = freshAddress()
    const native = `0x${'0'.repeat(40)}`
    const coin = { originCurrency: native, destinationCurrency: native, amount: '10000000000000000' }
    const { promised, told } = await execute(client, routeOf(client, recipient, coin))
    await expect.poll(told, patience).toBe('success')
    const { client: chain } = optimism().chain
    expect(await chain.getBalance({ address: recipient })).toBe(BigInt(promised.amount))
  })

  test('Q-133: swaps on one chain by what its program sends', async () => {
    const recipient = freshAddress()
    const { USDX } = tokens('base')
    const swap = { destinationChainId: base().chainId, destinationCurrency: USDX }
    const { promised, told } = await execute(client, routeOf(client, recipient, swap))
    // With app fees, as the later Gem asks for them, a solver pays it out.
    await expect.poll(told, patience).toBe('success')
    expect(await balanceOf('base', USDX, recipient)).toBeGreaterThanOrEqual(BigInt(promised.minimumAmount))
  })

  test('Q-133: is told why a quote is refused in the words that it shows', async () => {
    const body = client.quote(routeOf(client, freshAddress(), { amount: '1' }))
    const answer = await post(`${bed.url}/quote/v2`, body, headersOf(client))
    expect(answer.status).toBe(400)
    expect(client.words.parse(JSON.parse(answer.text))).toMatch(/amount/i)
  })
})
