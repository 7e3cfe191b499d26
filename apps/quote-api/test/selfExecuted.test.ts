// Goal: a request that its user executes alone ends by what its chain shows, and by nothing that anybody
// says. Method: the service with its jobs, PostgreSQL and real nodes; users send the quoted transactions, or
// others; hints name right and wrong ones.

import { depositRouterAbi } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { encodeAggregate3 } from '@causeway/families'
import type { LocalAccount } from '@causeway/localnet'
import { waitUntil } from '@causeway/localnet'
import { decodeFunctionData, encodeFunctionData, erc20Abi } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quoteResponseSchema } from '../src/http/wire/quoteResponse.ts'
import { send as get, post, postPatiently, type QuoteAnswer, readOk } from './serviceSupport/callService.ts'
import { type LocalRequest, localRequest, userOf } from './serviceSupport/localRequest.ts'
import { startSmartAccounts } from './serviceSupport/smartAccounts.ts'
import { transactionsOf } from './serviceSupport/transactionsOf.ts'
import { bytesOf, type RequestDriver } from './settlementSupport/requestDriver.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'

const chainId = 8_453
const amount = 5_000_000n
let bed: SettlementBed
let requests: RequestDriver
let oracles: StandInOracles
let user: LocalAccount
let other: LocalAccount

beforeAll(async () => {
  oracles = await startStandInOracles()
  bed = await startSettlementBed({ blockTimeSeconds: 1, oracles: async () => oracles.setting })
  requests = bed.requests
  user = userOf(bed.network, 0)
  other = userOf(bed.network, 1)
})
afterAll(async () => {
  await bed?.stop()
  await oracles?.stop()
})

async function quoted(request: Partial<LocalRequest> = {}, more: object = {}): Promise<QuoteAnswer> {
  const body = localRequest(bed.network, { to: 'base', receive: 'USDX', amount, ...request, more })
  return readOk(await postPatiently(`${bed.url}/quote/v2`, body), quoteResponseSchema)
}
const sendTo = (recipient: Hex) => quoted({ receive: 'USDC' }, { recipient })

/** Sends one quoted transaction, and says nothing. */
async function sendOne(
  transaction: ReturnType<typeof transactionsOf>[number] | undefined,
  change: {
    readonly by?: LocalAccount
    readonly data?: string
    readonly value?: bigint
    readonly gas?: bigint
  } = {},
): Promise<Hex> {
  if (transaction === undefined) throw new Error('there is no such transaction')
  const { by = user, data = transaction.data, value = BigInt(transaction.value), gas } = change
  const { publicClient } = bed.network.chains.base.chain.as(by)
  const raw = await privateKeyToAccount(by.privateKey).signTransaction({
    type: 'eip1559',
    chainId,
    nonce: await publicClient.getTransactionCount({ address: by.address, blockTag: 'pending' }),
    // CAST: steps hold addresses and calldata, which the wire describes as text.
    to: transaction.to as Hex,
    data: data as Hex,
    value,
    gas: gas ?? 1_000_000n,
    maxFeePerGas: 100_000_000_000n,
    maxPriorityFeePerGas: 0n,
  })
  const hash = await publicClient.sendRawTransaction({ serializedTransaction: raw })
  await publicClient.waitForTransactionReceipt({ hash })
  return hash
}

/** Says what the public client says after every step of one chain. */
async function say({ requestId }: QuoteAnswer, txHash: string, more: object = {}): Promise<void> {
  const tx = JSON.stringify({ to: '0x', txHash, ...more })
  const answer = await post(`${bed.url}/transactions/single`, { requestId, chainId: String(chainId), tx })
  expect(answer.status).toBe(200)
}

const saidOf = ({ requestId }: QuoteAnswer) =>
  bed.database.query<{ tx_hash: string; state: string }>(
    'select tx_hash, state from said_transaction where request_id = $1 order by said_at',
    [bytesOf(requestId)],
  )
const isDecided = (quote: QuoteAnswer) =>
  waitUntil('it was looked up', async () => (await saidOf(quote)).every(({ state }) => state !== 'said'))

