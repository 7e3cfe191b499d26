// Goal: what a quote from or to Solana says is what is received and what is paid, to the lamport and the token unit:
// by users, by their fee payer, by their sponsor; and what is charged for the solver's transaction covers it.
// Adversaries: accounts that are missing, so that rent is owed; transfers of another token program; deposits that are
// short, late or of another currency, which go back by the order's rule. Method: the real service, and the real solver
// in a process of its own that pays on a Solana cluster of one and two EVM chains, all requests beside each other.
import { bytes32Text, type Hex } from '@causeway/core'
import { solanaLibrary } from '@causeway/families/rules'
import { waitUntil } from '@causeway/localnet'
import { depositNative, depositToken } from '@causeway/localnet/standIns/solana'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { QuoteAnswer } from '../apps/quote-api/test/serviceSupport/callService.ts'
import { currencyAddress, nativeAddress } from '../apps/quote-api/test/serviceSupport/localRequest.ts'
import { bytesOf } from '../apps/quote-api/test/settlementSupport/requestDriver.ts'
import { createSponsor, moneyOf, type TestSponsor } from '../apps/quote-api/test/sponsorSupport/sponsors.ts'
import { verifyLedger } from '../packages/ledger/src/index.ts'
import { type ReceivedBed, type SolanaCurrency, startReceivedBed } from './support/receivedBed.ts'
import { solanaChainId } from './support/solanaService.ts'
import { quoteOver } from './support/solanaSettling.ts'
import { sendStep } from './support/solanaSteps.ts'

const { Keypair } = solanaLibrary()
const usd = 1_000_000n
/** Prices of a local network's feeds, in USD. */
const solUsd = 150
const patienceMs = 150_000
const longTest = 200_000
const atOnce = 6

const sponsorCount = 12

let bed: ReceivedBed
const sponsors: TestSponsor[] = []
beforeAll(async () => {
  bed = await startReceivedBed()
  while (sponsors.length < sponsorCount) sponsors.push(await createSponsor(bed.at.database, 1_000n * usd))
  begin()
}, 240_000)
afterAll(() => bed?.stop(), 60_000)

type Case = {
  readonly name: string
  readonly live: () => Promise<void>
}
const cases: Case[] = []
const outcomes = new Map<string, PromiseSettledResult<void>>()

/** All of them, some beside each other; a test waits for its own. */
function begin(): void {
  const left = [...cases]
  const worker = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [outcome] = await Promise.allSettled([next.live()])
      outcomes.set(next.name, outcome)
    }
  }
  for (let count = 0; count < atOnce; count += 1) void worker()
}

function everyCase(named: readonly Case[]): void {
  cases.push(...named)
  test.each(named)(
    '$name',
    async ({ name }) => {
      await waitUntil(`${name} ends`, () => outcomes.has(name), { patienceMs: 3 * patienceMs })
      const outcome = outcomes.get(name)
      if (outcome?.status === 'rejected') throw outcome.reason
    },
    longTest,
  )
}

/** Each sponsors one request, so that what he lost is its debit. */
function nextSponsor(): TestSponsor {
  const sponsor = sponsors.pop()
  if (sponsor === undefined) throw new Error('there are too few sponsors')
  return sponsor
}

/** A machine that is busy with something else says 503 for longer than requests are patient. */
async function quoteAtLast(
  way: 'from' | 'to',
  request: More,
  sponsor?: TestSponsor,
  giveUpAtMs = Date.now() + patienceMs,
): Promise<QuoteAnswer> {
  try {
    return await quoteOver(bed.at, way, request, sponsor)
  } catch (error) {
    const isBusy = error instanceof Error && error.message.startsWith('503 ')
    if (!isBusy || Date.now() > giveUpAtMs) throw error
    return quoteAtLast(way, request, sponsor, giveUpAtMs)
  }
}

type More = Readonly<Record<string, unknown>>
/** Amounts of a body, in smallest units. */
const amounts = { SOL: '100000000', USDC: '20000000', WETH: '10000000' } as const
const appFees = [{ recipient: `0x${'ab'.repeat(20)}`, fee: '100' }]

async function ends(quote: QuoteAnswer, status: 'success' | 'refund'): Promise<readonly string[]> {
  const read = () => bed.at.requests.statusOf(quote)
  await waitUntil(`${quote.requestId} is ${status}`, async () => (await read()).status === status, {
    patienceMs,
    pollMs: 250,
    circumstances: async () => `${JSON.stringify(await read())} ${bed.solver.output().slice(-2_000)}`,
  })
  return (await read()).txHashes ?? []
}

