// Goal: whatever is paid to a deposit address has its end: the quoted amount in time fills the quote, other
// amounts, later and further payments are quoted anew, what cannot be quoted goes back to `refundTo`, dust
// stays until more arrives. Sponsors pay for it as quoted. Method: the service with its jobs, PostgreSQL,
// anvil, the solver in its own process; users send nothing but plain payments.
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOrderIdHasher, type Hex } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { createDatabase, type Database, type EmbeddedPostgres, startTestPostgres } from '@causeway/database'
import { setPolicy } from '@causeway/ledger'
import {
  movePrice,
  type SpawnedService,
  spawnSolver,
  startTestNetwork,
  type TestNetwork,
  tokenAbi,
  waitUntil,
} from '@causeway/localnet'
import { encodeFunctionData, erc20Abi } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { quoteResponseSchema } from '../src/http/wire/quoteResponse.ts'
import { requestsV2Schema } from '../src/http/wire/requestsV2.ts'
import { requestsV3Schema } from '../src/http/wire/requestsV3.ts'
import { statusV3Schema } from '../src/requests/status/statusWire.ts'
import { startTestService, type TestService } from './fixtures/service.ts'
import {
  post,
  postPatiently,
  type QuoteAnswer,
  readError,
  readOk,
  send,
} from './serviceSupport/callService.ts'
import { currencyAddress, type LocalCurrency, localRequest, userOf } from './serviceSupport/localRequest.ts'
import { jobRuns } from './serviceSupport/unpaidQuotes.ts'
import { solverVariables } from './settlementSupport/solverVariables.ts'
import { type StandInOracle, startStandInOracle } from './settlementSupport/standInOracle.ts'
import { createSponsor, moneyOf, pepperText } from './sponsorSupport/sponsors.ts'

const solverKey = 'solver-key-of-the-tests'
const amount = 10n ** 17n
let network: TestNetwork
let directory: string
let server: EmbeddedPostgres
let database: Database
let service: TestService
let solver: SpawnedService
let oracles: StandInOracle[] = []
let url: string
let opsUrl: string
let treasury: Server

beforeAll(async () => {
  treasury = createServer((_request, response) => {
    response.end(JSON.stringify({ available: '9000000000000', feeBps: 5, readySeconds: 30 }))
  })
  await new Promise<void>((resolve) => treasury.listen(0, '127.0.0.1', resolve))
  // CAST: it listens on a port.
  const { port } = treasury.address() as AddressInfo
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  directory = await mkdtemp(join(tmpdir(), 'causeway-deposit-addresses-'))
  server = await startTestPostgres({ dataDirectory: join(directory, 'postgres') })
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
    EXTERNAL_LIQUIDITY_URL: `http://127.0.0.1:${port}`,
    ORACLES: oracles.map((oracle) => `${oracle.url}||${oracle.signer}`).join(';'),
    ORACLES_THRESHOLD: '2',
    ...(process.env['TEST_LOG'] !== undefined && { LOG_LEVEL: 'debug' }),
  })
  const listening = await service.listen()
  ;[url, opsUrl] = [listening.publicUrl, listening.opsUrl]
  database = createDatabase({ connectionString: server.connectionString, poolSize: 2 })
  solver = spawnSolver(
    await solverVariables({ network, directory, server, database, quoteApiUrl: url, quoteApiKey: solverKey }),
  )
  await solver.ready()
})
afterAll(async () => {
  treasury?.close()
  solver?.kill('SIGKILL')
  await solver?.ended
  await service?.stop()
  await Promise.all(oracles.map((oracle) => oracle.stop()))
  await database?.close()
  await server?.stop()
  await network?.stop()
  await rm(directory, { recursive: true, force: true })
})

type Party = { readonly recipient: Hex; readonly refundTo: Hex }
const freshAddress = () => privateKeyToAddress(generatePrivateKey())
const freshParty = (): Party => ({ recipient: freshAddress(), refundTo: freshAddress() })

function body(party: object, more: object = {}): object {
  const native = { pay: 'native', receive: 'native' } as const
  return localRequest(network, { ...native, amount, more: { useDepositAddress: true, ...party, ...more } })
}

async function quoted(party: object, more: object = {}, apiKey?: string): Promise<QuoteAnswer> {
  const headers = apiKey === undefined ? {} : { 'x-api-key': apiKey }
  return readOk(await postPatiently(`${url}/quote`, body(party, more), headers), quoteResponseSchema)
}

function addressOf({ steps }: QuoteAnswer): Hex {
  const [step] = steps
  if (step?.depositAddress === undefined) throw new Error('the quote has no deposit address')
  // CAST: the wire describes an address as text.
  return step.depositAddress as Hex
}

async function pay(address: Hex, ...amounts: bigint[]): Promise<void> {
  const payments = amounts.map((valueWei) => ({
    what: 'payment',
    to: address,
    data: '0x' as const,
    valueWei,
  }))
  await network.chains.base.chain.send(userOf(network, 1), payments)
}

async function payToken(address: Hex, units: bigint, token: LocalCurrency = 'USDC'): Promise<void> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [address, units] })
  const to = currencyAddress(network, 'base', token)
  await network.chains.base.chain.send(userOf(network, 1), [{ what: 'token', to, data }])
}

