// Goal: a request lives its whole life on facts alone. Users deposit on real nodes, a scripted solver works
// the items off, oracles sign for real; the sponsor pays exactly the quoted subsidy, once, and only on enough
// listed signatures over the fill of this very order. Method: the service with its jobs, PostgreSQL, anvil.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOrderIdHasher, type Hex, mainNetwork } from '@causeway/core'
import {
  createDatabase,
  type Database,
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '@causeway/database'
import { setSponsorFrozen, verifyLedger } from '@causeway/ledger'
import { depositoryAbi, type LocalAccount, startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { encodeFunctionData, erc20Abi } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { statusV3Schema } from '../src/status/statusWire.ts'
import { quoteResponseSchema } from '../src/wire/quoteResponse.ts'
import { startTestService, type TestService } from './fixtures/service.ts'
import { post, type QuoteAnswer, readError, readOk, send } from './serviceSupport/callService.ts'
import { localRequest, nativeAddress, userOf } from './serviceSupport/localRequest.ts'
import { waitUntil } from './serviceSupport/waitUntil.ts'
import {
  createScriptedSolver,
  type OpenWork,
  type ScriptedSolver,
} from './settlementSupport/scriptedSolver.ts'
import { type OracleMode, type StandInOracle, startStandInOracle } from './settlementSupport/standInOracle.ts'
import { createSponsor, moneyOf, pepperText, type TestSponsor } from './sponsorSupport/sponsors.ts'

const solverKey = 'solver-key-of-the-tests'
const amount = 60_000_000n
let network: TestNetwork
let directory: string
let server: EmbeddedPostgres
let database: Database
let service: TestService
let solver: ScriptedSolver
let oracles: StandInOracle[] = []
let url: string
let user: LocalAccount
let sponsor: TestSponsor

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  directory = await mkdtemp(join(tmpdir(), 'causeway-settlement-'))
  server = await startEmbeddedPostgres({ dataDirectory: join(directory, 'postgres'), durable: false })
  const orderIdOf = createOrderIdHasher(() => mainNetwork('ethereum-vm'))
  oracles = await Promise.all(
    [1, 2, 3].map(() =>
      startStandInOracle({ privateKey: generatePrivateKey(), otherKey: generatePrivateKey(), orderIdOf }),
    ),
  )
  service = await startTestService(network, {
    DATABASE_URL: server.connectionString,
    API_KEY_PEPPERS: pepperText,
    SOLVER_API_KEY: solverKey,
    ORACLES: oracles.map((oracle) => `${oracle.url}||${oracle.signer}`).join(';'),
    ORACLES_THRESHOLD: '2',
    ...(process.env['TEST_LOG'] !== undefined && { LOG_LEVEL: 'debug' }),
  })
  url = (await service.listen()).publicUrl
  database = createDatabase({ connectionString: server.connectionString, poolSize: 2 })
  solver = createScriptedSolver({ network, url, apiKey: solverKey })
  user = userOf(network, 0)
})
afterAll(async () => {
  await service?.stop()
  await Promise.all(oracles.map((oracle) => oracle.stop()))
  await database?.close()
  await server?.stop()
  await network?.stop()
  await rm(directory, { recursive: true, force: true })
})
beforeEach(async () => {
  setOracles('honest', 'honest', 'honest')
  sponsor = await createSponsor(database, 1_000_000_000n)
})

function setOracles(...modes: OracleMode[]): void {
  for (const [index, oracle] of oracles.entries()) oracle.mode = modes[index] ?? 'honest'
}

async function quoted(more: object = {}): Promise<QuoteAnswer> {
  const body = localRequest(network, { amount, more: { subsidizeFees: true, ...more } })
  return readOk(await post(`${url}/quote`, body, { 'x-api-key': sponsor.apiKey }), quoteResponseSchema)
}

/** Sends the steps of a quote as the user's wallet would. */
async function execute({ steps }: QuoteAnswer): Promise<void> {
  const transactions = steps.flatMap(({ id, items }) =>
    // CAST: steps hold addresses and calldata, which the wire describes as text.
    items.map(({ data }) => ({ what: id, to: data.to as Hex, data: data.data as Hex })),
  )
  await network.chains.base.chain.send(user, transactions)
}

