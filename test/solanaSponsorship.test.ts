// Goal: every row of the decision table that names Solana, by requests, through the ledger. Adversaries: a user who has
// rent paid that nobody agreed to and takes it back, a sponsor bound above its cap, a payer who is the user himself or
// has no key, a payer charged to the balance. Method: the service with PostgreSQL over real nodes and a real runtime;
// money is read from the ledger, lamports from the cluster.
// @source quote-api.md 7, rows 14 to 19 and 29 to 33; quote-and-sponsorship.md, Errors and Solana rules

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { solanaLibrary } from '@causeway/core'
import { createDatabase, type Database, type EmbeddedPostgres, startTestPostgres } from '@causeway/database'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quoteResponseSchema } from '../apps/quote-api/src/http/wire/quoteResponse.ts'
import {
  postPatiently,
  type QuoteAnswer,
  readError,
  readOk,
} from '../apps/quote-api/test/serviceSupport/callService.ts'
import { currencyAddress, userOf } from '../apps/quote-api/test/serviceSupport/localRequest.ts'
import {
  createSponsor,
  moneyOf,
  pepperText,
  type TestSponsor,
} from '../apps/quote-api/test/sponsorSupport/sponsors.ts'
import { type SolanaService, sol, solanaChainId, startSolanaService } from './support/solanaService.ts'
import { sendStep } from './support/solanaSteps.ts'

const { Keypair, PublicKey } = solanaLibrary()
const usd = 1_000_000n
const solUsd = 150
let solana: SolanaService
let directory: string
let server: EmbeddedPostgres
let database: Database
let sponsor: TestSponsor

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'causeway-solana-sponsors-'))
  server = await startTestPostgres({ dataDirectory: join(directory, 'postgres') })
  solana = await startSolanaService({
    overrides: { DATABASE_URL: server.connectionString, API_KEY_PEPPERS: pepperText },
  })
  database = createDatabase({ connectionString: server.connectionString, poolSize: 2 })
  sponsor = await createSponsor(database, 1_000n * usd)
}, 120_000)
afterAll(async () => {
  await solana?.stop()
  await database?.close()
  await server?.stop()
  await rm(directory, { recursive: true, force: true })
})

const fresh = () => Keypair.generate().publicKey.toBase58()
const usdcThere = () => solana.bed.mint.toBase58()

/** 50 USDC of Base for USDC of somebody who has no account for it; every request is another user's. */
let users = 0
const toSolana = (change: object = {}) => {
  users += 1
  return {
    user: `0x${users.toString(16).padStart(40, 'c')}`,
    recipient: fresh(),
    originChainId: 8453,
    destinationChainId: solanaChainId,
    originCurrency: currencyAddress(solana.network, 'base', 'USDC'),
    destinationCurrency: usdcThere(),
    amount: '50000000',
    tradeType: 'EXACT_INPUT',
    ...change,
  }
}
/** 0.1 SOL for USDC of Optimism. */
const fromSolana = (change: object = {}) => ({
  user: solana.bed.user.publicKey.toBase58(),
  recipient: userOf(solana.network, 0).address,
  originChainId: solanaChainId,
  destinationChainId: 10,
  originCurrency: sol,
  destinationCurrency: currencyAddress(solana.network, 'optimism', 'USDC'),
  amount: '100000000',
  tradeType: 'EXACT_INPUT',
  ...change,
})

function ask(body: object, by: TestSponsor | undefined = sponsor) {
  return postPatiently(`${solana.url}/quote`, body, by === undefined ? {} : { 'x-api-key': by.apiKey })
}

type Told = {
  readonly answer: QuoteAnswer
  /** In units of the fee currency. */
  readonly subsidized: bigint
  readonly rent: { readonly total: bigint; readonly sponsored: bigint; readonly userPays: bigint }
  readonly held: bigint
}