const heldOf = (chain: 'base' | 'optimism', token: LocalCurrency, account: Hex) =>
  network.chains[chain].chain.client.readContract({
    address: currencyAddress(network, chain, token),
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [account],
  })

const statusOf = async ({ requestId }: { requestId: string }) =>
  readOk(await send(`${url}/intents/status/v3?requestId=${requestId}`), statusV3Schema)

async function reaches(quote: { requestId: string }, status: string): Promise<void> {
  await waitUntil(`it is ${status}`, async () => (await statusOf(quote)).status === status).catch(
    async (error: unknown) => {
      throw new Error(`${error}\n${JSON.stringify(await statusOf(quote))}\n${solver.output()}`)
    },
  )
}

/** The request of an address tells who paid it, with which transaction. */
async function transferOf({ requestId }: QuoteAnswer) {
  const { requests } = readOk(await send(`${url}/requests/v3?id=${requestId}`), requestsV3Schema)
  return requests[0]?.depositAddress
}

/** All requests of an address as anybody can look them up, newest first. */
async function requestsOf(address: Hex) {
  const answer = await send(`${url}/requests/v2?depositAddress=${address}`)
  return readOk(answer, requestsV2Schema).requests
}

const nativeOf = (chain: 'base' | 'optimism', address: Hex) =>
  network.chains[chain].chain.client.getBalance({ address })
const bytesOf = (id: string) => Buffer.from(id.slice(2), 'hex')
/** Gas of sweep and refund that the quote deducts. */
const refundGasOf = (quote: QuoteAnswer) => amount - BigInt(quote.details.refundCurrency.amount)

async function setPast({ requestId }: QuoteAnswer, column: 'deadline' | 'expires_at'): Promise<void> {
  await database.query(
    `update orders set ${column} = clock_timestamp() - interval '1 minute' where request_id = $1`,
    [bytesOf(requestId)],
  )
}

async function depositsOf(address: Hex) {
  return database.query<{ depositor: string; amount: bigint; state: string; reason: string | null }>(
    `select d.depositor, d.amount, d.state, d.reason from deposit_seen d
     join orders o using (request_id) where o.deposit_address = $1 order by d.id`,
    [address],
  )
}

async function sweepsOf(address: Hex): Promise<number> {
  const rows = await database.query(
    `select 1 from work_item where kind = 'sweep' and payload ->> 'depositAddress' = $1`,
    [address],
  )
  return rows.length
}

describe('a quote by deposit address', () => {
  test('is one deposit step to an address of its own', async () => {
    const party = freshParty()
    const [one, other] = [await quoted(party), await quoted(party)]
    expect(addressOf(one)).not.toBe(addressOf(other))
    expect(one.steps).toHaveLength(1)
    expect(one.steps[0]).toMatchObject({
      id: 'deposit',
      kind: 'transaction',
      requestId: one.requestId,
      items: [
        {
          data: { to: addressOf(one), data: '0x', value: amount.toString() },
          check: { endpoint: `/intents/status/v3?requestId=${one.requestId}`, method: 'GET' },
        },
      ],
    })
  })

  test.each([
    ['an exact output', { tradeType: 'EXACT_OUTPUT' }, 'UNSUPPORTED_EXECUTION_TYPE'],
    [
      'nobody to refund',
      { refundTo: `0x${'0'.repeat(40)}`, user: `0x${'0'.repeat(36)}dEaD` },
      'INVALID_RECIPIENT',
    ],
  ])('is refused for %s', async (_what, more, errorCode) => {
    const answer = await post(`${url}/quote`, body(freshParty(), more))
    expect(answer.status).toBe(400)
    expect(readError(answer).errorCode).toBe(errorCode)
  })
})