/** Deposits whatever it is told, for an order. */
async function deposit(quote: QuoteAnswer, what: { token?: Hex; amount: bigint }): Promise<void> {
  const { depository, tokens } = network.deployment.base
  const { token = tokens.USDC } = what
  const id = orderIdOf(quote)
  if (token === nativeAddress) {
    const data = encodeFunctionData({
      abi: depositoryAbi,
      functionName: 'depositNative',
      args: [user.address, id],
    })
    await network.chains.base.chain.send(user, [
      { what: 'deposit', to: depository, data, valueWei: what.amount },
    ])
    return
  }
  const approve = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'approve',
    args: [depository, what.amount],
  })
  const data = encodeFunctionData({
    abi: depositoryAbi,
    functionName: 'depositErc20',
    args: [user.address, token, what.amount, id],
  })
  await network.chains.base.chain.send(user, [
    { what: 'approve', to: token, data: approve },
    { what: 'deposit', to: depository, data },
  ])
}

function orderIdOf(quote: QuoteAnswer): Hex {
  const id = quote.protocol?.v2.orderId
  if (id === undefined) throw new Error('the quote has no order')
  // CAST: the wire describes an order id as text.
  return id as Hex
}

async function statusOf(quote: QuoteAnswer) {
  return readOk(await send(`${url}/intents/status/v3?requestId=${quote.requestId}`), statusV3Schema)
}
async function reaches(quote: QuoteAnswer, status: string): Promise<void> {
  await waitUntil(async () => (await statusOf(quote)).status === status, `it is ${status}`)
}
async function workFor(quote: QuoteAnswer, kind: OpenWork['kind']): Promise<OpenWork> {
  let found: OpenWork | undefined
  await waitUntil(async () => {
    found = (await solver.work()).find((item) => item.kind === kind && item.requestId === quote.requestId)
    return found !== undefined
  }, `there is a ${kind}`)
  if (found === undefined) throw new Error('there is no such work')
  return found
}
async function settlementOf(quote: QuoteAnswer) {
  const [row] = await database.query<{ stage: string; parked_reason: string | null; evidence: unknown }>(
    'select stage, parked_reason, evidence from settlement where request_id = $1',
    [Buffer.from(quote.requestId.slice(2), 'hex')],
  )
  return row
}
const stageOf = async (quote: QuoteAnswer) => (await settlementOf(quote))?.stage
const debitOf = (quote: QuoteAnswer) => BigInt(quote.fees.subsidized.amount)

