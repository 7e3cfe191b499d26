// Goal: moving dollars from and to Hyperliquid works end to end: a price, a quote whose first step says what the transfer of
// the second is for, a deposit that counts once the hub knows that, a fill, a refund. Who gains by breaking it: whoever has
// somebody's transfer counted for an order of his own, or his own counted twice; an endpoint that invents a deposit; a
// solver whose payment is for another order. Method: the service with its jobs, PostgreSQL, stand-in oracles with the
// keys that the hub's contracts know, those contracts themselves, and a Hyperliquid of stand-ins with real signatures.

import { genericMappingAbi } from '@causeway/contracts'
import { type Hex, hubAlias, nonceMappingId } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { waitUntil } from '@causeway/localnet'
import { hyperliquidBodies } from '@causeway/localnet/standIns/hyperliquid'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { quoteResponseSchema } from '../apps/quote-api/src/http/wire/quoteResponse.ts'
import {
  post,
  postPatiently,
  price,
  type QuoteAnswer,
  readError,
  readOk,
} from '../apps/quote-api/test/serviceSupport/callService.ts'
import { currencyAddress, userOf } from '../apps/quote-api/test/serviceSupport/localRequest.ts'
import { bytesOf } from '../apps/quote-api/test/settlementSupport/requestDriver.ts'
import { type FamilySettling, startFamilySettling } from './support/familySettling.ts'
import {
  authorize,
  depositOnHyperliquid,
  fundedHyperliquidUser,
  type HyperliquidChain,
  hyperliquidChainId,
  hyperliquidDepository,
  payOnHyperliquid,
  perps,
  spotDollars,
  startHyperliquidChain,
  transferOnHyperliquid,
} from './support/hyperliquidSettling.ts'

let at: Omit<HyperliquidChain, 'stop'> & FamilySettling
beforeAll(async () => {
  at = await startFamilySettling((network) => startHyperliquidChain(network, true))
}, 180_000)
afterAll(() => at?.stop())
afterEach(() => {
  for (const node of at?.nodes ?? []) node.set({ kind: 'none' })
})

type Json = Record<string, unknown>

const unit = 100_000_000n
const fromHyperliquid = (user: string, more: Json = {}): Json => ({
  user,
  recipient: userOf(at.network, 0).address,
  originChainId: hyperliquidChainId,
  destinationChainId: 8453,
  destinationCurrency: currencyAddress(at.network, 'base', 'USDC'),
  originCurrency: perps,
  amount: (100n * unit).toString(),
  tradeType: 'EXACT_INPUT',
  ...more,
})
const quoteOf = async (user: string, more: Json = {}): Promise<QuoteAnswer> =>
  readOk(await postPatiently(`${at.url}/quote`, fromHyperliquid(user, more)), quoteResponseSchema)
const toHyperliquid = (recipient: string, more: Json = {}): Json => ({
  user: at.requests.user.address,
  originChainId: 8453,
  recipient,
  destinationChainId: hyperliquidChainId,
  originCurrency: currencyAddress(at.network, 'base', 'USDC'),
  destinationCurrency: perps,
  amount: '100000000',
  tradeType: 'EXACT_INPUT',
  ...more,
})

async function report(item: { readonly id: string }, transaction: string): Promise<void> {
  expect((await at.requests.solver.report(item.id, transaction)).status).toBe(200)
}

let strangers = 0
/** Nobody was ever there. */
function stranger(): Hex {
  strangers += 1
  return `0x${(0xbeef0000 + strangers).toString(16).padStart(40, '0')}`
}

test('F-54: while the fill wallet has one side no dollars of its perps side are quoted, and all else is', async () => {
  const known = fundedHyperliquidUser(at).account
  const inPerps = () => post(`${at.url}/price`, toHyperliquid(known))
  const inSpot = () => post(`${at.url}/price`, toHyperliquid(known, { destinationCurrency: spotDollars }))
  const answers = async (status: number) =>
    waitUntil(`it is ${status}`, async () => (await inPerps()).status === status)
  await answers(200)
  for (const node of at.nodes)
    node.set({
      kind: 'lie',
      isAbout: ({ text }) => text.includes('"userAbstraction"'),
      rewrite: () => 'unifiedAccount',
    })
  await waitUntil('it is refused', async () => (await inPerps()).status !== 200)
  expect([(await inPerps()).status, readError(await inPerps()).errorCode]).toEqual([
    400,
    'INSUFFICIENT_LIQUIDITY',
  ])
  expect((await inSpot()).status).toBe(200)
  for (const node of at.nodes) node.set({ kind: 'none' })
  await answers(200)
}, 120_000)

