// Goal: the admin routes do what the commands do, and refuse what would change nothing useful. Method:
// the real listener over a real database.

import { ConfigurationError, Secret } from '@causeway/core'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { createAdminListener, type HttpApp } from '@causeway/http'
import { accrueAppFees, haltReservations, ledgerMigrations, openAppFeeClaim } from '@causeway/ledger'
import { createLogger } from '@causeway/service'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parsePeppers } from '../src/access/keys/peppers.ts'
import { linkWallet } from '../src/access/wallets/walletAdministration.ts'
import { adminDescription } from '../src/http/admin/adminOperation.ts'
import { registerAdmin } from '../src/http/admin/registerAdmin.ts'
import { errorPolicy } from '../src/http/errorPolicy.ts'
import { statusOf } from '../src/operate/admin/status.ts'
import { createAdministration } from '../src/operate/administration.ts'
import { pepperText } from './accessSupport/accessService.ts'
import { orderMigrations } from './orderSupport/orders.ts'
import { createSponsor } from './sponsorSupport/sponsors.ts'

const wallet = '0x2e988a386a799f506693793c6a5af6b54dfaabfb'
let testDatabase: TestDatabase
let app: HttpApp
beforeAll(async () => {
  const directories = [{ name: 'ledger', path: ledgerMigrations }, orderMigrations]
  testDatabase = await startTestDatabase({ directories })
  const logger = createLogger({ service: 'quote-api', level: 'silent' })
  app = await createAdminListener({
    logger,
    errors: errorPolicy,
    host: '127.0.0.1',
    isLocal: true,
    openApi: adminDescription,
  })
  const peppers = parsePeppers(new Secret(pepperText))
  const { database } = testDatabase
  const config = {
    environment: 'mainnets.prod',
    configDirectory: 'configs',
    webhooks: { allowPrivate: false },
  }
  const chain = () => Promise.reject(new ConfigurationError('CUSTODY_ADDRESS is not set.'))
  const retention = { quotesDays: 30, requestsDays: undefined }
  registerAdmin(app, createAdministration({ config, database, peppers }), {
    database,
    chain,
    retention,
    readStatus: async () => statusOf([]),
  })
})
afterAll(async () => {
  await app?.close()
  await testDatabase?.stop()
})

async function ask(method: 'GET' | 'POST' | 'PUT', url: string, payload?: object) {
  const headers = { host: '127.0.0.1:3002' }
  const response = await app.inject({
    method,
    url: `/admin${url}`,
    headers,
    ...(payload !== undefined && { payload }),
  })
  return { status: response.statusCode, body: response.json() }
}

test('a key goes through its life, with its wallet and its policy', async () => {
  const created = await ask('POST', '/keys', { label: 'shop' })
  expect([created.status, created.body.label]).toEqual([201, 'shop'])
  expect(created.body.apiKey).toMatch(/^causeway_live_/)
  const { id } = created.body
  const path = `/keys/${id}`
  expect(await ask('POST', `${path}/unlink-wallet`, {})).toMatchObject({ status: 409 })
  await testDatabase.database.transaction((tx) => linkWallet(tx, { apiKeyId: id, wallet }))
  const { body: linked } = await ask('GET', '/wallets')
  expect(linked.wallets).toMatchObject([{ wallet, keys: [{ id, label: 'shop' }] }])

  expect((await ask('GET', `${path}/policy`)).body).toEqual({ usage: [] })
  const rules = { maxPerRequest: '250000' }
  expect(await ask('PUT', `${path}/policy`, { rules })).toEqual({ status: 200, body: { id, version: 1 } })
  expect((await ask('PUT', `${path}/policy`, { rules: { maxPerReqest: '1' } })).body.errorCode).toBe(
    'INVALID_POLICY',
  )
  const { body: shown } = await ask('GET', `${path}/policy`)
  expect(shown.policy).toMatchObject({ version: 1, actor: 'admin', rules: { active: true, ...rules } })
  const request = { user: wallet, recipient: wallet, originChainId: 8_453, destinationChainId: 10 }
  const explained = await ask('POST', `${path}/policy/explain`, { ...request, amountMicroUsd: '250001' })
  expect(explained.body).toMatchObject({ outcome: 'policy_refused', policyVersion: 1 })
  expect(explained.body.checks).toContainEqual({
    kind: 'policy',
    rule: 'MAX_PER_REQUEST',
    passed: false,
    limit: '250000',
    used: '0',
    requested: '250001',
  })
  expect((await ask('POST', `${path}/policy/remove`, {})).body).toEqual({ id, version: 2 })
  const free = await ask('POST', `${path}/policy/explain`, { ...request, amountMicroUsd: '250001' })
  expect(free.body.outcome).toBe('insufficient_balance')

  const rotated = await ask('POST', `${path}/rotate`, {})
  expect(rotated.body).toMatchObject({ id, label: 'shop' })
  const { body: listed } = await ask('GET', '/keys')
  expect(listed.keys).toMatchObject([{ id, status: 'active', wallet }])
  expect(listed.keys[0].secrets).toHaveLength(2)
  expect(JSON.stringify(listed)).not.toContain(created.body.apiKey.slice(-30))
  expect((await ask('POST', `${path}/unlink-wallet`, {})).body).toEqual({ id, wallet })
  expect((await ask('POST', `${path}/revoke`, {})).status).toBe(200)
  expect((await ask('PUT', `${path}/policy`, { rules })).body.errorCode).toBe('API_KEY_REVOKED')
  const actions = await testDatabase.database.query(
    "select action from admin_action where outcome = 'done' order by id",
  )
  expect(actions.map(({ action }) => action)).toEqual([
    'keys.create',
    'wallets.link',
    'policies.set',
    'policies.remove',
    'keys.rotate',
    'wallets.unlink',
    'keys.revoke',
  ])
})