describe('the quoted amount', () => {
  test('Q-107: is swept for its depositor, filled, proven, paid for by the sponsor, and its payer is told', async () => {
    const sponsor = await createSponsor(database, 1_000_000_000n)
    const party = freshParty()
    const quote = await quoted(party, { subsidizeFees: true }, sponsor.apiKey)
    expect(quote.feeSponsorship).toMatchObject({ status: 'full' })
    expect(await transferOf(quote)).toMatchObject({ depositor: null, depositTxHash: null })
    await pay(addressOf(quote), amount)
    await reaches(quote, 'success')
    const payer = userOf(network, 1).address.toLowerCase()
    // The payer is looked up beside the settlement.
    await waitUntil('the payer is told', async () => (await transferOf(quote))?.depositor != null)
    const told = await transferOf(quote)
    expect(told?.depositor?.toLowerCase()).toBe(payer)
    // CAST: a hash, which the wire describes as text.
    const transaction = { hash: told?.depositTxHash as Hex }
    expect(await network.chains.base.chain.client.getTransaction(transaction)).toMatchObject({
      value: amount,
      to: addressOf(quote).toLowerCase(),
    })
    expect(await nativeOf('optimism', party.recipient)).toBe(BigInt(quote.details.currencyOut.amount))
    expect(await depositsOf(addressOf(quote))).toEqual([
      { depositor: party.refundTo.toLowerCase(), amount, state: 'taken', reason: null },
    ])
    const [sponsored] = await database.query<{ debit: bigint }>(
      'select debit_micro_usd as debit from request_sponsorship where request_id = $1',
      [bytesOf(quote.requestId)],
    )
    await waitUntil(
      'the sponsor is debited',
      async () => (await moneyOf(database, sponsor.wallet)).held === 0n,
    )
    expect(sponsored?.debit).toBeGreaterThan(0n)
    expect(await moneyOf(database, sponsor.wallet)).toEqual({
      available: 1_000_000_000n - (sponsored?.debit ?? 0n),
      held: 0n,
    })
    expect((await requestsOf(addressOf(quote))).map(({ id, status }) => [id, status])).toEqual([
      [quote.requestId, 'success'],
    ])
  })

  /** While no block is read for payments, and balances are looked at some more times behind `act`. */
  async function withoutBlocks(act: () => Promise<void>): Promise<void> {
    const looks = async () => (await jobRuns(opsUrl)).get('deposit-addresses-base') ?? 0
    await database.transaction(async (tx) => {
      await tx.query('set local idle_in_transaction_session_timeout = 0')
      await tx.query('select from deposit_address_cursor for update')
      await act()
      const before = await looks()
      await waitUntil('balances are looked at', async () => (await looks()) > before + 4)
    })
  }

  test('Q-107: is not swept before its transfer is known', async () => {
    const quote = await quoted(freshParty())
    await withoutBlocks(() => pay(addressOf(quote), amount))
    await reaches(quote, 'success')
    expect(await transferOf(quote)).toMatchObject({ depositTxHash: expect.stringMatching(/^0x/) })
  })

  test('that was swept is no second payment, however long no block is read', async () => {
    const quote = await quoted(freshParty())
    await pay(addressOf(quote), amount)
    await waitUntil('its sweep is asked for', async () => {
      const sweeps = `select from work_item where kind = 'sweep' and payload ->> 'depositAddress' = $1`
      return (await database.query(sweeps, [addressOf(quote)])).length > 0
    })
    await withoutBlocks(() => reaches(quote, 'success'))
    expect(await requestsOf(addressOf(quote))).toHaveLength(1)
  })

  test('Q-45: is sponsored as often as the policy says for one address, and later served without', async () => {
    const sponsor = await createSponsor(database, 1_000_000_000n)
    const rules = { maxCountPerOpenAddress: 2 }
    await setPolicy(database, { apiKeyId: sponsor.keyId, rules, actor: 'test' })
    const party = freshParty()
    const quote = await quoted(party, { subsidizeFees: true }, sponsor.apiKey)
    const address = addressOf(quote)
    for (let paid = 1; paid <= 4; paid += 1) {
      await pay(address, amount)
      await waitUntil(`payment ${paid} is filled`, async () => {
        const all = await requestsOf(address)
        return all.filter(({ status }) => status === 'success').length === paid
      })
    }
    const rows = await database.query<{ is_sponsored: boolean; reason: string | null }>(
      `select p.sponsor is not null as is_sponsored, p.quoted ->> 'reason' as reason
       from orders o join request_sponsorship p using (request_id)
       where o.deposit_address = $1 and o.status = 'success' order by o.request_id`,
      [address],
    )
    expect(rows).toEqual([
      { is_sponsored: true, reason: null },
      { is_sponsored: true, reason: null },
      ...Array(2).fill({ is_sponsored: false, reason: 'POLICY_MAX_COUNT_PER_OPEN_ADDRESS' }),
    ])
  })

  test('after the deadline is quoted anew', async () => {
    const party = freshParty()
    const quote = await quoted(party)
    await setPast(quote, 'deadline')
    await pay(addressOf(quote), amount)
    await reaches(quote, 'success')
    const [newer, older] = await requestsOf(addressOf(quote))
    expect([newer?.status, older?.id]).toEqual(['success', quote.requestId])
    expect(await nativeOf('optimism', party.recipient)).toBeGreaterThan((amount * 9n) / 10n)
  })

  test('Q-209: after its price is quoted anew, long before the deadline', async () => {
    const party = freshParty()
    const quote = await quoted(party)
    await setPast(quote, 'expires_at')
    await pay(addressOf(quote), amount)
    await reaches(quote, 'success')
    const [newer, older] = await requestsOf(addressOf(quote))
    expect([newer?.status, older?.id, older?.status]).toEqual(['success', quote.requestId, 'waiting'])
    expect(older?.supersededByRequestId).toBe(newer?.id)
    expect(await depositsOf(addressOf(quote))).toMatchObject([{ amount, state: 'taken' }])
  })

  test('that is swept after its price is priced anew: it waits for a market, and is filled once there is one', async () => {
    const party = freshParty()
    const quote = await quoted(party)
    solver.kill('SIGSTOP')
    try {
      await pay(addressOf(quote), amount)
      await waitUntil('its sweep is asked for in time', async () => (await sweepsOf(addressOf(quote))) === 1)
      await setPast(quote, 'expires_at')
      await movePrice(network, { price: 'ETH/USD', answer: 3_500n * 10n ** 8n, only: 'feed' })
      await waitUntil(
        'nobody knows what ether is worth',
        async () => 'reason' in service.market.snapshot().price('ETH/USD'),
      )
    } finally {
      solver.kill('SIGCONT')
    }
    await waitUntil('it was judged, and waits', async () => {
      const rows = await database.query(
        `select 1 from deposit_seen where request_id = $1 and state = 'seen' and looks > 0`,
        [bytesOf(quote.requestId)],
      )
      return rows.length > 0
    })
    await movePrice(network, { price: 'ETH/USD', answer: 2_500n * 10n ** 8n })
    await reaches(quote, 'success')
    expect(await depositsOf(addressOf(quote))).toMatchObject([{ amount, state: 'taken' }])
    expect(await nativeOf('optimism', party.recipient)).toBe(BigInt(quote.details.currencyOut.amount))
  })

  test('a second time is another request, filled like the first', async () => {
    const party = freshParty()
    const quote = await quoted(party)
    await pay(addressOf(quote), amount)
    await reaches(quote, 'success')
    const once = await nativeOf('optimism', party.recipient)
    await pay(addressOf(quote), amount)
    await waitUntil(
      'the second payment is filled',
      async () => (await nativeOf('optimism', party.recipient)) > (once * 3n) / 2n,
    )
    await waitUntil('both are a success', async () =>
      (await requestsOf(addressOf(quote))).every(({ status }) => status === 'success'),
    )
    expect(await requestsOf(addressOf(quote))).toHaveLength(2)
  })
})

