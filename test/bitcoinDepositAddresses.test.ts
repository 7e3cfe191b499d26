// Goal: whoever can only make a plain payment on Bitcoin, from an exchange or any wallet, is served by the shipped service
// and the shipped solver: what he pays to the address of his order is swept, filled, or goes back to him. Who gains by
// breaking it: a user who pays little and is filled for much, one whose payment a reorganization takes back, an endpoint
// that shows a payment that there is not; and whoever keeps a sweep's money. Method: both services, PostgreSQL, stand-in
// oracles, a constructed Bitcoin chain whose nodes judge signatures; a real node judges them in `npm test -- --suite=bitcoind`.
import { createHash } from 'node:crypto'
import { setInterval } from 'node:timers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '@causeway/core'
import { bitcoinNetworkOf } from '@causeway/core/encodings'
import { outputScript } from '@causeway/families/rules'
import { movePrice, type SpawnedService, spawnSolver, waitUntil } from '@causeway/localnet'
import { ConstructedChain, fundingTransaction, keyOf } from '@causeway/localnet/standIns/bitcoin'
import { erc20Abi } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { quoteResponseSchema } from '../apps/quote-api/src/http/wire/quoteResponse.ts'
import { createRequestAdministration } from '../apps/quote-api/src/operate/admin/requestAdministration.ts'
import {
  post,
  postPatiently,
  type QuoteAnswer,
  readError,
  readOk,
} from '../apps/quote-api/test/serviceSupport/callService.ts'
import { currencyAddress, userOf } from '../apps/quote-api/test/serviceSupport/localRequest.ts'
import { bytesOf } from '../apps/quote-api/test/settlementSupport/requestDriver.ts'
import { solverKey } from '../apps/quote-api/test/settlementSupport/settlementBed.ts'
import { type SolverBench, startSolverBench } from '../apps/solver/test/support/solverBench.ts'
import {
  type BitcoinChain,
  bitcoin,
  bitcoinChainId,
  bitcoinSolver,
  startBitcoinChain,
} from './support/bitcoinSettling.ts'
import { type FamilySettling, startFamilySettling } from './support/familySettling.ts'

let at: Omit<BitcoinChain, 'stop'> & FamilySettling
let bench: SolverBench
let solver: SpawnedService | undefined
let environment: Readonly<Record<string, string>>
let mining = true
const clock = setInterval(() => mining && at?.chain.mineWaiting(), 500)

const scriptOf = (address: string) => outputScript(address, bitcoinNetworkOf('regtest'))
const heldBy = (address: string) =>
  at.chain.unspentOf(scriptOf(address)).reduce((sum, { value }) => sum + value, 0n)

beforeAll(async () => {
  at = await startFamilySettling(() => startBitcoinChain(true))
  bench = await startSolverBench(at.network)
  const [first] = at.chain.unspentOf(bitcoinSolver.witness.script)
  if (first === undefined) throw new Error('the fill wallet has coins')
  const policy = {
    maxFeePerGasWei: '50000',
    bumpAfterSeconds: 60,
    gasPerHourWei: '1000000',
    relayGasPerHourWei: '1000000',
    firstOutput: `${first.txid}:${first.vout}`,
    floors: [{ currency: bitcoin, amount: '100000' }],
  }
  await at.configs.edit('solver.local.json', (file) => {
    const { chains, ...rest } = Object(file)
    return { ...rest, chains: { ...chains, bitcoin: policy } }
  })
  const settings = await bench.settings(
    { url: at.url, apiKey: solverKey },
    {
      CONFIG_DIR: at.configs.directory,
      BITCOIN_RPC_URL: at.variables['BITCOIN_RPC_URL'] ?? '',
      BITCOIN_ESPLORA_COMPATIBLE_API_URL: at.variables['BITCOIN_ESPLORA_COMPATIBLE_API_URL'] ?? '',
      BITCOIN_PRIVATE_KEY: `0x${createHash('sha256').update('solver').digest('hex')}`,
    },
  )
  environment = settings.environment
  solver = spawnSolver(environment)
  await solver.ready()
}, 240_000)
afterEach(() => {
  mining = true
  at.chain.satPerKvb = undefined
  at.nodes[0]?.show(at.chain)
})
afterAll(async () => {
  clearInterval(clock)
  solver?.kill('SIGKILL')
  await solver?.ended
  await bench?.stop()
  await at?.stop()
})

const depository = 'bcrt1qzuhdurqrt0ka05wd7zvphj47zzg8jcyfun6ejm'
const payer = keyOf('a user of an exchange')
const refundTo = payer.witness.address

const recipient = () => userOf(at.network, 3).address
const dollarsOf = (holder: Hex): Promise<bigint> =>
  at.network.chains.base.chain.client.readContract({
    // CAST: it is the address of a token of an EVM chain.
    address: currencyAddress(at.network, 'base', 'USDC') as Hex,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [holder],
  })