describe('a price', () => {
  test('is told before anybody is connected: a transfer costs its user nothing', async () => {
    const { details, fees } = await price(
      at.url,
      fromHyperliquid('0x000000000000000000000000000000000000dEaD'),
    )
    expect(details.currencyIn).toMatchObject({
      amount: '10000000000',
      currency: { symbol: 'USDC', decimals: 8 },
    })
    expect(fees.gas.amount).toBe('0')
  })

  test('F-157: to an account that is not there yet has its dollar in it, and to one that is has not', async () => {
    const known = fundedHyperliquidUser(at).account
    const [first, again] = [
      await price(at.url, toHyperliquid(stranger())),
      await price(at.url, toHyperliquid(known)),
    ]
    expect(
      BigInt(String(first.fees.relayerGas.amount)) - BigInt(String(again.fees.relayerGas.amount)),
    ).toBeGreaterThan(990_000n)
  })

  test('F-157, Q-183: asks for multiples of what the exchange can tell apart, and its output is one', async () => {
    const { account } = fundedHyperliquidUser(at)
    const refused = await post(`${at.url}/price`, fromHyperliquid(account, { amount: '10000000050' }))
    expect([refused.status, readError(refused).errorCode]).toEqual([400, 'INVALID_REQUEST'])
    const { amountInstead } = JSON.parse(String(readError(refused).errorData))
    expect(amountInstead).toBe('10000000000')
    await price(at.url, fromHyperliquid(account, { amount: amountInstead }))
    for (const tradeType of ['EXACT_INPUT', 'EXPECTED_OUTPUT']) {
      const more = tradeType === 'EXACT_INPUT' ? { amount: '99999999' } : { amount: '10000000000' }
      const { details } = await price(at.url, toHyperliquid(account, { tradeType, ...more }))
      expect(BigInt(String(details.currencyOut.amount)) % 100n).toBe(0n)
    }
    const spot = await price(
      at.url,
      fromHyperliquid(account, { originCurrency: spotDollars, amount: '10000000051' }),
    )
    expect(spot.details.currencyIn.amount).toBe('10000000051')
  })
})

describe('a quote', () => {
  test('F-147: names the solver on an EVM chain, where it can promise; within Hyperliquid there is a price only', async () => {
    const { account } = fundedHyperliquidUser(at)
    const { orderData } = (await quoteOf(account)).protocol?.v2 ?? {}
    expect(orderData?.solverChainId).toBe('base')
    const within = { destinationChainId: hyperliquidChainId, destinationCurrency: perps }
    const asked = fromHyperliquid(account, { ...within, recipient: fundedHyperliquidUser(at).account })
    await price(at.url, asked)
    expect(readError(await post(`${at.url}/quote`, asked)).errorCode).toBe('UNSUPPORTED_ROUTE')
  })

  test('is a signature that maps the nonce of a transfer, and the transfer', async () => {
    const { account } = fundedHyperliquidUser(at)
    const quote = await quoteOf(account)
    expect(quote.steps).toMatchObject([
      { id: 'authorize', kind: 'signature' },
      { id: 'deposit', kind: 'transaction', items: [{ check: { method: 'GET' } }] },
    ])
    const [signature, transfer] = quote.steps.map(({ items }) => Object(items[0]?.data))
    expect(quote.steps[0]?.items[0]).not.toHaveProperty('check')
    expect(signature.post.body).toMatchObject({
      type: 'nonce-mapping',
      walletChainId: 1337,
      nonce: transfer.nonce,
      id: quote.protocol?.v2.orderId,
    })
    expect(transfer.action.parameters).toMatchObject({
      amount: '100.000000',
      sourceDex: '',
      destinationDex: '',
    })
  })

  test('Q-60: is refused by name to whom nothing is ever paid', async () => {
    const { account } = fundedHyperliquidUser(at)
    for (const never of [hyperliquidDepository, `0x20${'0'.repeat(36)}c5`, `0x${'22'.repeat(20)}`])
      for (const [field, body] of [
        ['recipient', toHyperliquid(never)],
        ['refundTo', fromHyperliquid(account, { refundTo: never })],
      ] as const) {
        const refusal = readError(await post(`${at.url}/quote`, body))
        expect([never, refusal.errorCode, refusal.message]).toEqual([
          ...[never, 'INVALID_RECIPIENT'],
          expect.stringMatching(new RegExp(`^${field} is .*: name an account that somebody holds`)),
        ])
      }
  })

  test('is refused by name for what this family has not', async () => {
    const { account } = fundedHyperliquidUser(at)
    for (const [body, code] of [
      [fromHyperliquid('T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb'), 'INVALID_ADDRESS'],
      [fromHyperliquid(account, { usePermit: true }), 'UNSUPPORTED_CURRENCY'],
      [
        fromHyperliquid(account, { useDepositAddress: true, refundTo: account }),
        'UNSUPPORTED_EXECUTION_TYPE',
      ],
      [fromHyperliquid(account, { originCurrency: `0x${'0d'.repeat(16)}` }), 'INVALID_INPUT_CURRENCY'],
      [fromHyperliquid(account, { refundTo: `0x${'7e'.repeat(20)}` }), 'INVALID_RECIPIENT'],
      [toHyperliquid(account, { txs: [{ to: account, value: '0', data: '0x' }] }), 'EXTRA_TXS_NOT_SUPPORTED'],
    ] as const) {
      const answer = await post(`${at.url}/quote`, body)
      expect([body, answer.status, readError(answer).errorCode]).toEqual([body, 400, code])
    }
  })
})