/** An answer, and what it took from the ledger. */
async function told(body: object, by: TestSponsor | undefined = sponsor): Promise<Told> {
  const before = await moneyOf(database, sponsor.wallet)
  const answer = readOk(await ask(body, by), quoteResponseSchema)
  const { held } = await moneyOf(database, sponsor.wallet)
  const { total, sponsored, userPays } = answer.feeSponsorship?.quoted.components.rent ?? {}
  const of = (amount: { amount: string } | undefined) => BigInt(amount?.amount ?? 0)
  return {
    answer,
    subsidized: BigInt(answer.fees.subsidized.amount),
    rent: { total: of(total), sponsored: of(sponsored), userPays: of(userPays) },
    held: held - before.held,
  }
}

const componentsOf = ({ answer }: Told) => JSON.stringify(answer.feeSponsorship?.quoted.components)

/** Two requests quoted of one market: blocks come meanwhile, and gas has its price of the block. */
async function ofOneMarket(one: () => object, other: () => object): Promise<readonly [Told, Told]> {
  for (let before = await told(one()); ; ) {
    const between = await told(other())
    const after = await told(one())
    if (componentsOf(before) === componentsOf(after)) return [after, between]
    before = after
  }
}

/** What the sponsor pays of each component is the same. */
function expectSameShares(one: Told, other: Told): void {
  for (const part of ['execution', 'swap', 'relay', 'app', 'rent'] as const) {
    const share = ({ answer }: Told) => answer.feeSponsorship?.quoted.components[part].sponsored
    expect(share(one)).toEqual(share(other))
  }
}

describe('rent of an account that the recipient lacks', () => {
  test('row 14: subsidizeRent without subsidizeFees pays none, and is no error', async () => {
    const { answer, subsidized, rent, held } = await told(toSolana({ subsidizeRent: true }))
    expect([subsidized, held, rent.sponsored]).toEqual([0n, 0n, 0n])
    expect(rent.userPays).toBe(rent.total)
    expect(rent.total).toBeGreaterThan(0n)
    expect(answer.feeSponsorship).toMatchObject({ status: 'none', reason: 'RENT_NOT_SUBSIDIZED' })
  })

  test('row 15: with both the sponsor pays it, to the unit and to the micro-dollar', async () => {
    const { answer, subsidized, rent, held } = await told(
      toSolana({ subsidizeFees: true, subsidizeRent: true }),
    )
    expect(answer.feeSponsorship).toMatchObject({ status: 'full' })
    expect(rent).toMatchObject({ sponsored: rent.total, userPays: 0n })
    // About 0.002 SOL, at the price of the market.
    const { amountUsd } = answer.feeSponsorship?.quoted.components.rent.total ?? {}
    const lamports = (Number(amountUsd) / solUsd) * 1e9
    expect(lamports).toBeGreaterThanOrEqual(2_039_280)
    expect(lamports).toBeLessThan(2_039_280 + 1e9 / solUsd / 1e5)
    expect(held).toBe(subsidized)
    // What improves the distribution of inventory is a reward on top.
    expect(BigInt(answer.details.currencyOut.amount)).toBeGreaterThanOrEqual(50_000_000n)
  })

  test('row 16: subsidizeFees alone leaves the whole request to the user', async () => {
    const { answer, subsidized, rent, held } = await told(toSolana({ subsidizeFees: true }))
    expect([subsidized, held]).toEqual([0n, 0n])
    expect(rent.userPays).toBe(rent.total)
    expect(answer.feeSponsorship).toMatchObject({ status: 'none', reason: 'RENT_NOT_SUBSIDIZED' })
    const reward = -BigInt(answer.fees.relayerService.amount)
    expect(BigInt(answer.details.currencyOut.amount)).toBeLessThanOrEqual(50_000_000n - rent.total + reward)
  })

  test('row 17: subsidizeFees alone pays where the account is there', async () => {
    const recipient = solana.bed.recipient.toBase58()
    const { answer, subsidized, held } = await told(toSolana({ recipient, subsidizeFees: true }))
    expect(answer.feeSponsorship).toMatchObject({ status: 'full' })
    expect(subsidized).toBeGreaterThan(0n)
    expect(held).toBe(subsidized)
  })

  test('row 18: from Solana subsidizeRent changes nothing', async () => {
    const fees = { subsidizeFees: true }
    const [with_, without] = await ofOneMarket(
      () => fromSolana({ ...fees, subsidizeRent: true }),
      () => fromSolana(fees),
    )
    expect(with_.answer.feeSponsorship?.status).toBe('full')
    expect(with_.rent.total).toBe(0n)
    expectSameShares(with_, without)
  })

  test('row 19: the component rent does what subsidizeRent does', async () => {
    const components = ['execution', 'swap', 'relay', 'rent']
    const { answer, rent } = await told(toSolana({ subsidizeFees: true, sponsoredFeeComponents: components }))
    expect(answer.feeSponsorship).toMatchObject({ status: 'full' })
    expect(rent).toMatchObject({ sponsored: rent.total, userPays: 0n })
  })

  test('a cap binds rent and fees together: execution first, rent last', async () => {
    const both = { subsidizeFees: true, subsidizeRent: true }
    const full = await told(toSolana(both))
    const cap = full.subsidized - full.rent.total / 2n
    const capped = await told(toSolana({ ...both, maxSubsidizationAmount: cap.toString() }))
    expect([capped.subsidized, capped.held]).toEqual([cap, cap])
    expect(capped.rent.sponsored).toBe(cap - (full.subsidized - full.rent.total))
    expect(capped.rent.sponsored + capped.rent.userPays).toBe(capped.rent.total)
    expect(capped.answer.feeSponsorship).toMatchObject({ status: 'partial', quoted: { capHit: true } })
  })

  test('a balance below fees and rent pays nothing', async () => {
    const poor = await createSponsor(database, 100_000n)
    const { answer } = await told(toSolana({ subsidizeFees: true, subsidizeRent: true }), poor)
    expect(answer.feeSponsorship).toMatchObject({ status: 'none', reason: 'INSUFFICIENT_BALANCE' })
    expect(await moneyOf(database, poor.wallet)).toEqual({ available: 100_000n, held: 0n })
  })
})

