// Goal: a key works until it is revoked, rotated out or replaced, in every process, and nothing that is
// no key ever works. Method: real database, two services on it that know nothing of each other.
import { request as httpRequest } from 'node:http'
import { Secret } from '@causeway/core'
import { createFindings } from '@causeway/core/config'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { formatApiKey } from '@causeway/http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parsePeppers } from '../src/access/keys/peppers.ts'
import { findPepperFaults } from '../src/access/keys/storedPeppers.ts'
import { loadPeppers } from '../src/operate/administration.ts'
import { examineStored } from '../src/operate/examineStored.ts'
import { type AccessService, pepperText, startAccessService } from './accessSupport/accessService.ts'
import { orderMigrations } from './orderSupport/orders.ts'

let testDatabase: TestDatabase
let one: AccessService
let other: AccessService
beforeAll(async () => {
  testDatabase = await startTestDatabase({ directories: [orderMigrations] })
  const { database } = testDatabase
  one = await startAccessService({ database })
  other = await startAccessService({ database })
})
afterAll(async () => {
  await one?.close()
  await other?.close()
  await testDatabase?.stop()
})

const actor = 'cli:tester'
const create = (label = 'shop') => one.administration.keys.create({ actor, label })

/** Status of a keyed request to one of the services. */
async function ask(service: AccessService, apiKey: string | undefined): Promise<number> {
  const headers = apiKey === undefined ? {} : { 'x-api-key': apiKey }
  return (await service.app.inject({ url: '/chains', headers })).statusCode
}

describe('a key', () => {
  test('works at once everywhere and is stored as a keyed hash only', async () => {
    const { id, apiKey } = await create()
    expect(apiKey).toMatch(/^causeway_test_[a-z2-7]{10}_/)
    expect([await ask(one, apiKey), await ask(other, apiKey), await ask(one, undefined)]).toEqual([
      200, 200, 200,
    ])
    expect((await one.apiKeys.find(apiKey))?.keyId).toBe(id)
    // It may hold the separator itself.
    const secret = apiKey.slice(`causeway_test_${id}_`.length, -'_123456'.length)
    expect(secret).toHaveLength(43)
    for (const table of ['api_key', 'api_key_secret', 'admin_action']) {
      const rows = await testDatabase.database.query<{ text: string }>(
        `select t::text as text from ${table} t`,
      )
      for (const { text } of rows) expect(text).not.toContain(secret)
    }
  })

  test('of another pepper is unknown, and an old pepper is replaced at the next use', async () => {
    const { id, apiKey } = await create()
    const { database } = testDatabase
    const next = `v2:${'7c'.repeat(32)}`
    const foreign = await startAccessService({ database, peppers: parsePeppers(new Secret(next)) })
    const both = await startAccessService({
      database,
      peppers: parsePeppers(new Secret(`${next};${pepperText}`)),
    })
    expect(await ask(foreign, apiKey)).toBe(401)
    expect(await ask(both, apiKey)).toBe(200)
    const pepperOf = async () =>
      await database.query('select pepper_id from api_key_secret where handle = $1', [id])
    await expect.poll(pepperOf, { timeout: 20_000 }).toEqual([{ pepper_id: 'v2' }])
    const renewed = await startAccessService({ database, peppers: parsePeppers(new Secret(next)) })
    expect(await ask(renewed, apiKey)).toBe(200)
    expect(await ask(both, apiKey)).toBe(200)
    for (const service of [foreign, both, renewed]) await service.close()
  })

  test('L-87: that is revoked stops working in a process that used it a moment ago', async () => {
    const { id, apiKey } = await create()
    expect(await ask(other, apiKey)).toBe(200)
    await one.administration.keys.revoke({ actor, id })
    await expect.poll(() => ask(other, apiKey), { timeout: 30_000, interval: 100 }).toBe(401)
    await expect.poll(() => ask(one, apiKey), { timeout: 30_000, interval: 100 }).toBe(401)
    await one.administration.keys.revoke({ actor, id })
    await expect(one.administration.keys.rotate({ actor, id, overlapSeconds: 0 })).rejects.toMatchObject({
      code: 'API_KEY_REVOKED',
    })
  })

  test('L-86: that is rotated keeps its id, and its old secret works for the overlap', async () => {
    const { id, apiKey: before } = await create()
    const { apiKey: after, previousWorkUntil } = await one.administration.keys.rotate({
      actor,
      id,
      overlapSeconds: 3_600,
    })
    expect(Math.abs(previousWorkUntil.getTime() - Date.now() - 3_600_000)).toBeLessThan(600_000)
    expect([await ask(other, before), await ask(other, after)]).toEqual([200, 200])
    expect((await other.apiKeys.find(after))?.keyId).toBe(id)

    const { apiKey: last } = await one.administration.keys.rotate({ actor, id, overlapSeconds: 0 })
    await expect.poll(() => ask(other, before), { timeout: 30_000, interval: 100 }).toBe(401)
    await expect.poll(() => ask(other, after), { timeout: 30_000, interval: 100 }).toBe(401)
    expect(await ask(other, last)).toBe(200)
    const listed = (await one.administration.keys.list()).find((key) => key.id === id)
    expect(listed?.secrets.map(({ handle }) => handle)).toEqual([last.split('_')[2]])
  })

  test('that nobody has is not found', async () => {
    const id = 'aaaaaaaaaa'
    await expect(one.administration.keys.revoke({ actor, id })).rejects.toMatchObject({
      code: 'API_KEY_NOT_FOUND',
    })
  })

  test('leaves a trace of every change that nobody can alter', async () => {
    const { id } = await create('traced')
    await one.administration.keys.rotate({ actor, id, overlapSeconds: 60 })
    await one.administration.keys.revoke({ actor, id })
    const { database } = testDatabase
    const actions = await database.query(
      'select actor, action from admin_action where subject = $1 order by id',
      [id],
    )
    expect(actions).toEqual(
      ['keys.create', 'keys.rotate', 'keys.revoke'].map((action) => ({ actor, action })),
    )
    for (const change of [
      "update admin_action set actor = 'somebody'",
      'delete from admin_action',
      'truncate admin_action',
    ]) {
      await expect(database.query(change)).rejects.toThrow('rows of admin_action are never changed')
    }
  })
})