describe('an authorization', () => {
  const entryOf = async (wallet: string, quote: QuoteAnswer) => {
    const { nonce } = Object(quote.steps[0]?.items[0]?.data).post.body
    const user = hubAlias({ ...mainNetwork('hyperliquid-vm'), chainId: 'hyperliquid' }, wallet.toLowerCase())
    const [data] = await at.network.chains.hub.chain.client.readContract({
      address: at.network.deployment.hub.genericMapping,
      abi: genericMappingAbi,
      functionName: 'getEntry',
      args: [user, nonceMappingId(BigInt(nonce))],
    })
    return data
  }

  test('stands on the hub when it is answered, under any EVM chain that the wallet is on, and once', async () => {
    const user = fundedHyperliquidUser(at)
    for (const chainId of [8453, 10]) {
      const quote = await quoteOf(user.account)
      expect(await entryOf(user.account, quote)).toBe('0x')
      for (const turn of [1, 2]) {
        const answer = await authorize(at.url, quote, user, { chainId })
        expect([turn, answer.status]).toEqual([turn, 200])
      }
      const expected = `${quote.protocol?.v2.orderId}${user.account.slice(2).toLowerCase()}`
      expect(await entryOf(user.account, quote)).toBe(expected)
    }
  })

  test('of 20 at once is the same as one after the other', async () => {
    const all = Array.from({ length: 20 }, () => fundedHyperliquidUser(at))
    const quotes = await Promise.all(all.map(({ account }) => quoteOf(account)))
    const answers = await Promise.all(
      all.map((user, index) => authorize(at.url, quotes[index] ?? neverQuoted(), user)),
    )
    expect(answers.map(({ status }) => status)).toEqual(all.map(() => 200))
  })

  test('F-153: is refused where it is not about what was quoted, and says so', async () => {
    const [user, other] = [fundedHyperliquidUser(at), fundedHyperliquidUser(at)]
    const quote = await quoteOf(user.account)
    const answer = await authorize(at.url, quote, other)
    expect([answer.status, readError(answer).errorCode]).toEqual([400, 'INVALID_SIGNATURE'])
    expect(await entryOf(user.account, quote)).toBe('0x')
    const { body } = Object(quote.steps[0]?.items[0]?.data).post
    // Signed by the very wallet: an oracle would vouch for each, and no one is to pay for it.
    const foreign = { wallet: other.account, depositor: other.account }
    for (const [signer, change] of [
      [user, { nonce: body.nonce + 1 }],
      [user, { depositor: other.account }],
      [other, foreign],
    ] as const) {
      const refused = await authorize(at.url, quote, signer, { change })
      expect([change, refused.status, readError(refused).errorCode]).toEqual([
        ...[change, 400, 'INVALID_SIGNATURE'],
      ])
    }
    const signature = `0x${'11'.repeat(65)}`
    for (const [change, code] of [
      [{ id: `0x${'44'.repeat(32)}` }, 'REQUEST_NOT_FOUND'],
      [{ walletChainId: 8453 }, 'UNSUPPORTED_CHAIN'],
      [{ signatureChainId: 77 }, 'UNSUPPORTED_CHAIN'],
      [{ type: 'other' }, 'INVALID_REQUEST'],
    ] as const) {
      const refused = await post(`${at.url}/authorize?signature=${signature}`, { ...body, ...change })
      expect([change, readError(refused).errorCode]).toEqual([change, code])
    }
  })

  test('Q-44: is not given to a wallet that holds less than the transfer', async () => {
    const user = fundedHyperliquidUser(at)
    const quote = await quoteOf(user.account)
    at.venue.fund(user.account, { '': -499_999_999_999n })
    const refused = await authorize(at.url, quote, user)
    expect([refused.status, readError(refused).errorCode]).toEqual([400, 'INSUFFICIENT_FUNDS'])
    expect(await entryOf(user.account, quote)).toBe('0x')
  })

  test('is not given while too few oracles vouch for it, and can be sent again then', async () => {
    const user = fundedHyperliquidUser(at)
    const quote = await quoteOf(user.account)
    at.oracles.set('garbage', 'garbage', 'honest')
    const refused = await authorize(at.url, quote, user)
    expect([refused.status, readError(refused).errorCode]).toEqual([503, 'SERVICE_UNAVAILABLE'])
    expect(await entryOf(user.account, quote)).toBe('0x')
    at.oracles.set('honest', 'honest', 'honest')
    expect((await authorize(at.url, quote, user)).status).toBe(200)
  })
})

