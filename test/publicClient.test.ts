// Goal: the published client works against this service without a change to it. Method: the package as
// npm has it, pointed at a whole local network: nodes, quote-api, three oracles and the solver. Of a deposit
// address the client only shows the text; the test pays to it.
import type { Hex } from '@causeway/core'
import { waitUntil } from '@causeway/localnet'
import { type AdaptedWallet, adaptViemWallet, type Execute, type getClient } from '@relayprotocol/relay-sdk'
import { decodeFunctionData, encodeFunctionData, erc20Abi } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { placeCallTargets } from './support/callTargets.ts'
import { nativeCurrency, type PublicClientBed, startPublicClientBed } from './support/publicClientBed.ts'
import type { UserChain } from './support/sessionBed.ts'

let bed: PublicClientBed

beforeAll(async () => {
  bed = await startPublicClientBed()
}, 240_000)
afterAll(() => bed?.stop(), 60_000)

/** Proofs and payouts take their time on a busy machine. */
const patience = { timeout: 120_000, interval: 250 }

type Asked = Parameters<ReturnType<typeof getClient>['actions']['getQuote']>[0]

const base = () => bed.session.network.deployment.base
const optimism = () => bed.session.network.deployment.optimism

/** By default 25 USDC from Base to Optimism for the first user. */
function asked(change: Partial<Asked> = {}): Asked {
  return {
    chainId: base().chainId,
    toChainId: optimism().chainId,
    currency: base().tokens.USDC,
    toCurrency: optimism().tokens.USDC,
    tradeType: 'EXACT_INPUT',
    amount: '25000000',
    user: bed.user(0),
    recipient: bed.user(0),
    ...change,
  }
}

const getQuote = (change?: Partial<Asked>, headers?: Record<string, string>) =>
  bed.client.actions.getQuote(asked(change), false, headers)
const nativeTransfer = { currency: nativeCurrency, toCurrency: nativeCurrency, amount: '10000000000000000' }
const swapOnBase = () => ({ toChainId: base().chainId, toCurrency: base().tokens.USDX, amount: '1000000' })
const sponsorHeader = () => ({ 'x-api-key': bed.session.sponsorApiKey ?? '' })
const itemsOf = ({ steps }: Execute) =>
  steps.flatMap(({ id, items }) => items?.map((item) => ({ id, ...item })) ?? [])

const answerSchema = z.looseObject({ details: z.looseObject({ currencyIn: z.unknown() }).optional() })

