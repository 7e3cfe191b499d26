// Goal: the published client ends as it should when a request does not go well: refunds, deposits that never come,
// wallets on another chain. And what it sends beside its transactions is a help, never needed. Method: the
// package as npm has it, pointed at a whole local network.
import type { Hex } from '@causeway/core'
import { waitUntil } from '@causeway/localnet'
import type { Execute } from '@relayprotocol/relay-sdk'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { nativeCurrency, type PublicClientBed, startPublicClientBed } from './support/publicClientBed.ts'

let bed: PublicClientBed

beforeAll(async () => {
  bed = await startPublicClientBed()
}, 240_000)
afterAll(() => bed?.stop(), 60_000)

const base = () => bed.session.network.deployment.base
const optimism = () => bed.session.network.deployment.optimism
const freshAddress = () => privateKeyToAddress(generatePrivateKey())

const statusSchema = z.looseObject({
  status: z.string(),
  details: z.unknown().optional(),
  failReason: z.string(),
  txHashes: z.array(z.string()),
})

async function statusOf({ steps }: Execute) {
  const requestId = steps.at(-1)?.requestId
  const response = await fetch(`${bed.url}/intents/status/v3?requestId=${requestId}`)
  return statusSchema.parse(await response.json())
}

/** Native coin from Base to Optimism for the first user. */
function nativeQuote(change: object = {}): Promise<Execute> {
  return bed.client.actions.getQuote({
    chainId: base().chainId,
    toChainId: optimism().chainId,
    currency: nativeCurrency,
    toCurrency: nativeCurrency,
    amount: '10000000000000000',
    tradeType: 'EXACT_INPUT',
    user: bed.user(0),
    recipient: freshAddress(),
    ...change,
  })
}

const execute = (quote: Execute, chain: 'base' | 'optimism' = 'base') =>
  bed.client.actions.execute({ quote, wallet: bed.wallet(0, chain) })

describe('a request that cannot be filled', () => {
  test('(k) is refunded; the client says so, and the reason is beside empty details', async () => {
    const refundTo = freshAddress()
    const called = freshAddress()
    const quote = await nativeQuote({
      tradeType: 'EXACT_OUTPUT',
      amount: '5000000000000000',
      txs: [{ to: called, value: '0', data: '0xdeadbeef' }],
      options: { refundTo },
    })
    // The target is an account during the simulation, and reverts every call afterwards.
    const { node } = bed.session.network.chains.optimism.chain
    await node.setCode({ address: called, bytecode: '0xfe' })
    await expect(execute(quote)).rejects.toThrow('Refunded')
    const status = await statusOf(quote)
    expect(status).toMatchObject({ status: 'refund', failReason: 'EXECUTION_REVERTED' })
    expect(status).not.toHaveProperty('details')
    expect(status.txHashes).toHaveLength(1)
    const paid = BigInt(quote.details?.currencyIn?.amount ?? 0)
    const back = await bed.session.network.chains.base.chain.client.getBalance({ address: refundTo })
    expect(back).toBeGreaterThan((paid * 95n) / 100n)
    expect(back).toBeLessThanOrEqual(paid)
  })
})

describe('a deposit', () => {
  test('(i) that nobody hinted at is detected and filled', async () => {
    const recipient = freshAddress()
    const quote = await nativeQuote({ recipient })
    const user = bed.session.network.keys.users[1]
    if (user === undefined) throw new Error('no second user')
    const transactions = quote.steps.flatMap(({ id, items }) =>
      (items ?? []).map(({ data }) => ({
        // CAST: the client passes steps on as the service sent them.
        what: id,
        to: data.to as Hex,
        data: data.data as Hex,
        valueWei: BigInt(data.value),
      })),
    )
    await bed.session.network.chains.base.chain.send(user, transactions)
    await waitUntil('it is filled', async () => (await statusOf(quote)).status === 'success')
    const { client } = bed.session.network.chains.optimism.chain
    expect(await client.getBalance({ address: recipient })).toBe(
      BigInt(quote.details?.currencyOut?.amount ?? 0),
    )
  })

  test('that never comes ends in a timeout of the client, and the request still waits', async () => {
    const quote = await nativeQuote()
    const [item] = quote.steps.at(-1)?.items ?? []
    // A transaction like any other, and no deposit.
    Object.assign(item?.data ?? {}, { to: bed.user(0), data: '0x', value: '0' })
    const { client } = bed
    // Its own number where none is set. @source github.com/relayprotocol/relay-kit
    const { maxPollingAttemptsBeforeTimeout = 30 } = client
    client.maxPollingAttemptsBeforeTimeout = 3
    try {
      await expect(execute(quote)).rejects.toMatchObject({ name: 'SolverStatusTimeoutError' })
    } finally {
      client.maxPollingAttemptsBeforeTimeout = maxPollingAttemptsBeforeTimeout
    }
    expect(await statusOf(quote)).toMatchObject({ status: 'waiting', txHashes: [] })
  })
})

describe('what the client refuses by itself', () => {
  test('a wallet on another chain', async () => {
    await expect(execute(await nativeQuote(), 'optimism')).rejects.toMatch(/does not match expected chain id/)
  })

  test('a quote from a chain that it does not know', async () => {
    const quote = await nativeQuote()
    const currency = quote.details?.currencyIn?.currency
    Object.assign(currency ?? {}, { chainId: 999_999 })
    await expect(execute(quote)).rejects.toMatch(/Unable to find chain/)
  })
})
