// Goal: a wallet sponsors a key only when its owner signed exactly our message, once. Method: real
// database and node; every field of the message altered in turn; contract wallets that lie, loop and flood.
import type { Hex } from '@causeway/core'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { type Anvil, startAnvil } from '@causeway/localnet'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage, parseSiweMessage } from 'viem/siwe'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  addressNamed,
  callNode,
  setOwnedDigest,
  walletCode,
} from '../../../packages/localnet/test/fixtures/contractWallets.ts'
import { personalMessageDigest } from '../src/access/wallets/linkMessage.ts'
import { type AccessService, publicUrl, startAccessService } from './accessSupport/accessService.ts'
import { orderMigrations } from './orderSupport/orders.ts'

let testDatabase: TestDatabase
let node: Anvil
let service: AccessService
beforeAll(async () => {
  testDatabase = await startTestDatabase({ directories: [orderMigrations] })
  node = await startAnvil({ chainId: 8_453 })
  service = await startAccessService({ database: testDatabase.database, rpcUrls: [node.url] })
})
afterAll(async () => {
  await service?.close()
  await node?.stop()
  await testDatabase?.stop()
})

const actor = 'cli:tester'
const newKey = () => service.administration.keys.create({ actor, label: 'shop' })
const newOwner = () => privateKeyToAccount(generatePrivateKey())

async function post(path: string, apiKey: string | undefined, payload: object, to = service) {
  const response = await to.app.inject({
    method: 'POST',
    url: `/sponsorship/wallets/${path}`,
    payload,
    headers: apiKey === undefined ? {} : { 'x-api-key': apiKey },
  })
  return { status: response.statusCode, body: response.json() }
}

const challengeSchema = z.object({ message: z.string(), nonce: z.string(), expiresAt: z.int() })

async function challenge(apiKey: string, wallet: string) {
  const { status, body } = await post('challenge', apiKey, { wallet })
  expect(status, JSON.stringify(body)).toBe(200)
  return challengeSchema.parse(body)
}

async function link(apiKey: string, owner: PrivateKeyAccount) {
  const { message, nonce } = await challenge(apiKey, owner.address)
  const signature = await owner.signMessage({ message })
  return post('link', apiKey, { wallet: owner.address, nonce, signature })
}

const lower = (address: string) => address.toLowerCase()

