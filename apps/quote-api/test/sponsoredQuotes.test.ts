// Goal: a sponsored quote of the running service holds exactly what it shows, gives it back when nothing
// comes of it, and every micro-USDC of it can be told afterwards. Method: real nodes, PostgreSQL, the
// service with its jobs; money is read from the ledger itself.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase, type Database, type EmbeddedPostgres, startTestPostgres } from '@causeway/database'
import { accrueAppFees, setPolicy, setSponsorFrozen, verifyLedger } from '@causeway/ledger'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quoteResponseSchema } from '../src/http/wire/quoteResponse.ts'
import { startTestService, type TestService } from './fixtures/service.ts'
import { type Answer, postPatiently, type QuoteAnswer, readOk, send } from './serviceSupport/callService.ts'
import { localRequest } from './serviceSupport/localRequest.ts'
import { createSponsor, moneyOf, pepperText, type TestSponsor } from './sponsorSupport/sponsors.ts'

const usd = 1_000_000n
let network: TestNetwork
let directory: string
let server: EmbeddedPostgres
let database: Database
let service: TestService
let url: string

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  directory = await mkdtemp(join(tmpdir(), 'causeway-sponsored-'))
  server = await startTestPostgres({ dataDirectory: join(directory, 'postgres') })
  service = await startTestService(network, {
    DATABASE_URL: server.connectionString,
    API_KEY_PEPPERS: pepperText,
  })
  url = (await service.listen()).publicUrl
  database = createDatabase({ connectionString: server.connectionString, poolSize: 2 })
})
afterAll(async () => {
  await service?.stop()
  await database?.close()
  await server?.stop()
  await network?.stop()
  await rm(directory, { recursive: true, force: true })
})

/** Addresses of their own, so that no test meets another's holds. */
let users = 0
function newUser(): string {
  users += 1
  return `0x${users.toString(16).padStart(40, 'b')}`
}

function ask(sponsor: TestSponsor, change: object = {}): Promise<Answer> {
  const user = newUser()
  const more = { user, recipient: user, subsidizeFees: true, ...change }
  return postPatiently(`${url}/quote`, localRequest(network, { amount: 60_000_000n, more }), {
    'x-api-key': sponsor.apiKey,
  })
}

/** A quote's sponsorship in the words of `/requests/v3`. */
function asHistory(sponsorship: QuoteAnswer['feeSponsorship']): unknown {
  return JSON.parse(JSON.stringify(sponsorship).replaceAll('"relay"', '"platform"'))
}

async function quoted(sponsor: TestSponsor, change: object = {}): Promise<QuoteAnswer> {
  return readOk(await ask(sponsor, change), quoteResponseSchema)
}

const get = (path: string, sponsor?: TestSponsor) =>
  send(url + path, sponsor === undefined ? {} : { headers: { 'x-api-key': sponsor.apiKey } })
const getJson = async (path: string, sponsor?: TestSponsor) => JSON.parse((await get(path, sponsor)).text)

