// Goal: Solana is quoted both ways through the same routes, and what cannot be paid or signed there is refused by
// name. Adversaries: a recipient that is no wallet, a user nobody can sign for, texts that look like keys, families
// mixed up, amounts that an absent account would not keep. Method: the service over real nodes and a real runtime.

import { decodeBase58Text, encodeBase58 } from '@causeway/core'
import {
  associatedTokenAccount,
  solanaLibrary,
  token2022Program,
  tokenProgram,
} from '@causeway/families/rules'
import { placeTokenHolder } from '@causeway/localnet/wallets'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postPatiently, price, quote, readError } from '../apps/quote-api/test/serviceSupport/callService.ts'
import { currencyAddress, userOf } from '../apps/quote-api/test/serviceSupport/localRequest.ts'
import { type SolanaService, sol, solanaChainId, startSolanaService } from './support/solanaService.ts'
import { sendStep } from './support/solanaSteps.ts'

const { Keypair } = solanaLibrary()
const rentOfToken = 2_039_280n
const rentOfNothing = 890_880n
let solana: SolanaService
beforeAll(async () => {
  solana = await startSolanaService()
  solana.bed.node.airdrop(payer.publicKey.toBase58(), 10n ** 10n)
}, 120_000)
afterAll(() => solana?.stop())

/** The depositor; the solver's wallet is another one. */
const payer = Keypair.generate()
const fresh = () => Keypair.generate().publicKey.toBase58()
const usdcThere = () => solana.bed.mint.toBase58()
const accounts = () => ({
  user: userOf(solana.network, 0).address,
  wallet: payer.publicKey.toBase58(),
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
  destinationChainId: solanaChainId,
  destinationCurrency: usdcThere(),
})

async function refusalOf(route: 'price' | 'quote', body: object) {
  const { status, ...answer } = await postPatiently(`${solana.url}/${route}`, body)
  return { status, ...readError({ status, ...answer }) }
}
const dataOf = ({ errorData }: { errorData?: string | undefined }): unknown => JSON.parse(errorData ?? '{}')

