// Attackers: a denied account that hides behind another member, another spelling or another chain, and a caller who
// learns from a refusal what else is on the list. Method: every member that names an account, on every route.
import { parseDenyList } from '@causeway/chains'
import type { ApiKeys } from '@causeway/http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testApp } from '../../../test/fixtures/app.ts'
import { appRecipient, chainA, chainB, native, recipient, usdc, user } from '../../../test/fixtures/market.ts'

const checksummed = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const denied = checksummed.toLowerCase()
const ofKey = `0x${'77'.repeat(20)}`
const keyId = 'abcdefghij'
const denyList = parseDenyList(
  JSON.stringify({
    version: 1,
    denied: { 'ethereum-vm': [denied] },
    perKey: { [keyId]: { 'ethereum-vm': [ofKey] } },
  }),
)
const apiKeys: ApiKeys = {
  find: async (key) => (key === 'k' ? { keyId, label: 'shop', scopes: new Set() } : undefined),
}
const body = {
  user,
  recipient,
  originChainId: chainA,
  destinationChainId: chainB,
  originCurrency: usdc,
  destinationCurrency: native,
  amount: '100000000',
  tradeType: 'EXACT_INPUT',
}

let app: Awaited<ReturnType<typeof testApp>>
let openApp: typeof app
beforeAll(async () => {
  app = await testApp({ denyList, apiKeys, config: { majorBps: 10 } })
  openApp = await testApp({ config: { majorBps: 10 } })
})
afterAll(async () => {
  await app?.close()
  await openApp?.close()
})

async function ask(url: string, more: object, headers: Record<string, string> = {}, asked = app) {
  const before = asked.stored.length
  const response = await asked.inject({ method: 'POST', url, payload: { ...body, ...more }, headers })
  return { status: response.statusCode, json: response.json(), stored: asked.stored.slice(before) }
}

const refusal = (field: string) => ({
  message: `${field} names an account that is not served.`,
  errorCode: 'SANCTIONED_WALLET_ADDRESS',
  errorData: JSON.stringify({ field }),
  statusCode: 400,
})

const call = { to: checksummed, value: '0', data: '0x' }
const members: readonly [string, object][] = [
  ['user', { user: checksummed }],
  ['recipient', { recipient: checksummed }],
  ['refundTo', { refundTo: checksummed }],
  [
    'appFees.1.recipient',
    {
      appFees: [
        { recipient: appRecipient, fee: '1' },
        { recipient: checksummed, fee: '1' },
      ],
    },
  ],
  ['txs.1.to', { txs: [{ ...call, to: appRecipient }, call] }],
]

describe.each(['/price', '/quote', '/quote/v2'])('%s', (url) => {
  test.each(members)('O-174: refuses a denied account in %s, in whatever case', async (field, more) => {
    for (const spelled of [more, JSON.parse(JSON.stringify(more).replaceAll(checksummed, denied))]) {
      const { json, stored } = await ask(url, spelled)
      expect(json).toEqual(refusal(field))
      expect(stored).toEqual([])
    }
  })

  test('serves everybody else', async () => {
    expect((await ask(url, {})).status).toBe(200)
  })
})

test('the same account is denied on every chain of its family', async () => {
  for (const [originChainId, destinationChainId] of [
    [chainA, chainB],
    [chainB, chainA],
  ]) {
    const route = { originChainId, destinationChainId, originCurrency: usdc, destinationCurrency: usdc }
    expect((await ask('/price', { ...route, recipient: checksummed })).json).toEqual(refusal('recipient'))
  }
})

test('a recipient that is left out is the user, who is named', async () => {
  expect((await ask('/quote/v2', { user: denied, recipient: undefined })).json).toEqual(refusal('user'))
})

test('O-174: two denied accounts are told no more about than one', async () => {
  expect((await ask('/quote', { user: denied, recipient: denied })).json).toEqual(refusal('user'))
})

test('entries of a key count for its requests alone, sponsored or not', async () => {
  const headers = { 'x-api-key': 'k' }
  for (const url of ['/price', '/quote', '/quote/v2']) {
    expect((await ask(url, { recipient: ofKey }, headers)).json).toEqual(refusal('recipient'))
    expect((await ask(url, { recipient: ofKey })).status).toBe(200)
    expect((await ask(url, { recipient: denied }, headers)).json).toEqual(refusal('recipient'))
  }
  const sponsored = { recipient: ofKey, subsidizeFees: true }
  expect((await ask('/quote', sponsored, headers)).json).toEqual(refusal('recipient'))
})

test('what is no address is refused as before, and without a list nobody is denied', async () => {
  expect((await ask('/quote', { recipient: `${denied}00` })).json.errorCode).toBe('INVALID_ADDRESS')
  expect((await ask('/quote', { recipient: denied }, {}, openApp)).status).toBe(200)
})