describe('what a user executes alone', () => {
  test('a swap ends in success, whatever was said of its approval', async () => {
    const quote = await quoted()
    const [approve, swap] = transactionsOf(quote)
    await say(quote, await sendOne(approve))
    const hash = await sendOne(swap)
    await say(quote, hash)
    await say(quote, hash)
    await requests.reaches(quote, 'success')
    expect(await requests.statusOf(quote)).toMatchObject({ inTxHashes: [hash], txHashes: [hash] })
    expect((await saidOf(quote)).map(({ state }) => state)).toEqual(['other', 'executed'])
  })

  test('a send with appended bytes, a wrap and an unwrap do too', async () => {
    const sent = await sendTo(other.address)
    const [send] = transactionsOf(sent)
    await say(sent, await sendOne(send, { data: `${send?.data}${'b1'.repeat(20)}` }))
    const wrap = await quoted({ pay: 'native', receive: 'wrapped' })
    await say(wrap, await sendOne(transactionsOf(wrap)[0]))
    const unwrap = await quoted({ pay: 'wrapped', receive: 'native', amount: 1_000n })
    await say(unwrap, await sendOne(transactionsOf(unwrap)[0]))
    for (const quote of [sent, wrap, unwrap]) await requests.reaches(quote, 'success')
  })

  test('is pending until the last of its transactions', async () => {
    const recipient = other.address
    const quote = await quoted({ pay: 'native', receive: 'wrapped', amount: 7_000n }, { recipient })
    const [wrap, send] = transactionsOf(quote)
    const first = await sendOne(wrap)
    await say(quote, first)
    await requests.reaches(quote, 'pending')
    const last = await sendOne(send)
    await say(quote, last)
    await requests.reaches(quote, 'success')
    expect(await requests.statusOf(quote)).toMatchObject({
      inTxHashes: expect.arrayContaining([first, last]),
      txHashes: [last],
    })
  })

  test('Q-200: that reverted is a failure, and stays one', async () => {
    const quote = await quoted({ amount: 6_000_000n })
    const swap = transactionsOf(quote).at(-1)
    const hash = await sendOne(swap, { gas: 60_000n })
    await say(quote, hash)
    await requests.reaches(quote, 'failure')
    expect(await requests.statusOf(quote)).toMatchObject({
      failReason: 'TRANSACTION_REVERTED',
      inTxHashes: [hash],
    })
  })

  test('is found by the replacement of what was said first', async () => {
    const quote = await sendTo(`0x${'44'.repeat(20)}`)
    const hash = await sendOne(transactionsOf(quote)[0])
    await say(quote, `0x${'ef'.repeat(32)}`, { replacementTxHash: hash })
    await requests.reaches(quote, 'success')
  })
})

