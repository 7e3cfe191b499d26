// Goal: what the published hooks ask for is answered to a page that has no key. Method: the functions behind the hooks, out
// of the package that the widget brings along, unmodified; a whole local network. Attack: a page polls a deposit address
// for as long as its status is not told, so a 401 there keeps it waiting for ever.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Hex } from '@causeway/core'
import { encodeFunctionData, erc20Abi } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { repositoryRoot } from '../apps/quote-api/test/fixtures/service.ts'
import { type SessionBed, startSessionBed } from './support/sessionBed.ts'

type Query = (url: string, options: object) => Promise<unknown>
const queries = z.object(
  Object.fromEntries(
    [
      ...[
        'queryQuote',
        'queryRequests',
        'queryDepositAddressStatus',
        'queryExecutionStatus',
        'queryRelayChains',
      ],
      ...['queryRelayConfig', 'queryTokenList', 'queryTokenPrice', 'queryTrendingCurrencies'],
    ].map((name) => [name, z.custom<Query>((value) => typeof value === 'function')]),
  ),
)

/** The package itself: the page of the example has the widget, and the widget has it. */
function loadHooks() {
  const fromPage = createRequire(join(repositoryRoot, 'examples/shop/package.json'))
  const fromWidget = createRequire(fromPage.resolve('@relayprotocol/relay-kit-ui'))
  const hooks = queries.parse(fromWidget('@relayprotocol/relay-kit-hooks'))
  return (name: string, options: object): Promise<unknown> => {
    const query = hooks[name]
    if (query === undefined) throw new Error(`the package has no ${name}`)
    return query(bed.url, options)
  }
}

const ask = loadHooks()
let bed: SessionBed
beforeAll(async () => {
  bed = await startSessionBed()
}, 240_000)
afterAll(() => bed?.stop(), 60_000)

const patience = { timeout: 120_000, interval: 250 }
const base = () => bed.session.network.deployment.base
const optimism = () => bed.session.network.deployment.optimism
/** Account that pages name as long as no wallet is connected. */
const nobody = '0x000000000000000000000000000000000000dead'

const bridge = (recipient: Hex, change: object = {}) => ({
  user: nobody,
  recipient,
  tradeType: 'EXACT_INPUT',
  amount: '25000000',
  referrer: 'a.page',
  originChainId: base().chainId,
  destinationChainId: optimism().chainId,
  originCurrency: base().tokens.USDC,
  destinationCurrency: optimism().tokens.USDC,
  ...change,
})

const quotedSchema = z.object({
  steps: z.array(z.object({ requestId: z.string(), depositAddress: z.string().optional() })),
  details: z.object({ currencyOut: z.object({ amount: z.string() }) }),
})
const statusSchema = z
  .object({ status: z.string(), txHashes: z.array(z.string()) })
  .partial()
  .optional()
const requestsSchema = z.object({ requests: z.array(z.object({ id: z.string(), status: z.string() })) })

test('Q-100: tell a page when its deposit address is paid and filled, without a key', async () => {
  const recipient = privateKeyToAddress(generatePrivateKey())
  const refundTo = bed.session.network.keys.users[5]?.address
  const asked = bridge(recipient, { useDepositAddress: true, refundTo })
  const { steps, details } = quotedSchema.parse(await ask('queryQuote', asked))
  const [{ requestId, depositAddress } = { requestId: '', depositAddress: undefined }] = steps
  const statusOf = async () =>
    statusSchema.parse(await ask('queryDepositAddressStatus', { depositAddress }))?.status
  expect(await statusOf()).toBe('waiting')

  const payer = bed.session.network.keys.users[5]
  if (payer === undefined) throw new Error('there is no user 5')
  // CAST: a deposit address of an EVM chain.
  const args = [depositAddress as Hex, 25_000_000n] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
  const { chain } = bed.session.network.chains.base
  await chain.send(payer, [{ what: 'payment', to: base().tokens.USDC, data }])
  await expect.poll(statusOf, patience).toBe('success')
  const received = await bed.session.network.chains.optimism.chain.client.readContract({
    address: optimism().tokens.USDC,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [recipient],
  })
  expect(received).toBe(BigInt(details.currencyOut.amount))

  const told = statusSchema.parse(await ask('queryDepositAddressStatus', { depositAddress }))
  expect(told?.txHashes).toHaveLength(1)
  const byId = requestsSchema.parse(await ask('queryRequests', { id: requestId }))
  expect(byId.requests).toMatchObject([{ id: requestId, status: 'success' }])
  expect(statusSchema.parse(await ask('queryExecutionStatus', { requestId }))?.status).toBe('success')
})

test('show the reason of a refusal', async () => {
  const refused = ask('queryQuote', bridge(privateKeyToAddress(generatePrivateKey()), { amount: '1' }))
  // The widget shows this member.
  await expect(refused).rejects.toMatchObject({
    response: { status: 400, data: { message: expect.stringMatching(/amount/i) } },
  })
})

test('find chains, currencies, prices and what can be bridged', async () => {
  const { chainId } = base()
  const address = base().tokens.USDC
  const route = { originChainId: chainId, destinationChainId: optimism().chainId }
  const found = {
    chains: await ask('queryRelayChains', { referrer: 'a.page' }),
    currencies: await ask('queryTokenList', { chainIds: [chainId], address, limit: 1 }),
    trending: await ask('queryTrendingCurrencies', { referrer: 'a.page' }),
    price: await ask('queryTokenPrice', { chainId, address, referrer: 'a.page' }),
    config: await ask('queryRelayConfig', { ...route, user: nobody, currency: 'usdc' }),
  }
  expect(found).toMatchObject({
    chains: { chains: expect.arrayContaining([expect.objectContaining({ id: chainId })]) },
    currencies: [{ chainId, symbol: 'USDC' }],
    trending: expect.arrayContaining([expect.objectContaining({ chainId })]),
    price: { price: expect.any(Number) },
    config: { enabled: true },
  })
})
