// Goal: what a quote promises, its own steps deliver. Steps of every operation are signed and sent to
// real nodes; the recipient or the depository receives exactly what was quoted.
import type { Hex } from '@causeway/core'
import { depositoryAbi, type LocalAccount, startTestNetwork, type TestNetwork } from '@causeway/localnet'
import {
  createPublicClient,
  createWalletClient,
  type Hash,
  http,
  parseEventLogs,
  type TransactionReceipt,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from './fixtures/service.ts'
import { type ConfigCopy, copyConfigs } from './serviceSupport/configCopy.ts'

const native: Hex = `0x${'0'.repeat(40)}`
let network: TestNetwork
let service: TestService
let configs: ConfigCopy

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  configs = await copyConfigs()
  // Like tokens whose allowance cannot be changed while there is one.
  const symbol = '"symbol": "USDX"'
  await configs.replace('quote.local.json', symbol, `${symbol}, "resetsAllowance": true`)
  service = await startTestService(network, { CONFIG_DIR: configs.directory })
})

afterAll(async () => {
  await service?.stop()
  await network?.stop()
  await configs?.remove()
})

type Step = {
  id: string
  items: {
    data: {
      to: Hex
      data: Hex
      value: string
      gas: string
      chainId: number
      maxFeePerGas: string
      maxPriorityFeePerGas: string
    }
  }[]
}
type QuoteJson = {
  steps: Step[]
  requestId: Hex
  protocol?: { v2: { orderId: Hex } }
  details: {
    currencyIn: { amount: string }
    currencyOut: { amount: string; minimumAmount: string }
    originGas: { units: string; limit: string }
  }
  message?: string
}

function user(index: number): LocalAccount {
  const account = network.keys.users[index]
  if (account === undefined) throw new Error(`no user ${index}`)
  return account
}

const publicClient = () => createPublicClient({ transport: http(network.chains.base.url) })
const base = () => network.deployment.base
const tokens = () => base().tokens

/** A quote is as good as the block it stands on: wait until the service has read the newest one. */
async function caughtUp(): Promise<void> {
  const newest = await publicClient().getBlockNumber({ cacheTime: 0 })
  const read = () => {
    const state = service.market.snapshot().chain(8453)
    return 'reason' in state ? -1n : state.head.number
  }
  await expect.poll(read, { timeout: 10_000, interval: 50 }).toBeGreaterThanOrEqual(newest)
}