async function post(path: string, body: object) {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${bed.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return {
    status: response.status,
    headers: response.headers,
    json: answerSchema.parse(await response.json()),
  }
}

async function everyKindOfQuote(): Promise<readonly Execute[]> {
  const calls = [{ to: bed.user(5), value: '1', data: '0x' }]
  return Promise.all([
    getQuote(),
    getQuote(nativeTransfer),
    getQuote(swapOnBase()),
    getQuote({ ...nativeTransfer, amount: '1000000000000000', tradeType: 'EXACT_OUTPUT', txs: calls }),
    getQuote({ toChainId: base().chainId, toCurrency: base().tokens.USDC, recipient: bed.user(4) }),
  ])
}

describe('quotes of the public client', () => {
  test('bridges, swaps, sends and quotes with calls come with steps', async () => {
    const quotes = await everyKindOfQuote()
    expect(quotes.map(({ steps }) => steps.map(({ id }) => id))).toEqual([
      ['approve', 'deposit'],
      ['deposit'],
      ['approve', 'swap'],
      ['deposit'],
      ['send'],
    ])
    expect(quotes.map(({ details }) => details?.operation)).toEqual([
      ...['bridge', 'bridge', 'swap', 'bridge', 'send'],
    ])
  })

  test('app fees are asked for as the client does, and kept from the output', async () => {
    const recipient = bed.user(5)
    const [plain, charged] = await Promise.all([
      getQuote(),
      getQuote({ options: { appFees: [{ recipient, fee: '100' }] } }),
    ])
    expect(charged.fees?.app?.amount).toBe('250000')
    expect(Number(charged.details?.currencyOut?.amount)).toBeLessThan(
      Number(plain.details?.currencyOut?.amount),
    )
  })

  test('the key travels in the header argument and makes the sponsor pay', async () => {
    const options = { subsidizeFees: true }
    const quote = await getQuote({ options }, sponsorHeader())
    expect(quote).toMatchObject({ feeSponsorship: { status: 'full' } })
    expect(quote.details?.currencyOut?.amount).toBe('25000000')
    await expect(getQuote({ options })).rejects.toMatchObject({ name: 'APIError', statusCode: 401 })
    await expect(getQuote({ options }, { 'x-api-key': 'wrong' })).rejects.toMatchObject({ statusCode: 401 })
  })

  test('a quote without user or recipient takes those of the wallet', async () => {
    const wallet = bed.wallet(1, 'base')
    const { user: _user, recipient: _recipient, ...rest } = asked()
    const quote = await bed.client.actions.getQuote({ ...rest, wallet }, true)
    const { sender, recipient } = quote.details ?? {}
    expect([sender?.toLowerCase(), recipient?.toLowerCase()]).toEqual([bed.user(1), bed.user(1)])
    await expect(bed.client.actions.getQuote(rest)).rejects.toThrow('User is required')
  })

  test('without a wallet the client asks for burn addresses, and gets a price for them', async () => {
    const { user: _user, recipient: _recipient, ...rest } = asked()
    const quote = await bed.client.actions.getQuote(rest, true)
    expect(quote.details?.sender).toMatch(/dead$/i)
    expect(() => bed.client.actions.execute({ quote, wallet: bed.wallet(0, 'base') })).toThrow('burn address')
  })

  test('a refusal arrives with its message, status and code', async () => {
    await expect(getQuote({ amount: '1' })).rejects.toMatchObject({
      name: 'APIError',
      statusCode: 400,
      rawError: { errorCode: 'AMOUNT_TOO_LOW' },
    })
    await expect(getQuote({ toChainId: 999_999 })).rejects.toMatchObject({ statusCode: 400 })
  })

  test('app fee balances are a list', async () => {
    const balances = await bed.client.actions.getAppFees({ wallet: bed.user(3) })
    expect(balances).toMatchObject([{ amount: '0', currency: { symbol: 'USDC' } }])
  })
})

/** Executes with the n-th user's wallet. @returns the last state of the steps */
async function execute(quote: Execute, userIndex = 0, chain: UserChain = 'base') {
  const { data } = await bed.client.actions.execute({ quote, wallet: bed.wallet(userIndex, chain) })
  return data
}

async function statusOf({ steps }: Execute) {
  const requestId = steps.at(-1)?.requestId
  const response = await fetch(`${bed.url}/intents/status/v3?requestId=${requestId}`)
  return { response, json: statusSchema.parse(await response.json()) }
}

const statusSchema = z.looseObject({ status: z.string(), txHashes: z.array(z.string()) })

const usdcOnOptimism = (holder: Hex) =>
  bed.session.network.chains.optimism.chain.client.readContract({
    address: optimism().tokens.USDC,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [holder],
  })
const nativeOnOptimism = (address: Hex) =>
  bed.session.network.chains.optimism.chain.client.getBalance({ address })
const freshAddress = () => privateKeyToAddress(generatePrivateKey())

const usdcOwed = async (wallet: Hex) => {
  const balances = await bed.client.actions.getAppFees({ wallet })
  const [, ...owed] = balances
  const usdc = owed.find(({ currency }) => currency?.address === base().tokens.USDC)
  return BigInt(usdc?.amount ?? 0)
}

describe('requests of the public client', () => {
  test('an ERC-20 bridge is approved, deposited, detected (i) and filled', async () => {
    const recipient = freshAddress()
    const quote = await getQuote({ recipient })
    const done = await execute(quote)
    expect(itemsOf(done).every(({ status }) => status === 'complete')).toBe(true)
    expect(await usdcOnOptimism(recipient)).toBe(BigInt(quote.details?.currencyOut?.amount ?? 0))
    expect(itemsOf(done).at(-1)?.txHashes).toMatchObject([{ chainId: optimism().chainId }])
  })

  test('Q-53: two quotes in a row are both paid, though what is allowed is enough for one alone', async () => {
    const user = bed.user(3)
    const ask = (recipient: Hex) => getQuote({ user, recipient })
    const first = await ask(freshAddress())
    const [approve] = itemsOf(first).filter(({ id }) => id === 'approve')
    const decoded = decodeFunctionData({ abi: erc20Abi, data: approve?.data.data ?? '0x' })
    if (decoded.functionName !== 'approve') throw new Error('the first step is no approval')
    const args = [decoded.args[0], 30_000_000n] as const
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
    const payer = bed.session.network.keys.users[3]
    if (payer === undefined) throw new Error('there is no user 3')
    await bed.session.network.chains.base.chain.send(payer, [
      { what: 'allowance', to: base().tokens.USDC, data },
    ])
    const recipients = [freshAddress(), freshAddress()] as const
    const stepsOf = (quote: Execute) => quote.steps.map(({ id }) => id)
    let one = await ask(recipients[0])
    // The service may not have seen the block of the allowance yet.
    await waitUntil('the allowance is seen', async () => {
      if (stepsOf(one).length > 1) one = await ask(recipients[0])
      return stepsOf(one).length === 1
    })
    const other = await ask(recipients[1])
    // The allowance is one quote's; the other allows its own beside it.
    expect([stepsOf(one), stepsOf(other)]).toEqual([['deposit'], ['approve', 'deposit']])
    for (const quote of [one, other]) await execute(quote, 3)
    for (const recipient of recipients) expect(await usdcOnOptimism(recipient)).toBeGreaterThan(24_000_000n)
  })

  test('native coin is bridged, with calls and with app fees', async () => {
    const [recipient, called] = [freshAddress(), freshAddress()]
    const txs = [{ to: called, value: '3', data: '0x' }]
    const tradeType = 'EXACT_OUTPUT'
    const plain = {
      ...nativeTransfer,
      recipient,
      options: { appFees: [{ recipient: bed.user(5), fee: '50' }] },
    }
    await execute(await getQuote(plain), 1)
    expect(await nativeOnOptimism(recipient)).toBeGreaterThan(0n)
    await execute(
      await getQuote({ ...nativeTransfer, recipient, tradeType, amount: '1000000000000000', txs }),
      1,
    )
    expect(await nativeOnOptimism(called)).toBe(3n)
  })

  test('a same-chain swap is done when its transaction is mined', async () => {
    const done = await execute(
      await getQuote({ ...swapOnBase(), user: bed.user(2), recipient: bed.user(2) }),
      2,
    )
    expect(itemsOf(done).every(({ status }) => status === 'complete')).toBe(true)
    // The client is content with the receipt; the service looks the transaction up on its chain.
    await expect
      .poll(async () => (await statusOf(done)).json, { timeout: 60_000 })
      .toMatchObject({ status: 'success', txHashes: [expect.stringMatching(/^0x/)] })
  })

  test('a same-chain swap in a batch of its wallet is done though the client reports nothing', async () => {
    const adapted = adaptViemWallet(bed.wallet(2, 'base'))
    const batches: string[][] = []
    const wallet: AdaptedWallet = {
      ...adapted,
      supportsAtomicBatch: async () => true,
      async handleBatchTransactionStep(chainId, items, step) {
        const hashes: string[] = []
        for (const item of items) {
          const hash = (await adapted.handleSendTransactionStep(chainId, item, step)) ?? ''
          await adapted.handleConfirmTransactionStep(
            hash,
            chainId,
            () => {},
            () => {},
          )
          hashes.push(hash)
        }
        batches.push(hashes)
        // The id of a bundle is no hash of a transaction.
        return `0x${'b5'.repeat(32)}`
      },
    }
    const quote = await getQuote({ ...swapOnBase(), user: bed.user(2), recipient: bed.user(2) })
    const { data } = await bed.client.actions.execute({ quote, wallet })
    expect(batches).toEqual([[expect.stringMatching(/^0x/), expect.stringMatching(/^0x/)]])
    expect(itemsOf(data).every(({ status }) => status === 'complete')).toBe(true)
    const swapped = batches[0]?.at(-1)
    expect((await statusOf(data)).json).toMatchObject({ status: 'success', txHashes: [swapped] })
  })

  test('a permit is signed, relayed and filled, without gas of the user', async () => {
    const recipient = freshAddress()
    const user = bed.user(4)
    const before = await bed.session.network.chains.base.chain.client.getBalance({ address: user })
    const quote = await getQuote({ user, recipient, options: { usePermit: true } })
    expect(itemsOf(quote).map(({ id }) => id)).toEqual(['authorize1'])
    const done = await execute(quote, 4)
    expect(itemsOf(done)).toMatchObject([
      {
        status: 'complete',
        internalTxHashes: [{ chainId: base().chainId }],
        txHashes: [{ chainId: optimism().chainId }],
      },
    ])
    expect(await usdcOnOptimism(recipient)).toBe(BigInt(quote.details?.currencyOut?.amount ?? 0))
    expect(await bed.session.network.chains.base.chain.client.getBalance({ address: user })).toBe(before)
  })

  test('a sponsored permit of the other kind pays out all of its input', async () => {
    const user = bed.user(4)
    const quote = await getQuote(
      {
        user,
        recipient: user,
        amount: '3000000',
        chainId: optimism().chainId,
        currency: optimism().tokens.USDC,
        toChainId: base().chainId,
        toCurrency: base().tokens.USDC,
        options: { usePermit: true, subsidizeFees: true },
      },
      sponsorHeader(),
    )
    expect(quote.details?.currencyOut?.amount).toBe('3000000')
    const done = await execute(quote, 4, 'optimism')
    expect((await statusOf(done)).json.status).toBe('success')
  })

  test('a deposit address is shown for a token, and what is paid to it is filled', async () => {
    const recipient = freshAddress()
    const quote = await getQuote({ recipient, options: { useDepositAddress: true, refundTo: bed.user(5) } })
    const [step] = quote.steps
    expect(step).toMatchObject({ id: 'deposit', depositAddress: expect.stringMatching(/^0x[0-9a-f]{40}$/i) })
    // CAST: the client types an address as text.
    const args = [step?.depositAddress as Hex, 25_000_000n] as const
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
    const { chain } = bed.session.network.chains.base
    const payer = bed.session.network.keys.users[5]
    if (payer === undefined) throw new Error('there is no user 5')
    await chain.send(payer, [{ what: 'payment', to: base().tokens.USDC, data }])
    await expect.poll(async () => (await statusOf(quote)).json, patience).toMatchObject({ status: 'success' })
    expect(await usdcOnOptimism(recipient)).toBe(BigInt(quote.details?.currencyOut?.amount ?? 0))
  })

  test('a sponsored request pays out all of its input', async () => {
    const recipient = freshAddress()
    await execute(await getQuote({ recipient, options: { subsidizeFees: true } }, sponsorHeader()))
    expect(await usdcOnOptimism(recipient)).toBe(25_000_000n)
  })

  test('(j) (m) a success has its transaction hashes and is told without a key', async () => {
    const done = await execute(await getQuote({ user: bed.user(3), recipient: freshAddress() }), 3)
    const { response, json } = await statusOf(done)
    expect(response.headers.get('cache-control')).toContain('no-store')
    expect(json).toMatchObject({ status: 'success', txHashes: [expect.stringMatching(/^0x/)] })
    expect(json['details'] ?? null).toBeNull()
  })
})

describe('destination calls of the public client', () => {
  let targets: Awaited<ReturnType<typeof placeCallTargets>>
  beforeAll(async () => {
    targets = await placeCallTargets(bed.session, 'optimism')
  })
  const usdc = () => optimism().tokens.USDC

  test('approve and supply what the order delivers, for the user, and oracles attest it', async () => {
    const [saver, recipient, app] = [freshAddress(), freshAddress(), bed.user(5)]
    const amount = 5_000_000n
    const owed = await usdcOwed(app)
    const quote = await getQuote({
      tradeType: 'EXACT_OUTPUT',
      amount: amount.toString(),
      recipient,
      txs: [targets.approve(usdc(), amount), targets.supply(usdc(), amount, saver)],
      options: { appFees: [{ recipient: app, fee: '100' }] },
    })
    expect(quote.details?.recipient?.toLowerCase()).toBe(recipient.toLowerCase())
    const done = await execute(quote)
    expect((await statusOf(done)).json.status).toBe('success')
    expect(await targets.supplied(usdc(), saver)).toBe(amount)
    expect(await usdcOnOptimism(recipient)).toBe(0n)
    // Fees of an app are owed once enough oracles attested the fill.
    await expect.poll(() => usdcOwed(app), patience).toBe(owed + BigInt(quote.fees?.app?.amount ?? 0))
  })

  test('send native coin along, what is left of it goes to the recipient, and oracles attest it', async () => {
    const [recipient, app] = [freshAddress(), bed.user(3)]
    const owed = await usdcOwed(app)
    const { wrappedNative } = optimism()
    const quote = await getQuote({
      toCurrency: nativeCurrency,
      tradeType: 'EXACT_OUTPUT',
      amount: '1000000000000000',
      recipient,
      txs: [
        { to: wrappedNative, value: '0x5', data: '0xd0e30db0' },
        { to: recipient, value: '7', data: '0x' },
      ],
      options: { appFees: [{ recipient: app, fee: '100' }] },
    })
    await execute(quote)
    expect(await nativeOnOptimism(recipient)).toBe(10n ** 15n - 5n)
    await expect.poll(() => usdcOwed(app), patience).toBe(owed + BigInt(quote.fees?.app?.amount ?? 0))
  })

  test('run with whatever an exact input delivers, and what they leave goes to the recipient', async () => {
    const [saver, recipient] = [freshAddress(), freshAddress()]
    const all = await getQuote({
      recipient,
      txs: [targets.approve(usdc()), targets.supplyAll(usdc(), saver)],
    })
    await execute(all)
    expect(await targets.supplied(usdc(), saver)).toBe(BigInt(all.details?.currencyOut?.amount ?? 0))
    expect(await usdcOnOptimism(recipient)).toBe(0n)
    const some = await getQuote({
      recipient,
      txs: [targets.approve(usdc()), targets.supply(usdc(), 1n, saver)],
    })
    await execute(some)
    expect(await usdcOnOptimism(recipient)).toBe(BigInt(some.details?.currencyOut?.amount ?? 0) - 1n)
  })

  test('of a large wallet’s own body hand the user what his delegation then spends', async () => {
    const user = bed.session.network.keys.users[2]
    if (user === undefined) throw new Error('no third user')
    const amount = 7_000_000n
    const body = {
      amount: amount.toString(),
      originChainId: base().chainId,
      destinationChainId: optimism().chainId,
      originCurrency: base().tokens.USDC,
      destinationCurrency: usdc(),
      recipient: user.address,
      refundTo: user.address,
      user: user.address,
      tradeType: 'EXACT_OUTPUT',
      slippageTolerance: '50',
      originGasOverhead: '300000',
      txs: await targets.delegated(usdc(), amount, user),
    }
    // Calls are tried on the newest block that enough endpoints have, which may be before the delegation.
    await expect.poll(async () => (await post('/quote', body)).status, patience).toBe(200)
    const { json } = await post('/quote', body)
    const held = await usdcOnOptimism(targets.market)
    // CAST: the wallet, too, takes the answer for what its types say.
    await execute(json as unknown as Execute, 2)
    expect(await usdcOnOptimism(targets.market)).toBe(held + amount)
  })

  test.each([
    [
      'spend more than is delivered',
      (saver: Hex) => [targets.approve(usdc()), targets.supply(usdc(), 5_000_001n, saver)],
      1,
    ],
    ['spend what was not approved', (saver: Hex) => [targets.supply(usdc(), 1n, saver)], 0],
  ])('that %s are refused, whatever gas is stated', async (_what, calls, index) => {
    for (const options of [{}, { txsGasLimit: 500_000 }]) {
      const refused = getQuote({
        tradeType: 'EXACT_OUTPUT',
        amount: '5000000',
        txs: calls(freshAddress()),
        options,
      })
      await expect(refused).rejects.toMatchObject({
        statusCode: 400,
        rawError: {
          errorCode: 'DESTINATION_TX_FAILED',
          errorData: expect.stringContaining(`"index":${index}`),
        },
      })
    }
  })
})

const claimsSchema = z.object({
  claims: z.array(z.looseObject({ claimId: z.string(), status: z.string(), txHash: z.string().nullable() })),
})
const claimsOf = async (wallet: Hex) =>
  claimsSchema.parse(await (await fetch(`${bed.url}/app-fees/${wallet}/claims`)).json()).claims

describe('app fees of the public client', () => {
  test('accrue at success, are listed, and are claimed to a transaction that pays them', async () => {
    const [app, recipient] = [bed.user(4), freshAddress()]
    const appFees = [{ recipient: app, fee: '500' }]
    const quote = await getQuote({ recipient: freshAddress(), options: { appFees } })
    await execute(quote)
    const fee = BigInt(quote.fees?.app?.amount ?? 0)
    expect(fee).toBe(1_250_000n)
    await expect.poll(() => usdcOwed(app), patience).toBe(fee)

    const claimed = await bed.client.actions.claimAppFees({
      wallet: bed.wallet(4, 'base'),
      chainId: base().chainId,
      currency: base().tokens.USDC,
      recipient,
    })
    expect(itemsOf(claimed.data).map(({ id, status }) => [id, status])).toEqual([['authorize', 'complete']])
    expect(await usdcOwed(app)).toBe(0n)
    await expect.poll(async () => (await claimsOf(app))[0]?.status, patience).toBe('paid')
    const [claim] = await claimsOf(app)
    expect(claim?.claimId).toBe(claimed.data.steps[0]?.requestId)
    const { client } = bed.session.network.chains.base.chain
    // CAST: a paid claim has its transaction.
    const receipt = await client.getTransactionReceipt({ hash: claim?.txHash as Hex })
    expect(receipt.status).toBe('success')
    const args = [recipient] as const
    const token = { address: base().tokens.USDC, abi: erc20Abi, functionName: 'balanceOf', args } as const
    expect(await client.readContract(token)).toBe(fee)
  })

  test('that a wallet does not have are refused with a message', async () => {
    const claiming = bed.client.actions.claimAppFees({
      wallet: bed.wallet(1, 'base'),
      chainId: base().chainId,
      currency: base().tokens.USDC,
    })
    await expect(claiming).rejects.toMatchObject({
      name: 'APIError',
      statusCode: 400,
      rawError: { errorCode: 'INSUFFICIENT_APP_FEES' },
    })
  })
})

describe('the acceptance list', () => {
  test('(a) /quote/v2 answers as /quote does', async () => {
    const { chainId, toChainId, currency, toCurrency, ...rest } = asked()
    const body = {
      ...rest,
      originChainId: chainId,
      destinationChainId: toChainId,
      originCurrency: currency,
      destinationCurrency: toCurrency,
    }
    const [one, two] = await Promise.all([post('/quote', body), post('/quote/v2', body)])
    expect(one.status).toBe(200)
    expect(Object.keys(two.json)).toEqual(Object.keys(one.json))
    expect(two.json.details?.currencyIn).toEqual(one.json.details?.currencyIn)
  })

  test('(b) (c) every item names its chain and every step its request', async () => {
    for (const quote of await everyKindOfQuote()) {
      for (const { data } of itemsOf(quote)) expect(data.chainId).toBe(base().chainId)
      for (const { requestId } of quote.steps) expect(requestId).toMatch(/^0x[0-9a-f]{64}$/)
    }
  })

  test('(d) (e) approvals have no check, and all others one of version 3', async () => {
    for (const quote of await everyKindOfQuote()) {
      for (const { id, check } of itemsOf(quote)) {
        if (id === 'approve') expect(check).toBeUndefined()
        else
          expect(check).toMatchObject({
            endpoint: expect.stringMatching(/^\/intents\/status\/v3\?requestId=0x/),
            method: 'GET',
          })
      }
    }
  })

  test('(f) the referrer that the client adds everywhere is accepted', async () => {
    const quote = await getQuote({ options: { referrer: 'someone.example' } })
    const requestId = quote.steps[0]?.requestId
    const status = await fetch(`${bed.url}/intents/status/v3?requestId=${requestId}&referrer=a.example`)
    expect(await status.json()).toMatchObject({ status: 'waiting', txHashes: [] })
    const hint = { chainId: String(base().chainId), txHash: requestId, referrer: 'a.example' }
    expect((await post('/transactions/index', hint)).status).toBe(200)
  })

  test('(g) every error has a status code and a message in its body', async () => {
    const answers = await Promise.all([
      post('/quote', {}),
      post('/no/such/route', {}),
      post('/transactions/index', {}),
      post('/quote/v2', { user: 1 }),
    ])
    for (const { status, json } of answers) {
      expect(status).toBeGreaterThanOrEqual(400)
      expect(json).toMatchObject({ statusCode: status, message: expect.stringMatching(/./) })
    }
  })

  test('(h) app fees are a list beside the record of the sponsor balance', async () => {
    const response = await fetch(`${bed.url}/app-fees/${bed.user(1)}/balances`)
    expect(await response.json()).toMatchObject({ balances: [{ amount: '0' }], amount: '0' })
  })

  test('(l) a browser of any origin may send the headers of the client', async () => {
    const response = await fetch(`${bed.url}/quote/v2`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-api-key,relay-sdk-version',
      },
    })
    expect(response.status).toBeLessThan(300)
    expect(response.headers.get('access-control-allow-origin')).toMatch(/^(\*|https:\/\/app\.example)$/)
    const allowed = response.headers.get('access-control-allow-headers')?.toLowerCase() ?? ''
    for (const name of ['x-api-key', 'relay-sdk-version', 'content-type']) expect(allowed).toMatch(name)
  })
})
