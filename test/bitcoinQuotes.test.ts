// Goal: moving bitcoin to another chain works end to end: a price, a quote whose one step spends the user's own outputs,
// a deposit that the service sees, a fill that it pays out, and nothing for what it cannot see. Who gains by breaking it:
// a user who quotes outputs that he has not, an endpoint that names others', a stranger who deposits for an order.
// Method: the service with its jobs, PostgreSQL and stand-in oracles over anvil and a constructed Bitcoin chain.
import { keyOf } from '@causeway/localnet/standIns/bitcoin'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { post, price, readError } from '../apps/quote-api/test/serviceSupport/callService.ts'
import { currencyAddress } from '../apps/quote-api/test/serviceSupport/localRequest.ts'
import {
  askQuote,
  type BitcoinSettling,
  bitcoin,
  bitcoinChainId,
  fromBitcoin,
  fundedUser,
  psbtOf,
  quoteFromBitcoin,
  sendPsbt,
  startBitcoinSettling,
} from './support/bitcoinSettling.ts'

let at: BitcoinSettling
beforeAll(async () => {
  at = await startBitcoinSettling()
}, 180_000)
afterAll(() => at?.stop())

describe('a price', () => {
  test('is told before anybody is connected, with the network fee on top of the amount', async () => {
    for (const user of [bitcoin, '34xp4vRoCGJym3xR7yCVPFHoCNxv4Twseo']) {
      const { details, fees } = await price(at.url, fromBitcoin(at, user))
      expect(details.currencyIn).toMatchObject({
        amount: '2000000',
        currency: { symbol: 'BTC', decimals: 8 },
      })
      // One input behind the hash of a script, at the floor of 1 sat per virtual byte.
      expect(fees.gas).toMatchObject({ amount: '242', currency: { symbol: 'BTC' } })
      expect(BigInt(String(details.currencyOut.amount))).toBeGreaterThan(0n)
    }
  })
})