describe('a sponsored request', () => {
  test('is detected, filled, proven by two of three oracles and paid for exactly as quoted', async () => {
    setOracles('honest', 'garbage', 'honest')
    const quote = await quoted({ appFees: [{ recipient: `0x${'33'.repeat(20)}`, fee: '50' }] })
    expect((await statusOf(quote)).status).toBe('waiting')
    await execute(quote)
    await reaches(quote, 'pending')
    expect((await moneyOf(database, sponsor.wallet)).held).toBe(debitOf(quote))
    const hash = await solver.carryOut(await workFor(quote, 'fill'))
    await reaches(quote, 'success')
    const status = await statusOf(quote)
    expect(status).toMatchObject({ details: null, failReason: 'N/A', refundFailReason: 'N/A' })
    expect(status.txHashes).toEqual([hash])
    expect(status.inTxHashes).toHaveLength(1)
    await waitUntil(async () => (await stageOf(quote)) === 'settled', 'it settles')
    expect(await moneyOf(database, sponsor.wallet)).toEqual({
      available: 1_000_000_000n - debitOf(quote),
      held: 0n,
    })
    expect((await settlementOf(quote))?.evidence).toMatchObject({ threshold: 2 })
    const fees = await database.query(
      `select credits_posted from account where kind = 'app_fee' and owner = $1`,
      [`0x${'33'.repeat(20)}`],
    )
    expect(fees).toEqual([{ credits_posted: BigInt(quote.fees.app.amount) }])
    expect(await database.transaction((tx) => verifyLedger(tx, { depth: 'all' }))).toEqual([])
  })

  test.each<[string, OracleMode]>([
    ['execution signatures alone', 'execution_only'],
    ['a refund attestation', 'refund'],
    ['a fill attestation of another order', 'other_order'],
    ['signatures of unlisted signers', 'unlisted'],
    ['refusals', 'refuses'],
  ])('is not paid for on %s', async (_what, mode) => {
    setOracles(mode, mode, 'honest')
    const quote = await quoted()
    await execute(quote)
    await solver.carryOut(await workFor(quote, 'fill'))
    await reaches(quote, 'success')
    await waitUntil(async () => (await stageOf(quote)) === 'parked', 'it is parked')
    expect((await settlementOf(quote))?.parked_reason).toBe('SEEN_BUT_DENIED')
    expect(await moneyOf(database, sponsor.wallet)).toEqual({
      available: 1_000_000_000n - debitOf(quote),
      held: debitOf(quote),
    })
  })

  test('waits while one oracle is dead and one lies, and settles once two honest ones answer', async () => {
    setOracles('honest', 'other_order', 'garbage')
    const quote = await quoted()
    await execute(quote)
    await solver.carryOut(await workFor(quote, 'fill'))
    await reaches(quote, 'success')
    const asked = oracles[0]?.asked ?? 0
    await waitUntil(async () => (oracles[0]?.asked ?? 0) > asked + 1, 'the oracles are asked again')
    expect(await stageOf(quote)).toBe('filled')
    setOracles('honest', 'other_order', 'honest')
    await waitUntil(async () => (await stageOf(quote)) === 'settled', 'it settles')
    expect((await moneyOf(database, sponsor.wallet)).held).toBe(0n)
  })

  test('that the solver gives up is refunded, and its hold is free again', async () => {
    const quote = await quoted()
    await execute(quote)
    const item = await workFor(quote, 'fill')
    await database.query('update work_item set attempts = 3 where id = $1', [item.id])
    expect((await solver.fail(item.id, 'no inventory')).status).toBe(200)
    const refund = await workFor(quote, 'refund')
    expect((await moneyOf(database, sponsor.wallet)).held).toBe(0n)
    const hash = await solver.carryOut(refund)
    await reaches(quote, 'refund')
    expect(await statusOf(quote)).toMatchObject({
      failReason: 'TRANSACTION_SUBMISSION_FAILED',
      txHashes: [hash],
    })
    expect((await moneyOf(database, sponsor.wallet)).available).toBe(1_000_000_000n)
  })
})

describe('deposits that do not fit', () => {
  test('a second one is refunded and the first is filled', async () => {
    const quote = await quoted()
    await execute(quote)
    await workFor(quote, 'fill')
    await deposit(quote, { amount })
    await solver.carryOut(await workFor(quote, 'refund'))
    await solver.carryOut(await workFor(quote, 'fill'))
    await reaches(quote, 'success')
    await waitUntil(async () => (await stageOf(quote)) === 'settled', 'it settles')
  })

  test('a short one is refunded, and a fitting one that follows is filled', async () => {
    const quote = await quoted()
    await deposit(quote, { amount: amount - 1n })
    const refund = await workFor(quote, 'refund')
    expect((await statusOf(quote)).status).toBe('pending')
    await solver.carryOut(refund)
    await execute(quote)
    await solver.carryOut(await workFor(quote, 'fill'))
    await reaches(quote, 'success')
  })

  test('one in the wrong currency is refunded for the most part', async () => {
    const quote = await quoted()
    await deposit(quote, { token: nativeAddress, amount: 1_000_000n })
    const refund = await workFor(quote, 'refund')
    expect(refund.payload).toMatchObject({ currency: nativeAddress, amount: '950000' })
  })

  test('what is paid too much goes back once the order is filled', async () => {
    const quote = await quoted()
    await deposit(quote, { amount: amount + 5_000_000n })
    await solver.carryOut(await workFor(quote, 'fill'))
    await reaches(quote, 'success')
    const { payload } = await workFor(quote, 'refund')
    expect('amount' in payload && BigInt(payload.amount)).toBeGreaterThan(4_000_000n)
  })
})