describe('no key', () => {
  const prototypeNames = Object.getOwnPropertyNames(Object.prototype)

  test.each(prototypeNames)('named %s', async (name) => {
    expect(await ask(one, name)).toBe(401)
    expect(await one.apiKeys.find(name)).toBeUndefined()
  })

  test('known: the right form with a wrong secret, another id, another environment', async () => {
    const { apiKey } = await create()
    const random = Buffer.alloc(42, 7)
    const handle = apiKey.split('_')[2] ?? ''
    const stranger = formatApiKey({ environment: 'test', random })
    const wrongSecret = formatApiKey({ environment: 'live', random })
    expect(await ask(one, stranger)).toBe(401)
    expect(await ask(one, wrongSecret)).toBe(401)
    expect(await ask(one, apiKey.replace('_test_', '_live_'))).toBe(401)
    expect(await ask(one, handle)).toBe(401)
    expect(await ask(one, `${apiKey.slice(0, -1)}${apiKey.endsWith('0') ? '1' : '0'}`)).toBe(401)
  })

  test('in a header that is empty, not ASCII, or 200 KB long', async () => {
    for (const header of ['', ' ', 'schlüssel', 'x'.repeat(200_000), 'a,b']) {
      expect(await ask(one, header)).toBe(401)
    }
  })

  test('in a header of 1 MB or sent twice over a real socket, even when one of the two is right', async () => {
    const { apiKey } = await create()
    const url = await one.app.listen({ host: '127.0.0.1', port: 0 })
    const send = (values: string | string[]) =>
      new Promise<number | string>((resolve) => {
        const request = httpRequest(`${url}/chains`, { headers: { 'x-api-key': values } }, (response) => {
          response.resume()
          resolve(response.statusCode ?? 0)
        })
        request.on('error', () => resolve('cut'))
        request.end()
      })
    expect(await send(apiKey)).toBe(200)
    expect(await send([apiKey, apiKey])).toBe(401)
    expect(await send([apiKey, 'other'])).toBe(401)
    expect([431, 'cut']).toContain(await send('x'.repeat(1_000_000)))
    expect(await send(apiKey)).toBe(200)
  })
})

describe('O-80: peppers', () => {
  const id = pepperText.split(':')[0] ?? ''
  const otherOfSameId = parsePeppers(new Secret(`${id}:${'7d'.repeat(32)}`))

  /** Keys of `v2` stand in the database too. */
  const others = async () =>
    (await findPepperFaults(testDatabase.database, otherOfSameId)).filter(({ kind }) => kind === 'other')

  test('of the same id that are others are found, and refuse commands and a start', async () => {
    const { database, connectionString } = testDatabase
    await create()
    expect(await others()).toMatchObject([{ id, kind: 'other' }])
    const loading = loadPeppers({ apiKeyPeppers: otherOfSameId, localDirectory: '' }, database)
    await expect(loading).rejects.toThrow(new RegExp(`API_KEY_PEPPERS has another pepper ${id} than`))
    const found = createFindings()
    const asked = { chainNames: new Map(), peppers: otherOfSameId, nowMs: () => Date.now() }
    await examineStored(connectionString, asked, found)
    expect(found.list).toContainEqual(expect.objectContaining({ code: 'pepper-wrong', severity: 'stops' }))
  })

  test('that are left out are counted, and refuse no start', async () => {
    const { database } = testDatabase
    const { id: key } = await create()
    const peppers = parsePeppers(new Secret(`v9:${'7e'.repeat(32)}`))
    expect(await findPepperFaults(database, peppers)).toContainEqual(
      expect.objectContaining({ id, kind: 'missing' }),
    )
    expect(await loadPeppers({ apiKeyPeppers: peppers, localDirectory: '' }, database)).toBe(peppers)
    await one.administration.keys.revoke({ actor, id: key })
  })

  test('are told from a row of before once its key is used', async () => {
    const { database } = testDatabase
    const { id: key, apiKey } = await create()
    await database.query('update api_key_secret set pepper_check = null where handle <> $1', ['none'])
    expect(await others()).toEqual([])
    const restarted = await startAccessService({ database })
    expect(await ask(restarted, apiKey)).toBe(200)
    await expect.poll(others, { timeout: 20_000 }).toMatchObject([{ id, kind: 'other', keys: 1 }])
    await restarted.close()
    await one.administration.keys.revoke({ actor, id: key })
    expect(await others()).toEqual([])
  })
})