describe('a swap that nobody reports', () => {
  type Call = { readonly to: string; readonly data: string; readonly value: string }
  const freshAddress = (): Hex => privateKeyToAddress(generatePrivateKey())
  const wallet = () => bed.network.deployment.base.multicall3
  const quotedTo = (account: Hex, recipient: Hex, request: Partial<LocalRequest> = {}) =>
    quoted(request, { user: account, recipient })
  const callsOf = (...quotes: readonly QuoteAnswer[]) => quotes.flatMap(transactionsOf)
  // CAST: steps hold addresses and calldata, which the wire describes as text.
  const batchOf = (calls: readonly Call[]) =>
    encodeAggregate3(calls.map(({ to, data }) => ({ target: to as Hex, callData: data as Hex })))
  /** Gives the account an amount of the token. */
  const give = (account: Hex, value: bigint) => {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [account, value] })
    return sendOne({ id: 'send', ...from(bed.network.deployment.base.tokens.USDC, data) })
  }
  const from = (to: Hex, data: Hex) => ({
    from: user.address,
    to,
    data,
    value: '0',
    chainId,
    gas: '0',
    maxFeePerGas: '0',
    maxPriorityFeePerGas: '0',
  })
  const sendBatch = (calls: readonly Call[]) =>
    sendOne({ id: 'swap', ...from(wallet(), batchOf(calls)) }, { by: other, gas: 3_000_000n })
  const isEnded = async (quote: QuoteAnswer, hash: Hex) => {
    await requests.reaches(quote, 'success')
    expect(await requests.statusOf(quote)).toMatchObject({ inTxHashes: [hash], txHashes: [hash] })
  }

  const routeOf = async ({ requestId }: QuoteAnswer) =>
    JSON.parse((await get(`${bed.url}/requests/v3?id=${requestId}`)).text).requests[0].data.route

  test('ends in success: of an account that sends it itself', async () => {
    const quote = await quoted({ pay: 'native', receive: 'USDC', amount: 10n ** 16n })
    await isEnded(quote, await sendOne(transactionsOf(quote)[0]))
  })

  test('Q-135: tells what it paid out, after the price has moved, and not what was quoted', async () => {
    const recipient = freshAddress()
    const sale = { pay: 'native', receive: 'USDC' } as const
    const quote = await quoted({ ...sale, amount: 10n ** 17n }, { recipient })
    // Somebody else takes a part of what the pool has before.
    const rival = await quoted({ ...sale, amount: 10n ** 18n }, { recipient: freshAddress() })
    for (const call of [...transactionsOf(rival), ...transactionsOf(quote)]) await sendOne(call)
    await requests.reaches(quote, 'success')
    const route = await routeOf(quote)
    const { USDC } = bed.network.deployment.base.tokens
    const received = await bed.network.chains.base.chain.client.readContract({
      address: USDC,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [recipient],
    })
    expect(route.actual.destination.outputCurrency).toMatchObject({ amount: received.toString() })
    expect(BigInt(route.quoted.destination.outputCurrency.amount)).toBeGreaterThan(received)
    expect(route.actual.rate).toBeDefined()
  })

  test('Q-135: of a send tells what its call moves', async () => {
    const sent = await sendTo(freshAddress())
    expect((await routeOf(sent)).actual).toBeNull()
    await say(sent, await sendOne(transactionsOf(sent)[0]))
    await requests.reaches(sent, 'success')
    const { actual } = await routeOf(sent)
    expect(actual.destination.outputCurrency).toMatchObject({ amount: amount.toString() })
  })

  test('of a contract that runs it behind an approval, two in one transaction', async () => {
    await give(wallet(), 2n * amount)
    const [one, two] = [await quotedTo(wallet(), freshAddress()), await quotedTo(wallet(), freshAddress())]
    const hash = await sendBatch(callsOf(one, two))
    for (const quote of [one, two]) await isEnded(quote, hash)
  })

  test('of an account that runs code of somebody else, in a transaction of somebody else', async () => {
    const owner = privateKeyToAccount(generatePrivateKey())
    const account = owner.address
    await give(account, amount)
    const quote = await quotedTo(account, freshAddress())
    const authorization = await owner.signAuthorization({ address: wallet(), chainId, nonce: 0 })
    const { client } = bed.network.chains.base.chain
    const sender = privateKeyToAccount(other.privateKey)
    const raw = await sender.signTransaction({
      type: 'eip7702',
      chainId,
      to: account,
      data: batchOf(callsOf(quote)),
      gas: 3_000_000n,
      nonce: await client.getTransactionCount({ address: sender.address, blockTag: 'pending' }),
      maxFeePerGas: 100_000_000_000n,
      maxPriorityFeePerGas: 0n,
      authorizationList: [authorization],
    })
    const hash = await client.sendRawTransaction({ serializedTransaction: raw })
    await isEnded(quote, hash)
  })

  test('of an account behind the entry point of ERC-4337, in a transaction of somebody else', async () => {
    const accounts = await startSmartAccounts(bed.network, 'base', other)
    const owner = await accounts.accountOf('ERC-4337')
    await give(owner.account, amount)
    const quote = await quotedTo(owner.account, freshAddress())
    // CAST: steps hold addresses and calldata, which the wire describes as text.
    const calls = callsOf(quote).map(({ to, data }) => ({ to: to as Hex, data: data as Hex, value: 0n }))
    const { to, data } = await accounts.userOperation(owner, calls)
    const hash = await sendOne({ id: 'swap', ...from(to, data) }, { by: other, gas: 3_000_000n })
    await isEnded(quote, hash)
  })

  test('Q-201: is done by no event that names it with less, to another recipient or for another currency', async () => {
    const [recipient, thief] = [freshAddress(), freshAddress()]
    const quote = await quotedTo(wallet(), recipient)
    const swap = transactionsOf(quote).at(-1)
    if (swap === undefined) throw new Error('there is no swap')
    // CAST: as above.
    const { functionName, args } = decodeFunctionData({ abi: depositRouterAbi, data: swap.data as Hex })
    if (functionName !== 'swapAndPay') throw new Error('another function was quoted')
    const [asked] = args
    // Whole swaps of less money are quoted to the stranger, who puts another request's id in them.
    const named = async (request: Partial<LocalRequest>, to: Hex) => {
      const own = transactionsOf(await quotedTo(user.address, to, request)).at(-1)
      if (own === undefined) throw new Error('there is no swap')
      const { args: ownArgs } = decodeFunctionData({ abi: depositRouterAbi, data: own.data as Hex })
      const [theirs] = ownArgs ?? []
      if (theirs === undefined || !('recipient' in theirs)) throw new Error('another function was quoted')
      return { ...own, data: swapAndPay({ ...theirs, id: asked.id }) }
    }
    const swapAndPay = (request: typeof asked) =>
      encodeFunctionData({ abi: depositRouterAbi, functionName: 'swapAndPay', args: [request] })
    const { depositRouter, tokens } = bed.network.deployment.base
    const approve = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'approve',
      args: [depositRouter, 10n * amount],
    })
    await sendOne({ id: 'approve', ...from(tokens.USDC, approve) })
    const attacks = [
      await named({ amount: 100_000n }, recipient),
      await named({}, thief),
      await named({ receive: 'TIDE' }, recipient),
    ]
    const hashes: Hex[] = []
    for (const attack of attacks) hashes.push(await sendOne(attack))
    for (let count = 0; count < 20; count += 1) await say(quote, `0x${count.toString(16).padStart(64, 'a')}`)
    await waitUntil('every attack was looked at', async () => {
      const said = new Map((await saidOf(quote)).map(({ tx_hash, state }) => [tx_hash, state]))
      return hashes.every((hash) => said.get(hash) === 'other')
    })
    expect((await requests.statusOf(quote)).status).toBe('waiting')

    // However much was said of it, the swap itself is found.
    await give(wallet(), amount)
    const done = await sendBatch(callsOf(quote))
    await isEnded(quote, done)
  })
})

