// Goal: a Tron chain of the configuration is opened as its entry says, and compared with what its endpoints say
// before anything is signed for it. Method: entries as the configuration has them, in front of the stand-in.

import type { Hex } from '@causeway/core'
import { encodeDepositNative } from '@causeway/families/rules'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { isReadable, openFamilyChain } from '../../packages/chains/src/chainFamilies.ts'
import { loadChains } from '../../packages/chains/src/config/chainRegistry.ts'
import type { FamilyChain } from '../../packages/families/src/shared/familyChain.ts'
import { accountOf, aSignal, chainId, startTronBed, type TronBed } from './tronSupport/tronBed.ts'

let bed: TronBed
beforeAll(async () => {
  bed = await startTronBed()
})
afterAll(() => bed?.stop())
beforeEach(() => bed.facade.set({ kind: 'none' }))

function chainOf(entry: object) {
  const whole = {
    id: 'tron',
    vmType: 'tron-vm',
    hubChainId: chainId.toString(),
    httpRpcUrl: bed.facade.url,
    depository: bed.depository,
    ...entry,
  }
  const chainsJson = { environment: 'test', chains: [JSON.parse(JSON.stringify(whole))] }
  const chain = loadChains({ environment: 'test', chainsJson, variables: {} }).chains.get('tron')
  if (chain === undefined) throw new Error('the chain is not registered')
  return chain
}

function open(entry: object = {}): FamilyChain {
  const chain = chainOf(entry)
  if (!isReadable(chain)) throw new Error('the chain is not readable')
  const opened = openFamilyChain(chain, { finalEntriesMax: 10 })
  onTestFinished(() => opened.close())
  return opened
}

const { signal } = aSignal()

test('a chain whose endpoint is on its network and shows its depository has no problems', async () => {
  expect(await open().verify(signal)).toEqual([])
})

test('its deposits are read as its finality says', async () => {
  const id: Hex = `0x${'ab'.repeat(32)}`
  const depositor = accountOf('41')
  const call = { kind: 'trigger', to: bed.evm.deployment.depository, callValue: 7n } as const
  const data = encodeDepositNative(depositor.bytes, id)
  const { transactionId } = await bed.ledger.submit(bed.user, { ...call, data })
  await bed.evm.mine(2)
  const { reader } = open({ finality: { mode: 'tag' } })
  expect(await reader.readDeposits({ transactionId }, aSignal())).toMatchObject({
    deposits: [{ depositor: depositor.base58, amount: 7n }],
  })
  expect(reader.vmType).toBe('tron-vm')
})

test('the key of the configuration goes with every request, and in no health or problem', async () => {
  const key = 'secret-key-of-the-endpoint'
  const opened = open({ additionalData: { rpcApiKey: key }, hubChainId: '1' })
  const problems = await opened.verify(signal)
  expect(bed.facade.lastHeaders()).toMatchObject({ 'tron-pro-api-key': key })
  expect(JSON.stringify([problems, opened.health()])).not.toContain(key)
})

test('F-130: the key goes to the host of the first endpoint and to no other', async () => {
  const stranger = await bed.startFacade()
  onTestFinished(() => stranger.stop())
  const httpRpcUrl = [bed.facade.url, stranger.url]
  await open({ httpRpcUrl, additionalData: { rpcApiKey: 'secret' } }).verify(signal)
  expect(bed.facade.lastHeaders()).toMatchObject({ 'tron-pro-api-key': 'secret' })
  expect(stranger.lastHeaders()).not.toHaveProperty('tron-pro-api-key')
})

test('no key is sent where none is configured', async () => {
  await open().verify(signal)
  expect(bed.facade.lastHeaders()).not.toHaveProperty('tron-pro-api-key')
})

test.each(['/jsonrpc', '/jsonrpc/', '/', ''])(
  'an endpoint that is named with %s is asked beside it',
  async (path) => {
    bed.facade.resetCounters()
    expect(await open({ httpRpcUrl: `${bed.facade.url}${path}` }).verify(signal)).toEqual([])
    expect(Object.keys(bed.facade.counters()).sort()).toEqual(['/wallet/getblock', '/wallet/getcontract'])
  },
)

test('a key in the query of an endpoint stays in it', async () => {
  bed.facade.resetCounters()
  await expect(open({ httpRpcUrl: `${bed.facade.url}/jsonrpc?key=1` }).verify(signal)).rejects.toThrow()
  // The stand-in knows no calls of these names: what counts is what it was asked for.
  expect(Object.keys(bed.facade.counters()).sort()).toEqual([
    '/wallet/getblock?key=1',
    '/wallet/getcontract?key=1',
  ])
})

test.each<[string, object, RegExp]>([
  ['another network', { hubChainId: '3448148188' }, /^httpRpcUrl of tron: \S+ is not on chain 3448148188$/],
  [
    'no contract at the depository',
    { depository: accountOf('99').base58 },
    /^httpRpcUrl of tron: \S+ shows no contract at chains: tron\.depository$/,
  ],
])('an endpoint with %s is named', async (_what, entry, problem) => {
  const problems = await open(entry).verify(signal)
  expect(problems).toHaveLength(1)
  expect(problems[0]).toMatch(problem)
})

test.each([
  ['silent', { kind: 'reset' }],
  ['telling rubbish', { kind: 'html' }],
  ['without a first block', { kind: 'lie', rewrite: () => ({}) }],
] as const)('an endpoint that is %s cannot be verified', async (_what, fault) => {
  bed.facade.set(fault)
  await expect(open().verify(signal)).rejects.toMatchObject({ kind: 'upstream_unavailable' })
})

test('O-32: an endpoint of a public network is no part of a local one, and a silent one is not checked', async () => {
  expect(await open().verifyLocal(signal)).toEqual([
    expect.stringMatching(/^httpRpcUrl of tron: \S+ is on the main network$/),
  ])
  bed.facade.set({ kind: 'reset' })
  await expect(open().verifyLocal(signal)).rejects.toMatchObject({ kind: 'upstream_unavailable' })
})

test.each<[string, object]>([
  ['endpoints', { httpRpcUrl: undefined }],
  ['a depository', { depository: undefined }],
])('a chain without %s stays listed and is not read', (_what, entry) => {
  expect(isReadable(chainOf(entry))).toBe(false)
})
