// Goal: POST /quote and /quote/v2 add an order and executable steps to the price, and store them first.
import { createHash } from 'node:crypto'
import { orderId as hashOrder } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { SignerFailedError } from '@causeway/signer'
import { describe, expect, onTestFinished, test } from 'vitest'
import { orderSigner, sharedTestApp, type TestAppOptions, testApp } from '../../../test/fixtures/app.ts'
import {
  appRecipient,
  chainA,
  chainB,
  depository,
  fillContract,
  marketWithPools,
  native,
  recipient,
  usdc,
  usdx,
  user,
  weth,
} from '../../../test/fixtures/market.ts'
import { createOpenQuotes } from '../../pricing/openQuotes/openQuotes.ts'

const body = {
  user,
  recipient,
  originChainId: chainA,
  destinationChainId: chainB,
  originCurrency: usdc,
  destinationCurrency: native,
  amount: '100000000',
  tradeType: 'EXACT_INPUT',
  slippageTolerance: '50',
  appFees: [{ recipient: appRecipient, fee: '50' }],
}

const config = { majorBps: 10 }
const askShared = sharedTestApp({ config, openQuotes: createOpenQuotes({ perUserBps: 0 }) })

async function quote(
  payload: object,
  options: TestAppOptions & { url?: string; headers?: Record<string, string> } = {},
) {
  const { url = '/quote', headers = {}, ...rest } = options
  const asked = { method: 'POST', url, payload, headers } as const
  if (Object.keys(rest).length === 0) {
    const { response, stored } = await askShared(asked)
    return { response, stored, json: response.json() }
  }
  const app = await testApp({ config, ...rest })
  onTestFinished(() => app.close())
  const response = await app.inject(asked)
  return { response, stored: app.stored, json: response.json() }
}

const networkOf = () => mainNetwork('ethereum-vm')

