// Goal: nobody is quoted what no oracle will attest, and no solver pays it: native coin to an account with code, an
// EIP-7702 delegation included, on chains that are not traced; and what each refusal advises works. Method: the
// service with its jobs over real nodes whose chain file asks for no traces; code is given to accounts on the node.
import type { Hex } from '@causeway/core'
import { accrueAppFees } from '@causeway/ledger'
import { waitUntil } from '@causeway/localnet'
import { zeroAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quoteResponseSchema } from '../src/http/wire/quoteResponse.ts'
import { readClaimStep } from './serviceSupport/appFeeClaim.ts'
import { post, postPatiently, type QuoteAnswer, readError, readOk } from './serviceSupport/callService.ts'
import { type ConfigCopy, copyConfigs } from './serviceSupport/configCopy.ts'
import {
  currencyAddress,
  type LocalRequest,
  localRequest,
  type UserChain,
} from './serviceSupport/localRequest.ts'
import { bytesOf } from './settlementSupport/requestDriver.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'

const ether: LocalRequest = { pay: 'native', receive: 'native', amount: 10n ** 16n }
const usdc: LocalRequest = { pay: 'USDC', receive: 'USDC', amount: 60_000_000n }
/** Takes whatever it is sent. */
const wallet = '0x00'
const delegation: Hex = `0xef0100${'77'.repeat(20)}`

let bed: SettlementBed
let oracles: StandInOracles
let configs: ConfigCopy

beforeAll(async () => {
  configs = await copyConfigs()
  await configs.replace(
    'chains.local.json',
    '"traceInternalTransfers": true',
    '"traceInternalTransfers": false',
  )
  oracles = await startStandInOracles()
  bed = await startSettlementBed({
    blockTimeSeconds: 1,
    oracles: async () => oracles.setting,
    environment: async () => ({ CONFIG_DIR: configs.directory }),
  })
})
afterAll(async () => {
  await bed?.stop()
  await oracles?.stop()
  await configs?.remove()
})

const freshAddress = () => privateKeyToAddress(generatePrivateKey())
const giveCode = (chain: UserChain, address: Hex, bytecode: Hex) =>
  bed.network.chains[chain].chain.node.setCode({ address, bytecode })

async function accountWithCode(chain: UserChain, bytecode: Hex = wallet): Promise<Hex> {
  const address = freshAddress()
  await giveCode(chain, address, bytecode)
  return address
}

const bodyOf = (request: LocalRequest, more: object = {}) =>
  localRequest(bed.network, {
    ...request,
    more: { recipient: freshAddress(), refundTo: freshAddress(), ...more },
  })
const quoted = async (request: LocalRequest, more: object = {}): Promise<QuoteAnswer> =>
  readOk(await postPatiently(`${bed.url}/quote`, bodyOf(request, more)), quoteResponseSchema)

/** A quote may be asked for before the market has the block that the code is in. */
async function isRefused(body: object, field: string): Promise<Record<string, unknown>> {
  let data: Record<string, unknown> = {}
  await waitUntil('it is refused', async () => {
    const answer = await post(`${bed.url}/quote`, body)
    if (answer.status === 200) return false
    const { errorCode, errorData } = readError(answer)
    expect(errorCode).toBe('RECIPIENT_HAS_CODE')
    data = JSON.parse(errorData ?? '{}')
    return true
  })
  expect(data).toMatchObject({ field })
  const priced = await post(`${bed.url}/price`, body)
  expect([priced.status, readError(priced).errorCode]).toEqual([400, 'RECIPIENT_HAS_CODE'])
  return data
}