/** Checks that the sponsor's debit equals the stored quote, and that no hold remains. */
async function debitIsQuoted(quote: QuoteAnswer, sponsor: TestSponsor): Promise<bigint> {
  await waitUntil(
    `${quote.requestId} settles`,
    async () => (await bed.at.requests.stageOf(quote)) === 'settled',
    { patienceMs, pollMs: 250 },
  )
  const { available, held } = await moneyOf(bed.at.database, sponsor.wallet)
  const [row] = await bed.at.database.query<{ debit: bigint }>(
    'select debit_micro_usd as debit from request_sponsorship where request_id = $1',
    [bytesOf(quote.requestId)],
  )
  expect(held).toBe(0n)
  expect(1_000n * usd - available).toBe(row?.debit ?? 0n)
  const { amount, currency } = quote.fees.subsidized
  if (currency.symbol === 'USDC') expect(row?.debit ?? 0n).toBe(BigInt(amount))
  return row?.debit ?? 0n
}

/** Checks that `fees.relayerGas` covers the fill wallet's loss beside its payment. */
function costIsCharged(quote: QuoteAnswer, transactionId: string, recipient: string): void {
  const { spent, gainOf } = bed.payment(transactionId)
  const cost = spent - gainOf(recipient)
  // A marker's rent at least.
  expect(cost).toBeGreaterThan(897_840n)
  const charged = BigInt(Math.round((Number(quote.fees.relayerGas.amountUsd) / solUsd) * 1e9))
  expect(charged).toBeGreaterThanOrEqual(cost)
}

type ToCase = {
  readonly name: string
  readonly currency: SolanaCurrency
  /** Initial state of the recipient; default: it has an account for the received currency. */
  readonly account?: 'absent' | 'wallet alone'
  readonly more?: More
  /** Expected sponsoring in the answer, where a sponsor is asked. */
  readonly sponsored?: 'full' | 'partial' | 'none'
  readonly pays?: Hex
}

const toSolana = ({ name, currency, account, more = {}, sponsored, pays }: ToCase): Case => ({
  name: `to Solana: ${name}`,
  async live() {
    const { network } = bed.at.solana
    const recipient = Keypair.generate().publicKey.toBase58()
    if (account !== 'absent') await bed.openAccount(recipient, 'SOL')
    if (account === undefined) await bed.openAccount(recipient, currency)
    const sponsor = sponsored === undefined ? undefined : nextSponsor()
    const user = bed.evmUser()
    const paid = pays ?? currencyAddress(network, 'base', 'USDC')
    const quote = await user.inTurn(async () => {
      const request = {
        user: user.account.address,
        recipient,
        destinationCurrency: bed.addressOf(currency),
        originCurrency: paid,
        ...(pays !== undefined && { amount: '20000000000000000' }),
        ...more,
      }
      const answer = await quoteAtLast('to', request, sponsor)
      const before = await bed.ownedOnEvm('base', user.account.address, paid)
      await bed.execute(user.account, answer)
      const spent = before - (await bed.ownedOnEvm('base', user.account.address, paid))
      const amountIn = BigInt(answer.details.currencyIn.amount)
      if (pays === undefined) expect(spent).toBe(amountIn)
      else expect(spent).toBeGreaterThan(amountIn)
      return answer
    })
    const before = { coins: bed.owned(recipient, 'SOL'), amount: bed.owned(recipient, currency) }
    const [transactionId = ''] = await ends(quote, 'success')
    const { currencyOut, currencyGasTopup } = quote.details
    expect(bed.owned(recipient, currency) - before.amount).toBe(BigInt(currencyOut.amount))
    if (more['tradeType'] === 'EXACT_OUTPUT') expect(currencyOut.amount).toBe(more['amount'])
    expect(currencyGasTopup !== undefined).toBe(more['topupGas'] === true)
    if (currency !== 'SOL') {
      const coins = bed.owned(recipient, 'SOL') - before.coins
      expect(coins).toBe(BigInt(currencyGasTopup?.amount ?? 0))
    }
    costIsCharged(quote, transactionId, recipient)
    if (sponsor === undefined) return
    expect(quote.feeSponsorship?.status).toBe(sponsored)
    expect((await debitIsQuoted(quote, sponsor)) > 0n).toBe(sponsored !== 'none')
  },
})

type FromCase = {
  readonly name: string
  readonly currency: SolanaCurrency
  readonly more?: More
  readonly receives?: 'USDC' | 'native'
  readonly sponsored?: boolean
  readonly hasPayer?: boolean
  /** On Solana as well, by way of the solver. */
  readonly within?: SolanaCurrency
}