async function quote(
  change: object,
  from: LocalAccount,
  to: string = from.address,
  remoteAddress = '127.0.0.1',
): Promise<QuoteJson> {
  await caughtUp()
  const response = await service.app.inject({
    method: 'POST',
    url: '/quote',
    remoteAddress,
    payload: {
      user: from.address,
      recipient: to,
      originChainId: 8453,
      destinationChainId: 8453,
      tradeType: 'EXACT_INPUT',
      ...change,
    },
  })
  const json = response.json()
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${JSON.stringify(json)}`)
  return json
}

/** Signs and sends all steps in order, exactly as they came. */
async function execute(json: QuoteJson, from: LocalAccount): Promise<TransactionReceipt[]> {
  const { url } = network.chains.base
  const account = privateKeyToAccount(from.privateKey)
  const wallet = createWalletClient({ account, transport: http(url) })
  const node = publicClient()
  const receipts: TransactionReceipt[] = []
  for (const { items } of json.steps) {
    for (const { data } of items) {
      const hash: Hash = await wallet.sendTransaction({
        chain: null,
        to: data.to,
        data: data.data,
        value: BigInt(data.value),
        gas: BigInt(data.gas),
        maxFeePerGas: BigInt(data.maxFeePerGas),
        maxPriorityFeePerGas: BigInt(data.maxPriorityFeePerGas),
      })
      const receipt = await node.waitForTransactionReceipt({ hash, pollingInterval: 50 })
      expect(receipt.status, `step to ${data.to}`).toBe('success')
      receipts.push(receipt)
    }
  }
  return receipts
}

async function balance(token: string, holder: string): Promise<bigint> {
  const node = publicClient()
  // CAST: callers pass checked addresses.
  if (token === native) return node.getBalance({ address: holder as Hex })
  const word = await node.call({ to: token as Hex, data: `0x70a08231${holder.slice(2).padStart(64, '0')}` })
  return BigInt(word.data ?? '0x0')
}

function fresh(): string {
  return `0x${[...crypto.getRandomValues(new Uint8Array(20))].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

describe('deposits', () => {
  test('an ERC-20 bridge approves and deposits exactly the input under the order id', async () => {
    const from = user(0)
    const json = await quote(
      {
        destinationChainId: 10,
        originCurrency: tokens().USDC,
        destinationCurrency: network.deployment.optimism.tokens.USDC,
        amount: '25000000',
      },
      from,
    )
    expect(json.steps.map(({ id }) => id)).toEqual(['approve', 'deposit'])
    const before = await balance(tokens().USDC, base().depository)
    const receipts = await execute(json, from)
    expect((await balance(tokens().USDC, base().depository)) - before).toBe(25_000_000n)
    const [event] = parseEventLogs({
      abi: depositoryAbi,
      logs: receipts.at(-1)?.logs ?? [],
      eventName: 'RelayErc20Deposit',
    })
    expect(event?.args).toMatchObject({ amount: 25_000_000n, id: json.protocol?.v2.orderId })
    expect(event?.args.from.toLowerCase()).toBe(from.address)
  })

  test('an allowance that suffices is seen by the next quote', async () => {
    const from = user(0)
    const wallet = createWalletClient({
      account: privateKeyToAccount(from.privateKey),
      transport: http(network.chains.base.url),
    })
    const data: Hex = `0x095ea7b3${base().depository.slice(2).padStart(64, '0')}${(10n ** 12n).toString(16).padStart(64, '0')}`
    const hash = await wallet.sendTransaction({ chain: null, to: tokens().USDC, data })
    await publicClient().waitForTransactionReceipt({ hash, pollingInterval: 50 })
    const request = {
      destinationChainId: 10,
      originCurrency: tokens().USDC,
      destinationCurrency: native,
      amount: '25000000',
    }
    await expect
      .poll(async () => (await quote(request, from)).steps.map(({ id }) => id), { timeout: 5_000 })
      .toEqual(['deposit'])
  })

  let row = 0
  test.each([
    ['USDC', [0, 1], 0n],
    ['USDC', [1, 0], 0n],
    ['USDC', [0, 1], 30_000_000n],
    ['USDC', [1, 0], 30_000_000n],
    ['USDX', [0, 1], 0n],
    ['USDX', [1, 0], 0n],
    ['USDX', [0, 1], 30_000_000n],
    ['USDX', [1, 0], 30_000_000n],
  ] as const)(
    'Q-53, Q-55: two quotes of %s in a row are both paid, in the order %j with %s allowed',
    async (symbol, order, allowed) => {
      const from = user(5)
      row += 1
      const remoteAddress = `198.51.100.${row}`
      const originCurrency = tokens()[symbol]
      // USDX is swapped before its deposit.
      const spender = symbol === 'USDC' ? base().depository : base().depositRouter
      await approve(from, originCurrency, spender, 0n)
      await approve(from, originCurrency, spender, allowed)
      const bought = { destinationChainId: 10, originCurrency, destinationCurrency: native }
      const to = fresh()
      // Each row asks from an address of its own, so that no row counts the quotes of the one before.
      const first = await quote({ ...bought, amount: '25000000' }, from, to, remoteAddress)
      const second = await quote({ ...bought, amount: '15000000' }, from, to, remoteAddress)
      const quotes = [first, second] as const
      expect(quotes.map(({ steps }) => steps.some(({ id }) => id === 'approve'))).toEqual([
        allowed === 0n,
        true,
      ])
      const before = await balance(originCurrency, from.address)
      for (const at of order) await execute(quotes[at], from)
      expect(before - (await balance(originCurrency, from.address))).toBe(40_000_000n)
    },
  )

  test('a native bridge deposits its value', async () => {
    const from = user(1)
    const json = await quote(
      {
        destinationChainId: 10,
        originCurrency: native,
        destinationCurrency: native,
        amount: '30000000000000000',
      },
      from,
    )
    const before = await balance(native, base().depository)
    const [receipt] = await execute(json, from)
    expect((await balance(native, base().depository)) - before).toBe(30_000_000_000_000_000n)
    const [event] = parseEventLogs({
      abi: depositoryAbi,
      logs: receipt?.logs ?? [],
      eventName: 'RelayNativeDeposit',
    })
    expect(event?.args.id).toBe(json.protocol?.v2.orderId)
  })

  test('explicitDeposit false moves the tokens with the order id behind the call', async () => {
    const from = user(2)
    const json = await quote(
      {
        destinationChainId: 10,
        originCurrency: tokens().USDC,
        destinationCurrency: native,
        amount: '9000000',
        explicitDeposit: false,
      },
      from,
    )
    const before = await balance(tokens().USDC, base().depository)
    await execute(json, from)
    expect((await balance(tokens().USDC, base().depository)) - before).toBe(9_000_000n)
    expect(json.steps[0]?.items[0]?.data.data.endsWith(json.protocol?.v2.orderId.slice(2) ?? '?')).toBe(true)
  })

  test.each([
    ['EXACT_INPUT', '20000000000000000000'],
    ['EXACT_OUTPUT', '30000000'],
  ])('an origin swap with %s deposits at least what the order asks for', async (tradeType, amount) => {
    const from = user(3)
    const json = await quote(
      {
        destinationChainId: 10,
        originCurrency: tokens().TIDE,
        destinationCurrency: network.deployment.optimism.tokens.USDC,
        amount,
        tradeType,
      },
      from,
    )
    const order = (
      json as unknown as {
        protocol: { v2: { orderData: { inputs: { payment: { amount: string; currency: Hex } }[] } } }
      }
    ).protocol.v2.orderData
    const { payment } = order.inputs[0] ?? { payment: { amount: '0', currency: native } }
    const before = await balance(payment.currency, base().depository)
    const spentBefore = await balance(tokens().TIDE, from.address)
    await execute(json, from)
    const deposited = (await balance(payment.currency, base().depository)) - before
    const spent = spentBefore - (await balance(tokens().TIDE, from.address))
    expect(deposited).toBeGreaterThanOrEqual(BigInt(payment.amount))
    if (tradeType === 'EXACT_OUTPUT') expect(deposited).toBe(BigInt(payment.amount))
    expect(spent).toBe(BigInt(json.details.currencyIn.amount))
  })

  test('a native origin swap spends its value only', async () => {
    const from = user(4)
    const json = await quote(
      {
        destinationChainId: 10,
        originCurrency: base().tokens.USDX,
        destinationCurrency: native,
        amount: '40000000',
      },
      from,
    )
    const spentBefore = await balance(base().tokens.USDX, from.address)
    await execute(json, from)
    expect(spentBefore - (await balance(base().tokens.USDX, from.address))).toBe(40_000_000n)
  })
})

describe('what a user executes alone', () => {
  test('a token send delivers exactly the amount', async () => {
    const to = fresh()
    const json = await quote(
      { originCurrency: tokens().USDC, destinationCurrency: tokens().USDC, amount: '1234567' },
      user(1),
      to,
    )
    await execute(json, user(1))
    expect(await balance(tokens().USDC, to)).toBe(1_234_567n)
  })

  test('a native send delivers exactly the amount', async () => {
    const to = fresh()
    await execute(
      await quote({ originCurrency: native, destinationCurrency: native, amount: '777' }, user(1), to),
      user(1),
    )
    expect(await balance(native, to)).toBe(777n)
  })

  test('wrap and unwrap are one to one, also for somebody else', async () => {
    const to = fresh()
    const weth = base().wrappedNative
    await execute(
      await quote({ originCurrency: native, destinationCurrency: weth, amount: '5000' }, user(2), to),
      user(2),
    )
    expect(await balance(weth, to)).toBe(5_000n)
    await execute(
      await quote({ originCurrency: native, destinationCurrency: weth, amount: '9000' }, user(2)),
      user(2),
    )
    const other = fresh()
    await execute(
      await quote({ originCurrency: weth, destinationCurrency: native, amount: '8000' }, user(2), other),
      user(2),
    )
    expect(await balance(native, other)).toBe(8_000n)
    expect(await balance(weth, user(2).address)).toBe(1_000n)
  })

  const pairs: [string, () => string, () => string, string][] = [
    ['USDC to TIDE', () => tokens().USDC, () => tokens().TIDE, '15000000'],
    ['USDC to native', () => tokens().USDC, () => native, '15000000'],
    ['native to USDC', () => native, () => tokens().USDC, '20000000000000000'],
    ['USDX to USDC', () => tokens().USDX, () => tokens().USDC, '70000000'],
    ['USDX to TIDE, which no pool joins,', () => tokens().USDX, () => tokens().TIDE, '40000000'],
  ]
  test.each(pairs)(
    'a swap of %s by exact input gives exactly the quoted output',
    async (_name, from, to, amount) => {
      const receiver = fresh()
      const json = await quote(
        { originCurrency: from(), destinationCurrency: to(), amount, useFallbacks: true },
        user(5),
        receiver,
      )
      await execute(json, user(5))
      expect(await balance(to(), receiver)).toBe(BigInt(json.details.currencyOut.amount))
    },
  )

  test.each([
    ['TIDE to native', () => tokens().TIDE, () => native, '4000000000000000'],
    ['native to USDC', () => native, () => tokens().USDC, '12000000'],
    ['TIDE to USDX, which no pool joins,', () => tokens().TIDE, () => tokens().USDX, '12000000'],
  ])('a swap of %s by exact output spends exactly the quoted input', async (_name, from, to, amount) => {
    const receiver = fresh()
    const spender = user(5)
    const before = await balance(from(), spender.address)
    const json = await quote(
      {
        originCurrency: from(),
        destinationCurrency: to(),
        amount,
        tradeType: 'EXACT_OUTPUT',
        useFallbacks: true,
      },
      spender,
      receiver,
    )
    const receipts = await execute(json, spender)
    expect(await balance(to(), receiver)).toBe(BigInt(amount))
    const gas =
      from() === native
        ? receipts.reduce((sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice, 0n)
        : 0n
    expect(before - (await balance(from(), spender.address)) - gas).toBe(
      BigInt(json.details.currencyIn.amount),
    )
  })
})

describe('the gas that a quote names', () => {
  // Each row is executed as its quote says, in this order: what one leaves behind the next finds.
  const rows: [string, () => object, { to?: 'new'; allowed?: bigint; reset?: bigint }?][] = [
    ['a deposit of native coin', () => bridge(native, '30000000000000000')],
    ['a first deposit of a token, with its approval', () => bridge(tokens().USDC, '25000000')],
    ['another one', () => bridge(tokens().USDC, '26000000')],
    ['an approval that is raised', () => bridge(tokens().USDC, '27000000'), { allowed: 5n }],
    ['a deposit within an allowance', () => bridge(tokens().USDC, '28000000'), { allowed: 10n ** 12n }],
    ['a deposit by transfer', () => ({ ...bridge(tokens().USDC, '9000000'), explicitDeposit: false })],
    ['a send to somebody new', () => alone(tokens().USDC, tokens().USDC, '1234567'), { to: 'new' }],
    ['a send of coin to somebody new', () => alone(native, native, '777'), { to: 'new' }],
    ['a first wrap', () => alone(native, weth(), '5000')],
    ['another wrap', () => alone(native, weth(), '6000')],
    ['a wrap for somebody new', () => alone(native, weth(), '6000'), { to: 'new' }],
    ['an unwrap of a part', () => alone(weth(), native, '4000')],
    ['an unwrap of all', () => alone(weth(), native, '7000')],
    ['a swap of tokens', () => alone(tokens().USDC, tokens().TIDE, '15000000')],
    ['a swap of tokens, again', () => alone(tokens().USDC, tokens().TIDE, '15000000')],
    [
      'a swap of tokens to somebody new',
      () => alone(tokens().USDC, tokens().TIDE, '15000000'),
      { to: 'new' },
    ],
    ['a swap to coin', () => alone(tokens().USDC, native, '15000000')],
    ['a swap to coin of somebody new', () => alone(tokens().USDC, native, '15000000'), { to: 'new' }],
    ['a swap of coin', () => alone(native, tokens().USDC, '20000000000000000')],
    [
      'a swap of coin to somebody new',
      () => alone(native, tokens().USDC, '20000000000000000'),
      { to: 'new' },
    ],
    [
      'a swap of coin for an exact amount',
      () => ({ ...alone(native, tokens().USDC, '12000000'), tradeType: 'EXACT_OUTPUT' }),
    ],
    [
      'a swap of tokens for an exact amount',
      () => ({ ...alone(tokens().TIDE, tokens().USDC, '12000000'), tradeType: 'EXACT_OUTPUT' }),
    ],
    ['a first swap over two pools', () => twoHops(tokens().USDX, tokens().TIDE, '5000000')],
    ['a swap over two pools', () => twoHops(tokens().USDX, tokens().TIDE, '6000000')],
    ['a swap over two pools to coin', () => twoHops(tokens().USDX, native, '6000000')],
    [
      'a swap over two pools for an exact amount',
      () => ({ ...twoHops(tokens().TIDE, tokens().USDX, '7000000'), tradeType: 'EXACT_OUTPUT' }),
    ],
    [
      'a swap after an approval that must be reset',
      () => alone(tokens().USDX, tokens().USDC, '5000000'),
      { reset: 5n },
    ],
    ['a swap before a deposit', () => bridge(tokens().TIDE, '20000000000000000000')],
    [
      'a swap before a deposit of an exact amount',
      () => ({ ...bridge(tokens().TIDE, '30000000'), tradeType: 'EXACT_OUTPUT' }),
    ],
    ['a swap of another token before a deposit', () => bridge(tokens().USDX, '40000000')],
  ]
  const weth = () => base().wrappedNative
  const bridge = (originCurrency: string, amount: string) => ({
    destinationChainId: 10,
    originCurrency,
    destinationCurrency: originCurrency === native ? native : network.deployment.optimism.tokens.USDC,
    amount,
  })
  const alone = (originCurrency: string, destinationCurrency: string, amount: string) => ({
    originCurrency,
    destinationCurrency,
    amount,
  })

  const twoHops = (originCurrency: string, destinationCurrency: string, amount: string) => ({
    ...alone(originCurrency, destinationCurrency, amount),
    useFallbacks: true,
  })

  test('an allowance of a token that asks for it is reset first', async () => {
    await approve(user(4), tokens().USDX, base().depositRouter, 5n)
    const { steps } = await quote(alone(tokens().USDX, tokens().USDC, '5000000'), user(4))
    expect(steps.map(({ id }) => id)).toEqual(['approve', 'approve', 'swap'])
  })

  test.each(rows)(
    '%s is within a tenth of what is used',
    async (_name, body, { to, allowed, reset } = {}) => {
      const from = user(4)
      if (allowed !== undefined) await approve(from, tokens().USDC, base().depository, allowed)
      if (reset !== undefined) await approve(from, tokens().USDX, base().depositRouter, reset)
      const json = await quote(body(), from, to === 'new' ? fresh() : from.address)
      const receipts = await execute(json, from)
      const used = receipts.reduce((sum, { gasUsed }) => sum + gasUsed, 0n)
      const { units, limit } = json.details.originGas
      expect(Number(units) / Number(used)).toBeGreaterThan(0.9)
      expect(Number(units) / Number(used)).toBeLessThan(1.1)
      expect(Number(limit)).toBeGreaterThanOrEqual(Number(used))
    },
  )
})

async function approve(from: LocalAccount, token: Hex, spender: string, amount: bigint): Promise<void> {
  const wallet = createWalletClient({
    account: privateKeyToAccount(from.privateKey),
    transport: http(network.chains.base.url),
  })
  const data: Hex = `0x095ea7b3${spender.slice(2).padStart(64, '0')}${amount.toString(16).padStart(64, '0')}`
  const hash = await wallet.sendTransaction({ chain: null, to: token, data })
  await publicClient().waitForTransactionReceipt({ hash, pollingInterval: 50 })
}