describe('another amount', () => {
  test.each([
    ['less', [amount / 2n]],
    ['more', [amount * 2n]],
    ['several payments', [amount / 3n, amount / 3n]],
  ])('%s: what arrived is quoted anew, and the request goes on as the newer one', async (_what, amounts) => {
    const party = freshParty()
    const quote = await quoted(party)
    await pay(addressOf(quote), ...amounts)
    await reaches(quote, 'success')
    const paid = amounts.reduce((sum, part) => sum + part, 0n)
    const swept = async () => {
      const deposits = await depositsOf(addressOf(quote))
      return deposits.reduce((sum, deposit) => sum + deposit.amount, 0n)
    }
    await waitUntil('all of it is swept', async () => (await swept()) === paid)
    await waitUntil('all of it is filled', async () => {
      const requests = await requestsOf(addressOf(quote))
      return requests.filter(({ id }) => id !== quote.requestId).every(({ status }) => status === 'success')
    })
    const received = await nativeOf('optimism', party.recipient)
    expect(received).toBeGreaterThan((paid * 9n) / 10n)
    expect(received).toBeLessThan(paid)
    const requests = await requestsOf(addressOf(quote))
    const older = requests.find(({ id }) => id === quote.requestId)
    expect(older?.status).toBe('waiting')
    expect(requests.map(({ id }) => id)).toContain(older?.supersededByRequestId)
  })

  test('too little for any quote goes back to refundTo', async () => {
    const party = freshParty()
    const quote = await quoted(party)
    // A fitting deposit could still follow an unfit one until then.
    await setPast(quote, 'expires_at')
    const little = refundGasOf(quote) * 3n
    await pay(addressOf(quote), little)
    await reaches(quote, 'refund')
    expect((await statusOf(quote)).failReason).toBe('DEPOSITED_AMOUNT_TOO_LOW_TO_FILL')
    const back = await nativeOf('base', party.refundTo)
    expect(back).toBeGreaterThanOrEqual(little - refundGasOf(quote))
    expect(back).toBeLessThan(little)
    expect(await nativeOf('optimism', party.recipient)).toBe(0n)
  })

  test('Q-66: for a user who is nobody is quoted anew, and what no quote takes goes to nobody', async () => {
    const [recipient, nobody] = [freshAddress(), `0x${'0'.repeat(36)}dead`] as const
    // On the other chain alone: refunds do not default to it.
    await network.chains.optimism.chain.node.setCode({ address: recipient, bytecode: '0x00' })
    const ask = () => quoted({ recipient, user: nobody, refundTo: undefined })
    let quote = await ask()
    await waitUntil('the code is seen', async () => {
      quote = await ask()
      return quote.protocol?.v2.orderData.inputs[0]?.refunds[0]?.recipient === nobody
    })
    await pay(addressOf(quote), amount / 2n)
    await reaches(quote, 'success')
    const [burnt, other] = [await nativeOf('base', nobody), await ask()]
    await setPast(other, 'expires_at')
    await pay(addressOf(other), refundGasOf(other) * 3n)
    const reasons = () =>
      database.query<{ reason: string | null }>(
        `select reason from work_item where kind = 'refund' and request_id = $1`,
        [bytesOf(other.requestId)],
      )
    await waitUntil(
      'the solver says why',
      async () => (await reasons())[0]?.reason?.includes('nobody holds') === true,
    )
    expect(await nativeOf('base', nobody)).toBe(burnt)
  })

  test('dust stays, and is swept with what arrives later', async () => {
    const party = freshParty()
    const quote = await quoted(party)
    const dust = refundGasOf(quote)
    await pay(addressOf(quote), dust)
    await waitUntil('it is left', async () => {
      const [row] = await database.query<{ left_reason: string | null }>(
        'select left_reason from deposit_address where address = $1',
        [addressOf(quote)],
      )
      return row?.left_reason === 'AMOUNT_TOO_LOW_TO_REFUND'
    })
    expect(await nativeOf('base', addressOf(quote))).toBe(dust)
    await pay(addressOf(quote), amount)
    await reaches(quote, 'success')
    expect(await depositsOf(addressOf(quote))).toMatchObject([{ amount: amount + dust, state: 'taken' }])
  })
})