describe('what is answered', () => {
  test('F-147: from Solana: one deposit of instructions, its network fee, and an order of that chain', async () => {
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

  test('F-146: a price within Solana names the account that is made; nothing follows it, so it is not quoted', async () => {
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
  const rich = () => {
    const owner = fresh()
    solana.bed.node.airdrop(owner, 2n ** 53n)
    return owner
  }
  const holding = () => associatedTokenAccount(accounts().holder, { mint: usdcThere(), tokenProgram })

  test.each<[string, () => object, string, object]>([
    [
      'SOL to a token account',
      () => toSolana({ recipient: holding() }),
      'RECIPIENT_HAS_CODE',
      { field: 'recipient' },
    ],
    [
      'F-144: a token to a token account',
      () => toSolana({ recipient: holding(), destinationCurrency: usdcThere() }),
      'RECIPIENT_HAS_CODE',
      { field: 'recipient' },
    ],
    [
      'a program of the cluster',
      () => toSolana({ recipient: tokenProgram }),
      'INVALID_RECIPIENT',
      { field: 'recipient' },
    ],
    [
      'a program',
      () => toSolana({ recipient: solana.bed.forwarder.toBase58() }),
      'RECIPIENT_HAS_CODE',
      { field: 'recipient' },
    ],
    [
      'a sysvar',
      () => toSolana({ recipient: 'SysvarC1ock11111111111111111111111111111111' }),
      'INVALID_RECIPIENT',
      { field: 'recipient' },
    ],
    [
      'the depository',
      () => toSolana({ recipient: solana.bed.depository.program.toBase58() }),
      'INVALID_RECIPIENT',
      { field: 'recipient' },
    ],
    [
      'the fill wallet',
      () => fromSolana({ refundTo: solana.solver.publicKey.toBase58() }),
      'INVALID_RECIPIENT',
      { field: 'refundTo' },
    ],
    [
      'the fill wallet as a user',
      () => fromSolana({ user: solana.solver.publicKey.toBase58() }),
      'INVALID_RECIPIENT',
      { field: 'refundTo' },
    ],
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
      () => fromSolana({ refundTo: solana.bed.forwarder.toBase58() }),
      'RECIPIENT_HAS_CODE',
      { field: 'refundTo' },
    ],
    // A refund makes no account: nobody was charged for one.
    [
      'F-145: a refund of a token to a wallet without an account of it',
      () => fromSolana({ originCurrency: usdcThere(), amount: '10000000', refundTo: fresh() }),
      'INVALID_RECIPIENT',
      { field: 'refundTo', chainId: solanaChainId },
    ],
    // JSON tells a balance above 2^53 - 1 to nobody exactly, so nobody could prove what was added to it.
    [
      'SOL to an account that holds more than can be counted',
      () => toSolana({ recipient: rich() }),
      'INVALID_RECIPIENT',
      { field: 'recipient' },
    ],
    [
      'a gas top-up of such an account',
      () => toSolana({ recipient: rich(), destinationCurrency: usdcThere(), topupGas: true }),
      'INVALID_RECIPIENT',
      { field: 'recipient' },
    ],
    [
      'a refund of SOL to such an account',
      () => fromSolana({ refundTo: rich() }),
      'INVALID_RECIPIENT',
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
    [
      'an exact output by an open deposit address',
      () => fromSolana({ useDepositAddress: true, tradeType: 'EXACT_OUTPUT' }),
      'UNSUPPORTED_EXECUTION_TYPE',
      { field: 'tradeType' },
    ],
  ])('%s', async (_what, body, errorCode, data) => {
    for (const route of ['price', 'quote'] as const) {
      const refused = await refusalOf(route, body())
      expect(refused).toMatchObject({ status: 400, errorCode })
      expect(dataOf(refused)).toMatchObject(data)
    }
  })

  test('F-99: a frozen account of the user is told before the first step, and a price still', async () => {
    const user = Keypair.generate()
    solana.bed.node.airdrop(user.publicKey.toBase58(), 10n ** 9n)
    const account = { mint: solana.bed.mint, of: user.publicKey, amount: 10n ** 9n, program: tokenProgram }
    placeTokenHolder(solana.bed.node, account)
    const body = fromSolana({
      user: user.publicKey.toBase58(),
      refundTo: accounts().holder,
      originCurrency: usdcThere(),
      amount: '10000000',
    })
    const { steps } = await quote(solana.url, body)
    placeTokenHolder(solana.bed.node, { ...account, state: 2 })
    await expect(sendStep(solana.bed, steps[0], [user])).rejects.toThrow()
    const refused = () => postPatiently(`${solana.url}/quote`, body)
    await expect.poll(async () => (await refused()).status).toBe(400)
    const refusal = await refusalOf('quote', body)
    expect(refusal).toMatchObject({ errorCode: 'INSUFFICIENT_FUNDS' })
    expect(refusal.message).toContain('user has a frozen account of the token')
    expect(dataOf(refusal)).toMatchObject({ field: 'user', availableAmount: '0', neededAmount: '10000000' })
    await price(solana.url, body)
  })

  test('what the refusal of a refund advises is quoted', async () => {
    const asked = (change: object) =>
      fromSolana({ originCurrency: usdcThere(), amount: '10000000', ...change })
    const refusal = await refusalOf('quote', asked({ refundTo: fresh() }))
    const { refundToInstead } = Object(dataOf(refusal))
    const back = async (change: object) => {
      const { orderData } = Object((await quote(solana.url, asked(change))).protocol?.v2)
      return orderData.inputs[0].refunds[0].recipient
    }
    const { wallet, holder } = accounts()
    expect(await back({ refundTo: refundToInstead })).toBe(wallet)
    expect([await back({}), await back({ refundTo: holder })]).toEqual([wallet, holder])
  })

  test('tokens reach an account that holds more SOL than can be counted', async () => {
    const { details } = await quote(
      solana.url,
      toSolana({ recipient: rich(), destinationCurrency: usdcThere() }),
    )
    expect(BigInt(details.currencyOut.amount)).toBeGreaterThan(0n)
  })

  test('without a recipient there is none where addresses of the two chains differ', async () => {
    const { recipient: _, ...body } = fromSolana()
    const refused = await refusalOf('price', body)
    expect(refused).toMatchObject({ status: 400, errorCode: 'INVALID_ADDRESS' })
    expect(dataOf(refused)).toMatchObject({ field: 'recipient' })
  })

  test('F-144: SOL that an absent account would not keep names the least that works, which then is quoted', async () => {
    const body = toSolana({ recipient: fresh(), amount: '250000' })
    const refused = await refusalOf('price', body)
    expect(refused).toMatchObject({ status: 400, errorCode: 'AMOUNT_TOO_LOW' })
    const { minimumAmount } = Object(dataOf(refused))
    const { details } = await quote(solana.url, { ...body, amount: minimumAmount })
    expect(BigInt(details.currencyOut.minimumAmount)).toBeGreaterThanOrEqual(rentOfNothing)
    // The amount is no dust if the recipient's account exists.
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
})

describe('whatever stands where an address belongs', () => {
  const { PublicKey } = solanaLibrary()
  const isKey = (text: string) => PublicKey.isOnCurve(new PublicKey(text).toBytes())
  const bytesOf = (length: object) => fc.uint8Array(length).map((bytes) => encodeBase58(bytes))
  const address = bytesOf({ minLength: 32, maxLength: 32 })
  const isAddress = (text: string) => decodeBase58Text(text)?.length === 32
  /** Invalid addresses: of no family, of others, and nearly of this one. */
  const noAddress = fc
    .oneof(
      bytesOf({ maxLength: 31 }),
      bytesOf({ minLength: 33, maxLength: 70 }),
      fc.string({ maxLength: 64 }),
      fc.tuple(fc.constantFrom(' ', '1', '0x'), address).map((parts) => parts.join('')),
      address.map((text) => text.toLowerCase()),
      fc.constantFrom(
        `0x${'ab'.repeat(20)}`,
        `0x${'ab'.repeat(32)}`,
        'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
        'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
      ),
    )
    .filter((text) => !isAddress(text))
  const noWallet = fc
    .constantFrom<() => string>(
      () => tokenProgram,
      () => token2022Program,
      () => solana.bed.depository.program.toBase58(),
      () => solana.bed.forwarder.toBase58(),
      () => solana.bed.depository.addresses.vault,
      () => associatedTokenAccount(accounts().holder, { mint: usdcThere(), tokenProgram }),
    )
    .map((name) => name())
  const route = fc.constantFrom('price', 'price', 'price', 'quote')
  /** A price takes no part in who pays for the deposit. */
  const answerOf = async (to: string, body: object) => {
    const path = 'depositFeePayer' in body ? 'quote' : to
    const { status, text } = await postPatiently(`${solana.url}/${path}`, body)
    const { errorCode, errorData } = JSON.parse(text)
    return { status, errorCode, field: errorData && JSON.parse(errorData).field }
  }
  /** Members that hold addresses of Solana. */
  const member = fc.constantFrom(
    ...([
      [toSolana, 'recipient'],
      [fromSolana, 'user'],
      [fromSolana, 'refundTo'],
      [fromSolana, 'depositFeePayer'],
    ] as const),
  )
  const misnamed = ['INVALID_ADDRESS', 'INVALID_REQUEST']
  const numRuns = 60

  test('is refused by the name of its member where it is no address of the family', async () => {
    // Addresses of Solana are none of the other side.
    const elsewhere = fc.constantFrom(
      ...([
        [toSolana, 'user'],
        [toSolana, 'refundTo'],
        [fromSolana, 'recipient'],
      ] as const),
    )
    const misplaced = fc.oneof(fc.tuple(member, noAddress), fc.tuple(elsewhere, address))
    await fc.assert(
      fc.asyncProperty(route, misplaced, async (to, [[bodyOf, field], text]) => {
        const answer = await answerOf(to, bodyOf({ [field]: text }))
        expect(misnamed).toContain(answer.errorCode)
        expect([answer.status, answer.field]).toEqual([400, field])
      }),
      { numRuns },
    )
  })

  test('is paid or paid back only where it is a wallet, and signs only where it has a key', async () => {
    type Taken = { readonly isKey: boolean; readonly isWallet: boolean }
    const codeFor = (field: string, { isKey, isWallet }: Taken) => {
      const isPayee = field === 'recipient' || field === 'refundTo'
      if (isPayee) return isWallet ? undefined : ['RECIPIENT_HAS_CODE', field]
      if (!isKey) return ['INVALID_ADDRESS', field]
      // Whoever pays in is paid back.
      return field === 'user' && !isWallet ? ['RECIPIENT_HAS_CODE', 'refundTo'] : undefined
    }
    const account = fc.oneof(
      address.map((text) => ({ text, isWallet: isKey(text) })),
      noWallet.map((text) => ({ text, isWallet: false })),
    )
    await fc.assert(
      fc.asyncProperty(route, member, account, async (to, [bodyOf, field], { text, isWallet }) => {
        if (field === 'depositFeePayer' && isKey(text)) solana.bed.node.airdrop(text, 10n ** 9n)
        const { status, errorCode, field: named } = await answerOf(to, bodyOf({ [field]: text }))
        const refused = codeFor(field, { isKey: isKey(text), isWallet })
        // The address alone tells it of programs that the files or the cluster name.
        const code = errorCode === 'INVALID_RECIPIENT' ? 'RECIPIENT_HAS_CODE' : errorCode
        expect([status, code, named]).toEqual(refused ? [400, ...refused] : [200, undefined, undefined])
      }),
      { numRuns },
    )
  })

  test('is no currency, nor is a mint of another cluster, and no other cluster is a chain', async () => {
    // USDC of the development cluster.
    const mint = fc.oneof(address, noAddress, fc.constant('4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'))
    const asked = fc.oneof(
      mint.map((originCurrency) => [fromSolana({ originCurrency }), 'INVALID_INPUT_CURRENCY'] as const),
      mint.map(
        (destinationCurrency) => [toSolana({ destinationCurrency }), 'INVALID_OUTPUT_CURRENCY'] as const,
      ),
      fc
        .constantFrom(101, 102, 103, 792703808, 792703810)
        .map((originChainId) => [fromSolana({ originChainId }), 'UNSUPPORTED_CHAIN'] as const),
    )
    await fc.assert(
      fc.asyncProperty(route, asked, async (to, [body, code]) => {
        const { status, errorCode } = await answerOf(to, body)
        expect(status).toBe(400)
        expect([code, 'INVALID_REQUEST']).toContain(errorCode)
      }),
      { numRuns },
    )
  })
})
