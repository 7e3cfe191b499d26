// Goal: what public clients send is honoured, has no effect, or is refused by name, and a page says which.
// The members are those of the installed SDK's own types. Adversary: a release that adds a member, which would
// be stripped in silence.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { sharedTestApp, type TestAppOptions, testApp } from '../../../test/fixtures/app.ts'
import {
  chainA,
  chainB,
  native,
  pools,
  recipient,
  testChainMarket,
  testSnapshot,
  tide,
  usdc,
  user,
} from '../../../test/fixtures/market.ts'
import { sdkMembersAt, sdkQueryParameters } from '../../../test/fixtures/sdkTypes.ts'
import { refusedParameters } from '../wire/historyQuery.ts'

const root = join(import.meta.dirname, '../../../../..')
const bodyPage = join(root, 'docs/reference/request-fields.md')
const other = `0x${'7'.repeat(40)}`

const body = {
  user,
  recipient,
  originChainId: chainA,
  destinationChainId: chainB,
  originCurrency: usdc,
  destinationCurrency: native,
  amount: '100000000',
  tradeType: 'EXACT_INPUT',
}

const askPlain = sharedTestApp({ config: { majorBps: 10 } })

async function quote(change: object, options?: TestAppOptions) {
  const request = { method: 'POST', url: '/quote', payload: { ...body, ...change } } as const
  if (options === undefined) {
    const { response, stored } = await askPlain(request)
    return { status: response.statusCode, json: response.json(), stored }
  }
  const app = await testApp({ config: { majorBps: 10 }, ...options })
  onTestFinished(() => app.close())
  const response = await app.inject(request)
  return { status: response.statusCode, json: response.json(), stored: app.stored }
}

const sdkMembers = () => sdkMembersAt(['/quote/v2', 'post', 'requestBody', 'content', 'application/json'])