describe('an address', () => {
  test('Q-214: is looked up with the key that had it quoted, by nobody else, as the public client types it', async () => {
    const [owner, stranger] = await Promise.all([createSponsor(database, 0n), createSponsor(database, 0n)])
    const party = freshParty()
    const quote = await quoted(party, {}, owner.apiKey)
    const look = (query: string, apiKey?: string) =>
      send(`${url}/deposit-addresses/v1?${query}`, {
        headers: apiKey === undefined ? {} : { 'x-api-key': apiKey },
      })
    const byAddress = `address=${addressOf(quote).toUpperCase().replace('0X', '0x')}`
    const byRequest = `requestId=${quote.requestId}`
    for (const query of [byAddress, byRequest]) {
      const answer: unknown = JSON.parse((await look(query, owner.apiKey)).text)
      expect(answer).toEqual({
        depositAddress: addressOf(quote),
        type: 'open',
        requestId: quote.requestId,
        chainId: network.deployment.base.chainId,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        currency: `0x${'0'.repeat(40)}`,
        refundTo: party.refundTo.toLowerCase(),
      })
      expect((await look(query)).status).toBe(401)
      expect((await look(query, stranger.apiKey)).status).toBe(404)
    }
    const strict = await quoted(freshParty(), { strict: true }, owner.apiKey)
    const found: unknown = JSON.parse((await look(`requestId=${strict.requestId}`, owner.apiKey)).text)
    expect(found).toMatchObject({ depositAddress: addressOf(strict), type: 'strict' })
    const nobodys = await quoted(freshParty())
    expect((await look(`address=${addressOf(nobodys)}`, owner.apiKey)).status).toBe(404)
    for (const query of ['', `${byAddress}&${byRequest}`])
      expect((await look(query, owner.apiKey)).status).toBe(400)
  })
})

describe('a look that somebody asks for', () => {
  const chainId = () => network.deployment.base.chainId
  const reindex = (depositAddress: string, more: object = {}) =>
    post(`${url}/transactions/deposit-address/reindex`, { chainId: chainId(), depositAddress, ...more })
  const answerSchema = z.object({
    message: z.string(),
    triggeredCurrencies: z.array(z.object({ currency: z.string(), symbol: z.string(), balance: z.string() })),
    checkedCurrencies: z.int(),
    failedCurrencies: z.int(),
  })

  test('tells what lies there, and what is paid is swept and filled', async () => {
    const party = freshParty()
    const quote = await quoted(party)
    const address = addressOf(quote)
    await pay(address, amount)
    const { triggeredCurrencies, checkedCurrencies, failedCurrencies } = readOk(
      await reindex(address.toUpperCase().replace('0X', '0x')),
      answerSchema,
    )
    // It may have been swept by then.
    if (triggeredCurrencies.length > 0)
      expect(triggeredCurrencies).toEqual([
        { currency: `0x${'0'.repeat(40)}`, symbol: 'ETH', balance: String(amount) },
      ])
    expect([checkedCurrencies > 1, failedCurrencies]).toEqual([true, 0])
    await reaches(quote, 'success')
  })

  test('Q-214: of one currency, at an address that nobody paid, starts nothing, and not again at once', async () => {
    const quote = await quoted(freshParty())
    const address = addressOf(quote)
    const currency = network.deployment.base.tokens.USDC
    expect(readOk(await reindex(address, { currency }), answerSchema)).toEqual({
      message: 'Nothing lies there.',
      triggeredCurrencies: [],
      checkedCurrencies: 1,
      failedCurrencies: 0,
    })
    const again = await reindex(address)
    expect([again.status, readError(again).errorCode]).toEqual([429, 'REINDEXED_TOO_RECENTLY'])
    await reaches(quote, 'waiting')
  })

  test('is refused for what is no deposit address, not watched or not listed', async () => {
    const address = addressOf(await quoted(freshParty()))
    const refusals: readonly (readonly [string, object, number, string])[] = [
      [userOf(network, 1).address, {}, 404, 'DEPOSIT_ADDRESS_NOT_FOUND'],
      [address, { chainId: 424_242 }, 404, 'DEPOSIT_ADDRESS_NOT_FOUND'],
      [address, { chainId: network.deployment.optimism.chainId }, 404, 'DEPOSIT_ADDRESS_NOT_FOUND'],
      [address, { targetChainId: network.deployment.optimism.chainId }, 400, 'INVALID_REQUEST'],
      [address, { currency: userOf(network, 1).address }, 400, 'UNSUPPORTED_CURRENCY'],
      [address, { sweep: true }, 400, 'INVALID_REQUEST'],
    ]
    for (const [of, more, status, code] of refusals) {
      const answer = await reindex(of, more)
      expect([more, answer.status, readError(answer).errorCode]).toEqual([more, status, code])
    }
    expect((await reindex(address)).status).toBe(200)
  })
})