describe('a quote of native coin to an account with code', () => {
  test.each([
    ['a contract', wallet],
    ['a wallet that delegates', delegation],
  ] as const)('%s is refused, and for wrapped coin or somebody else it is given', async (_who, code) => {
    const recipient = await accountWithCode('optimism', code)
    const data = await isRefused(bodyOf(ether, { recipient }), 'recipient')
    expect(data).toMatchObject({ recipient, payment: 'output' })
    const currencyInstead = currencyAddress(bed.network, 'optimism', 'wrapped')
    expect(data['currencyInstead']).toBe(currencyInstead)
    await quoted(ether, { recipient, destinationCurrency: currencyInstead })
    await quoted(ether)
  })

  test('as gas top-up is refused, and without it given', async () => {
    const recipient = await accountWithCode('optimism')
    const data = await isRefused(bodyOf(usdc, { recipient, topupGas: true }), 'recipient')
    expect(data).toMatchObject({ recipient, payment: 'topup' })
    await quoted(usdc, { recipient })
    await quoted(usdc, { topupGas: true })
  })

  test('as refund is refused, and given for another refundTo or of wrapped coin', async () => {
    const refundTo = await accountWithCode('base')
    const data = await isRefused(bodyOf(ether, { refundTo }), 'refundTo')
    expect(data).toMatchObject({ recipient: refundTo, payment: 'refund' })
    await quoted(ether)
    await quoted({ ...ether, pay: 'wrapped' }, { refundTo })
    await quoted(usdc, { refundTo })
  })

  test('is not asked about where the other chain alone has the code', async () => {
    const [onBase, onOptimism] = [await accountWithCode('base'), await accountWithCode('optimism')]
    await quoted(ether, { recipient: onBase, refundTo: onOptimism })
  })
})

describe('a fill of native coin', () => {
  const fillsOf = ({ requestId }: QuoteAnswer) =>
    bed.database.query<{ state: string; reason: string | null; tx_hash: string | null }>(
      `select state, reason, tx_hash from work_item where kind = 'fill' and request_id = $1`,
      [bytesOf(requestId)],
    )

  test('to an account without code is offered, and ends well', async () => {
    const quote = await quoted(ether)
    await bed.requests.execute(quote)
    await bed.solver.carryOut(await bed.requests.workFor(quote, 'fill'))
    await bed.requests.reaches(quote, 'success')
  })

  test('to one that got its code after the quote is never offered: the user is refunded', async () => {
    const [recipient, refundTo] = [freshAddress(), freshAddress()]
    const quote = await quoted(ether, { recipient, refundTo })
    await giveCode('optimism', recipient, delegation)
    await bed.requests.execute(quote)
    const offered: string[] = []
    await waitUntil('the refund is offered', async () => {
      const work = (await bed.solver.work()).filter(({ requestId }) => requestId === quote.requestId)
      offered.push(...work.map(({ kind }) => kind))
      return work.some(({ kind }) => kind === 'refund')
    })
    expect(offered).not.toContain('fill')
    await bed.solver.carryOut(await bed.requests.workFor(quote, 'refund'))
    await bed.requests.reaches(quote, 'refund')
    expect((await bed.requests.statusOf(quote)).failReason).toBe('RECIPIENT_HAS_CODE')
    expect(await fillsOf(quote)).toMatchObject([{ state: 'cancelled', tx_hash: null }])
    const back = await bed.network.chains.base.chain.client.getBalance({ address: refundTo })
    expect(back).toBeGreaterThan((ether.amount * 9n) / 10n)
  })

  test('to one that gets its code while it is offered is withdrawn', async () => {
    const recipient = freshAddress()
    const quote = await quoted(ether, { recipient })
    await bed.requests.execute(quote)
    const item = await bed.requests.workFor(quote, 'fill')
    await giveCode('optimism', recipient, wallet)
    await bed.requests.workFor(quote, 'refund')
    const late = await bed.solver.report(item.id, `0x${'fc'.repeat(32)}`)
    expect([late.status, readError(late).errorCode]).toEqual([409, 'WORK_NOT_OPEN'])
  })
})

