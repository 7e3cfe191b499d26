// Goal: a sponsor's sign-in opens what is its own to read, and nothing to anybody else. Method: the routes over a real
// database; every way to get in without the wallet, to do more than read, and to stay in, tried first.
import { createHash } from 'node:crypto'
import type { Hex } from '@causeway/core'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { ledgerMigrations } from '@causeway/ledger'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage, parseSiweMessage } from 'viem/siwe'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createSponsorSessions } from '../src/access/wallets/sponsorSessions.ts'
import { linkWallet } from '../src/access/wallets/walletAdministration.ts'
import { type AccessService, publicUrl, startAccessService } from './accessSupport/accessService.ts'
import { orderMigrations } from './orderSupport/orders.ts'

const actor = 'cli:tester'
let testDatabase: TestDatabase
let service: AccessService
beforeAll(async () => {
  const directories = [{ name: 'ledger', path: ledgerMigrations }, orderMigrations]
  testDatabase = await startTestDatabase({ directories })
  service = await startAccessService({ database: testDatabase.database })
})
afterAll(async () => {
  await service?.close()
  await testDatabase?.stop()
})

const newOwner = () => privateKeyToAccount(generatePrivateKey())
// CAST: an address in lower case stays hex.
const lower = (owner: PrivateKeyAccount) => owner.address.toLowerCase() as Hex

async function newSponsor(label = 'shop') {
  const owner = newOwner()
  const { id, apiKey } = await service.administration.keys.create({ actor, label })
  await link(id, owner)
  return { owner, keyId: id, apiKey }
}

const link = (apiKeyId: string, owner: PrivateKeyAccount) =>
  testDatabase.database.transaction((tx) => linkWallet(tx, { apiKeyId, wallet: lower(owner) }))

type Asked = { readonly payload?: object; readonly headers?: Record<string, string> }

async function ask(method: 'GET' | 'POST', url: string, { payload, headers = {} }: Asked = {}) {
  const response = await service.app.inject({
    method,
    url,
    headers,
    ...(payload !== undefined && { payload }),
  })
  // No cookie, so no page of somebody else makes a browser send one.
  expect(response.headers['set-cookie']).toBeUndefined()
  return { status: response.statusCode, body: response.json() }
}

const read = (path: string, token: string) =>
  ask('GET', `/sponsor/api/${path}`, { headers: { 'x-sponsor-session': token } })

const challengeSchema = z.object({ message: z.string(), nonce: z.string(), expiresAt: z.string() })

async function challenge(owner: PrivateKeyAccount) {
  const { status, body } = await ask('POST', '/sponsor/api/challenge', { payload: { wallet: owner.address } })
  expect(status, JSON.stringify(body)).toBe(200)
  return challengeSchema.parse(body)
}

const open = (wallet: string, nonce: string, signature: string) =>
  ask('POST', '/sponsor/api/session', { payload: { wallet, nonce, signature } })

async function signIn(owner: PrivateKeyAccount): Promise<string> {
  const { message, nonce } = await challenge(owner)
  const { status, body } = await open(owner.address, nonce, await owner.signMessage({ message }))
  expect(status, JSON.stringify(body)).toBe(200)
  return z.object({ token: z.string() }).parse(body).token
}

async function sessionRows(): Promise<number> {
  const rows = await testDatabase.database.query('select token_hash from sponsor_session')
  return rows.length
}