describe('another token', () => {
  test('goes back to refundTo', async () => {
    const party = freshParty()
    const quote = await quoted(party)
    const paid = 100_000_000n
    await payToken(addressOf(quote), paid)
    const held = () => heldOf('base', 'USDC', party.refundTo)
    await waitUntil('it is refunded', async () => (await held()) > 0n)
    // All of it but the gas of the sweep and of the refund.
    expect(await held()).toBeGreaterThan((paid * 99n) / 100n)
    expect(await held()).toBeLessThan(paid)
    expect(await depositsOf(addressOf(quote))).toMatchObject([{ reason: 'INCORRECT_DEPOSIT_CURRENCY' }])
    await pay(addressOf(quote), amount)
    await waitUntil(
      'a fitting payment is still filled',
      async () => (await nativeOf('optimism', party.recipient)) > 0n,
    )
  })
})

// Attackers: a stranger whose dust takes the place of a payment, a payer of another amount or currency who is filled as
// quoted, and one who pays twice for a single payout.
describe('an address of a token', () => {
  const units = 100_000_000n

  async function quotedToken(party: Party, more: object = {}): Promise<QuoteAnswer> {
    const wish = {
      pay: 'USDC',
      receive: 'USDC',
      amount: units,
      more: { useDepositAddress: true, ...party, ...more },
    } as const
    return readOk(await postPatiently(`${url}/quote`, localRequest(network, wish)), quoteResponseSchema)
  }

  test('Q-107: is swept with the dust of strangers beside what was asked for, whose transfer is told, and filled', async () => {
    const party = freshParty()
    const quote = await quotedToken(party)
    await payToken(addressOf(quote), 1n, 'TIDE')
    await pay(addressOf(quote), 1n)
    await payToken(addressOf(quote), units)
    await reaches(quote, 'success')
    const told = await transferOf(quote)
    // CAST: a hash, which the wire describes as text.
    const transaction = { hash: told?.depositTxHash as Hex }
    const { from, input } = await network.chains.base.chain.client.getTransaction(transaction)
    expect([from, BigInt(`0x${input.slice(-64)}`)]).toEqual([told?.depositor, units])
    expect(await heldOf('optimism', 'USDC', party.recipient)).toBe(BigInt(quote.details.currencyOut.amount))
    await waitUntil('every deposit has its end', async () =>
      (await depositsOf(addressOf(quote))).every(({ state }) => state !== 'seen'),
    )
    const depositor = party.refundTo.toLowerCase()
    expect(await depositsOf(addressOf(quote))).toEqual([
      { depositor, amount: units, state: 'taken', reason: null },
      { depositor, amount: 1n, state: 'ignored', reason: 'AMOUNT_TOO_LOW_TO_REFUND' },
    ])
    expect(await heldOf('base', 'TIDE', addressOf(quote))).toBe(1n)
    expect(await requestsOf(addressOf(quote))).toHaveLength(1)
  })

  test('Q-211: with another amount is quoted anew, and native coin goes back', async () => {
    const [party, stray] = [freshParty(), freshParty()]
    const [quote, other] = [await quotedToken(party), await quotedToken(stray)]
    await payToken(addressOf(quote), units / 2n)
    await pay(addressOf(other), amount)
    await reaches(quote, 'success')
    const received = await heldOf('optimism', 'USDC', party.recipient)
    expect(received).toBeGreaterThan((units * 9n) / 20n)
    expect(received).toBeLessThan(units / 2n)
    await waitUntil('the coin goes back', async () => (await nativeOf('base', stray.refundTo)) > 0n)
    expect(await nativeOf('base', stray.refundTo)).toBeLessThan(amount)
    expect(await depositsOf(addressOf(other))).toMatchObject([
      { amount, reason: 'INCORRECT_DEPOSIT_CURRENCY' },
    ])
    expect(await heldOf('optimism', 'USDC', stray.recipient)).toBe(0n)
  })

  test('of one use gives back what is above the quote, and all of a second payment', async () => {
    const party = freshParty()
    const quote = await quotedToken(party, { strict: true })
    await payToken(addressOf(quote), units * 2n)
    await reaches(quote, 'success')
    const gas = units - BigInt(quote.details.refundCurrency.amount)
    expect(await heldOf('optimism', 'USDC', party.recipient)).toBe(BigInt(quote.details.currencyOut.amount))
    await waitUntil('the rest goes back', async () => (await heldOf('base', 'USDC', party.refundTo)) > 0n)
    const rest = await heldOf('base', 'USDC', party.refundTo)
    expect(rest).toBe(units - gas)
    await payToken(addressOf(quote), units)
    await waitUntil('the second goes back', async () => (await heldOf('base', 'USDC', party.refundTo)) > rest)
    expect(await heldOf('base', 'USDC', party.refundTo)).toBe(rest + units - gas)
    expect(await heldOf('optimism', 'USDC', party.recipient)).toBe(BigInt(quote.details.currencyOut.amount))
    expect(await depositsOf(addressOf(quote))).toMatchObject([
      { amount: units * 2n, state: 'taken' },
      { amount: units, reason: 'DOUBLE_SPEND' },
    ])
    expect(await requestsOf(addressOf(quote))).toHaveLength(1)
  })

  test('Q-210: of one use is not used up by a stranger who pays too little: that goes back, the quote is filled', async () => {
    const party = freshParty()
    const quote = await quotedToken(party, { strict: true, tradeType: 'EXACT_OUTPUT' })
    const asked = BigInt(quote.details.currencyIn.amount)
    await payToken(addressOf(quote), asked / 2n)
    await waitUntil('the little is swept', async () => (await depositsOf(addressOf(quote))).length === 1)
    await payToken(addressOf(quote), asked)
    await reaches(quote, 'success')
    expect(await heldOf('optimism', 'USDC', party.recipient)).toBe(units)
    await waitUntil('the little goes back', async () => (await heldOf('base', 'USDC', party.refundTo)) > 0n)
    expect(await heldOf('base', 'USDC', party.refundTo)).toBeLessThan(asked / 2n)
    expect(await depositsOf(addressOf(quote))).toMatchObject([
      { amount: asked / 2n, reason: 'DEPOSITED_AMOUNT_TOO_LOW_TO_FILL' },
      { amount: asked, state: 'taken', reason: null },
    ])
  })

  test('between two currencies of one chain is filled there', async () => {
    const party = freshParty()
    const { chainId } = network.deployment.base
    const quote = await quotedToken(party, {
      destinationChainId: chainId,
      destinationCurrency: `0x${'0'.repeat(40)}`,
    })
    await payToken(addressOf(quote), units)
    await reaches(quote, 'success')
    expect(await nativeOf('base', party.recipient)).toBe(BigInt(quote.details.currencyOut.amount))
  })

  test('is swept again where a reorganization took the sweep away, and is filled once', async () => {
    const { node, client } = network.chains.base.chain
    const party = freshParty()
    const quote = await quotedToken(party)
    const address = addressOf(quote)
    await payToken(address, units)
    const paidIn = await node.snapshot()
    await waitUntil('it is swept', async () => (await heldOf('base', 'USDC', address)) === 0n)
    await node.revert({ id: paidIn })
    expect(await heldOf('base', 'USDC', address)).toBe(units)
    await waitUntil('it is swept again', async () => (await heldOf('base', 'USDC', address)) === 0n)
    await reaches(quote, 'success')
    const received = BigInt(quote.details.currencyOut.amount)
    expect(await heldOf('optimism', 'USDC', party.recipient)).toBe(received)
    const block = await client.getBlockNumber()
    await waitUntil('more blocks', async () => (await client.getBlockNumber()) > block + 5n)
    expect(await heldOf('optimism', 'USDC', party.recipient)).toBe(received)
    expect(await heldOf('base', 'USDC', party.refundTo)).toBe(0n)
  })
})