describe('POST /quote', () => {
  test('answers the order, its id and the calldata of the fee sheet example', async () => {
    const { json, response } = await quote(body)
    expect(response.statusCode).toBe(200)
    const { orderId, orderData, paymentDetails, hubType } = json.protocol.v2
    expect(hubType).toBe('onchain')
    expect(hashOrder(orderData, networkOf)).toBe(orderId)
    expect(orderData).toMatchObject({
      version: 'v1',
      solverChainId: 'local-a',
      solver: orderSigner,
      inputs: [
        {
          payment: { chainId: 'local-a', currency: usdc, amount: '100000000', weight: '1' },
          refunds: [recipient, user].map((refunded) => ({
            chainId: 'local-a',
            recipient: refunded,
            currency: usdc,
            minimumAmount: '99990000',
          })),
        },
      ],
      output: {
        chainId: 'local-b',
        payments: [
          {
            recipient,
            currency: native,
            minimumAmount: '39549260000000000',
            expectedAmount: '39748000000000000',
          },
        ],
        calls: [],
        extraData: `0x${fillContract.slice(2).padStart(64, '0')}`,
      },
      fees: [],
    })
    expect(paymentDetails).toEqual({ chainId: 'local-a', depository, currency: usdc, amount: '100000000' })

    const [approve, deposit] = json.steps
    expect(approve.items[0].data).toMatchObject({
      from: user,
      to: usdc,
      data: '0x095ea7b300000000000000000000000000000000000000000000000000000000000000d10000000000000000000000000000000000000000000000000000000005f5e100',
      value: '0',
      chainId: chainA,
    })
    expect(deposit.items[0].data).toMatchObject({
      to: depository,
      data: `0xe8017952000000000000000000000000111111111111111111111111111111111111111100000000000000000000000000000000000000000000000000000000000000c10000000000000000000000000000000000000000000000000000000005f5e100${orderId.slice(2)}`,
      value: '0',
      gas: '65000',
      maxFeePerGas: '200000000',
      maxPriorityFeePerGas: '1000000',
    })
  })

  test('follows what the public client demands of steps', async () => {
    const { json } = await quote(body)
    const [approve, deposit] = json.steps
    expect(approve.items[0]).not.toHaveProperty('check')
    expect(deposit.items[0].check).toEqual({
      endpoint: `/intents/status/v3?requestId=${json.requestId}`,
      method: 'GET',
    })
    for (const step of json.steps) expect(step.requestId).toBe(json.requestId)
    expect(json.requestId).toMatch(/^0x[0-9a-f]{64}$/)
    expect(json.requestId).not.toBe(json.protocol.v2.orderId)
  })

  test('Q-138: prices the same as /price and adds what a quote needs', async () => {
    const { json } = await quote(body)
    const app = await testApp({ config: { majorBps: 10 } })
    onTestFinished(() => app.close())
    const price = (await app.inject({ method: 'POST', url: '/price', payload: body })).json()
    expect(json.fees).toEqual(price.fees)
    expect(json.details).toMatchObject(price.details)
    expect(json.details.expandedPriceImpact).toEqual({
      execution: { usd: '-0.030000' },
      swap: { usd: '0.000000' },
      relay: { usd: '-0.100000' },
      app: { usd: '-0.500000' },
      sponsored: { usd: '0.000000' },
    })
    expect(json.details.refundCurrency.amount).toBe('99990000')
    expect(json.breakdown).toEqual([{ value: '39748000000000000', timeEstimate: 4 }])
    expect(json.environment).toBe('local')
    const nowSeconds = Date.now() / 1_000
    expect(json.expiresAt).toBeGreaterThan(nowSeconds + 50)
    expect(json.expiresAt).toBeLessThan(nowSeconds + 61)
  })

  test('Q-138: is stored, with its steps digest, before it is sent', async () => {
    const { json, stored } = await quote(body)
    expect(stored).toHaveLength(1)
    const [record] = stored
    expect(record?.quote.requestId).toBe(json.requestId)
    expect(record?.quote.ordered?.orderId).toBe(json.protocol.v2.orderId)
    const digest = createHash('sha256').update(JSON.stringify(record?.quote.steps)).digest()
    expect(record?.stepsDigest.equals(digest)).toBe(true)
  })

  test('is not answered when it cannot be stored', async () => {
    const store = async () => {
      throw new Error('disk full')
    }
    const { response } = await quote(body, { store })
    expect(response.statusCode).toBe(500)
  })

  // Failure prevented: a deposit for a quote without a usable order is neither filled nor refunded.
  test.each([
    ['and is not asked to sign now', {}],
    ['and is asked to', { includeProtocolData: true }],
  ])('is not sold while the order key cannot sign %s', async (_what, change) => {
    const gone = () => {
      throw new SignerFailedError()
    }
    const signer = { address: orderSigner, sign: async () => gone(), assertWorks: gone }
    const { response, json, stored } = await quote({ ...body, ...change }, { signer })
    expect([response.statusCode, json.errorCode]).toEqual([503, 'SIGNER_FAILED'])
    expect(stored).toEqual([])
  })

  test('has its signature where it asks for it', async () => {
    const { json, stored } = await quote({ ...body, includeProtocolData: true })
    const [record] = stored
    expect(json.protocol.v2.orderSignature).toBe(record?.quote.ordered?.signature)
    const plain = await quote({ ...body, includeProtocolData: false })
    expect(plain.json.protocol.v2).not.toHaveProperty('orderSignature')
    expect(plain.stored[0]?.quote.ordered).toMatchObject({ signature: undefined })
  })

  test('two quotes of one request never share an id, a salt or an order', async () => {
    const [first, second] = [(await quote(body)).json, (await quote(body)).json]
    expect(first.requestId).not.toBe(second.requestId)
    expect(first.protocol.v2.orderData.salt).not.toBe(second.protocol.v2.orderData.salt)
    expect(first.protocol.v2.orderId).not.toBe(second.protocol.v2.orderId)
  })
})