describe('a deposit after the hold of its quote has ended', () => {
  const endHold = (quote: QuoteAnswer) =>
    database.query(
      `update hold set expires_at = clock_timestamp() - interval '1 second' where request_id = $1`,
      [Buffer.from(quote.requestId.slice(2), 'hex')],
    )

  test('reserves again and is filled', async () => {
    const quote = await quoted()
    await endHold(quote)
    await execute(quote)
    await solver.carryOut(await workFor(quote, 'fill'))
    await waitUntil(async () => (await stageOf(quote)) === 'settled', 'it settles')
    expect(await moneyOf(database, sponsor.wallet)).toEqual({
      available: 1_000_000_000n - debitOf(quote),
      held: 0n,
    })
  })

  test('is refunded with SPONSOR_BALANCE_TOO_LOW when the sponsor cannot pay', async () => {
    const quote = await quoted()
    await endHold(quote)
    await database.transaction((tx) =>
      setSponsorFrozen(tx, { sponsor: sponsor.wallet, frozen: true, actor: 'cli:test', reason: 'test' }),
    )
    await execute(quote)
    await solver.carryOut(await workFor(quote, 'refund'))
    // A fitting deposit may follow until the quote's own hold would be over.
    await database.query(
      `update orders set expires_at = clock_timestamp() - interval '1 minute' where request_id = $1`,
      [Buffer.from(quote.requestId.slice(2), 'hex')],
    )
    await reaches(quote, 'refund')
    expect((await statusOf(quote)).failReason).toBe('SPONSOR_BALANCE_TOO_LOW')
    expect((await moneyOf(database, sponsor.wallet)).held).toBe(0n)
  })
})

describe('the routes of the solver', () => {
  test('are closed without the key, and to the keys of integrators', async () => {
    for (const headers of [{}, { 'x-api-key': 'wrong-key-of-nobody' }, { 'x-api-key': sponsor.apiKey }]) {
      const answer = await send(`${url}/solver/work`, { headers })
      expect(answer.status).toBe(401)
      expect(readError(answer).errorCode).toBe('UNAUTHORIZED')
    }
  })

  test('take a report once, and refuse another transaction or an unknown item', async () => {
    const quote = await quoted()
    await execute(quote)
    const { id } = await workFor(quote, 'fill')
    const hash = `0x${'ab'.repeat(31)}01`
    expect((await solver.report(id, hash)).status).toBe(200)
    expect((await solver.report(id, hash)).status).toBe(200)
    const other = await solver.report(id, `0x${'ab'.repeat(31)}02`)
    expect([other.status, readError(other).errorCode]).toEqual([409, 'WORK_NOT_OPEN'])
    expect((await solver.fail(id, 'too late')).status).toBe(409)
    const unknown = await solver.report('00000000-0000-4000-8000-000000000000', hash)
    expect([unknown.status, readError(unknown).errorCode]).toEqual([404, 'WORK_NOT_FOUND'])
  })
})

describe('the status routes', () => {
  test('need no key, are never cached, and know no made-up request', async () => {
    const quote = await quoted()
    for (const path of ['/intents/status', '/intents/status/v2', '/intents/status/v3']) {
      const answer = await send(`${url}${path}?requestId=${quote.requestId}`)
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
      const unknown = await send(`${url}${path}?requestId=0x${'ee'.repeat(32)}`)
      expect([unknown.status, readError(unknown).errorCode]).toEqual([404, 'REQUEST_NOT_FOUND'])
    }
  })

  test('keep an end for good, whoever writes', async () => {
    const quote = await quoted()
    const id = Buffer.from(quote.requestId.slice(2), 'hex')
    await database.query(`update orders set status = 'refund' where request_id = $1`, [id])
    await expect(
      database.query(`update orders set status = 'success' where request_id = $1`, [id]),
    ).rejects.toThrow('is final')
  })

  test('take hints of any kind and believe none', async () => {
    const quote = await quoted()
    const txHash = `0x${'cd'.repeat(32)}`
    const index = { chainId: '8453', txHash, referrer: 'a.client' }
    const single = { requestId: quote.requestId, chainId: '8453', tx: '{"txHash":1', referrer: 'a.client' }
    expect((await post(`${url}/transactions/index`, index)).status).toBe(200)
    expect((await post(`${url}/transactions/single`, single)).status).toBe(200)
    expect((await statusOf(quote)).status).toBe('waiting')
  })
})