const fromSolana = (one: FromCase): Case => ({
  name: `from Solana: ${one.name}`,
  async live() {
    const { currency, more = {}, receives = 'USDC', sponsored = false, hasPayer = false, within } = one
    const { network, bed: cluster } = bed.at.solana
    const [user, payer] = [await bed.solanaUser(currency), await bed.solanaUser()]
    const onEvm = privateKeyToAddress(generatePrivateKey())
    const onSolana = Keypair.generate().publicKey.toBase58()
    const received = currencyAddress(network, 'base', receives)
    const sponsor = sponsored ? nextSponsor() : undefined
    const destination =
      within === undefined
        ? { recipient: onEvm, destinationCurrency: received }
        : {
            recipient: onSolana,
            destinationCurrency: bed.addressOf(within),
            destinationChainId: solanaChainId,
            forceSolverExecution: true,
          }
    const request = {
      user: user.publicKey.toBase58(),
      originCurrency: bed.addressOf(currency),
      amount: amounts[currency],
      ...destination,
      ...more,
      ...(hasPayer && { depositFeePayer: payer.publicKey.toBase58() }),
    }
    const quote = await quoteAtLast('from', request, sponsor)
    const owns = () => ({
      coins: bed.owned(user.publicKey.toBase58(), 'SOL'),
      paid: bed.owned(user.publicKey.toBase58(), currency),
      payer: bed.owned(payer.publicKey.toBase58(), 'SOL'),
    })
    const before = owns()
    await sendStep(cluster, quote.steps[0], hasPayer ? [payer, user] : [user])
    const after = owns()
    const { currencyIn, currencyOut, depositFeePayer } = quote.details
    const gas = BigInt(quote.fees.gas.amount)
    const amountIn = BigInt(currencyIn.amount)
    expect(before.paid - after.paid).toBe(currency === 'SOL' ? amountIn + gas : amountIn)
    if (currency !== 'SOL') expect(before.coins - after.coins).toBe(gas)
    expect(gas === 0n).toBe(hasPayer)
    const ofPayer =
      BigInt(depositFeePayer?.networkFee.amount ?? 0) + BigInt(depositFeePayer?.rent.amount ?? 0)
    expect(before.payer - after.payer).toBe(ofPayer)
    expect(ofPayer > 0n).toBe(hasPayer)

    const [transactionId = ''] = await ends(quote, 'success')
    const got =
      within === undefined ? await bed.ownedOnEvm('base', onEvm, received) : bed.owned(onSolana, within)
    expect(got).toBe(BigInt(currencyOut.amount))
    if (more['tradeType'] === 'EXACT_OUTPUT') expect(currencyOut.amount).toBe(more['amount'])
    if (within !== undefined) costIsCharged(quote, transactionId, onSolana)
    if (sponsor === undefined) return
    expect(quote.feeSponsorship?.status).toBe('full')
    expect(await debitIsQuoted(quote, sponsor)).toBeGreaterThan(0n)
  },
})

const both = { subsidizeFees: true, subsidizeRent: true }
const exact = (tradeType: string, amount: string) => ({ tradeType, amount })