describe('recipient', () => {
  const { recipient: _left, ...without } = body
  test.each([
    ['/quote', 400],
    ['/quote/v2', 200],
  ])('Q-142: left out on %s answers %s', async (url, statusCode) => {
    const { response, json } = await quote(without, { url })
    expect(response.statusCode).toBe(statusCode)
    if (statusCode === 200) expect(json.details.recipient).toBe(user)
    else
      expect(json).toMatchObject({
        errorCode: 'INVALID_REQUEST',
        errorData: expect.stringContaining('recipient'),
      })
  })
})

describe('refunds', () => {
  const refundOf = async (change: object) =>
    (await quote({ ...body, ...change }, { url: '/quote/v2' })).json.protocol.v2.orderData.inputs[0]
      .refunds[0].recipient
  test('go to refundTo, else to the recipient', async () => {
    const refundTo = `0x${'7'.repeat(40)}`
    expect(await refundOf({ refundTo })).toBe(refundTo)
    expect(await refundOf({})).toBe(recipient)
  })

  test('go to the user when there is no recipient', async () => {
    expect(await refundOf({ recipient: undefined })).toBe(user)
  })
})

describe('steps', () => {
  const sameChain = { ...body, destinationChainId: chainA, appFees: [] }
  const ids = (json: { steps: { id: string }[] }) => json.steps.map(({ id }) => id)

  test('a native deposit carries its amount as value', async () => {
    const { json } = await quote({
      ...body,
      originCurrency: native,
      destinationCurrency: usdc,
      amount: '1000000000000000000',
    })
    expect(ids(json)).toEqual(['deposit'])
    expect(json.steps[0].items[0].data).toMatchObject({
      to: depository,
      value: '1000000000000000000',
      data: `0x49290c1c${user.slice(2).padStart(64, '0')}${json.protocol.v2.orderId.slice(2)}`,
    })
  })

  test('a known allowance that suffices needs no approval', async () => {
    expect(ids((await quote(body, { facts: { allowance: 100_000_000n } })).json)).toEqual(['deposit'])
  })

  test('explicitDeposit false is one transfer that names the order', async () => {
    const { json } = await quote({ ...body, explicitDeposit: false })
    expect(ids(json)).toEqual(['deposit'])
    const { to, data } = json.steps[0].items[0].data
    expect(to).toBe(usdc)
    expect(data).toBe(
      `0xa9059cbb${depository.slice(2).padStart(64, '0')}${100_000_000n.toString(16).padStart(64, '0')}${json.protocol.v2.orderId.slice(2)}`,
    )
  })

  test('send, wrap and unwrap need no order', async () => {
    const send = await quote({ ...sameChain, destinationCurrency: usdc })
    expect(ids(send.json)).toEqual(['send'])
    expect(send.json).not.toHaveProperty('protocol')
    expect(send.stored[0]?.quote.ordered).toBeUndefined()

    const wrap = await quote({
      ...sameChain,
      originCurrency: native,
      destinationCurrency: weth,
      recipient: user,
    })
    expect(ids(wrap.json)).toEqual(['swap'])
    expect(wrap.json.steps[0].items[0].data).toMatchObject({
      to: weth,
      data: '0xd0e30db0',
      value: '100000000',
    })

    const unwrap = await quote({
      ...sameChain,
      originCurrency: weth,
      destinationCurrency: native,
      recipient: user,
    })
    expect(unwrap.json.steps[0].items[0].data).toMatchObject({ to: weth, value: '0' })
  })

  test('wrapping for somebody else forwards the output', async () => {
    const { json } = await quote({ ...sameChain, originCurrency: native, destinationCurrency: weth })
    expect(ids(json)).toEqual(['swap', 'send'])
    expect(json.steps[1].items[0].data.data).toContain(recipient.slice(2))
  })

  test('app fees turn a same-chain request into a solver order', async () => {
    const { json } = await quote({ ...body, destinationChainId: chainA })
    expect(ids(json)).toEqual(['approve', 'deposit'])
    expect(json.protocol.v2.orderData.output.chainId).toBe('local-a')
    expect(json.fees.app.amount).toBe('500000')
  })

  test('a top-up is a second output payment', async () => {
    const { json } = await quote({ ...body, destinationCurrency: usdc, topupGas: true })
    const { payments } = json.protocol.v2.orderData.output
    expect(payments).toHaveLength(2)
    expect(payments[1]).toEqual({
      recipient,
      currency: native,
      minimumAmount: '800000000000000',
      expectedAmount: '800000000000000',
    })
    expect(json.details.currencyGasTopup).toMatchObject({ amount: '800000000000000', amountUsd: '2.000000' })
  })

  test('calls are encoded into the order and their value is a part of the payment', async () => {
    const to = `0x${'9'.repeat(40)}`
    const txs = [{ to, value: '1000000000000000', data: '0xabcdef' }]
    const { json } = await quote({ ...body, txs }, { fillWallet: `0x${'f1'.repeat(20)}` })
    const { calls, payments } = json.protocol.v2.orderData.output
    expect(calls).toHaveLength(1)
    expect(calls[0]).toContain('9'.repeat(40))
    expect(json.details.currencyOut.amount).toBe(payments[0].expectedAmount)
  })
})