describe('a hint is never believed', () => {
  test('that names a transaction of somebody else, to somewhere else, or of another value', async () => {
    const quote = await sendTo(`0x${'55'.repeat(20)}`)
    const [send] = transactionsOf(quote)
    const elsewhere = await sendTo(`0x${'56'.repeat(20)}`)
    await say(quote, await sendOne(send, { by: other }))
    await say(quote, await sendOne(transactionsOf(elsewhere)[0]))
    await say(quote, await sendOne(send, { data: send?.data.replace(/.$/, '1') ?? '' }))
    await isDecided(quote)
    expect((await saidOf(quote)).map(({ state }) => state)).toEqual(['other', 'other', 'other'])
    expect((await requests.statusOf(quote)).status).toBe('waiting')
  })

  test('twice: one transaction executes one request, and none that was mined before', async () => {
    const recipient: Hex = `0x${'57'.repeat(20)}`
    const [first, second] = [await sendTo(recipient), await sendTo(recipient)]
    const hash = await sendOne(transactionsOf(first)[0])
    await say(first, hash)
    await requests.reaches(first, 'success')
    await say(second, hash)
    const third = await sendTo(recipient)
    await say(third, hash)
    await Promise.all([isDecided(second), isDecided(third)])
    expect((await requests.statusOf(second)).status).toBe('waiting')
    expect((await requests.statusOf(third)).status).toBe('waiting')
  })

  test('of what is unknown, half, huge or of a request with an order', async () => {
    const quote = await sendTo(`0x${'58'.repeat(20)}`)
    const solved = await quoted({ to: 'optimism', receive: 'USDC' })
    const single = (requestId: string, tx: string) =>
      post(`${bed.url}/transactions/single`, { requestId, chainId, tx })
    const hash = `0x${'cd'.repeat(32)}`
    for (const tx of [
      '',
      '{"txHash":"0x',
      '[]',
      '7',
      'null',
      '{"txHash":7}',
      `{"txHash":"${'0x'.repeat(999)}"}`,
    ])
      expect((await single(quote.requestId, tx)).status).toBe(200)
    expect((await single('nobody', `{"txHash":"${hash}"}`)).status).toBe(200)
    expect((await single(solved.requestId, `{"txHash":"${hash}"}`)).status).toBe(200)
    expect([await saidOf(quote), await saidOf(solved)]).toEqual([[], []])
    for (let count = 0; count < 20; count += 1) await say(quote, `0x${count.toString(16).padStart(64, '0')}`)
    expect((await saidOf(quote)).length).toBeLessThanOrEqual(12)
    const index = { chainId, txHash: hash, requestId: solved.requestId }
    expect((await post(`${bed.url}/transactions/index`, index)).status).toBe(200)
    expect((await requests.statusOf(quote)).status).toBe('waiting')
  })
})