describe('to Solana the recipient gets what was quoted', () => {
  everyCase(
    (
      [
        { name: 'SOL', currency: 'SOL' },
        { name: 'SOL to an absent account', currency: 'SOL', account: 'absent' },
        { name: 'SOL for ether', currency: 'SOL', pays: nativeAddress },
        { name: 'SOL, EXACT_OUTPUT', currency: 'SOL', more: exact('EXACT_OUTPUT', '123456789') },
        { name: 'SOL, sponsored', currency: 'SOL', sponsored: 'full' },
        { name: 'a token', currency: 'USDC' },
        { name: 'a token to a missing account', currency: 'USDC', account: 'absent' },
        { name: 'a token with app fees', currency: 'USDC', more: { appFees } },
        { name: 'a token, EXACT_OUTPUT', currency: 'USDC', more: exact('EXACT_OUTPUT', '7654321') },
        { name: 'a token, EXPECTED_OUTPUT', currency: 'USDC', more: exact('EXPECTED_OUTPUT', '7654321') },
        {
          name: 'a token, EXACT_OUTPUT with app fees to a missing account',
          currency: 'USDC',
          account: 'wallet alone',
          more: { ...exact('EXACT_OUTPUT', '9876543'), appFees },
        },
        {
          name: 'a token and SOL beside it',
          currency: 'USDC',
          more: { topupGas: true, topupGasAmount: '2000000' },
        },
        {
          name: 'a token and SOL beside it, to nobody yet',
          currency: 'USDC',
          account: 'absent',
          more: { topupGas: true, topupGasAmount: '2000000' },
        },
        { name: 'a token, sponsored', currency: 'USDC', sponsored: 'full' },
        {
          name: 'a token to a missing account, fees and rent sponsored',
          currency: 'USDC',
          account: 'absent',
          sponsored: 'full',
          more: both,
        },
        {
          name: 'a token to a missing account, sponsored up to a cap',
          currency: 'USDC',
          account: 'absent',
          sponsored: 'partial',
          more: { ...both, maxSubsidizationAmount: '300000' },
        },
        {
          name: 'a token to a missing account, whose rent nobody agreed to',
          currency: 'USDC',
          account: 'absent',
          sponsored: 'none',
        },
        {
          name: 'a token, EXACT_OUTPUT, sponsored',
          currency: 'USDC',
          sponsored: 'full',
          more: exact('EXACT_OUTPUT', '5000001'),
        },
        { name: 'Token-2022', currency: 'WETH' },
        { name: 'Token-2022 to a missing account', currency: 'WETH', account: 'absent' },
        {
          name: 'Token-2022 to a missing account, fees and rent sponsored',
          currency: 'WETH',
          account: 'wallet alone',
          sponsored: 'full',
          more: both,
        },
      ] satisfies readonly ToCase[]
    ).map(toSolana),
  )
})

describe('from Solana the user pays and the recipient gets what was quoted', () => {
  everyCase(
    (
      [
        { name: 'SOL', currency: 'SOL' },
        { name: 'SOL for ether', currency: 'SOL', receives: 'native' },
        { name: 'SOL, EXACT_OUTPUT', currency: 'SOL', more: exact('EXACT_OUTPUT', '5432109') },
        { name: 'SOL, sponsored', currency: 'SOL', sponsored: true },
        { name: 'SOL with a fee payer', currency: 'SOL', hasPayer: true },
        { name: 'a token', currency: 'USDC' },
        { name: 'a token with app fees', currency: 'USDC', more: { appFees } },
        { name: 'a token, EXACT_OUTPUT', currency: 'USDC', more: exact('EXACT_OUTPUT', '7654321') },
        { name: 'a token, sponsored', currency: 'USDC', sponsored: true },
        { name: 'a token with a fee payer, sponsored', currency: 'USDC', sponsored: true, hasPayer: true },
        { name: 'Token-2022', currency: 'WETH' },
        {
          name: 'Token-2022 with a fee payer and app fees',
          currency: 'WETH',
          hasPayer: true,
          more: { appFees },
        },
        { name: 'Token-2022, sponsored', currency: 'WETH', sponsored: true },
        { name: 'SOL for a token of Solana', currency: 'SOL', within: 'USDC', hasPayer: true },
      ] satisfies readonly FromCase[]
    ).map(fromSolana),
  )
})

/** Refund of a deposit in the order's currency: all but the quoted gas, in proportion where that is more. */
function refundOf({ protocol }: QuoteAnswer, deposited: bigint): bigint {
  const [input] = protocol?.v2.orderData.inputs ?? []
  const amount = BigInt(input?.payment.amount ?? 0)
  const least = BigInt(input?.refunds[0]?.minimumAmount ?? 0)
  const [withoutGas, share] = [deposited - (amount - least), (deposited * least + amount - 1n) / amount]
  return withoutGas > share ? withoutGas : share
}

let lateDeposits = 0
let leap: Promise<void> | undefined
const lateCases = 2

/** The clock of Base is everybody's. */
async function allOthersEnd(): Promise<void> {
  await waitUntil('all others end', () => outcomes.size === cases.length - lateCases, {
    patienceMs: longTest,
  })
}

/** The solver believes no deadline but that of the order, by the final blocks of where it would be filled. */
async function deadlinesPass(): Promise<void> {
  lateDeposits += 1
  await waitUntil('all late deposits are there', () => lateDeposits === lateCases)
  const { node } = bed.at.solana.network.chains.base.chain
  leap ??= (async () => {
    await node.increaseTime({ seconds: 2 * 3_600 })
    await node.mine({ blocks: 100 })
  })()
  await leap
}

type RefundCase = {
  readonly name: string
  readonly currency: SolanaCurrency
  /** Default: what the order asks for. */
  readonly deposits?: SolanaCurrency
  readonly amount?: bigint
  readonly isLate?: boolean
  readonly failReason: string
}