describe('an account that is not chosen yet', () => {
  test.each([
    ['a deposit of a token', {}],
    ['a deposit of native coin', { originCurrency: native, amount: '1000000000000000000' }],
    ['a swap on one chain', { destinationChainId: chainA, destinationCurrency: usdc, originCurrency: usdx }],
    ['a send', { destinationChainId: chainA, destinationCurrency: usdc }],
    ['a permit', { usePermit: true }],
  ])('Q-158: is priced and given nothing to execute: %s', async (_name, change) => {
    const market = { current: marketWithPools() }
    const { json } = await quote({ ...body, ...change, user: native }, { market })
    expect(json.details.sender).toBe(native)
    expect(BigInt(json.details.currencyOut.amount)).toBeGreaterThan(0n)
    expect(json.steps).toEqual([])
  })
})

describe('sponsorship fields', () => {
  test.each([
    ['subsidizeFees without a key', { subsidizeFees: true }, 401, 'UNAUTHORIZED'],
    ['a cap without subsidizeFees', { maxSubsidizationAmount: '5' }, 200, undefined],
    ['a cap that is no integer', { maxSubsidizationAmount: '1.5' }, 400, 'INVALID_REQUEST'],
    ['an empty list of components', { sponsoredFeeComponents: [] }, 400, 'INVALID_REQUEST'],
    ['an unknown component', { sponsoredFeeComponents: ['fuel'] }, 400, 'INVALID_REQUEST'],
    ['subsidizeRent alone', { subsidizeRent: true }, 200, undefined],
    ['depositFeePayer equal to user', { depositFeePayer: user }, 400, 'INVALID_ADDRESS'],
    ['depositFeePayer off Solana', { depositFeePayer: recipient }, 400, 'INVALID_ADDRESS'],
  ])('%s', async (_name, change, statusCode, errorCode) => {
    const { response, json } = await quote({ ...body, ...change })
    expect(response.statusCode).toBe(statusCode)
    expect(json.errorCode).toBe(errorCode)
  })

  test('a wrong key is 401', async () => {
    const { json } = await quote({ ...body, subsidizeFees: true }, { headers: { 'x-api-key': 'wrong' } })
    expect(json).toMatchObject({ statusCode: 401, errorCode: 'UNAUTHORIZED' })
  })
})

test('what cannot be executed yet is refused after its own rules', async () => {
  const nativeBridge = {
    ...body,
    originCurrency: native,
    destinationCurrency: native,
    amount: '1000000000000000000',
  }
  const permit = { usePermit: true, originCurrency: usdc, amount: '100000000', destinationChainId: chainA }
  const { json } = await quote({ ...nativeBridge, ...permit })
  expect(json).toMatchObject({ statusCode: 400, errorCode: 'UNSUPPORTED_EXECUTION_TYPE' })
})