describe('a sponsored quote', () => {
  test('holds what it shows, in the commit that stores it, and the balance tells the rest', async () => {
    const sponsor = await createSponsor(database, 100n * usd)
    const quote = await quoted(sponsor)
    const subsidized = BigInt(quote.fees.subsidized.amount)
    expect(subsidized).toBe(BigInt(quote.fees.relayer.amount))
    expect(subsidized).toBeGreaterThan(0n)
    expect(quote.feeSponsorship?.status).toBe('full')
    const { available, held } = await moneyOf(database, sponsor.wallet)
    expect([available, held]).toEqual([100n * usd - subsidized, subsidized])
    const balance = await getJson(`/app-fees/${sponsor.wallet}/balances`)
    expect(balance.amount).toBe(available.toString())

    const [row] = await database.query<{ one_commit: boolean; seconds: bigint; debit: bigint }>(
      `select o.xmin::text = h.xmin::text and o.xmin::text = s.xmin::text as one_commit,
         round(extract(epoch from h.expires_at - h.created_at))::bigint as seconds, s.debit_micro_usd as debit
       from orders o join hold h using (request_id) join request_sponsorship s using (request_id)
       where request_id = decode($1, 'hex')`,
      [quote.requestId.slice(2)],
    )
    // A minute of the quote, half a minute of grace.
    expect(row).toEqual({ one_commit: true, seconds: 90n, debit: subsidized })
  })

  test('again takes the place of the one before; another user, route or trade type does not', async () => {
    const sponsor = await createSponsor(database, 1_000n * usd)
    const user = newUser()
    const same = { user, recipient: user }
    await quoted(sponsor, same)
    const one = await moneyOf(database, sponsor.wallet)
    const again = await quoted(sponsor, same)
    expect((await moneyOf(database, sponsor.wallet)).held).toBe(BigInt(again.fees.subsidized.amount))
    expect(one.held).toBeGreaterThan(0n)
    await quoted(sponsor, { ...same, recipient: newUser() })
    await quoted(sponsor, { ...same, tradeType: 'EXACT_OUTPUT' })
    const [row] = await database.query<{ holds: bigint }>(
      `select count(*) as holds from hold h join account a on a.id = h.sponsor
       where a.owner = $1 and h.state = 'reserved'`,
      [sponsor.wallet],
    )
    expect(row?.holds).toBe(3n)
  })

  test('that nobody executes is freed by the sweeper once it has expired', async () => {
    const sponsor = await createSponsor(database, 100n * usd)
    await quoted(sponsor)
    await database.query(
      `update hold h set expires_at = clock_timestamp() from account a where a.id = h.sponsor and a.owner = $1`,
      [sponsor.wallet],
    )
    await expect
      .poll(() => moneyOf(database, sponsor.wallet), { timeout: 30_000 })
      .toEqual({ available: 100n * usd, held: 0n })
  })

  test('L-50: is paid by the user, with the reason, whatever the ledger refuses', async () => {
    const poor = await createSponsor(database, 1n)
    const frozen = await createSponsor(database, 100n * usd)
    await setSponsorFrozen(database, {
      sponsor: frozen.wallet,
      frozen: true,
      actor: 'test',
      reason: 'test',
    })
    const ruled = await createSponsor(database, 100n * usd)
    await setPolicy(database, { apiKeyId: ruled.keyId, rules: { maxPerRequest: '1' }, actor: 'test' })
    const reasons = []
    for (const sponsor of [poor, frozen, ruled]) {
      const before = await moneyOf(database, sponsor.wallet)
      const quote = await quoted(sponsor)
      expect(quote.fees.subsidized.amount).toBe('0')
      expect(quote.feeSponsorship?.status).toBe('none')
      expect(await moneyOf(database, sponsor.wallet)).toEqual(before)
      reasons.push(quote.feeSponsorship?.reason)
    }
    expect(reasons).toEqual(['INSUFFICIENT_BALANCE', 'POLICY_SPONSOR_FROZEN', 'POLICY_MAX_PER_REQUEST'])
  })

  test('is paid in full or up to its cap by a balance that covers that once', async () => {
    const topUp = await quoted(await createSponsor(database, 10n * usd), { topupGas: true })
    expect(BigInt(topUp.fees.subsidized.amount)).toBeGreaterThan(2n * usd)
    expect(topUp.feeSponsorship).toMatchObject({ status: 'full' })
    const dear = { topupGas: true, topupGasAmount: '4200000', maxSubsidizationAmount: '1000000' }
    const sponsor = await createSponsor(database, usd)
    const capped = await quoted(sponsor, dear)
    expect(capped.fees.subsidized.amount).toBe('1000000')
    expect(capped.feeSponsorship).toMatchObject({ status: 'partial', reason: 'CAP_BELOW_FEES' })
    expect(await moneyOf(database, sponsor.wallet)).toEqual({ available: 0n, held: usd })
    const next = await quoted(sponsor, dear)
    expect(next.feeSponsorship).toMatchObject({ status: 'none', reason: 'INSUFFICIENT_BALANCE' })
  })

  test('spam starves nobody: quotes of strangers lock half of the balance, later ones hold at their deposit', async () => {
    const sponsor = await createSponsor(database, usd)
    const answers = await Promise.all(Array.from({ length: 60 }, () => quoted(sponsor)))
    expect(new Set(answers.map(({ feeSponsorship }) => feeSponsorship?.status))).toEqual(new Set(['full']))
    const [now, later] = [false, true].map((isLater) =>
      answers.filter(({ feeSponsorship }) => (feeSponsorship?.heldAtDeposit ?? false) === isLater),
    )
    const sum = now?.reduce((total, { fees }) => total + BigInt(fees.subsidized.amount), 0n)
    const { available, held } = await moneyOf(database, sponsor.wallet)
    expect(held).toBe(sum)
    expect(held).toBeLessThanOrEqual(usd / 2n)
    expect(available).toBeGreaterThanOrEqual(usd / 2n)
    expect(later?.length).toBeGreaterThan(10)
    const requestId = later?.[0]?.requestId
    const { requests } = await getJson(`/requests/v3?id=${requestId}`, sponsor)
    expect(requests[0].data.feeSponsorship).toEqual(asHistory(later?.[0]?.feeSponsorship))
  })

  test('together with others of one sponsor never holds more than there is', async () => {
    const [{ fees } = { fees: undefined }] = [await quoted(await createSponsor(database, 100n * usd))]
    const each = BigInt(fees?.subsidized.amount ?? 0)
    expect(each).toBeGreaterThan(0n)
    const sponsor = await createSponsor(database, 400n * each)
    const answers = await Promise.all(Array.from({ length: 120 }, () => quoted(sponsor)))
    const sponsored = answers.filter(({ feeSponsorship }) => feeSponsorship?.status === 'full')
    expect(sponsored.length).toBeGreaterThan(50)
    expect((await moneyOf(database, sponsor.wallet)).held).toBe(
      sponsored.reduce((sum, answer) => sum + BigInt(answer.fees.subsidized.amount), 0n),
    )
  })
})

