// Goal: Solana is quoted both ways through the same routes, and what cannot be paid or signed there is refused by
// name. Adversaries: a recipient that is no wallet, a user nobody can sign for, texts that look like keys, families
// mixed up, amounts that an absent account would not keep. Method: the service over real nodes and a real runtime.

import { associatedTokenAccount, encodeBase58, solanaLibrary, tokenProgram } from '@causeway/core'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postPatiently, price, quote, readError } from '../apps/quote-api/test/serviceSupport/callService.ts'
import { currencyAddress, userOf } from '../apps/quote-api/test/serviceSupport/localRequest.ts'
import { type SolanaService, sol, solanaChainId, startSolanaService } from './support/solanaService.ts'

const { Keypair } = solanaLibrary()
const rentOfToken = 2_039_280n
const rentOfNothing = 890_880n
let solana: SolanaService
beforeAll(async () => {
  solana = await startSolanaService()
}, 120_000)
afterAll(() => solana?.stop())

const fresh = () => Keypair.generate().publicKey.toBase58()
const usdcThere = () => solana.bed.mint.toBase58()
const accounts = () => ({
  user: userOf(solana.network, 0).address,
  wallet: solana.bed.user.publicKey.toBase58(),
  holder: solana.bed.recipient.toBase58(),
})

/** 10 USDC of Base for SOL. */
const toSolana = (change: object = {}) => ({
  user: accounts().user,
  recipient: accounts().holder,
  originChainId: 8453,
  destinationChainId: solanaChainId,
  originCurrency: currencyAddress(solana.network, 'base', 'USDC'),
  destinationCurrency: sol,
  amount: '10000000',
  tradeType: 'EXACT_INPUT',
  ...change,
})
/** 0.1 SOL for USDC of Optimism. */
const fromSolana = (change: object = {}) => ({
  user: accounts().wallet,
  recipient: accounts().user,
  originChainId: solanaChainId,
  destinationChainId: 10,
  originCurrency: sol,
  destinationCurrency: currencyAddress(solana.network, 'optimism', 'USDC'),
  amount: '100000000',
  tradeType: 'EXACT_INPUT',
  ...change,
})

const withinSolana = (recipient: string) => ({
  ...fromSolana({ originCurrency: usdcThere(), amount: '1000000', recipient }),
  ...{ destinationChainId: solanaChainId, destinationCurrency: usdcThere() },
})

async function refusalOf(route: 'price' | 'quote', body: object) {
  const { status, ...answer } = await postPatiently(`${solana.url}/${route}`, body)
  return { status, ...readError({ status, ...answer }) }
}
const dataOf = ({ errorData }: { errorData?: string | undefined }): unknown => JSON.parse(errorData ?? '{}')