describe('a quote', () => {
  test('has one step of the user\u2019s own outputs, which pays the depository and names the order', async () => {
    const user = fundedUser(at, [1_500_000n, 900_000n, 400_000n])
    const quote = await quoteFromBitcoin(at, user.witness.address)
    expect(quote.steps).toMatchObject([
      { id: 'deposit', kind: 'transaction', depositAddress: '', items: [{ check: { method: 'GET' } }] },
    ])
    expect(quote.steps).toHaveLength(1)
    const psbt = psbtOf(quote)
    const [paid, named, change, ...others] = psbt.txOutputs
    // The library spells addresses as those of the main network.
    expect(paid).toMatchObject({ address: 'bc1qzuhdurqrt0ka05wd7zvphj47zzg8jcyf5uc87p', value: 2_000_000n })
    expect(Buffer.from(named?.script ?? []).toString('latin1')).toContain(
      quote.protocol?.v2.orderId ?? 'nothing',
    )
    expect(Buffer.from(change?.script ?? [])).toEqual(Buffer.from(user.witness.script))
    expect(others).toEqual([])
    // Two inputs at 1 sat per virtual byte.
    expect([psbt.inputCount, change?.value]).toEqual([2, 2_400_000n - 2_000_000n - 286n])
    expect(quote.fees.gas).toMatchObject({ amount: '286' })
  })

  test('F-97: spends what the user lets it spend, and takes the key that his address does not name', async () => {
    const user = fundedUser(at, [1_500_000n, 900_000n, 5_000n, 400_000n])
    const quoted = async (additionalData?: unknown, amount = '300000') =>
      psbtOf(await quoteFromBitcoin(at, user.witness.address, { additionalData, amount }))
    const [largest, next] = (await quoted(undefined, '2000000')).txInputs
    const nameOf = (input: typeof largest) =>
      `${Buffer.from(input?.hash ?? [])
        .reverse()
        .toString('hex')}:${input?.index}`
    const excludedOutputs = [largest, next].map(nameOf)
    expect((await quoted()).txInputs.map(nameOf)).toEqual([nameOf(largest)])
    const [kept] = (await quoted({ excludedOutputs })).txInputs
    expect(excludedOutputs).not.toContain(nameOf(kept))
    // The rest is one output below the floor.
    const all = { excludedOutputs: [...excludedOutputs, nameOf(kept)] }
    const refusal = readError(
      await askQuote(at, user.witness.address, { additionalData: all, amount: '300000' }),
    )
    expect([refusal.errorCode, refusal.message]).toEqual([
      'INSUFFICIENT_FUNDS',
      expect.stringContaining('Below 10000 satoshi each'),
    ])
    const other = fundedUser(at, [2_500_000n], 'nested')
    const nested = await quoteFromBitcoin(at, other.nested.address, {
      additionalData: { userPublicKey: Buffer.from(other.publicKey).toString('hex') },
    })
    expect(psbtOf(nested).data.inputs[0]?.redeemScript).toBeDefined()
  })

  test('is refused to whom the amount and its fee exceed, and who lacks what signs', async () => {
    const user = fundedUser(at, [2_000_000n])
    const short = readError(await askQuote(at, user.witness.address))
    expect([short.statusCode, short.errorCode]).toEqual([400, 'INSUFFICIENT_FUNDS'])
    expect(JSON.parse(String(short.errorData))).toMatchObject({
      availableAmount: '2000000',
      neededAmount: '2000187',
    })
    const nested = keyOf('nested')
    at.chain.mine()
    const refusal = readError(await askQuote(at, nested.nested.address))
    expect(refusal.errorCode).toBe('INSUFFICIENT_FUNDS')
    const hashOfScript = 'bcrt1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqe9g4zm'
    for (const [body, code] of [
      [{ recipient: user.witness.address }, 'INVALID_ADDRESS'],
      [{ usePermit: true }, 'UNSUPPORTED_CURRENCY'],
      [{ useDepositAddress: true, refundTo: user.witness.address }, 'UNSUPPORTED_EXECUTION_TYPE'],
      [{ user: hashOfScript }, 'INVALID_ADDRESS'],
      [{ amount: '100' }, 'AMOUNT_TOO_LOW'],
    ] as const) {
      const answer = await askQuote(at, user.witness.address, body)
      expect(answer.status).toBe(400)
      expect(readError(answer).errorCode).toBe(code)
    }
  })

  test('Q-60: is refused by name to whom nothing is ever paid', async () => {
    const user = fundedUser(at, [2_500_000n])
    const depository = 'bcrt1qzuhdurqrt0ka05wd7zvphj47zzg8jcyfun6ejm'
    const toBitcoin = {
      user: at.requests.user.address,
      originChainId: 8453,
      recipient: depository,
      originCurrency: currencyAddress(at.network, 'base', 'USDC'),
      destinationChainId: bitcoinChainId,
      destinationCurrency: bitcoin,
    }
    for (const [field, body] of [
      ['recipient', toBitcoin],
      ['refundTo', { refundTo: depository }],
    ] as const) {
      const refusal = readError(await askQuote(at, user.witness.address, body))
      expect(refusal.errorCode).toBe('INVALID_RECIPIENT')
      expect(refusal.message).toMatch(new RegExp(`^${field} is a depository, .*: name an account`))
    }
  })

  test('F-146: within Bitcoin is told a price only, from dust on', async () => {
    const [user, recipient] = [fundedUser(at, [500_000n]), keyOf('recipient').witness.address]
    const within = { destinationChainId: bitcoinChainId, destinationCurrency: bitcoin, recipient }
    const asked = fromBitcoin(at, user.witness.address, { ...within, amount: '300000' })
    expect((await price(at.url, asked)).fees.gas).toMatchObject({ amount: '141' })
    expect(readError(await post(`${at.url}/quote`, asked)).errorCode).toBe('UNSUPPORTED_ROUTE')
    const dust = readError(await post(`${at.url}/price`, { ...asked, amount: '545' }))
    expect(dust.errorCode).toBe('AMOUNT_TOO_LOW')
    expect(dust.message).toContain('less than 0.00000546 BTC')
  })

  test('to Bitcoin is refused while the solver has nothing there', async () => {
    const body = fromBitcoin(at, at.requests.user.address, {
      originChainId: 8453,
      destinationChainId: bitcoinChainId,
      destinationCurrency: bitcoin,
      originCurrency: currencyAddress(at.network, 'base', 'USDC'),
      recipient: keyOf('recipient').witness.address,
    })
    const refusal = readError(await post(`${at.url}/quote`, body))
    expect([refusal.statusCode, refusal.errorCode]).toEqual([400, 'INSUFFICIENT_LIQUIDITY'])
  })
})

describe('a deposit', () => {
  test('is seen in its block, filled on the other chain and settled', async () => {
    const user = fundedUser(at, [3_000_000n])
    const quote = await quoteFromBitcoin(at, user.witness.address)
    const transaction = await sendPsbt(at, psbtOf(quote), user)
    expect((await at.requests.statusOf(quote)).status).toBe('waiting')
    at.chain.mineWaiting()
    const item = await at.requests.workFor(quote, 'fill')
    expect(item.payload).toMatchObject({ payments: [{ recipient: at.requests.user.address.toLowerCase() }] })
    await at.requests.solver.carryOut(item)
    at.chain.mineEmpty(3)
    await at.requests.reachesStage(quote, 'settled')
    expect(await at.requests.statusOf(quote)).toMatchObject({ status: 'success', inTxHashes: [transaction] })
  })

  test('that another one of the same outputs takes the place of is none', async () => {
    const user = fundedUser(at, [3_000_000n])
    const [one, other] = [
      await quoteFromBitcoin(at, user.witness.address),
      await quoteFromBitcoin(at, user.witness.address, { amount: '2500000' }),
    ]
    await sendPsbt(at, psbtOf(one), user)
    // Wallets may replace what waits by what pays more: here by the deposit of another quote.
    at.chain.mine(psbtOf(other).signAllInputs(user.signer).finalizeAllInputs().extractTransaction())
    await at.requests.workFor(other, 'fill')
    expect(await at.requests.openWork(one, 'fill')).toBeUndefined()
    expect((await at.requests.statusOf(one)).status).toBe('waiting')
  })
})