describe('an owner with a key', () => {
  test('links the wallet by signing the message, and the key has a sponsor at once', async () => {
    const { id, apiKey } = await newKey()
    const owner = newOwner()
    expect(await service.sponsors.walletOf(id)).toBeUndefined()
    const { message, nonce, expiresAt } = await challenge(apiKey, owner.address)
    expect(parseSiweMessage(message)).toMatchObject({
      address: owner.address,
      domain: new URL(publicUrl).host,
      uri: publicUrl,
      chainId: 8_453,
      nonce,
      version: '1',
      requestId: id,
      resources: [`urn:causeway:key:${id}`],
    })
    const { issuedAt, expirationTime } = parseSiweMessage(message)
    expect((expirationTime?.getTime() ?? 0) - (issuedAt?.getTime() ?? 0)).toBe(600_000)
    expect(expiresAt).toBe(Math.floor((expirationTime?.getTime() ?? 0) / 1_000))

    const signature = await owner.signMessage({ message })
    const linked = await post('link', apiKey, { wallet: owner.address, nonce, signature })
    expect(linked).toEqual({ status: 200, body: { wallet: lower(owner.address), apiKeyId: id } })
    expect(await service.sponsors.walletOf(id)).toBe(lower(owner.address))
  })

  test('may end its signature with 0 or 1 and write its address in one case', async () => {
    const { apiKey } = await newKey()
    const owner = newOwner()
    const { message, nonce } = await challenge(apiKey, lower(owner.address))
    const usual = await owner.signMessage({ message })
    const signature = `${usual.slice(0, -2)}${usual.endsWith('1b') ? '00' : '01'}`
    const wallet = `0x${owner.address.slice(2).toUpperCase()}`
    expect((await post('link', apiKey, { wallet, nonce, signature })).status).toBe(200)
  })

  test('may sponsor many keys, and a key takes another wallet in place of its first', async () => {
    const [one, two] = [await newKey(), await newKey()]
    const [owner, next] = [newOwner(), newOwner()]
    expect((await link(one.apiKey, owner)).status).toBe(200)
    expect((await link(two.apiKey, owner)).status).toBe(200)
    const listed = (await service.administration.wallets.list()).find(
      ({ wallet }) => wallet === lower(owner.address),
    )
    expect(listed?.keys.map(({ id }) => id)).toEqual([one.id, two.id])

    expect((await link(one.apiKey, next)).status).toBe(200)
    expect(await service.sponsors.walletOf(one.id)).toBe(lower(next.address))
    expect(await service.sponsors.walletOf(two.id)).toBe(lower(owner.address))
  })

  test('is unlinked by an operator, seen by another process soon, and may link again', async () => {
    const { id, apiKey } = await newKey()
    const owner = newOwner()
    await link(apiKey, owner)
    const other = await startAccessService({ database: testDatabase.database })
    expect(await other.sponsors.walletOf(id)).toBe(lower(owner.address))
    await service.administration.wallets.unlink({ actor, apiKeyId: id })
    await expect.poll(() => other.sponsors.walletOf(id), { timeout: 30_000, interval: 100 }).toBeUndefined()
    await other.close()
    await expect(service.administration.wallets.unlink({ actor, apiKeyId: id })).rejects.toMatchObject({
      code: 'WALLET_NOT_LINKED',
    })
    expect((await link(apiKey, owner)).status).toBe(200)
    expect(await service.sponsors.walletOf(id)).toBe(lower(owner.address))
    const actions = await testDatabase.database.query(
      'select actor, action from admin_action where subject = $1 order by id',
      [id],
    )
    expect(actions.slice(1)).toEqual([
      { actor: `key:${id}`, action: 'wallets.link' },
      { actor, action: 'wallets.unlink' },
      { actor: `key:${id}`, action: 'wallets.link' },
    ])
  })

  test('sponsors a key no longer once it is revoked', async () => {
    const { id, apiKey } = await newKey()
    await link(apiKey, newOwner())
    await service.administration.keys.revoke({ actor, id })
    await expect.poll(() => service.sponsors.walletOf(id), { timeout: 30_000, interval: 100 }).toBeUndefined()
  })
})

type Siwe = Parameters<typeof createSiweMessage>[0]

/** One field each; the rest stays as the service wrote it. */
const altered: readonly (readonly [string, (message: string, fields: Siwe) => string])[] = [
  ['domain', (_, fields) => createSiweMessage({ ...fields, domain: 'evil.example' })],
  ['scheme', (_, fields) => createSiweMessage({ ...fields, scheme: 'https' })],
  ['address', (_, fields) => createSiweMessage({ ...fields, address: newOwner().address })],
  ['statement', (_, fields) => createSiweMessage({ ...fields, statement: 'Link it.' })],
  ['URI', (_, fields) => createSiweMessage({ ...fields, uri: 'https://evil.example' })],
  ['version', (message) => message.replace('Version: 1', 'Version: 2')],
  ['chain id', (_, fields) => createSiweMessage({ ...fields, chainId: 10 })],
  ['nonce', (_, fields) => createSiweMessage({ ...fields, nonce: 'a'.repeat(32) })],
  ['issue time', (_, fields) => createSiweMessage({ ...fields, issuedAt: new Date(0) })],
  [
    'expiry',
    (_, fields) => createSiweMessage({ ...fields, expirationTime: new Date('2099-01-01T00:00:00Z') }),
  ],
  ['start of validity', (_, fields) => createSiweMessage({ ...fields, notBefore: new Date(0) })],
  ['request id', (_, fields) => createSiweMessage({ ...fields, requestId: 'aaaaaaaaaa' })],
  ['resources', (_, fields) => createSiweMessage({ ...fields, resources: ['urn:causeway:key:aaaaaaaaaa'] })],
  ['number of lines', (message) => `${message}\n- urn:causeway:key:aaaaaaaaaa`],
  ['last line end', (message) => `${message}\n`],
  ['case of the address', (message) => message.replace(/0x[0-9a-fA-F]{40}/, lower)],
]