/** As settling does with a deposit. */
const setPaid = (requestId: string) =>
  database.query(`update orders set status = 'pending' where request_id = decode($1, 'hex')`, [
    requestId.slice(2),
  ])

describe('GET /requests/v3', () => {
  test('lists the requests of the key, newest first, page by page, each once', async () => {
    const sponsor = await createSponsor(database, 100n * usd)
    const other = await createSponsor(database, 100n * usd)
    const ids: string[] = []
    for (let index = 0; index < 5; index += 1) ids.unshift((await quoted(sponsor)).requestId)
    const others = await quoted(other)
    for (const id of [...ids, others.requestId]) await setPaid(id)
    const seen: string[] = []
    let path = '/requests/v3?limit=2'
    for (let pages = 0; pages < 5; pages += 1) {
      const page = await getJson(path, sponsor)
      seen.push(...page.requests.map(({ id }: { id: string }) => id))
      if (page.continuation === undefined) break
      path = `/requests/v3?limit=2&continuation=${page.continuation}`
    }
    expect(seen).toEqual(ids)
    const oldest = await getJson('/requests/v3?sortDirection=asc&limit=1', sponsor)
    expect(oldest.requests[0].id).toBe(ids.at(-1))
  })

  test('tells the costs and who pays them', async () => {
    const sponsor = await createSponsor(database, 100n * usd)
    const appFees = [{ recipient: `0x${'a1'.repeat(20)}`, fee: '25' }]
    const quote = await quoted(sponsor, { appFees, maxSubsidizationAmount: '10000' })
    const { requests } = await getJson(`/requests/v3?id=${quote.requestId}&includeOrderData=true`, sponsor)
    expect(requests).toHaveLength(1)
    const [request] = requests
    expect(request).toMatchObject({
      id: quote.requestId,
      orderId: quote.protocol?.v2.orderId,
      status: 'waiting',
      user: quote.details.sender,
      requestType: 'Bridge',
      features: ['app_fees'],
      data: {
        failReason: null,
        inTxs: [],
        fees: {
          quoted: {
            sponsored: { amount: '10000', usd: quote.fees.subsidized.amountUsd },
            app: { amount: quote.fees.app.amount },
          },
        },
        appFees: { quoted: [{ recipient: appFees[0]?.recipient, bps: '25', amount: quote.fees.app.amount }] },
        feeSponsorship: asHistory(quote.feeSponsorship),
        metadata: {
          currencyIn: quote.details.currencyIn,
          currencyOut: quote.details.currencyOut,
          rate: quote.details.rate,
        },
      },
      protocol: { v2: { orderData: quote.protocol?.v2.orderData } },
    })
    const { swap, execution, platform } = request.data.fees.quoted
    const parts = [swap, execution, platform].map(({ amount }: { amount: string }) => BigInt(amount))
    expect(parts.reduce((sum, part) => sum + part, 0n).toString()).toBe(quote.fees.relayer.amount)
  })

  test('shows what was debited once it was', async () => {
    const sponsor = await createSponsor(database, 100n * usd)
    const quote = await quoted(sponsor)
    const amount = quote.fees.subsidized.amount
    await database.query(`select ledger_hold_post(decode($1, 'hex'), $2, 'test', '{}')`, [
      quote.requestId.slice(2),
      amount,
    ])
    await setPaid(quote.requestId)
    const { requests } = await getJson('/requests/v3', sponsor)
    expect(requests[0].data.feeSponsorship.actual).toMatchObject({
      sponsorPayment: { amount },
      sponsoredTotal: quote.feeSponsorship?.quoted.sponsoredTotal,
    })
  })

  test('L-10: shows the shares of a smaller deposit as what was debited for it', async () => {
    const sponsor = await createSponsor(database, 100n * usd)
    const quote = await quoted(sponsor)
    const debited = BigInt(quote.fees.subsidized.amount) / 2n
    await database.query(`select ledger_hold_post(decode($1, 'hex'), $2, 'test', '{}')`, [
      quote.requestId.slice(2),
      debited,
    ])
    await setPaid(quote.requestId)
    const { requests } = await getJson('/requests/v3', sponsor)
    const { actual } = requests[0].data.feeSponsorship
    expect(actual).toMatchObject({
      sponsorPayment: { amount: debited.toString() },
      sponsoredTotal: { amount: debited.toString() },
    })
    const components: readonly { sponsored: { amount: string } }[] = Object.values(actual.components)
    const sponsored = components.reduce((sum, each) => sum + BigInt(each.sponsored.amount), 0n)
    // Each share is rounded down.
    expect([debited, debited - 1n, debited - 2n]).toContain(sponsored)
  })

  test('filters by status, user, chain and time', async () => {
    const sponsor = await createSponsor(database, 100n * usd)
    const quote = await quoted(sponsor)
    const now = Math.floor(Date.now() / 1_000)
    const count = async (query: string) => (await getJson(`/requests/v3?${query}`, sponsor)).requests.length
    expect(await count('status=waiting')).toBe(0)
    await setPaid(quote.requestId)
    expect(await count('status=pending')).toBe(1)
    expect(await count('status=success')).toBe(0)
    expect(await count(`user=${quote.details.sender.toUpperCase().replace('0X', '0x')}`)).toBe(1)
    expect(await count(`user=${newUser()}`)).toBe(0)
    expect(await count('originChainId=8453&destinationChainId=10')).toBe(1)
    expect(await count('originChainId=10')).toBe(0)
    expect(await count(`startTimestamp=${now - 600}&endTimestamp=${now + 600}`)).toBe(1)
    expect(await count(`startTimestamp=${now + 600}`)).toBe(0)
    expect(await count(`endTimestamp=${now - 600}`)).toBe(0)
  })

  test.each([
    ['a cursor that is none', 'continuation=abc', 'INVALID_CURSOR'],
    ['a cursor with a tail', `continuation=${'A'.repeat(55)}`, 'INVALID_CURSOR'],
    ['a page of 51', 'limit=51', 'INVALID_REQUEST'],
    ['a page of none', 'limit=0', 'INVALID_REQUEST'],
    ['an unknown status', 'status=done', 'INVALID_REQUEST'],
    ['an id that is no id', 'id=0x12', 'INVALID_REQUEST'],
  ])('%s is 400', async (_name, query, errorCode) => {
    const sponsor = await createSponsor(database, 0n)
    const answer = await get(`/requests/v3?${query}`, sponsor)
    expect([answer.status, JSON.parse(answer.text).errorCode]).toEqual([400, errorCode])
  })

  test('needs a key', async () => {
    expect((await get('/requests/v3')).status).toBe(401)
  })
})

