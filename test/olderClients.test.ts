// Goal: what integrators installed years ago goes on working. Method: versions of the public client as npm has
// them, each pointed at a whole local network: a token and native coin are bridged, a swap is quoted, a refusal told.
import type { Hex } from '@causeway/core'
import type * as newest from '@relayprotocol/relay-sdk'
import * as version2 from 'relay-sdk-2'
import * as version3 from 'relay-sdk-3'
import * as version4 from 'relay-sdk-4'
import * as version5 from 'relay-sdk-5'
import * as version6 from 'relay-sdk-6'
import { erc20Abi } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nativeCurrency, type PublicClientBed, startPublicClientBed } from './support/publicClientBed.ts'

/** Members of the package in use here; all versions have them. */
type Published = Pick<typeof newest, 'createClient' | 'convertViemChainToRelayChain'>

// CAST: what these versions return differs in members that are not read here.
const versions: readonly (readonly [string, Published])[] = [
  ['2.4.6', version2 as unknown as Published],
  ['3.2.0', version3 as unknown as Published],
  ['4.0.1', version4 as unknown as Published],
  ['5.2.8', version5 as unknown as Published],
  ['6.1.3', version6 as unknown as Published],
]

let bed: PublicClientBed

beforeAll(async () => {
  bed = await startPublicClientBed()
}, 240_000)
afterAll(() => bed?.stop(), 60_000)

const base = () => bed.session.network.deployment.base
const optimism = () => bed.session.network.deployment.optimism
const freshAddress = () => privateKeyToAddress(generatePrivateKey())

const usdcOf = (account: Hex) =>
  bed.session.network.chains.optimism.chain.client.readContract({
    address: optimism().tokens.USDC,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [account],
  })

describe.each(versions)('the public client %s', (_version, published) => {
  const connect = () => bed.connect(published)
  const bridge = (recipient: Hex) => ({
    chainId: base().chainId,
    toChainId: optimism().chainId,
    user: bed.user(0),
    recipient,
    currency: base().tokens.USDC,
    toCurrency: optimism().tokens.USDC,
    tradeType: 'EXACT_INPUT' as const,
    amount: '25000000',
  })

  test('bridges a token', async () => {
    const client = connect()
    const recipient = freshAddress()
    const quote = await client.actions.getQuote(bridge(recipient))
    const { data } = await client.actions.execute({ quote, wallet: bed.wallet(0, 'base') })
    const items = data.steps.flatMap((step) => step.items ?? [])
    expect(items.length).toBeGreaterThan(0)
    expect(items.every(({ status }) => status === 'complete')).toBe(true)
    expect(await usdcOf(recipient)).toBe(BigInt(quote.details?.currencyOut?.amount ?? 0))
  })

  test('bridges native coin', async () => {
    const client = connect()
    const recipient = freshAddress()
    const currencies = { currency: nativeCurrency, toCurrency: nativeCurrency, amount: '10000000000000000' }
    const quote = await client.actions.getQuote({ ...bridge(recipient), ...currencies })
    await client.actions.execute({ quote, wallet: bed.wallet(1, 'base') })
    const { client: chain } = bed.session.network.chains.optimism.chain
    expect(await chain.getBalance({ address: recipient })).toBe(
      BigInt(quote.details?.currencyOut?.amount ?? 0),
    )
  })

  test('swaps on one chain', async () => {
    const client = connect()
    const swap = { toChainId: base().chainId, toCurrency: base().tokens.USDX, amount: '1000000' }
    const user = bed.user(2)
    const quote = await client.actions.getQuote({ ...bridge(user), ...swap, user })
    const { data } = await client.actions.execute({ quote, wallet: bed.wallet(2, 'base') })
    const items = data.steps.flatMap((step) => step.items ?? [])
    expect(items.every(({ status }) => status === 'complete')).toBe(true)
  })

  test('is told why a quote is refused', async () => {
    await expect(connect().actions.getQuote({ ...bridge(bed.user(0)), amount: '1' })).rejects.toMatchObject({
      message: expect.stringMatching(/amount/i),
      statusCode: 400,
    })
  })
})

describe('the oldest public client, 2.4.6', () => {
  const actions = () => {
    // CAST: as above.
    bed.connect(version2 as unknown as Published)
    return version2.getClient().actions
  }

  test('Q-109: is told what can be bridged, by the zero address as its user', async () => {
    const route = { originChainId: String(base().chainId), destinationChainId: String(optimism().chainId) }
    for (const currency of [undefined, 'eth', 'usdc'] as const) {
      const told = await actions().getSolverCapacity({
        ...route,
        ...(currency !== undefined && { currency }),
      })
      expect(told.enabled).toBe(true)
      expect(BigInt(told.solver?.capacityPerRequest ?? 0)).toBeGreaterThan(0n)
    }
  })

  test('is told a price', async () => {
    const price = await actions().getPrice({
      originChainId: base().chainId,
      destinationChainId: optimism().chainId,
      originCurrency: base().tokens.USDC,
      destinationCurrency: optimism().tokens.USDC,
      tradeType: 'EXACT_INPUT',
      amount: '25000000',
    })
    expect(BigInt(price.details?.currencyOut?.amount ?? 0)).toBeGreaterThan(24_000_000n)
  })
})