describe('what is answered', () => {
  test('from Solana: one deposit of instructions, its network fee, and an order of that chain', async () => {
    const { steps, fees, protocol, details } = await quote(solana.url, fromSolana())
    expect(steps).toHaveLength(1)
    const [step] = steps
    expect(step).toMatchObject({ id: 'deposit', kind: 'transaction', depositAddress: '' })
    const [item] = step?.items ?? []
    expect(item).toMatchObject({
      check: { method: 'GET', endpoint: expect.stringContaining('/intents/status/v3?requestId=0x') },
      data: { addressLookupTableAddresses: [] },
    })
    const orderId = String(protocol?.v2?.orderId).slice(2)
    // Text of hex digits without 0x: with it, wallets send an instruction of no bytes.
    expect(JSON.stringify(item?.data)).toContain(`0d9e0ddf5fd51c0600e1f50500000000${orderId}`)
    expect(protocol?.v2).toMatchObject({ paymentDetails: { chainId: 'solana', currency: sol } })
    expect(fees.gas).toMatchObject({ amount: '5060', currency: { symbol: 'SOL', decimals: 9 } })
    expect(details).toMatchObject({ operation: 'swap', sender: accounts().wallet })
    // The solver signs with a key of the EVM, which names nobody on Solana.
    expect(Object(protocol?.v2).orderData).toMatchObject({ solverChainId: 'optimism' })
  })

  test('to Solana: steps of the origin, and a payment in base58', async () => {
    const { steps, protocol } = await quote(solana.url, toSolana())
    expect(steps.map(({ id }) => id)).toEqual(['approve', 'deposit'])
    const { orderData } = Object(protocol?.v2)
    expect(orderData.solverChainId).toBe('base')
    expect(orderData.output).toMatchObject({
      chainId: 'solana',
      payments: [{ recipient: accounts().holder, currency: sol }],
    })
  })

  test('EXACT_OUTPUT, app fees and tokens for tokens, both ways', async () => {
    const token = { destinationCurrency: usdcThere(), tradeType: 'EXACT_OUTPUT', amount: '7000000' }
    const out = await quote(solana.url, toSolana(token))
    expect(out.details.currencyOut).toMatchObject({ amount: '7000000' })
    const appFees = [{ recipient: `0x${'ab'.repeat(20)}`, fee: '100' }]
    const back = await quote(
      solana.url,
      fromSolana({ originCurrency: usdcThere(), amount: '10000000', appFees }),
    )
    expect(back.fees.app).toMatchObject({ amount: '100000', currency: { address: usdcThere() } })
    const identity = [back.fees.relayer, back.fees.app, back.details.currencyOut].map((of) =>
      BigInt(of.amount),
    )
    expect(identity.reduce((sum, part) => sum + part)).toBe(10_000_000n)
  })

  test('an account that the recipient lacks is paid for, at the rate of the cluster', async () => {
    const ask = (recipient: string) =>
      price(solana.url, toSolana({ destinationCurrency: usdcThere(), recipient }))
    const [lacking, having] = [await ask(fresh()), await ask(accounts().holder)]
    const more = BigInt(having.details.currencyOut.amount) - BigInt(lacking.details.currencyOut.amount)
    // SOL is worth 150 USD here.
    const rent = (rentOfToken * 150n) / 1_000n
    expect(more).toBeGreaterThanOrEqual(rent)
    expect(more).toBeLessThan(rent + 1_000n)
  })

  test('a price within Solana names the account that is made; nothing follows it, so it is not quoted', async () => {
    const send = (recipient: string) => price(solana.url, withinSolana(recipient))
    const [made, there] = [await send(fresh()), await send(accounts().holder)]
    expect(made.details).toMatchObject({ operation: 'send', currencyOut: { amount: '1000000' } })
    const difference = BigInt(made.fees.gas.amount) - BigInt(there.fees.gas.amount)
    expect(difference).toBeGreaterThanOrEqual(rentOfToken)
    expect(difference).toBeLessThan(rentOfToken + 1_000n)
    const refused = await refusalOf('quote', withinSolana(fresh()))
    expect(refused).toMatchObject({ status: 400, errorCode: 'UNSUPPORTED_ROUTE' })
  })
})