describe('GET /requests/v2', () => {
  test('finds a request by id, order id, transaction and deposit address, without a key', async () => {
    const sponsor = await createSponsor(database, 100n * usd)
    const quote = await quoted(sponsor)
    const bytes = quote.requestId.slice(2)
    const hash = `0x${bytes}`
    await database.query(
      `insert into request_transaction (request_id, role, chain_id, tx_hash, block_number)
       values (decode($1, 'hex'), 'deposit', 8453, $2, 7)`,
      [bytes, hash],
    )
    const depositAddress = newUser()
    await database.query(`update orders set deposit_address = $2 where request_id = decode($1, 'hex')`, [
      bytes,
      depositAddress,
    ])
    for (const query of [
      `id=${quote.requestId}`,
      `orderId=${quote.protocol?.v2.orderId}`,
      `hash=${hash.toUpperCase().replace('0X', '0x')}`,
      `depositAddress=${depositAddress}`,
    ]) {
      const { requests } = await getJson(`/requests/v2?${query}`)
      expect(requests, query).toHaveLength(1)
      expect(requests[0]).toMatchObject({
        id: quote.requestId,
        status: 'waiting',
        depositAddress: { address: depositAddress },
        data: {
          failReason: 'N/A',
          subsidizedRequest: true,
          inTxs: [{ hash, chainId: 8453, type: 'deposit', block: 7 }],
          outTxs: [],
        },
      })
    }
    expect((await getJson(`/requests/v2?id=0x${'0'.repeat(64)}`)).requests).toEqual([])
  })

  test('L-52: lists nobody else: a look-up is needed, and a user needs a key linked to that wallet', async () => {
    const sponsor = await createSponsor(database, 100n * usd)
    const own = await quoted(sponsor, { user: sponsor.wallet, recipient: sponsor.wallet })
    expect((await get('/requests/v2')).status).toBe(400)
    expect((await get('/requests/v2?status=waiting', sponsor)).status).toBe(400)
    expect((await get(`/requests/v2?user=${sponsor.wallet}`)).status).toBe(401)
    expect((await getJson(`/requests/v2?user=${newUser()}`, sponsor)).requests).toEqual([])
    await setPaid(own.requestId)
    const { requests } = await getJson(`/requests/v2?user=${sponsor.wallet}`, sponsor)
    expect(requests.map(({ id }: { id: string }) => id)).toEqual([own.requestId])
  })
})