test('a refund to an account that got its code after the quote is paid once, and an operator looks', async () => {
  const refundTo = freshAddress()
  const quote = await quoted(ether, { refundTo })
  await bed.requests.deposit(quote, {
    token: currencyAddress(bed.network, 'base', 'native'),
    amount: ether.amount / 2n,
  })
  const item = await bed.requests.workFor(quote, 'refund')
  await giveCode('base', refundTo, wallet)
  await bed.solver.carryOut(item)
  await waitUntil('it is parked', async () => (await bed.requests.stageOf(quote)) === 'parked')
  expect((await bed.requests.settlementOf(quote))?.parked_reason).toBe('REFUND_NEEDS_TRACE')
  const paid = await bed.network.chains.base.chain.client.getBalance({ address: refundTo })
  expect(paid).toBeGreaterThan(0n)
  expect(await bed.requests.openWork(quote, 'refund')).toBeUndefined()
  const [row] = await bed.database.query<{ state: string; attempts: number }>(
    'select state, attempts from work_item where id = $1',
    [item.id],
  )
  expect(row).toEqual({ state: 'reported', attempts: 0 })
})

describe('app fees in native coin', () => {
  // CAST: lower-cased hex stays hex.
  const lower = (address: Hex) => address.toLowerCase() as Hex

  async function owed(address: string = zeroAddress) {
    const account = privateKeyToAccount(generatePrivateKey())
    const { chainId } = bed.network.chains.base
    const kind = address === zeroAddress ? { symbol: 'ETH', name: 'Ether', decimals: 18 } : usdcKind
    const fees = [{ recipient: lower(account.address), amount: 10n ** 16n }]
    const asset = { chainId, address, ...kind }
    await bed.database.transaction((tx) =>
      accrueAppFees(tx, { requestId: generatePrivateKey(), asset, fees }),
    )
    const ask = (recipient: Hex) =>
      post(`${bed.url}/app-fees/${account.address}/claim`, { chainId, currency: address, recipient })
    return { account, ask }
  }
  const usdcKind = { symbol: 'USDC', name: 'USD Coin', decimals: 6 }
  const signed = async (account: ReturnType<typeof privateKeyToAccount>, claim: ClaimToSign) => {
    const signature = await account.signTypedData(claim.typedData)
    const body = { kind: 'claim', requestId: claim.claimId, referrer: 'a.example' }
    return post(`${bed.url}/execute/permits?signature=${signature}`, body)
  }
  type ClaimToSign = ReturnType<typeof readClaimStep>
  const claimsOf = (account: { readonly address: Hex }) =>
    bed.database.query('select 1 from app_fee_claim where wallet = $1', [lower(account.address)])

  test.each([
    ['a contract', wallet],
    ['a wallet that delegates', delegation],
  ] as const)('are not claimed for %s: its payout could never be proven', async (_what, bytecode) => {
    const { ask } = await owed()
    const recipient = await accountWithCode('base', bytecode)
    const answer = await ask(recipient)
    const { errorCode, errorData } = readError(answer)
    expect([answer.status, errorCode]).toEqual([400, 'RECIPIENT_HAS_CODE'])
    expect(JSON.parse(errorData ?? '')).toMatchObject({
      ...{ field: 'recipient', recipient: lower(recipient), payment: 'claim' },
    })
    // What it advises works.
    expect((await ask(freshAddress())).status).toBe(200)
  })

  test('are not claimed for one that gets its code before its wallet signs', async () => {
    const { account, ask } = await owed()
    const recipient = freshAddress()
    const claim = readClaimStep(await ask(recipient))
    await giveCode('base', recipient, delegation)
    const answer = await signed(account, claim)
    expect([answer.status, readError(answer).errorCode]).toEqual([400, 'RECIPIENT_HAS_CODE'])
    expect(await claimsOf(account)).toEqual([])
    // Nothing was taken: somebody else can be named.
    expect((await signed(account, readClaimStep(await ask(freshAddress())))).status).toBe(200)
    expect(await claimsOf(account)).toHaveLength(1)
  })

  test('are claimed in a token for whoever is named', async () => {
    const { ask } = await owed(bed.network.deployment.base.tokens.USDC)
    expect((await ask(await accountWithCode('base'))).status).toBe(200)
  })
})