const neverQuoted = (): never => {
  throw new Error('there is a quote for each')
}

describe('a deposit', () => {
  test.each([
    ['of perps dollars', perps],
    ['of spot dollars', spotDollars],
  ])('%s is found, filled on Base, and settled', async (_what, originCurrency) => {
    const user = fundedHyperliquidUser(at)
    const quote = await quoteOf(user.account, { originCurrency })
    await depositOnHyperliquid(at, at.url, quote, user)
    await at.requests.solver.carryOut(await at.requests.workFor(quote, 'fill'))
    await at.requests.reaches(quote, 'success')
    await at.requests.reachesStage(quote, 'settled')
  })

  test("F-51: counts behind a stranger's 1,200 transfers, for none of which the explorer is asked", async () => {
    const user = fundedHyperliquidUser(at)
    const quote = await quoteOf(user.account)
    const stranger = fundedHyperliquidUser(at).account.toLowerCase()
    const [{ name, tokenId } = { name: '', tokenId: '' }] = at.ledger.tokens
    const before = at.ledger.transactions.length
    for (let sent = 0; sent < 1_200; sent += 1)
      at.venue.execute({
        user: stranger,
        timeMs: Date.now(),
        action: {
          type: 'sendAsset',
          signatureChainId: '0x66eee',
          hyperliquidChain: 'Mainnet',
          destination: hyperliquidDepository,
          sourceDex: '',
          destinationDex: '',
          token: `${name}:${tokenId}`,
          amount: '0.000001',
          fromSubAccount: '',
          nonce: Date.now() * 10 + sent,
        },
      })
    const strange = new Set(at.ledger.transactions.slice(before).map(({ hash }) => hash))
    let explored = 0
    for (const node of at.nodes)
      node.set({
        kind: 'lie',
        isAbout: ({ path, text }) => path === '/explorer' && strange.has(Object(JSON.parse(text)).hash),
        rewrite() {
          explored += 1
          return { type: 'error', message: 'Internal error' }
        },
      })
    const fromMs = performance.now()
    await depositOnHyperliquid(at, at.url, quote, user)
    await at.requests.workFor(quote, 'fill')
    expect(performance.now() - fromMs).toBeLessThan(20_000)
    expect(explored).toBe(0)
  })

  test('F-51: counts once the hub says what it is for, also when that comes after it', async () => {
    const user = fundedHyperliquidUser(at)
    const quote = await quoteOf(user.account)
    await transferOnHyperliquid(at, quote, user)
    // Nothing is left of what would be transferred once more.
    at.venue.fund(user.account, { '': -489_999_999_999n })
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    expect((await at.requests.statusOf(quote)).status).toBe('waiting')
    expect((await authorize(at.url, quote, user)).status).toBe(200)
    await at.requests.workFor(quote, 'fill')
  })

  test('that one endpoint lists and no other is none', async () => {
    const user = fundedHyperliquidUser(at)
    const quote = await quoteOf(user.account)
    expect((await authorize(at.url, quote, user)).status).toBe(200)
    const { parameters } = Object(quote.steps[1]?.items[0]?.data).action
    const invented = { hash: `0x${'ee'.repeat(32)}`, user: user.account.toLowerCase(), timeMs: Date.now() }
    const action = { ...parameters, type: 'SendAsset' as const, nonce: BigInt(parameters.nonce) }
    const { assetUpdate, explorerTransaction } = hyperliquidBodies
    at.nodes[0]?.set({
      kind: 'lie',
      rewrite: (path, body) => {
        if (Array.isArray(body)) return [...body, assetUpdate.body({ ...invented, action }, 'USDC')]
        if (path === '/explorer')
          return { type: 'txDetails', tx: explorerTransaction.body({ ...invented, action }) }
        return body
      },
      isAbout: ({ text }) => text.includes('userNonFundingLedgerUpdates') || text.includes(invented.hash),
    })
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    expect((await at.requests.statusOf(quote)).status).toBe('waiting')
  })

  test('of the other dollars than were quoted goes back, in those', async () => {
    const user = fundedHyperliquidUser(at)
    // To the user, whose account is there: the recipient's is not, though its address has the same form.
    const quote = await quoteOf(user.account)
    expect((await authorize(at.url, quote, user)).status).toBe(200)
    const step = Object(quote.steps[1]?.items[0]?.data)
    const spot = {
      ...step.action.parameters,
      sourceDex: 'spot',
      destinationDex: 'spot',
      amount: '100.00000000',
    }
    const data = { ...step, action: { ...step.action, parameters: spot } }
    await transferOnHyperliquid(at, { steps: [{ items: [{ data }] }] }, user)
    const before = at.venue.balanceOf(user.account, spotDollars)
    const item = await at.requests.workFor(quote, 'refund')
    await report(item, await payOnHyperliquid(at, item))
    // Until its quote expires, another deposit may still come.
    await at.database.query(
      `update orders set expires_at = now() - interval '1 minute' where request_id = $1`,
      [bytesOf(quote.requestId)],
    )
    await at.requests.reaches(quote, 'refund')
    expect(at.venue.balanceOf(user.account, spotDollars) - before).toBe(100n * unit)
  })
})