/** Items such as `- refused at \`/a\` \`/b\`: \`x\` (why), \`y\``; of the body without paths. */
function listedFields(text: string) {
  return [...text.matchAll(/^- (honoured|no effect|refused)(?: at ((?:`[^`]+` ?)+))?: (.*)$/gm)].map(
    ([, does = '', paths = '', items = '']) => ({
      does,
      paths: [...paths.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path),
      fields: [...items.replace(/\(.*?\)(?=[,;]|$)/g, '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
    }),
  )
}

async function bodyFields(): Promise<ReadonlyMap<string, string>> {
  const lists = listedFields(await readFile(bodyPage, 'utf8'))
  return new Map(lists.flatMap(({ does, fields }) => fields.map((name) => [name, does] as const)))
}

test("a page says of each member of the SDK's body what becomes of it", async () => {
  const [members, rows] = [await sdkMembers(), await bodyFields()]
  expect(members.length).toBeGreaterThan(40)
  expect(members.filter((member) => !rows.has(member))).toEqual([])
})

test('Q-76: a page says of each query parameter of each path of ours what becomes of it', async () => {
  const text = await readFile(join(root, 'docs/reference/query-parameters.md'), 'utf8')
  const rows = listedFields(text).flatMap(({ does, paths, fields }) =>
    paths.flatMap((path) => fields.map((field) => [`${path} ${field}`, does] as const)),
  )
  const table = new Map<string, string>(rows)
  expect(table.size).toBe(rows.length)
  const app = await testApp()
  onTestFinished(() => app.close())
  const described = z.object({ paths: z.record(z.string(), z.record(z.string(), operationSchema)) })
  const { paths } = described.parse((await app.inject({ url: '/documentation/json' })).json())
  const read = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).flatMap(({ parameters }) =>
      parameters.flatMap((one) => (one.in === 'query' ? [`${path} ${one.name}`] : [])),
    ),
  )
  const asked = (await sdkQueryParameters()).filter((one) => (one.split(' ')[0] ?? '') in paths)
  expect(asked.length).toBeGreaterThan(100)
  expect(asked.filter((one) => !table.has(one))).toEqual([])
  const honoured = [...table].flatMap(([one, does]) => (does === 'honoured' ? [one] : []))
  expect(honoured.filter((one) => !read.includes(one))).toEqual([])
  // Every parameter that a list reads must be in the table.
  expect(read.filter((one) => one.startsWith('/requests/v') && !honoured.includes(one))).toEqual([])
  const refused = [...table].flatMap(([one, does]) => (does === 'refused' ? [one] : []))
  expect(refused.toSorted()).toEqual(
    ['/requests/v2', '/requests/v3']
      .flatMap((path) => Object.keys(refusedParameters).map((name) => `${path} ${name}`))
      .toSorted(),
  )
  const silent = [...table].flatMap(([one, does]) => (does === 'no effect' ? [one] : []))
  expect(silent.filter((one) => read.includes(one))).toEqual([])
})

const operationSchema = z.object({
  parameters: z.array(z.object({ in: z.string(), name: z.string() })).default([]),
})

describe('refused by name, wherever the page says so:', () => {
  const refused: readonly (readonly [field: string, value: unknown, code: string])[] = [
    ['authorizationList', [{ chainId: 1 }], 'EXTRA_TXS_NOT_SUPPORTED'],
    ['gasLimitForDepositSpecifiedTxs', 21_000, 'INVALID_GAS_LIMIT_FOR_DEPOSIT_SPECIFIED_TXS'],
    ['fixedRate', '1:1.0005', 'UNSUPPORTED_ROUTE'],
  ]
  test.each(refused)('%s', async (field, value, code) => {
    const { status, json, stored } = await quote({ [field]: value })
    expect({ status, code: json.errorCode }).toEqual({ status: 400, code })
    expect(json.message).toContain(field)
    expect(JSON.parse(json.errorData)).toEqual({ field })
    expect(stored).toEqual([])
    expect((await quote({})).status).toBe(200)
  })

  test('the page names no other', async () => {
    const rows = [...(await bodyFields())].filter(([, does]) => does === 'refused').map(([name]) => name)
    expect(rows.toSorted()).toEqual(refused.map(([field]) => field).toSorted())
  })

  test.each([
    ['without a deposit address', { recoveryAddress: other }],
    ['beside another refundTo', { recoveryAddress: other, refundTo: user, useDepositAddress: true }],
  ])('recoveryAddress %s', async (_what, change) => {
    expect((await quote(change)).json).toMatchObject({ errorCode: 'INVALID_ADDRESS', statusCode: 400 })
  })

  test.each([
    ['excludedOutputs', ['ab:0']],
    ['excludedOutputs', [`${'AB'.repeat(32)}:0`]],
    ['excludedOutputs', 'none'],
    ['minimumOutput', '-1'],
    ['minimumOutput', 5],
    ['userPublicKey', 5],
  ])('F-97: a malformed additionalData.%s: %j', async (member, value) => {
    const { status, json } = await quote({ additionalData: { [member]: value } })
    expect([status, json.errorCode]).toEqual([400, 'INVALID_REQUEST'])
    expect(json.message).toContain(`additionalData.${member}`)
  })

  test('a tolerance that is none', async () => {
    const { json } = await quote({ latePaymentSlippageTolerance: '10001' })
    expect(json.errorCode).toBe('INVALID_SLIPPAGE_TOLERANCE')
  })
})

describe('without effect, and no reason to refuse:', () => {
  test.each<[string, unknown]>([
    ['authorizationList', []],
    [
      'additionalData',
      { userPublicKey: '02ab', excludedOutputs: [`${'ab'.repeat(32)}:0`], minimumOutput: '1' },
    ],
    ['disableSwapProviderPreference', true],
    ['enableTrueExactOutput', true],
    ['includeComputeUnitLimit', true],
    ['includeProtocolData', true],
    ['latePaymentSlippageTolerance', '100'],
    ['maxRouteLength', 3],
    ['originGasOverhead', 0],
    ['originGasOverhead', '0'],
    ['protocolVersion', 'preferV2'],
    ['useSharedAccounts', true],
  ])('%s: %j', async (field, value) => {
    const [plain, named] = [await quote({}), await quote({ [field]: value })]
    expect(named.status).toBe(200)
    expect(named.json.details.currencyOut).toEqual(plain.json.details.currencyOut)
    expect(named.json.fees).toEqual(plain.json.fees)
  })
})

describe('originGasOverhead', () => {
  test.each([300_000, '300000'])(
    'of %j makes the origin gas a part of the fees',
    async (originGasOverhead) => {
      const [plain, named] = [await quote({}), await quote({ originGasOverhead })]
      const { gas, relayerGas } = named.json.fees
      expect([gas.amount, BigInt(plain.json.fees.gas.amount) > 0n]).toEqual(['0', true])
      expect(BigInt(relayerGas.amount)).toBeGreaterThan(BigInt(plain.json.fees.relayerGas.amount))
      const tooMuch = await quote({ originGasOverhead: 10_000_000 })
      expect(tooMuch.json).toMatchObject({ errorCode: 'INVALID_REQUEST' })
    },
  )
})

describe('ttl', () => {
  test('shortens the life of order and price, and never lengthens it', async () => {
    const lives = async (ttl?: number) => {
      const { stored } = await quote({ ttl })
      const [{ quote: made } = { quote: undefined }] = stored
      if (made === undefined) throw new Error('nothing was stored')
      const { deadlineSeconds, expiresAtSeconds, ordered } = made
      expect(ordered?.order.output.deadline).toBe(deadlineSeconds)
      return [deadlineSeconds, expiresAtSeconds] as const
    }
    const [deadline, expiry] = await lives()
    const [shortDeadline, shortExpiry] = await lives(30)
    expect([deadline - shortDeadline > 60, shortDeadline - shortExpiry]).toEqual([true, 0])
    const [longDeadline, longExpiry] = await lives(86_400)
    expect(longDeadline - longExpiry).toBe(deadline - expiry)
  })

  test.each([0, -1, 1.5, '30', 86_401])('of %j is refused', async (ttl) => {
    expect((await quote({ ttl })).json).toMatchObject({ errorCode: 'INVALID_REQUEST' })
  })
})

describe('sources of swaps', () => {
  const swapIn = { originCurrency: tide, destinationCurrency: usdc, amount: `25${'0'.repeat(18)}` }
  const swapOut = { originCurrency: usdc, destinationCurrency: tide, amount: '25000000' }
  const withPools = () => ({
    current: testSnapshot({ chains: [chainA, chainB].map((chain) => testChainMarket(chain, { pools })) }),
  })
  const own = ['uniswap-v3', 'another']

  test.each<[string, object, number, string | undefined]>([
    ['included', { ...swapIn, includedSwapSources: own }, 200, undefined],
    ['none named', { ...swapIn, includedSwapSources: [] }, 200, undefined],
    ['others included', { ...swapIn, includedSwapSources: ['another'] }, 400, 'NO_SWAP_ROUTES_FOUND'],
    ['excluded', { ...swapIn, excludedSwapSources: own }, 400, 'NO_SWAP_ROUTES_FOUND'],
    ['others excluded', { ...swapIn, excludedSwapSources: ['another'] }, 200, undefined],
    [
      'others on the origin',
      { ...swapIn, includedOriginSwapSources: ['another'] },
      400,
      'NO_SWAP_ROUTES_FOUND',
    ],
    ['others on the other side', { ...swapIn, includedDestinationSwapSources: ['another'] }, 200, undefined],
    [
      'others on the destination',
      { ...swapOut, includedDestinationSwapSources: ['another'] },
      400,
      'NO_SWAP_ROUTES_FOUND',
    ],
    [
      'no swap on the origin, and one is needed',
      { ...swapIn, disableOriginSwaps: true },
      400,
      'UNSUPPORTED_ROUTE',
    ],
    ['no swap on the origin, and none is needed', { ...swapOut, disableOriginSwaps: true }, 200, undefined],
    [
      'no swap on the origin, on one chain',
      { ...swapIn, destinationChainId: chainA, disableOriginSwaps: true },
      400,
      'UNSUPPORTED_ROUTE',
    ],
    ['none, where no swap is needed', { excludedSwapSources: own }, 200, undefined],
  ])('%s', async (_what, change, status, code) => {
    const answer = await quote(change, { market: withPools() })
    expect({ status: answer.status, code: answer.json.errorCode }).toEqual({ status, code })
  })
})

test('attribution is kept with the request', async () => {
  const { stored } = await quote({ referrer: 'an.app', referrerAddress: other })
  expect(stored[0]?.request).toMatchObject({ referrer: 'an.app', referrerAddress: other })
})

test.each<[string, unknown, bigint]>([
  ['decimal digits', '1000000000000000', 10n ** 15n],
  ['hex digits', '0x38d7ea4c68000', 10n ** 15n],
  ['a number', 1_000_000, 1_000_000n],
  ['nothing', undefined, 0n],
])('the value of a call as %s, without data', async (_what, value, wei) => {
  const txs = [{ to: other, value, originalTxValue: '0x0' }]
  const { json, stored } = await quote({ txs }, { fillWallet: `0x${'f1'.repeat(20)}` })
  expect(json.errorCode).toBeUndefined()
  expect(stored[0]?.request.txs).toEqual([{ to: other, value: wei, data: '0x' }])
})