describe('a sponsor', () => {
  test('signs a text that names this service, and reads its keys, policies and money', async () => {
    const { owner, keyId, apiKey } = await newSponsor('<img src=x onerror=alert(1)>')
    const { message, nonce } = await challenge(owner)
    expect(parseSiweMessage(message)).toMatchObject({
      address: owner.address,
      domain: new URL(publicUrl).host,
      uri: publicUrl,
      nonce,
      resources: ['urn:causeway:console'],
    })
    const token = await signIn(owner)
    const { status, body } = await read('overview', token)
    expect([status, body]).toMatchObject([
      200,
      {
        wallet: lower(owner),
        availableMicroUsd: '0',
        keys: [{ id: keyId, label: '<img src=x onerror=alert(1)>' }],
      },
    ])
    expect(JSON.stringify(body)).not.toContain(apiKey)
    expect((await read('spending', token)).status).toBe(200)
    const month = new Date().toISOString().slice(0, 7)
    const url = `/sponsor/api/statement?month=${month}`
    const file = await service.app.inject({ method: 'GET', url, headers: { 'x-sponsor-session': token } })
    expect([file.statusCode, file.headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8'])
    expect((await ask('GET', url)).status).toBe(401)
    await service.administration.policies.set({ actor, apiKeyId: keyId, rules: { maxPerRequest: '250000' } })
    const shown = await read(`keys/${keyId}/policy`, token)
    expect(shown.body.policy).toMatchObject({ actor: 'operator', rules: { maxPerRequest: '250000' } })
    const dryRun = await ask('POST', `/sponsor/api/keys/${keyId}/policy/explain`, {
      headers: { 'x-sponsor-session': token },
      payload: {
        user: owner.address,
        recipient: owner.address,
        originChainId: 8_453,
        destinationChainId: 10,
        amountMicroUsd: '250001',
      },
    })
    expect(dryRun).toMatchObject({ status: 200, body: { outcome: 'policy_refused' } })
  })
})

describe('nobody gets in', () => {
  test('O-209: with a challenge that was answered before, not even at the same moment', async () => {
    const { owner } = await newSponsor()
    const { message, nonce } = await challenge(owner)
    const signature = await owner.signMessage({ message })
    const tries = await Promise.all(Array.from({ length: 5 }, () => open(owner.address, nonce, signature)))
    expect(tries.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400])
    expect((await open(owner.address, nonce, signature)).body.errorCode).toBe('INVALID_NONCE')
    // Nor once the session that it opened is over.
    const token = z
      .object({ token: z.string() })
      .parse(tries.find(({ status }) => status === 200)?.body).token
    const ended = { headers: { 'x-sponsor-session': token }, payload: {} }
    expect((await ask('POST', '/sponsor/api/session/end', ended)).status).toBe(200)
    expect((await open(owner.address, nonce, signature)).body.errorCode).toBe('INVALID_NONCE')
    expect((await read('overview', token)).status).toBe(401)
  })

  test.each([
    ['for another domain', { domain: 'evil.example' }],
    ['for another address of the service', { uri: 'https://evil.example' }],
    ['for another chain', { chainId: 1 }],
    ['that links a wallet to a key', { resources: ['urn:causeway:key:abcdefghij'] }],
    ['of another sentence', { statement: 'Read it.' }],
    ['that lasts longer', { expirationTime: new Date('2030-01-01') }],
  ])('with a signature %s', async (_what, change) => {
    const { owner } = await newSponsor()
    const { message, nonce } = await challenge(owner)
    const fields = createSiweMessageFields(message)
    const signature = await owner.signMessage({ message: createSiweMessage({ ...fields, ...change }) })
    // Unaltered the same fields do open, so it is the change that is refused.
    expect(createSiweMessage(fields)).toBe(message)
    expect((await open(owner.address, nonce, signature)).status).not.toBe(200)
    expect((await open(owner.address, nonce, await owner.signMessage({ message }))).status).toBe(200)
  })

  test('with the signature of another wallet, or a challenge of another one', async () => {
    const [{ owner }, { owner: thief }] = [await newSponsor(), await newSponsor()]
    const { message, nonce } = await challenge(owner)
    const stolen = await thief.signMessage({ message })
    expect((await open(owner.address, nonce, stolen)).status).not.toBe(200)
    expect((await open(thief.address, nonce, stolen)).body.errorCode).toBe('INVALID_NONCE')
  })

  test('with a nonce that nobody gave, or that is too old or of tomorrow', async () => {
    const { owner } = await newSponsor()
    const { nonce } = await challenge(owner)
    const signature = await owner.signMessage({ message: 'whatever' })
    for (const forged of ['x', '0'.repeat(76), `${nonce.slice(0, -1)}${nonce.endsWith('0') ? '1' : '0'}`])
      expect((await open(owner.address, forged, signature)).body.errorCode, forged).toBe('INVALID_NONCE')

    let nowMs = Date.now()
    const sessions = createSponsorSessions({
      database: testDatabase.database,
      site: { domain: 'a.example', uri: 'https://a.example', chainId: 8_453 },
      contracts: undefined,
      secret: Buffer.alloc(32, 1),
      randomBytes: () => Buffer.alloc(32, nowMs % 251),
      now: () => nowMs,
    })
    const wallet = lower(owner)
    for (const laterMs of [300_001, -300_001]) {
      const given = sessions.challenge(wallet)
      const signed = await owner.signMessage({ message: given.message })
      nowMs += laterMs
      await expect(sessions.open({ wallet, nonce: given.nonce, signature: signed })).rejects.toMatchObject({
        code: 'INVALID_NONCE',
      })
    }
  })

  test('with a wallet that is linked to no key', async () => {
    const owner = newOwner()
    const { message, nonce } = await challenge(owner)
    const { status, body } = await open(owner.address, nonce, await owner.signMessage({ message }))
    expect([status, body.errorCode]).toEqual([403, 'FORBIDDEN'])
  })

  test('from a page of somebody else', async () => {
    const { owner } = await newSponsor()
    for (const site of ['cross-site', 'same-site']) {
      const answer = await ask('POST', '/sponsor/api/challenge', {
        headers: { 'sec-fetch-site': site },
        payload: { wallet: owner.address },
      })
      expect([answer.status, answer.body.errorCode], site).toEqual([403, 'FORBIDDEN'])
    }
  })
})

/** The fields of a message as its library writes them again. */
function createSiweMessageFields(message: string): Parameters<typeof createSiweMessage>[0] {
  const { address, chainId, domain, nonce, uri, issuedAt, expirationTime, resources } =
    parseSiweMessage(message)
  if (address === undefined || chainId === undefined || domain === undefined || nonce === undefined) {
    throw new Error('the message lacks a field')
  }
  const statement = message.split('\n')[3] ?? ''
  return {
    address,
    chainId,
    domain,
    nonce,
    statement,
    uri: uri ?? '',
    version: '1',
    ...(issuedAt !== undefined && { issuedAt }),
    ...(expirationTime !== undefined && { expirationTime }),
    ...(resources !== undefined && { resources }),
  }
}

describe('a token', () => {
  test('O-207: is a key of no other route, whichever way it is sent', async () => {
    const { owner, keyId } = await newSponsor()
    const token = await signIn(owner)
    const ways = [
      { 'x-sponsor-session': token },
      { 'x-api-key': token },
      { authorization: `Bearer ${token}` },
    ]
    for (const headers of ways) {
      for (const path of ['requests/v3', 'metrics/usage', `sponsorship/statements/${owner.address}`])
        expect((await ask('GET', `/${path}`, { headers })).status, path).not.toBe(200)
      for (const path of ['sponsorship/wallets/challenge', 'sponsorship/wallets/link', 'solver/work'])
        expect(
          (await ask('POST', `/${path}`, { headers, payload: { wallet: owner.address } })).status,
        ).not.toBe(200)
    }
    // And none of its own routes takes a change of what it shows.
    for (const path of ['overview', 'spending', `keys/${keyId}/policy`]) {
      const changed = await ask('POST', `/sponsor/api/${path}`, {
        headers: { 'x-sponsor-session': token },
        payload: {},
      })
      expect(changed.status, path).toBe(404)
    }
  })

  test('opens nothing of another sponsor, and does not tell which keys there are', async () => {
    const [{ owner }, other] = [await newSponsor(), await newSponsor('of the other')]
    const token = await signIn(owner)
    const { body } = await read('overview', token)
    expect(JSON.stringify(body)).not.toContain(other.keyId)
    const theirs = await read(`keys/${other.keyId}/policy`, token)
    const nobodys = await read('keys/aaaaaaaaaa/policy', token)
    const { requestId: _one, ...said } = theirs.body
    const { requestId: _two, ...saidOfNone } = nobodys.body
    expect([theirs.status, said]).toEqual([403, saidOfNone])
  })

  test('O-209: is worth nothing once the wallet was unlinked, even when it is linked again', async () => {
    const { owner, keyId } = await newSponsor()
    const token = await signIn(owner)
    expect((await read('overview', token)).status).toBe(200)
    await service.administration.wallets.unlink({ actor, apiKeyId: keyId })
    expect((await read('overview', token)).status).toBe(401)
    await link(keyId, owner)
    expect((await read('overview', token)).status).toBe(401)
    expect((await read('overview', await signIn(owner))).status).toBe(200)
  })

  test('is worth nothing once its key was revoked, or its hour is over', async () => {
    const [first, second] = [await newSponsor(), await newSponsor()]
    const [revoked, late] = [await signIn(first.owner), await signIn(second.owner)]
    await service.administration.keys.revoke({ actor, id: first.keyId })
    expect((await read('overview', revoked)).status).toBe(401)
    const passes =
      "update sponsor_session set issued_at = issued_at - interval '2 hours', expires_at = expires_at - interval '1 hour'"
    await testDatabase.database.query(`${passes} where wallet = $1`, [lower(second.owner)])
    expect((await read('overview', late)).status).toBe(401)
    for (const wrong of ['', 'x', '0'.repeat(43), `${late}a`])
      expect((await read('overview', wrong)).status).toBe(401)
  })

  test('stands nowhere in the database', async () => {
    const token = await signIn((await newSponsor()).owner)
    const rows = await testDatabase.database.query<{ token_hash: Buffer }>('select * from sponsor_session')
    expect(JSON.stringify(rows)).not.toContain(token)
    const hash = createHash('sha256').update(token).digest('hex')
    expect(rows.map((row) => row.token_hash.toString('hex'))).toContain(hash)
  })
})

describe('a flood', () => {
  test('O-209: of challenges and of wrong signatures leaves no row', async () => {
    const before = await sessionRows()
    const { owner } = await newSponsor()
    const thief = newOwner()
    for (let count = 0; count < 200; count += 1) {
      const { message, nonce } = await challenge(owner)
      if (count < 20) await open(owner.address, nonce, await thief.signMessage({ message }))
    }
    expect(await sessionRows()).toBe(before)
  })

  test('O-209: of true sign-ins ends at twenty of one wallet', async () => {
    const { owner } = await newSponsor()
    for (let count = 0; count < 20; count += 1) await signIn(owner)
    const { message, nonce } = await challenge(owner)
    const { status, body } = await open(owner.address, nonce, await owner.signMessage({ message }))
    expect([status, body.errorCode]).toEqual([429, 'RATE_LIMITED'])
  })
})

test('the page may stand in no frame and load nothing from elsewhere', async () => {
  const page = await service.app.inject({ method: 'GET', url: '/sponsor/' })
  expect(page.statusCode).toBe(200)
  expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'")
  expect(page.headers['content-security-policy']).toContain("default-src 'none'")
  expect(page.headers['x-frame-options']).toBe('DENY')
})