// Attackers: a payer who is filled at his token's value before it fell, a manipulator of a pool who blocks a payment,
// and a stranger who makes the solver swap dust.
describe('an address of a token that is swapped first', () => {
  const units = 50n * 10n ** 18n
  const quotedPrice = 4n * 10n ** 8n

  async function quotedTide(party: Party, more: object = {}): Promise<QuoteAnswer> {
    const wish = {
      pay: 'TIDE',
      receive: 'USDC',
      amount: units,
      more: { useDepositAddress: true, ...party, ...more },
    } as const
    return readOk(await postPatiently(`${url}/quote`, localRequest(network, wish)), quoteResponseSchema)
  }
  const payTide = (quote: QuoteAnswer, amount: bigint) => payToken(addressOf(quote), amount, 'TIDE')
  const received = (party: Party) => heldOf('optimism', 'USDC', party.recipient)
  const returned = async (party: Party) => ({
    tide: await heldOf('base', 'TIDE', party.refundTo),
    usdc: await heldOf('base', 'USDC', party.refundTo),
  })

  test.each<[string, object]>([
    ['an exact input', {}],
    ['an expected output', { tradeType: 'EXPECTED_OUTPUT', amount: '200000000' }],
    ['one use', { strict: true }],
  ])('is swapped, deposited for its depositor and filled: %s', async (_what, more) => {
    const party = freshParty()
    const quote = await quotedTide(party, more)
    const asked = BigInt(quote.details.currencyIn.amount)
    await payTide(quote, asked)
    await reaches(quote, 'success')
    const paidOut = await received(party)
    expect(paidOut).toBeGreaterThanOrEqual(BigInt(quote.details.currencyOut.minimumAmount))
    const [deposit, ...more2] = await depositsOf(addressOf(quote))
    expect(deposit).toMatchObject({ depositor: party.refundTo.toLowerCase(), state: 'taken', reason: null })
    expect(more2).toEqual([])
    expect(await heldOf('base', 'TIDE', addressOf(quote))).toBe(0n)
    expect(await requestsOf(addressOf(quote))).toHaveLength(1)
  })

  test('another amount is quoted anew for what it gives, with dust in native coin beside it', async () => {
    const party = freshParty()
    const quote = await quotedTide(party)
    await pay(addressOf(quote), 3n)
    await payTide(quote, units / 2n)
    await reaches(quote, 'success')
    const once = await received(party)
    expect(once).toBeGreaterThan(90n * 10n ** 6n)
    expect(once).toBeLessThan(100n * 10n ** 6n)
    expect(await nativeOf('base', party.refundTo)).toBe(3n)
    await payTide(quote, units)
    await waitUntil('the second payment is filled', async () => (await received(party)) > once * 2n)
  })

  test('of one use gives back what it swapped of too little, and of a second payment', async () => {
    const party = freshParty()
    const quote = await quotedTide(party, { strict: true })
    await payTide(quote, units / 2n)
    await waitUntil('the little goes back', async () => (await returned(party)).usdc > 0n)
    const little = (await returned(party)).usdc
    expect(little).toBeLessThan(100n * 10n ** 6n)
    expect(await received(party)).toBe(0n)
    await payTide(quote, units)
    await reaches(quote, 'success')
    await payTide(quote, units)
    await waitUntil('the second goes back', async () => (await returned(party)).usdc > little)
    expect(await depositsOf(addressOf(quote))).toMatchObject([
      { reason: 'DEPOSITED_AMOUNT_TOO_LOW_TO_FILL' },
      { state: 'taken' },
      { reason: 'DOUBLE_SPEND' },
    ])
    expect(await returned(party)).toMatchObject({ tide: 0n })
  })

  test('that fell meanwhile is quoted anew where the address may be, and goes back as it is where not', async () => {
    const [open, single] = [freshParty(), freshParty()]
    const [quote, once] = [await quotedTide(open), await quotedTide(single, { strict: true })]
    const before = BigInt(quote.details.currencyOut.amount)
    await movePrice(network, { price: 'TIDE/USD', answer: (quotedPrice * 8n) / 10n })
    try {
      await payTide(quote, units)
      await payTide(once, units)
      await reaches(quote, 'success')
      expect(await received(open)).toBeLessThan((before * 85n) / 100n)
      expect(await received(open)).toBeGreaterThan((before * 75n) / 100n)
      await waitUntil('it goes back', async () => (await returned(single)).tide > 0n)
      expect(await returned(single)).toEqual({ tide: units, usdc: 0n })
      expect(await received(single)).toBe(0n)
      expect(await depositsOf(addressOf(once))).toEqual([])
    } finally {
      await movePrice(network, { price: 'TIDE/USD', answer: quotedPrice })
    }
  })

  test('dust stays, and costs the solver nothing', async () => {
    const party = freshParty()
    const quote = await quotedTide(party)
    await payTide(quote, 10n ** 12n)
    await waitUntil('it is left', async () => {
      const [row] = await database.query<{ left_reason: string | null }>(
        'select left_reason from deposit_address where address = $1',
        [addressOf(quote)],
      )
      return row?.left_reason === 'AMOUNT_TOO_LOW_TO_REFUND'
    })
    expect(await sweepsOf(addressOf(quote))).toBe(0)
    await payTide(quote, units)
    await waitUntil('it is filled', async () => (await received(party)) > 0n)
  })
})