describe('a signature over a message with another', () => {
  test.each(altered)('L-88: %s is refused', async (_field, alter) => {
    const { id, apiKey } = await newKey()
    const owner = newOwner()
    const { message, nonce } = await challenge(apiKey, owner.address)
    const parsed = parseSiweMessage(message)
    const { address, chainId, domain, uri, version } = parsed
    if (!address || !chainId || !domain || !uri || !version) throw new Error('a field is missing')
    const fields: Siwe = { ...parsed, address, chainId, domain, uri, version, nonce }
    expect(createSiweMessage(fields)).toBe(message)
    const text = alter(message, fields)
    expect(text).not.toBe(message)
    const signature = await owner.signMessage({ message: text })
    const { status, body } = await post('link', apiKey, { wallet: owner.address, nonce, signature })
    expect([status, body.errorCode]).toEqual([400, 'INVALID_SIGNATURE'])
    expect(await service.sponsors.walletOf(id)).toBeUndefined()
  })
})

describe('a nonce', () => {
  test('L-88: of fifty parallel uses exactly one wins', async () => {
    const { id, apiKey } = await newKey()
    const owner = newOwner()
    const { message, nonce } = await challenge(apiKey, owner.address)
    const signature = await owner.signMessage({ message })
    const body = { wallet: owner.address, nonce, signature }
    const answers = await Promise.all(Array.from({ length: 50 }, () => post('link', apiKey, body)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const others = answers.filter(({ status }) => status !== 200)
    expect(new Set(others.map(({ body: { errorCode } }) => errorCode))).toEqual(new Set(['INVALID_NONCE']))
    const links = await testDatabase.database.query(
      "select 1 from admin_action where subject = $1 and action = 'wallets.link'",
      [id],
    )
    expect(links).toHaveLength(1)
  })

  test('is used up by a wrong signature', async () => {
    const { apiKey } = await newKey()
    const owner = newOwner()
    const { message, nonce } = await challenge(apiKey, owner.address)
    const wallet = owner.address
    const wrong = await newOwner().signMessage({ message })
    const right = await owner.signMessage({ message })
    expect((await post('link', apiKey, { wallet, nonce, signature: wrong })).body.errorCode).toBe(
      'INVALID_SIGNATURE',
    )
    expect((await post('link', apiKey, { wallet, nonce, signature: right })).body.errorCode).toBe(
      'INVALID_NONCE',
    )
  })

  test('of another key is unknown and stays good for its own', async () => {
    const [mine, foreign] = [await newKey(), await newKey()]
    const owner = newOwner()
    const { message, nonce } = await challenge(mine.apiKey, owner.address)
    const body = { wallet: owner.address, nonce, signature: await owner.signMessage({ message }) }
    expect((await post('link', foreign.apiKey, body)).body.errorCode).toBe('INVALID_NONCE')
    expect((await post('link', mine.apiKey, body)).status).toBe(200)
  })

  test('of another wallet is refused', async () => {
    const { apiKey } = await newKey()
    const [owner, thief] = [newOwner(), newOwner()]
    const { message, nonce } = await challenge(apiKey, owner.address)
    const signature = await thief.signMessage({ message })
    const answer = await post('link', apiKey, { wallet: thief.address, nonce, signature })
    expect(answer.body.errorCode).toBe('INVALID_NONCE')
  })

  test('expires by the clock of the database', async () => {
    const { id, apiKey } = await newKey()
    const owner = newOwner()
    const { message, nonce } = await challenge(apiKey, owner.address)
    const signature = await owner.signMessage({ message })
    await testDatabase.database.query(
      `update wallet_challenge set issued_at = clock_timestamp() - interval '601 s',
         expires_at = clock_timestamp() - interval '1 s' where api_key_id = $1`,
      [id],
    )
    const answer = await post('link', apiKey, { wallet: owner.address, nonce, signature })
    expect(answer.body.errorCode).toBe('INVALID_NONCE')
  })

  test('given for another site does not link here', async () => {
    const { apiKey } = await newKey()
    const owner = newOwner()
    const elsewhere = await startAccessService({
      database: testDatabase.database,
      publicUrl: 'https://evil.example',
    })
    const { body } = await post('challenge', apiKey, { wallet: owner.address }, elsewhere)
    await elsewhere.close()
    const { message, nonce } = challengeSchema.parse(body)
    const signature = await owner.signMessage({ message })
    const answer = await post('link', apiKey, { wallet: owner.address, nonce, signature })
    expect(answer.body.errorCode).toBe('INVALID_SIGNATURE')
  })

  test('L-88: beyond the fifth open one of a key ends the oldest', async () => {
    const { id, apiKey } = await newKey()
    const owner = newOwner()
    const first = await challenge(apiKey, owner.address)
    await Promise.all(Array.from({ length: 20 }, () => challenge(apiKey, owner.address)))
    const open = await testDatabase.database.query('select 1 from wallet_challenge where api_key_id = $1', [
      id,
    ])
    expect(open).toHaveLength(5)
    const signature = await owner.signMessage({ message: first.message })
    const answer = await post('link', apiKey, { wallet: owner.address, nonce: first.nonce, signature })
    expect(answer.body.errorCode).toBe('INVALID_NONCE')
  })
})

describe('a contract wallet', () => {
  async function place(code: Hex, index: number): Promise<Hex> {
    const wallet = addressNamed(index)
    await callNode(node.url, 'anvil_setCode', [wallet, code])
    return wallet
  }

  test('is linked when it stands behind the digest of this message', async () => {
    const { id, apiKey } = await newKey()
    const wallet = await place(walletCode.owned, 1)
    const refused = await challenge(apiKey, wallet)
    expect(
      (await post('link', apiKey, { wallet, nonce: refused.nonce, signature: '0x' })).body.errorCode,
    ).toBe('INVALID_SIGNATURE')
    const { message, nonce } = await challenge(apiKey, wallet)
    await setOwnedDigest(node.url, wallet, personalMessageDigest(message))
    const signature = `0x${'ab'.repeat(97)}`
    expect((await post('link', apiKey, { wallet, nonce, signature })).status).toBe(200)
    expect(await service.sponsors.walletOf(id)).toBe(wallet)
  })

  const hostile = Object.entries(walletCode).filter(([name]) => name !== 'owned')
  test.each(hostile)('L-89: that %s is refused, and the service goes on', async (name, code) => {
    const { id, apiKey } = await newKey()
    const wallet = await place(code, 100 + hostile.findIndex(([other]) => other === name))
    const { nonce } = await challenge(apiKey, wallet)
    const answer = await post('link', apiKey, { wallet, nonce, signature: `0x${'ab'.repeat(65)}` })
    expect([answer.status, answer.body.errorCode]).toEqual([400, 'INVALID_SIGNATURE'])
    expect(await service.sponsors.walletOf(id)).toBeUndefined()
  })

  test('L-89: that does not exist yet is refused, whatever factory its signature names (ERC-6492)', async () => {
    const { apiKey } = await newKey()
    const factory = await place(walletCode.loops, 200)
    const wallet = addressNamed(201)
    const { nonce } = await challenge(apiKey, wallet)
    const wrapped = `0x${factory.slice(2).padStart(64, '0')}${'0'.repeat(512)}${'6492'.repeat(16)}`
    const answer = await post('link', apiKey, { wallet, nonce, signature: wrapped })
    expect(answer.body.errorCode).toBe('INVALID_SIGNATURE')
  })

  test('cannot be linked while its chain is silent, and that is not its fault', async () => {
    const { apiKey } = await newKey()
    const blind = await startAccessService({ database: testDatabase.database })
    const wallet = addressNamed(1)
    const { nonce } = await challenge(apiKey, wallet)
    const answer = await post('link', apiKey, { wallet, nonce, signature: '0x' }, blind)
    expect([answer.status, answer.body.errorCode, answer.body.retryable]).toEqual([
      503,
      'SERVICE_UNAVAILABLE',
      true,
    ])
    await blind.close()
  })

  test('is refused as late when its chain does not answer', async () => {
    const silent = await startAnvil({ chainId: 8_453 })
    const slow = await startAccessService({ database: testDatabase.database, rpcUrls: [silent.url] })
    const { apiKey } = await newKey()
    const wallet = addressNamed(1)
    const { nonce } = await challenge(apiKey, wallet)
    silent.process.kill('SIGSTOP')
    try {
      const answer = await post('link', apiKey, { wallet, nonce, signature: '0x' }, slow)
      expect([answer.status, answer.body.errorCode]).toEqual([503, 'REQUEST_TIMED_OUT'])
    } finally {
      silent.process.kill('SIGCONT')
      await slow.close()
      await silent.stop()
    }
  })

  test('is not linked on the word of one endpoint against another', async () => {
    const liar = await startAnvil({ chainId: 8_453 })
    const torn = await startAccessService({
      database: testDatabase.database,
      rpcUrls: [liar.url, node.url],
    })
    const { id, apiKey } = await newKey()
    const wallet = await place(walletCode['says no'], 300)
    const { message, nonce } = await challenge(apiKey, wallet)
    await callNode(liar.url, 'anvil_setCode', [wallet, walletCode.owned])
    await setOwnedDigest(liar.url, wallet, personalMessageDigest(message))
    const answer = await post('link', apiKey, { wallet, nonce, signature: '0x' }, torn)
    expect([answer.status, answer.body.errorCode]).toEqual([503, 'UPSTREAM_DISAGREEMENT'])
    expect(await service.sponsors.walletOf(id)).toBeUndefined()
    await torn.close()
    await liar.stop()
  })
})

describe('bad requests', () => {
  const wallet = '0x2e988a386a799f506693793c6a5af6b54dfaabfb'

  test('without a key are 401', async () => {
    expect((await post('challenge', undefined, { wallet })).status).toBe(401)
    expect((await post('link', undefined, { wallet, nonce: 'n', signature: '0x' })).status).toBe(401)
    expect((await post('challenge', 'wrong', { wallet })).status).toBe(401)
  })

  test.each([
    ['no wallet', 'challenge', {}],
    ['a wallet that is none', 'challenge', { wallet: '0x12' }],
    ['a wallet with a wrong checksum', 'challenge', { wallet: wallet.replace('aabfb', 'aaBfb') }],
    ['a number', 'challenge', { wallet: 7 }],
    ['no nonce', 'link', { wallet, signature: '0x' }],
    ['a nonce without end', 'link', { wallet, nonce: 'a'.repeat(65), signature: '0x' }],
    ['half a byte', 'link', { wallet, nonce: 'a', signature: '0xa' }],
    ['no hex', 'link', { wallet, nonce: 'a', signature: '0xzz' }],
    ['a signature above 4 KiB', 'link', { wallet, nonce: 'a', signature: `0x${'ab'.repeat(4_097)}` }],
  ])('%s is 400', async (_name, path, body) => {
    const { apiKey } = await newKey()
    const answer = await post(path, apiKey, body)
    expect([answer.status, typeof answer.body.errorData]).toEqual([400, 'string'])
  })
})