test('the webhook of a key is set, shown, given a new secret and removed', async () => {
  const { body: key } = await ask('POST', '/keys', { label: 'told' })
  const path = `/keys/${key.id}/webhook`
  expect((await ask('GET', path)).body).toMatchObject({ errorCode: 'WEBHOOK_NOT_FOUND', statusCode: 404 })
  const url = 'https://shop.example/hook'
  const set = await ask('PUT', path, { url, headers: { Authorization: 'Bearer hidden' } })
  expect(set).toMatchObject({ status: 200, body: { id: key.id, url } })
  expect(set.body.secret).toMatch(/^whsec_/)
  const { body: shown } = await ask('GET', path)
  expect(shown).toMatchObject({ url, headerNames: ['authorization'], waiting: 0, failed: 0 })
  expect(JSON.stringify(shown)).not.toContain('hidden')
  expect((await ask('PUT', path, { url })).body).toEqual({ id: key.id, url })
  const { body: rotated } = await ask('POST', `${path}/rotate-secret`, {})
  expect(rotated.secret).not.toBe(set.body.secret)
  expect((await ask('POST', `${path}/replay`, {})).body).toEqual({ id: key.id, messages: 0 })
  expect((await ask('POST', `${path}/remove`, {})).body).toEqual({ id: key.id })
  expect((await ask('POST', `${path}/remove`, {})).status).toBe(404)
  for (const bad of [
    { url: 'http://shop.example/' },
    { url: 'https://10.0.0.1/' },
    { url: 'https://a:b@shop.example/' },
    { url: `https://shop.example/${'a'.repeat(2_048)}` },
    { url, headers: { Host: 'other.example' } },
    { url, headers: { 'X-Signature-SHA256': 'forged' } },
    { url, headers: { a: '1', A: '2' } },
    { url, headers: { 'two words': '1' } },
    { url, headers: { a: 'b\r\nc: d' } },
    { url, headers: Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`h${index}`, '1'])) },
    {},
  ]) {
    expect((await ask('PUT', path, bad)).status, JSON.stringify(bad)).toBe(400)
  }
  await ask('POST', `/keys/${key.id}/revoke`, {})
  expect((await ask('PUT', path, { url })).body.errorCode).toBe('API_KEY_REVOKED')
})

test('the books and a balance can be read', async () => {
  expect(await ask('GET', '/ledger/verify')).toEqual({ status: 200, body: { findings: [] } })
  expect((await ask('GET', `/balances/${wallet}`)).body).toEqual({
    wallet,
    availableMicroUsd: '0',
    heldMicroUsd: '0',
    pendingMicroUsd: '0',
  })
})

test('transfers are exported a page at a time, as the command prints them', async () => {
  const { database } = testDatabase
  const asset = { chainId: 10, address: '0xaa', symbol: 'WETH', name: 'Wrapped Ether', decimals: 18 }
  for (const byte of ['1', '2', '3']) {
    const fees = [{ recipient: wallet, amount: 5n }]
    await accrueAppFees(database, { requestId: `0x${byte.repeat(64)}`, asset, fees })
  }
  const page = async (query: string) => {
    const headers = { host: '127.0.0.1:3002' }
    const { headers: answered, body } = await app.inject({ url: `/admin/ledger/export${query}`, headers })
    return { type: answered['content-type'], lines: body.split('\n').filter((line) => line !== '') }
  }
  const all = await page('')
  expect(all.type).toContain('application/x-ndjson')
  expect(all.lines.map((line) => JSON.parse(line))).toMatchObject(
    Array.from({ length: 3 }, () => ({ code: 'app_fee', amount: '5', credit: { owner: wallet } })),
  )
  const first = await page('?limit=2')
  const { seq } = JSON.parse(first.lines[1] ?? '')
  const second = await page(`?after=${seq}`)
  expect([...first.lines, ...second.lines]).toEqual(all.lines)
  expect((await page('?after=99')).lines).toEqual([])
  expect(await ask('GET', '/ledger/export?limit=0')).toMatchObject({ status: 400 })
})