const refunded = (one: RefundCase): Case => ({
  name: `refund: ${one.name}`,
  async live() {
    const { currency, deposits = currency, isLate = false, failReason } = one
    const { bed: cluster } = bed.at.solana
    if (isLate) await allOthersEnd()
    const user = await bed.solanaUser(deposits)
    const address = user.publicKey.toBase58()
    const request = {
      user: address,
      originCurrency: bed.addressOf(currency),
      amount: amounts[currency],
      recipient: privateKeyToAddress(generatePrivateKey()),
    }
    const quote = await quoteAtLast('from', request)
    const amount = one.amount ?? BigInt(amounts[deposits])
    const order = bytesOf(quote.requestId)
    if (isLate)
      await bed.at.database.query(
        `update orders set deadline = now() - interval '1 minute', expires_at = now() - interval '2 minutes'
         where request_id = $1`,
        [order],
      )
    const deposit = { sender: user.publicKey, amount, id: bytes32Text.parse(quote.protocol?.v2.orderId) }
    const instruction =
      deposits === 'SOL'
        ? depositNative(cluster.depository, deposit)
        : depositToken(cluster.depository, { ...deposit, ...bed.tokenOf(deposits) })
    await cluster.send([instruction], { signers: [user] })
    const before = { owned: bed.owned(address, deposits), coins: bed.owned(address, 'SOL') }
    await waitUntil(
      `${quote.requestId} goes back`,
      async () => (await bed.at.requests.stageOf(quote)) === 'refunding',
      { patienceMs, pollMs: 250 },
    )
    if (isLate) await deadlinesPass()
    // Until its quote expires, another deposit may still come.
    else
      await bed.at.database.query(
        `update orders set expires_at = now() - interval '1 minute' where request_id = $1`,
        [order],
      )
    const [transactionId = ''] = await ends(quote, 'refund')
    expect((await bed.at.requests.statusOf(quote)).failReason).toBe(failReason)
    const got = bed.owned(address, deposits) - before.owned
    if (deposits === currency) expect(got).toBe(refundOf(quote, amount))
    if (isLate) expect(got).toBe(BigInt(quote.details.refundCurrency.amount))
    if (deposits !== 'SOL') expect(bed.owned(address, 'SOL')).toBe(before.coins)
    const { spent, gainOf } = bed.payment(transactionId)
    const [cost, kept] = [spent - gainOf(address), amount - got]
    // A short deposit keeps its part of a refund's cost alone: no oracle attests a refund of less.
    const isShort = one.amount !== undefined
    if (deposits === 'SOL' && !isShort) expect(kept).toBeGreaterThanOrEqual(cost)
    if (deposits === 'USDC' && !isShort)
      expect(Number(kept)).toBeGreaterThanOrEqual((Number(cost) * solUsd) / 1_000)
    // A marker's rent and a fee.
    expect(Number(kept) / Number(amount)).toBeLessThan(0.05)
  },
})

describe('a deposit that does not fit goes back, less what the order keeps for that', () => {
  const short = 'DEPOSITED_AMOUNT_TOO_LOW_TO_FILL'
  const wrong = 'INCORRECT_DEPOSIT_CURRENCY'
  const late = 'PROTOCOL_DEADLINE_EXPIRED'
  everyCase(
    (
      [
        { name: 'SOL, short', currency: 'SOL', amount: 60_000_000n, failReason: short },
        { name: 'a token, short', currency: 'USDC', amount: 15_000_000n, failReason: short },
        { name: 'Token-2022, short', currency: 'WETH', amount: 9_999_999n, failReason: short },
        { name: 'SOL for a token', currency: 'USDC', deposits: 'SOL', failReason: wrong },
        { name: 'Token-2022 for a token', currency: 'USDC', deposits: 'WETH', failReason: wrong },
        { name: 'a token for SOL', currency: 'SOL', deposits: 'USDC', failReason: wrong },
        { name: 'SOL, late', currency: 'SOL', isLate: true, failReason: late },
        { name: 'a token, late', currency: 'USDC', isLate: true, failReason: late },
      ] satisfies readonly RefundCase[]
    ).map(refunded),
  )
})

test(
  'the ledger adds up',
  async () => {
    await waitUntil('all cases end', () => outcomes.size === cases.length, { patienceMs: longTest })
    expect(await bed.at.database.transaction((tx) => verifyLedger(tx, { depth: 'all' }))).toEqual([])
  },
  longTest,
)