describe('a fill', () => {
  test.each<[string, string, () => string]>([
    ['of perps dollars to somebody who was never there', perps, stranger],
    ['of perps dollars', perps, () => fundedHyperliquidUser(at).account],
    ['of spot dollars', spotDollars, () => fundedHyperliquidUser(at).account],
  ])('%s reaches him as it was quoted', async (_what, destinationCurrency, whom) => {
    const recipient = whom()
    const part = destinationCurrency === perps ? '' : destinationCurrency
    const before = at.venue.balanceOf(recipient, part)
    const asked = toHyperliquid(recipient, { destinationCurrency })
    const quote = readOk(await postPatiently(`${at.url}/quote`, asked), quoteResponseSchema)
    await at.requests.execute(quote)
    const item = await at.requests.workFor(quote, 'fill')
    await report(item, await payOnHyperliquid(at, item))
    await at.requests.reaches(quote, 'success')
    expect(at.venue.balanceOf(recipient, part) - before).toBe(BigInt(quote.details.currencyOut.amount ?? 0))
  })

  test('whose nonce the hub maps to another order is none', async () => {
    const recipient = fundedHyperliquidUser(at).account
    const quote = readOk(
      await postPatiently(`${at.url}/quote`, toHyperliquid(recipient)),
      quoteResponseSchema,
    )
    await at.requests.execute(quote)
    const item = await at.requests.workFor(quote, 'fill')
    await report(item, await payOnHyperliquid(at, item, { orderId: `0x${'ab'.repeat(32)}` }))
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    expect((await at.requests.statusOf(quote)).status).not.toBe('success')
  })
})

test.each<[string, Readonly<Record<string, string>>]>([
  ['HUB_ECDSA_PRIVATE_KEY', { HUB_ECDSA_PRIVATE_KEY: '' }],
  ['ORACLES', { ORACLES: '', ORACLE_THRESHOLD: '' }],
  ['its endpoints', { RELAY_RPC_URL: '' }],
])('a service that quotes it does not start without %s', async (what, change) => {
  const starting = startFamilySettling((network) => startHyperliquidChain(network), change)
  await expect(starting).rejects.toThrow(what)
})