test('a claim that nothing moves on is ended by an operator, once', async () => {
  const { database } = testDatabase
  const asset = { chainId: 10, address: '0xaa', symbol: 'WETH', name: 'Wrapped Ether', decimals: 18 }
  const claimId = `0x${'ab'.repeat(32)}` as const
  const claim = { claimId, wallet, recipient: wallet, asset, amount: 15n }
  await database.transaction((tx) => openAppFeeClaim(tx, claim))
  const { body } = await ask('GET', '/app-fee-claims/pending')
  expect(body.claims).toMatchObject([{ claimId, chainId: 10, currency: '0xaa', amount: '15' }])
  const path = `/app-fee-claims/${claimId}/end`
  const reason = 'the solver lost its records'
  expect(await ask('POST', path, { ending: 'failed' })).toMatchObject({ status: 400 })
  const paid = await ask('POST', path, { ending: 'paid', reason })
  expect([paid.status, paid.body.errorCode]).toEqual([409, 'APP_FEE_CLAIM_NOT_PENDING'])
  expect(await ask('POST', path, { ending: 'failed', reason })).toMatchObject({ status: 200 })
  expect(await ask('POST', path, { ending: 'failed', reason })).toMatchObject({ status: 409 })
  expect((await ask('GET', '/app-fee-claims/pending')).body).toEqual({ claims: [] })
  expect(await ask('GET', '/ledger/verify')).toEqual({ status: 200, body: { findings: [] } })
  const [action] = await database.query(
    "select actor, details from admin_action where subject = $1 and outcome = 'done'",
    [claimId],
  )
  expect(action).toEqual({ actor: 'admin', details: { reason, ending: 'failed' } })
})

test('requests and suspense are empty at first, and what is unknown is told apart from what is wrong', async () => {
  expect((await ask('GET', '/requests/parked')).body).toEqual({ requests: [] })
  expect((await ask('GET', '/suspense')).body).toEqual({ entries: [] })
  const unknown = `/requests/0x${'ee'.repeat(32)}`
  const reason = 'looked at it'
  expect(await ask('GET', unknown)).toMatchObject({ status: 404, body: { errorCode: 'REQUEST_NOT_FOUND' } })
  expect(await ask('POST', `${unknown}/retry`, { reason })).toMatchObject({ status: 404 })
  expect(await ask('POST', `${unknown}/retry`, {})).toMatchObject({ status: 400 })
  expect(await ask('POST', `${unknown}/resolve`, { resolution: 'unpaid', reason })).toMatchObject({
    status: 404,
  })
  expect(await ask('POST', `${unknown}/resolve`, { resolution: 'paid', reason })).toMatchObject({
    status: 400,
  })
  expect(await ask('GET', '/requests/0x12')).toMatchObject({ status: 400 })
  expect(await ask('POST', '/suspense/7/credit', { wallet, reason })).toMatchObject({ status: 404 })
  const reconciled = await ask('GET', '/ledger/reconcile')
  expect(reconciled).toMatchObject({ status: 409, body: { errorCode: 'TOP_UPS_NOT_CONFIGURED' } })
})

test('a change without a JSON body is refused: a foreign page can send no other', async () => {
  const { body } = await ask('POST', '/keys', { label: 'kept' })
  const url = `/admin/keys/${body.id}/revoke`
  const headers = { host: '127.0.0.1:3002' }
  const empty = await app.inject({ method: 'POST', url, headers })
  const form = { ...headers, 'content-type': 'text/plain' }
  const text = await app.inject({ method: 'POST', url, headers: form, payload: '{}' })
  expect([empty.statusCode, text.statusCode]).toEqual([400, 415])
  const { body: listed } = await ask('GET', '/keys')
  expect(listed.keys.at(-1)).toMatchObject({ label: 'kept', status: 'active' })
})

test.each([
  ['a label with control characters', '/keys', { label: 'a\nb' }],
  ['a label without end', '/keys', { label: 'a'.repeat(101) }],
  ['an id that is none', '/keys/constructor/revoke', {}],
  ['an overlap of a year', '/keys/aaaaaaaaaa/rotate', { overlapSeconds: 31_536_000 }],
])('%s is 400', async (_name, url, payload) => {
  expect((await ask('POST', url, payload)).status).toBe(400)
})