describe('what is refused', () => {
  const programDerived = () => solana.bed.depository.addresses.vault
  const holding = () => associatedTokenAccount(accounts().holder, { mint: usdcThere(), tokenProgram })

  test.each<[string, () => object, string, object]>([
    [
      'SOL to a token account',
      () => toSolana({ recipient: holding() }),
      'RECIPIENT_HAS_CODE',
      { field: 'recipient' },
    ],
    [
      'a token to a token account',
      () => toSolana({ recipient: holding(), destinationCurrency: usdcThere() }),
      'RECIPIENT_HAS_CODE',
      { field: 'recipient' },
    ],
    ['a program', () => toSolana({ recipient: tokenProgram }), 'RECIPIENT_HAS_CODE', { field: 'recipient' }],
    ['an account without a key', () => toSolana({ recipient: programDerived() }), 'RECIPIENT_HAS_CODE', {}],
    [
      'a mint as a wallet',
      () => toSolana({ recipient: usdcThere() }),
      'INVALID_RECIPIENT',
      { field: 'recipient' },
    ],
    [
      'a user without a key',
      () => fromSolana({ user: programDerived() }),
      'INVALID_ADDRESS',
      { field: 'user' },
    ],
    [
      'a refund to a program',
      () => fromSolana({ refundTo: tokenProgram }),
      'RECIPIENT_HAS_CODE',
      { field: 'refundTo' },
    ],
    [
      'a refund elsewhere',
      () => fromSolana({ refundTo: accounts().user }),
      'INVALID_ADDRESS',
      { field: 'refundTo' },
    ],
    [
      'a refund elsewhere',
      () => toSolana({ refundTo: accounts().holder }),
      'INVALID_ADDRESS',
      { field: 'refundTo' },
    ],
    [
      'another recipient',
      () => fromSolana({ recipient: accounts().wallet }),
      'INVALID_ADDRESS',
      { field: 'recipient' },
    ],
    ['another user', () => fromSolana({ user: accounts().user }), 'INVALID_ADDRESS', { field: 'user' }],
    [
      'a signature of 64 bytes',
      () => toSolana({ recipient: encodeBase58(new Uint8Array(64).fill(7)) }),
      'INVALID_ADDRESS',
      {},
    ],
    ['a currency of nobody', () => toSolana({ destinationCurrency: fresh() }), 'INVALID_OUTPUT_CURRENCY', {}],
    [
      'calls',
      () => toSolana({ txs: [{ to: accounts().user, value: '0', data: '0x' }], txsGasLimit: 1 }),
      'EXTRA_TXS_NOT_SUPPORTED',
      {},
    ],
    [
      'a permit',
      () => fromSolana({ originCurrency: usdcThere(), usePermit: true }),
      'UNSUPPORTED_CURRENCY',
      {},
    ],
    ['a deposit address', () => fromSolana({ useDepositAddress: true }), 'UNSUPPORTED_EXECUTION_TYPE', {}],
  ])('%s', async (_what, body, errorCode, data) => {
    for (const route of ['price', 'quote'] as const) {
      const refused = await refusalOf(route, body())
      expect(refused).toMatchObject({ status: 400, errorCode })
      expect(dataOf(refused)).toMatchObject(data)
    }
  })

  test('without a recipient there is none where addresses of the two chains differ', async () => {
    const { recipient: _, ...body } = fromSolana()
    const refused = await refusalOf('price', body)
    expect(refused).toMatchObject({ status: 400, errorCode: 'INVALID_ADDRESS' })
    expect(dataOf(refused)).toMatchObject({ field: 'recipient' })
  })

  test('SOL that an absent account would not keep names the least that works, which then is quoted', async () => {
    const body = toSolana({ recipient: fresh(), amount: '250000' })
    const refused = await refusalOf('price', body)
    expect(refused).toMatchObject({ status: 400, errorCode: 'AMOUNT_TOO_LOW' })
    const { minimumAmount } = Object(dataOf(refused))
    const { details } = await quote(solana.url, { ...body, amount: minimumAmount })
    expect(BigInt(details.currencyOut.minimumAmount)).toBeGreaterThanOrEqual(rentOfNothing)
    // The same amount to an account that is there is no dust.
    await price(solana.url, toSolana({ amount: '250000' }))
  })

  test('a deposit whose refund an emptied account would not keep is too little', async () => {
    const body = fromSolana({ amount: '800000' })
    const refused = await refusalOf('quote', body)
    expect(refused).toMatchObject({ status: 400, errorCode: 'AMOUNT_TOO_LOW' })
    const { minimumAmount } = Object(dataOf(refused))
    const { protocol } = await quote(solana.url, { ...body, amount: minimumAmount })
    const { orderData } = Object(protocol?.v2)
    const [refund] = orderData.inputs[0].refunds
    expect(BigInt(refund.minimumAmount)).toBeGreaterThanOrEqual(rentOfNothing)
  })

  test('a gas top-up that an absent account would not keep names its member', async () => {
    const body = toSolana({ recipient: fresh(), destinationCurrency: usdcThere(), topupGas: true })
    const refused = await refusalOf('price', { ...body, topupGasAmount: '1000' })
    expect(refused).toMatchObject({ status: 400, errorCode: 'AMOUNT_TOO_LOW' })
    expect(dataOf(refused)).toMatchObject({ field: 'topupGasAmount' })
    await price(solana.url, { ...body, amount: '20000000', topupGasAmount: '4000000' })
  })

  test('whatever stands where an address belongs is answered or refused, and breaks nothing', async () => {
    const text = fc.oneof(
      fc.uint8Array({ minLength: 0, maxLength: 70 }).map((bytes) => encodeBase58(bytes)),
      fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => encodeBase58(bytes)),
      fc.string({ maxLength: 64 }),
      fc.constantFrom(sol, tokenProgram, `0x${'0'.repeat(40)}`, fresh().toLowerCase()),
    )
    const field = fc.constantFrom('user', 'recipient', 'refundTo', 'originCurrency', 'destinationCurrency')
    const way = fc.constantFrom(toSolana, fromSolana)
    await fc.assert(
      fc.asyncProperty(way, field, text, async (bodyOf, name, value) => {
        const { status, text: answer } = await postPatiently(`${solana.url}/price`, bodyOf({ [name]: value }))
        expect([200, 400]).toContain(status)
        if (status === 400) expect(JSON.parse(answer)).toHaveProperty('errorCode')
      }),
      { numRuns: 150 },
    )
  })
})