test('what the solver is short of is filled once it was brought, and not before', async () => {
  const mint = (chain: 'base' | 'optimism', to: Hex, amountMinted: bigint) =>
    network.chains[chain].chain.send(network.keys.deployer, [
      {
        what: 'mint',
        to: currencyAddress(network, chain, 'USDC'),
        data: encodeFunctionData({
          abi: tokenAbi,
          functionName: 'mint',
          args: [[{ to, amount: amountMinted }]],
        }),
      },
    ])
  const party = freshParty()
  const fillWallet = network.keys.fillWallet.address
  const units = (await heldOf('optimism', 'USDC', fillWallet)) * 2n
  await mint('base', userOf(network, 1).address, units)
  const more = { useDepositAddress: true, useExternalLiquidity: true, ...party }
  const wish = { pay: 'USDC', receive: 'USDC', amount: units, more } as const
  const quote = readOk(await postPatiently(`${url}/quote`, localRequest(network, wish)), quoteResponseSchema)
  expect(quote.details).toMatchObject({ externalLiquidity: 'used' })
  await payToken(addressOf(quote), units)
  await waitUntil('its fill is offered', async () => {
    const fills = await database.query(`select 1 from work_item where kind = 'fill' and request_id = $1`, [
      bytesOf(quote.requestId),
    ])
    return fills.length === 1
  })
  // Each of its looks lasts 50 ms.
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  expect(await heldOf('optimism', 'USDC', party.recipient)).toBe(0n)
  await mint('optimism', fillWallet, units)
  await reaches(quote, 'success')
  expect(await heldOf('optimism', 'USDC', party.recipient)).toBe(BigInt(quote.details.currencyOut.amount))
})