describe('money history', () => {
  test('Q-110: an event is found by its id, for keys of the wallet only', async () => {
    const sponsor = await createSponsor(database, 100n * usd)
    await quoted(sponsor)
    const path = `/balance-events/${sponsor.wallet}`
    const { events } = await getJson(path, sponsor)
    expect(events).toHaveLength(2)
    for (const event of events) {
      const found = await getJson(`${path}?id=${event.id}&includeNegativeBalances=true`, sponsor)
      expect(found).toMatchObject({ events: [event], continuation: null })
    }
    expect((await getJson(`${path}?id=${events[0].id + 1_000_000}`, sponsor)).events).toEqual([])
    expect((await get(`${path}?id=${events[0].id}`)).status).toBe(401)
  })

  test('explains a balance event by event, for keys of the wallet only', async () => {
    const sponsor = await createSponsor(database, 100n * usd)
    const other = await createSponsor(database, 100n * usd)
    const quote = await quoted(sponsor)
    const path = `/balance-events/${sponsor.wallet}`
    expect((await get(path)).status).toBe(401)
    expect((await get(path, other)).status).toBe(403)
    expect((await get('/balance-events/0x12', sponsor)).status).toBe(400)
    expect((await get(`${path}?limit=251`, sponsor)).status).toBe(400)
    expect((await get(`${path}?cursor=abc`, sponsor)).status).toBe(400)

    const whole = await getJson(path, sponsor)
    const subsidized = BigInt(quote.fees.subsidized.amount)
    expect(whole.wallet).toBe(sponsor.wallet)
    expect(whole.events).toMatchObject([
      { context: 'set-pending-amount', delta: (-subsidized).toString(), requestId: quote.requestId },
      { delta: (100n * usd).toString(), balanceAfter: (100n * usd).toString(), requestId: null },
    ])
    const usdc = network.deployment.base.tokens.USDC.toLowerCase()
    expect(whole.balances).toEqual([
      { kind: 'sponsorship', chainId: 8453, currency: usdc, amount: (100n * usd - subsidized).toString() },
    ])
    const elsewhere = { balances: [], events: [] }
    expect(await getJson(`${path}?chainId=8453&currency=${usdc}`, sponsor)).toEqual(whole)
    expect(await getJson(`${path}?chainId=10`, sponsor)).toMatchObject(elsewhere)
    expect(await getJson(`${path}?currency=0x12`, sponsor)).toMatchObject(elsewhere)
    expect((await get(`${path}?chainId=x`, sponsor)).status).toBe(400)
    const first = await getJson(`${path}?limit=1`, sponsor)
    const second = await getJson(`${path}?limit=1&cursor=${first.continuation}`, sponsor)
    expect([...first.events, ...second.events]).toEqual(whole.events)
  })

  test('app fees accrue per currency and can be read by anyone', async () => {
    const usdc = network.deployment.base.tokens.USDC.toLowerCase()
    const recipient = newUser()
    const asset = { chainId: 8453, address: usdc, symbol: 'USDC', name: 'USD Coin', decimals: 6 }
    await database.transaction((tx) =>
      accrueAppFees(tx, {
        requestId: `0x${'ab'.repeat(32)}`,
        asset,
        fees: [{ recipient, amount: 250_000n }],
      }),
    )
    const claimable = await getJson(`/app-fees/${recipient}/claimable`)
    expect(claimable).toMatchObject({
      wallet: recipient,
      balances: [
        {
          currency: { chainId: 8453, address: usdc },
          amount: '250000',
          amountFormatted: '0.25',
          amountUsd: '0.250000',
        },
      ],
    })
    expect(await getJson(`/app-fees/${recipient}/claims`)).toEqual({ claims: [] })
    expect((await get(`/app-fees/${recipient}/claims?limit=51`)).status).toBe(400)
    expect((await get(`/app-fees/${recipient}/claims?continuation=zz`)).status).toBe(400)
  })
})