test('a wallet is stopped and let go, and repeating it changes nothing', async () => {
  const { wallet: stopped } = await createSponsor(testDatabase.database, 1_000_000n)
  const path = `/sponsors/${stopped}`
  const reason = 'it asked for it'
  const answer = (frozen: boolean, done: boolean) => ({
    status: 200,
    body: { wallet: stopped, frozen, done },
  })
  expect(await ask('POST', `${path}/freeze`, { reason })).toEqual(answer(true, true))
  expect(await ask('POST', `${path}/freeze`, { reason })).toEqual(answer(true, false))
  expect(await ask('POST', `${path}/unfreeze`, { reason })).toEqual(answer(false, true))
  expect(await ask('POST', `${path}/unfreeze`, { reason })).toEqual(answer(false, false))
  // Nobody's wallet: not even its row appears.
  expect((await ask('POST', `/sponsors/0x${'77'.repeat(20)}/freeze`, { reason })).body.done).toBe(false)
})

test.each([
  ['/sponsors/0x2e988a386a799f506693793c6a5af6b54dfaabfb/freeze', {}],
  ['/sponsors/0x2e988a386a799f506693793c6a5af6b54dfaabfb/freeze', { reason: '' }],
  ['/sponsors/0x2e988a386a799f506693793c6a5af6b54dfaabfb/freeze', { reason: 'two\nlines' }],
  ['/sponsors/me/freeze', { reason: 'x' }],
  ['/ledger/resume', {}],
  ['/top-ups/1/reverse', {}],
  ['/top-ups/-1/reverse', { reason: 'x' }],
  ['/top-ups/1/reverse', { reason: 7 }],
  ['/top-ups/chains/10/resume', { reason: 'x', block: '1' }],
  ['/top-ups/chains/10/resume', { reason: 'x', block: '1', hash: '0x1' }],
  ['/top-ups/chains/0/resume', { reason: 'x', block: '1', hash: `0x${'b4'.repeat(32)}` }],
  ['/top-ups/chains/10/resume', { reason: 'x', block: 1, hash: `0x${'b4'.repeat(32)}` }],
])('%s with %j is refused, and nothing is attempted', async (path, body) => {
  const count = async () =>
    (await testDatabase.database.query<{ n: bigint }>('select count(*) as n from admin_action'))[0]?.n
  const before = await count()
  expect((await ask('POST', path, body)).status).toBe(400)
  expect(await count()).toBe(before)
})

test('a body beyond the limit is refused before it is read', async () => {
  const { status, body } = await ask('POST', '/ledger/resume', { reason: 'x'.repeat(70_000) })
  expect([status, body.errorCode]).toEqual([413, 'BODY_TOO_LARGE'])
})

test('reservations go on, and once more says that nothing was halted', async () => {
  const finding = { invariant: 'I1' as const, problem: 'of a test', figures: {} }
  await testDatabase.database.transaction((tx) => haltReservations(tx, [finding]))
  const resume = () => ask('POST', '/ledger/resume', { reason: 'it adds up' })
  expect(await resume()).toEqual({ status: 200, body: { findings: [], wasHalted: true } })
  expect(await resume()).toEqual({ status: 200, body: { findings: [], wasHalted: false } })
})

test('a chain that nothing halted stays so, and a top-up that is none cannot be taken back', async () => {
  const to = { block: '4', hash: `0x${'b4'.repeat(32)}`, reason: 'x' }
  const resumed = await ask('POST', '/top-ups/chains/77/resume', to)
  expect(resumed).toEqual({ status: 200, body: { chainId: 77, resumed: 0 } })
  const reversed = await ask('POST', '/top-ups/999999/reverse', { reason: 'x' })
  expect([reversed.status, reversed.body.errorCode]).toEqual([400, 'CLAIM_NOT_FINAL'])
  expect((await ask('GET', '/top-ups/halted')).body).toEqual({ halted: [] })
  expect((await ask('GET', `/top-ups/10/0x${'c1'.repeat(32)}`)).body).toEqual({ topUps: [] })
})

test('what is deleted by age is told, and what needs the chain of top-ups says that there is none', async () => {
  expect(await ask('GET', '/retention')).toEqual({
    status: 200,
    body: { settings: { quotesDays: 30 }, preview: [] },
  })
  for (const path of [`/statements/${wallet}?month=2026-10`, '/top-ups/calldata?amountMicroUsd=1']) {
    const { status, body } = await ask('GET', path)
    expect([path, status, body.errorCode]).toEqual([path, 409, 'TOP_UPS_NOT_CONFIGURED'])
  }
  for (const query of ['', '?amountMicroUsd=0', '?amountMicroUsd=1.5', '?amountMicroUsd=1&wallet=me']) {
    expect([query, (await ask('GET', `/top-ups/calldata${query}`)).status]).toEqual([query, 400])
  }
  expect((await ask('GET', `/statements/${wallet}?month=2026-13`)).body.errorCode).toBe('INVALID_REQUEST')
})