const asked = (more: object = {}) => ({
  user: refundTo,
  recipient: recipient(),
  refundTo,
  originChainId: bitcoinChainId,
  originCurrency: bitcoin,
  amount: '2000000',
  tradeType: 'EXACT_INPUT',
  destinationChainId: 8453,
  destinationCurrency: currencyAddress(at.network, 'base', 'USDC'),
  useDepositAddress: true,
  ...more,
})

async function quoteOf(more: object = {}): Promise<QuoteAnswer & { readonly address: string }> {
  const quote = readOk(await postPatiently(`${at.url}/quote`, asked(more)), quoteResponseSchema)
  const [step] = quote.steps
  const address = step?.kind === 'transaction' ? step.depositAddress : undefined
  if (address === undefined || address === '') throw new Error('the quote has no address')
  return { ...quote, address }
}

/** Payment as an exchange makes it: one output among others, in a block soon. */
function pay({ address }: { readonly address: string }, ...values: readonly bigint[]) {
  const others = { script: keyOf('another customer').witness.script, value: 5_000_000n }
  const payment = fundingTransaction(others, ...values.map((value) => ({ script: scriptOf(address), value })))
  at.chain.announce(payment)
  return payment
}

describe('a payment to a deposit address on Bitcoin', () => {
  test('is quoted as one step that any wallet can pay, with the script that its depositor needs', async () => {
    const quote = await quoteOf()
    expect(quote.steps).toHaveLength(1)
    expect(quote.steps[0]).toMatchObject({
      id: 'deposit',
      depositAddress: quote.address,
      items: [
        { data: { to: quote.address, value: '2000000', script: expect.stringMatching(/^0x[0-9a-f]{136}$/) } },
      ],
    })
    expect(quote.address).toMatch(/^bcrt1q.{58}$/)
    expect(BigInt(quote.fees.relayerGas?.amount ?? 0)).toBeGreaterThan(0n)
  })

  test('Q-107: of what was quoted is swept as a whole, filled, and told as its user’s transfer', async () => {
    const quote = await quoteOf()
    const [before, deposited] = [await dollarsOf(recipient()), heldBy(depository)]
    const payment = pay(quote, 2_000_000n)
    await at.requests.reaches(quote, 'success')
    expect(await at.requests.transferOf(quote)).toMatchObject({ depositTxHash: payment.getId() })
    expect((await dollarsOf(recipient())) - before).toBe(BigInt(quote.details.currencyOut.amount ?? 0))
    expect([heldBy(quote.address), heldBy(depository) - deposited]).toEqual([0n, 2_000_000n])
  })

  test('of another amount is quoted anew for what arrived, in as many outputs as it came', async () => {
    const quote = await quoteOf()
    pay(quote, 1_000_000n, 600_000n)
    await at.requests.reaches(quote, 'success')
    expect(heldBy(quote.address)).toBe(0n)
    pay(quote, 900_000n)
    await waitUntil('a later payment is swept as well', async () => heldBy(quote.address) === 0n)
  })

  test('of too little for a strict one goes back to whom the order refunds, less what that costs', async () => {
    const quote = await quoteOf({ strict: true })
    const before = heldBy(refundTo)
    pay(quote, 1_500_000n)
    await at.requests.workFor(quote, 'refund')
    // Until its quote expires, another deposit may still come.
    await at.database.query(
      `update orders set expires_at = now() - interval '1 minute' where request_id = $1`,
      [bytesOf(quote.requestId)],
    )
    await at.requests.reaches(quote, 'refund')
    const back = heldBy(refundTo) - before
    expect(back).toBeGreaterThan(1_400_000n)
    expect(back).toBeLessThan(1_500_000n)
  })

  test('Q-74: that is stuck is recovered by nobody, and the advice of the refusal pays whom the order refunds', async () => {
    const quote = await quoteOf({ strict: true })
    const requestId = quote.requestId as Hex // CAST: the wire describes it as text.
    const before = heldBy(refundTo)
    pay(quote, 1_500_000n)
    const { id } = await at.requests.workFor(quote, 'refund')
    solver?.kill('SIGKILL')
    await solver?.ended
    await at.database.query('update work_item set attempts = 20 where id = $1', [id])
    await at.requests.solver.fail(id, 'on purpose')
    await at.requests.reachesStage(quote, 'parked')
    const administration = createRequestAdministration(at.database)
    const deed = { actor: 'cli:operator', reason: 'no refund can land' }
    await expect(administration.resolve(requestId, 'recover', deed)).rejects.toMatchObject({
      code: 'RESOLUTION_NOT_POSSIBLE',
      message: expect.stringContaining('Use requests retry'),
    })
    await administration.retry(requestId, deed)
    await at.database.query(
      `update orders set expires_at = now() - interval '1 minute' where request_id = $1`,
      [bytesOf(requestId)],
    )
    solver = spawnSolver(environment)
    await solver.ready()
    await at.requests.reaches(quote, 'refund')
    expect(heldBy(refundTo) - before).toBeGreaterThan(1_400_000n)
  })

  test('that one node alone shows, or that a reorganization takes back, is no payment', async () => {
    const quote = await quoteOf({ strict: true })
    mining = false
    const lie = new ConstructedChain()
    lie.mine(fundingTransaction({ script: scriptOf(quote.address), value: 2_000_000n }))
    at.nodes[0]?.show(lie)
    await sleep(3_000)
    expect(await at.requests.openWork(quote, 'sweep')).toBeUndefined()
    at.nodes[0]?.show(at.chain)
    pay(quote, 2_000_000n)
    at.chain.mineWaiting()
    at.chain.drop(1)
    at.chain.mineEmpty(3)
    await sleep(3_000)
    expect((await at.requests.statusOf(quote)).status).not.toBe('success')
    mining = true
    await at.requests.reaches(quote, 'success')
  })

  test('is deposited once, though the solver is killed while it sweeps', async () => {
    const quotes = [
      await quoteOf(),
      await quoteOf({ amount: '2100000' }),
      await quoteOf({ amount: '2200000' }),
    ]
    mining = false
    for (const [index, quote] of quotes.entries()) pay(quote, 2_000_000n + BigInt(index) * 100_000n)
    at.chain.mineWaiting()
    at.chain.mineEmpty(3)
    await waitUntil('a sweep waits for a block', async () => at.chain.waiting().length > 0)
    solver?.kill('SIGKILL')
    await solver?.ended
    solver = spawnSolver(environment)
    await solver.ready()
    mining = true
    for (const quote of quotes) await at.requests.reaches(quote, 'success')
    for (const { address } of quotes) expect(heldBy(address)).toBe(0n)
  })

  test('that is swept when the market has moved is filled as quoted, where its sweep was asked for in time', async () => {
    const quote = await quoteOf()
    mining = false
    pay(quote, 2_000_000n)
    at.chain.mineWaiting()
    at.chain.mineEmpty(3)
    await waitUntil('its sweep waits for a block', async () => at.chain.waiting().length > 0)
    solver?.kill('SIGKILL')
    await solver?.ended
    // Blocks of this chain say that they are of 2023. Late is what nobody had seen when its price was over.
    const id = bytesOf(quote.requestId)
    await at.database.query(
      `update work_item set created_at = now() - interval '3 minutes' where kind = 'sweep' and request_id = $1`,
      [id],
    )
    await at.database.query(
      `update orders set expires_at = now() - interval '2 minutes' where request_id = $1`,
      [id],
    )
    await movePrice(at.network, { price: 'ETH/USD', answer: 2_300n * 10n ** 8n })
    await waitUntil('the service prices by it', async () => {
      const price = at.service.market.snapshot().price('ETH/USD')
      return !('reason' in price) && price.usdX18 < 2_400n * 10n ** 18n
    })
    at.chain.mineWaiting()
    at.chain.mineEmpty(3)
    await at.requests.workFor(quote, 'fill')
    expect(await at.requests.openWork(quote, 'refund')).toBeUndefined()
    await movePrice(at.network, { price: 'ETH/USD', answer: 2_500n * 10n ** 8n })
    solver = spawnSolver(environment)
    await solver.ready()
    await at.requests.reaches(quote, 'success')
  })

  test('too small for its own sweep stays, and is told', async () => {
    at.chain.satPerKvb = 20_000
    await sleep(3_000)
    const quote = await quoteOf()
    pay(quote, 12_000n)
    await waitUntil('it is left', async () => {
      const [row] = await at.database.query<{ left_reason: string | null }>(
        'select left_reason from deposit_address where request_id = $1',
        [bytesOf(quote.requestId)],
      )
      return row?.left_reason === 'AMOUNT_TOO_LOW_TO_REFUND'
    })
    expect(heldBy(quote.address)).toBe(12_000n)
  })
})

describe('a quote by deposit address on Bitcoin is refused', () => {
  test.each([
    ['where nobody could sign for what goes back', { refundTo: payer.taproot.address }, 'refundTo'],
    ['where nobody is refunded', { user: bitcoin, refundTo: undefined }, 'refundTo'],
    ['for an exact output of an open one', { tradeType: 'EXACT_OUTPUT', amount: '30000000' }, 'tradeType'],
  ])('%s', async (_what, more, field) => {
    const answer = await post(`${at.url}/quote`, asked(more))
    expect(answer.status).toBe(400)
    const { errorData } = readError(answer)
    expect(JSON.parse(String(errorData))).toMatchObject({ field })
  })
})