test('after all of it the books are in order', async () => {
  expect(await verifyLedger(database)).toEqual([])
})

// Attacker: a caller who knows another integrator's wallet address, and wants to know its beneficiaries.
describe('a statement', () => {
  const today = new Date().toISOString().slice(0, 10)
  const statement = (wallet: string, query: string) => `/sponsorship/statements/${wallet}?${query}`

  test('opens and closes with what the ledger has, as JSON and as CSV', async () => {
    const sponsor = await createSponsor(database, 5n * usd)
    const { feeSponsorship } = await quoted(sponsor)
    expect(feeSponsorship?.status).toBe('full')
    const { available, held } = await moneyOf(database, sponsor.wallet)
    const query = `from=${today}&groupBy=day,user`
    const told = await getJson(statement(sponsor.wallet, query), sponsor)
    expect(told).toMatchObject({ wallet: sponsor.wallet, from: today, isClosed: false })
    const [account] = told.accounts
    expect(account).toMatchObject({
      kind: 'sponsorship',
      symbol: 'USDC',
      decimals: 6,
      opening: { posted: '0', held: '0' },
    })
    expect(account.lines).toEqual([{ kind: 'correction', day: today, count: 1, amount: String(5n * usd) }])
    expect(account.closing).toEqual({ posted: String(available + held), held: String(held) })
    const csv = await get(statement(sponsor.wallet, `${query}&format=csv`), sponsor)
    const rows = csv.text.trimEnd().split('\r\n')
    expect(rows.map((row) => row.split(',')[0])).toEqual(['row', 'opening', 'correction', 'closing', 'held'])
    expect(rows.at(-1)?.endsWith(`,${held}`)).toBe(true)
    const ended = await getJson(statement(sponsor.wallet, 'month=2026-10'), sponsor)
    expect(ended).toMatchObject({ isClosed: true, accounts: [{ lines: [], closing: { posted: '0' } }] })
  })

  test('is for keys of its wallet, and a period that makes no sense is refused by name', async () => {
    const sponsor = await createSponsor(database, usd)
    const other = await createSponsor(database, usd)
    const path = statement(sponsor.wallet, 'month=2026-10')
    const refusal = async (asked: string, by?: TestSponsor) => {
      const { status, text } = await get(asked, by)
      return [status, JSON.parse(text).errorCode]
    }
    expect(await refusal(path)).toEqual([401, 'UNAUTHORIZED'])
    expect(await refusal(path, other)).toEqual([403, 'FORBIDDEN'])
    for (const query of ['month=2026-13', 'from=2026-02-30', 'month=2026-10&from=2026-10-01', 'groupBy=day'])
      expect(await refusal(statement(sponsor.wallet, query), sponsor)).toEqual([400, 'INVALID_REQUEST'])
    const colours = statement(sponsor.wallet, 'month=2026-10&groupBy=colour')
    expect(await refusal(colours, sponsor)).toEqual([400, 'INVALID_REQUEST'])
  })
})