describe('depositFeePayer', () => {
  const funded = () => {
    const payer = Keypair.generate()
    solana.bed.node.airdrop(payer.publicKey.toBase58(), 10n ** 9n)
    return payer
  }
  const lamports = async (account: { toBase58(): string }) =>
    BigInt(await solana.bed.connection.getBalance(new PublicKey(account.toBase58())))

  test.each<[string, () => object]>([
    ['SOL', () => ({})],
    ['a token', () => ({ originCurrency: usdcThere(), originChainId: solanaChainId })],
  ])('row 29: it pays what the answer names, to the lamport, and no balance: %s', async (_what, change) => {
    const payer = funded()
    const { answer, held } = await told(
      fromSolana({
        ...change(),
        destinationChainId: 8453,
        destinationCurrency: baseUsdc(),
        depositFeePayer: payer.publicKey.toBase58(),
      }),
      undefined,
    )
    const { depositFeePayer } = answer.details
    expect(depositFeePayer).toMatchObject({ account: payer.publicKey.toBase58(), rent: { amount: '0' } })
    expect([answer.fees.gas.amount, held]).toEqual(['0', 0n])
    const { user } = solana.bed
    const before = await lamports(user.publicKey)
    await sendStep(solana.bed, answer.steps[0], [payer, user])
    const spent = before - (await lamports(user.publicKey))
    expect(spent).toBe(answer.details.currencyIn.currency.address === sol ? 100_000_000n : 0n)
    expect(10n ** 9n - (await lamports(payer.publicKey))).toBe(
      BigInt(depositFeePayer?.networkFee.amount ?? 0),
    )
  })
  const baseUsdc = () => currencyAddress(solana.network, 'base', 'USDC')

  test('one without enough SOL gets no deposit through, and nobody pays for it', async () => {
    const payer = Keypair.generate()
    const { user, node } = solana.bed
    const { answer } = await told(fromSolana({ depositFeePayer: payer.publicKey.toBase58() }), undefined)
    const fee = BigInt(answer.details.depositFeePayer?.networkFee.amount ?? 0)
    node.airdrop(payer.publicKey.toBase58(), fee - 1n)
    const before = [await lamports(user.publicKey), await lamports(payer.publicKey)]
    await expect(sendStep(solana.bed, answer.steps[0], [payer, user])).rejects.toThrow()
    expect([await lamports(user.publicKey), await lamports(payer.publicKey)]).toEqual(before)
  })

  test('without one the user pays the network fee that the answer names, to the lamport', async () => {
    const { answer } = await told(fromSolana(), undefined)
    expect(answer.details.depositFeePayer).toBeUndefined()
    const before = await lamports(solana.bed.user.publicKey)
    await sendStep(solana.bed, answer.steps[0], [solana.bed.user])
    const spent = before - (await lamports(solana.bed.user.publicKey))
    expect(spent).toBe(100_000_000n + BigInt(answer.fees.gas.amount))
  })

  test.each<[string, () => object]>([
    ['row 30: the user himself', () => fromSolana({ depositFeePayer: solana.bed.user.publicKey.toBase58() })],
    ['row 31: off Solana', () => toSolana({ depositFeePayer: fresh() })],
    ['row 31: no account', () => fromSolana({ depositFeePayer: userOf(solana.network, 0).address })],
    [
      'an account without a key',
      () => fromSolana({ depositFeePayer: solana.bed.depository.addresses.vault }),
    ],
  ])('%s is 400', async (_what, body) => {
    const before = await moneyOf(database, sponsor.wallet)
    const answer = await ask(body())
    expect(answer.status).toBe(400)
    expect(readError(answer)).toMatchObject({
      errorCode: 'INVALID_ADDRESS',
      errorData: expect.stringContaining('depositFeePayer'),
    })
    expect(await moneyOf(database, sponsor.wallet)).toEqual(before)
  })

  test('row 32: it leaves what the balance pays on the destination as it is', async () => {
    const fees = { subsidizeFees: true, subsidizeRent: true }
    const [alone, both] = await ofOneMarket(
      () => fromSolana(fees),
      () => fromSolana({ ...fees, depositFeePayer: fresh() }),
    )
    // Whatever a sponsor pays, the fee of the deposit is the user's where nobody else is named.
    expect(BigInt(alone.answer.fees.gas.amount)).toBeGreaterThan(0n)
    expect(both.answer.feeSponsorship).toMatchObject({ status: 'full' })
    expect(both.answer.details.currencyOut.amount).toBe(alone.answer.details.currencyOut.amount)
    expectSameShares(both, alone)
    expect(both.answer.fees.gas.amount).toBe('0')
  })

  test('row 33: on one Solana chain it is allowed, by way of the solver, and pays what it is named for', async () => {
    const payer = funded()
    const body = fromSolana({
      ...{ recipient: fresh(), destinationChainId: solanaChainId, destinationCurrency: usdcThere() },
      ...{ amount: '100000000', forceSolverExecution: true },
    })
    const { answer } = await told({ ...body, depositFeePayer: payer.publicKey.toBase58() }, undefined)
    const { networkFee, rent } = answer.details.depositFeePayer ?? {}
    expect([answer.details.operation, rent?.amount]).toEqual(['swap', '0'])
    const before = await lamports(solana.bed.user.publicKey)
    await sendStep(solana.bed, answer.steps[0], [payer, solana.bed.user])
    expect(before - (await lamports(solana.bed.user.publicKey))).toBe(100_000_000n)
    expect(10n ** 9n - (await lamports(payer.publicKey))).toBe(BigInt(networkFee?.amount ?? 0))
  })
})