test('Q-32: nobody is refused a quote because of what others asked for in his name', async () => {
  const [attacker, victim] = [await createSponsor(database, 0n), await createSponsor(database, 0n)]
  const burn = '0x000000000000000000000000000000000000dEaD'
  const own = newUser()
  const large = 20_000n * usd
  const ask = async (
    user: string,
    { from = '198.51.100.1', by }: { readonly from?: string; readonly by?: TestSponsor },
    more: Partial<Parameters<typeof localRequest>[1]> = {},
  ) => {
    const answer = await service.app.inject({
      method: 'POST',
      url: '/quote',
      remoteAddress: from,
      headers: by === undefined ? {} : { 'x-api-key': by.apiKey },
      payload: localRequest(network, { amount: large, more: { user, recipient: newUser() }, ...more }),
    })
    return answer.json().errorCode ?? answer.statusCode
  }
  const away = { from: 'optimism', to: 'base' } as const
  for (const user of [own, burn]) {
    const attackers = [
      ...[1, 2, 3].map((host) => ({ from: `203.0.113.${host}` })),
      { from: '2001:db8:1::1' },
      { by: attacker },
    ]
    for (const one of attackers) {
      let answer: unknown = 200
      for (let asked = 0; asked < 100 && answer === 200; asked += 1) answer = await ask(user, one)
      expect(answer).toBe('OPEN_QUOTES_LIMIT')
    }
    for (const one of [{}, { by: victim }, { from: '2001:db8:2::1' }]) {
      expect(await ask(user, one)).toBe(200)
      expect(await ask(user, one, away)).toBe(200)
      expect(await ask(user, one, { receive: 'native' })).toBe(200)
    }
    // A limit that is full on one chain refuses its own holder nothing on another.
    expect(await ask(user, { from: '203.0.113.1' }, away)).toBe(200)
  }
})
