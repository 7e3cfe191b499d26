// Goal: a Hyperliquid chain of the configuration is opened as its entry says, is compared with what its
// endpoints say, and reads the nonces of transfers from the hub. Method: entries as the configuration has them
// in front of the stand-in, a second one in the place of the proxy; the hub's own contract on a real node.

import type { Hex } from '@causeway/core'
import { hubAlias, nonceMappingId } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { createHubEntries } from '@causeway/families'
import { genericMappingAbi, startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { hyperliquidBodies } from '@causeway/localnet/standIns/hyperliquid'
import { createQuorumClient } from '@causeway/rpc'
import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { isReadable, openFamilyChain } from '../../packages/chains/src/chainFamilies.ts'
import { loadChains } from '../../packages/chains/src/config/chainRegistry.ts'
import type { FamilyChain } from '../../packages/families/src/shared/familyChain.ts'
import {
  account,
  aSignal,
  chainId,
  depository,
  type HyperliquidBed,
  orderId,
  otherDepository,
  sender,
  startHyperliquidBed,
  usdSend,
} from './hyperliquidSupport/hyperliquidBed.ts'

let bed: HyperliquidBed
beforeAll(async () => {
  bed = await startHyperliquidBed()
})
afterAll(() => bed?.stop())
beforeEach(() => bed.reset())

const { signal } = aSignal()
const { archived } = hyperliquidBodies.refusals.body

function chainOf(entry: object) {
  const whole = {
    id: chainId,
    vmType: 'hyperliquid-vm',
    hubChainId: '1337',
    depository,
    additionalDepositories: [otherDepository],
    httpRpcUrl: bed.exchanges[0].url,
    ...entry,
  }
  const chainsJson = { environment: 'test', chains: [JSON.parse(JSON.stringify(whole))] }
  const chain = loadChains({ environment: 'test', chainsJson, variables: {} }).chains.get(chainId)
  if (chain === undefined) throw new Error('the chain is not registered')
  return chain
}

function open(entry: object = {}, hubEntries = bed.hubEntries): FamilyChain {
  const chain = chainOf(entry)
  if (!isReadable(chain)) throw new Error('the chain is not readable')
  const opened = openFamilyChain(chain, { finalEntriesMax: 10 }, hubEntries)
  onTestFinished(() => opened.close())
  return opened
}

describe('a chain', () => {
  test('whose endpoint knows USDC and its depositories has no problems', async () => {
    expect(await open().verify(signal)).toEqual([])
  })

  test('without a generic mapping of the hub is not opened', () => {
    const chain = chainOf({})
    if (!isReadable(chain)) throw new Error('the chain is not readable')
    expect(() => openFamilyChain(chain, { finalEntriesMax: 10 })).toThrow(/genericMappingAddress/)
  })

  test.each<[string, object]>([
    ['a rule of finality', { finality: { mode: 'depth', blocks: 4 } }],
    ['blocks to wait for', { additionalData: { finalizationBlocks: 4 } }],
    ['another network', { additionalData: { network: 'testnet' } }],
  ])('F-154: with %s is not opened', (_what, entry) => {
    expect(() => open(entry)).toThrow(/^chains: hyperliquid/)
  })

  test.each<[string, object]>([
    ['endpoints', { httpRpcUrl: undefined }],
    ['a depository', { depository: undefined }],
  ])('without %s stays listed and is not read', (_what, entry) => {
    expect(isReadable(chainOf(entry))).toBe(false)
  })

  test('with a depository that the exchange does not know is named', async () => {
    expect(await open({ depository: account('99') }).verify(signal)).toEqual([
      expect.stringMatching(/^httpRpcUrl of hyperliquid: \S+ does not know every account/),
    ])
  })

  test('on another network than the main one is named', async () => {
    const rewrite = (_path: string, body: unknown) =>
      JSON.parse(
        JSON.stringify(body).replaceAll('0x6d1e7cde53ba9467b783cb7c530ce054', `0x${'eb'.repeat(16)}`),
      )
    bed.exchanges[0].set({ kind: 'lie', rewrite })
    expect(await open().verify(signal)).toEqual([
      expect.stringMatching(/^httpRpcUrl of hyperliquid: \S+ does not list the USDC of the main network$/),
    ])
  })

  test.each([
    ['silent', { kind: 'reset' }],
    ['telling rubbish', { kind: 'html' }],
    ['telling errors', { kind: 'lie', rewrite: () => archived }],
  ] as const)('whose endpoint is %s cannot be verified', async (_what, fault) => {
    bed.exchanges[0].set(fault)
    await expect(open().verify(signal)).rejects.toMatchObject({ kind: 'upstream_unavailable' })
  })

  test('O-32: of a public network is no part of a local one, and a silent endpoint is not checked', async () => {
    expect(await open().verifyLocal(signal)).toEqual([])
    bed.ledger.tokens.push({ name: 'PURR', tokenId: '0xc1fb593aeffbeb02f85e0308e9956a90', szDecimals: 0 })
    expect(await open().verifyLocal(signal)).toEqual([expect.stringMatching(/ is on the main network$/)])
    bed.ledger.tokens.pop()
    bed.exchanges[0].set({ kind: 'reset' })
    await expect(open().verifyLocal(signal)).rejects.toMatchObject({ kind: 'upstream_unavailable' })
  })
})

describe('the proxy', () => {
  const [key, path] = ['secret-key-of-the-proxy', '/node/explorer?plan=1']
  const withProxy = (more: object = {}) => {
    const proxyApiUrl = `${bed.exchanges[1].url}${path}`
    return open({ additionalData: { proxyApiUrl, proxyApiKey: key }, ...more })
  }
  const listed = () => {
    bed.map({})
    return bed.list(usdSend())
  }

  test.each([
    ['limits requests', { kind: 'http', status: 429, retryAfter: '60' }],
    ['limits questions for old blocks', { kind: 'lie', rewrite: () => archived }],
  ] as const)('answers when the explorer %s, with its key and the public address', async (_what, fault) => {
    bed.exchanges[0].set(fault)
    const transactionId = listed()
    const opened = withProxy()
    const facts = await opened.reader.readDeposits({ transactionId }, aSignal())
    expect(facts).toMatchObject({ deposits: [{ depositId: orderId }] })
    expect(bed.exchanges[1].counters()).toEqual({ [`${path} txDetails`]: 1 })
    const told = { 'x-nft-api-key': key, url: 'https://rpc.hyperliquid.xyz/explorer' }
    expect(bed.exchanges[1].lastHeaders()).toMatchObject(told)
    expect(JSON.stringify([facts.evidence.agreeingEndpoints, opened.health()])).not.toContain(key)
  })

  test.each([
    ['answers', { kind: 'none' }],
    ['fails', { kind: 'http', status: 500 }],
    ['breaks off', { kind: 'reset' }],
  ] as const)('is not asked when the explorer %s', async (_what, fault) => {
    bed.exchanges[0].set(fault)
    const reading = withProxy().reader.readDeposits({ transactionId: listed() }, aSignal())
    if (fault.kind === 'none') expect(await reading).toMatchObject({ deposits: [{}] })
    else await expect(reading).rejects.toMatchObject({ kind: 'upstream_unavailable' })
    expect(bed.exchanges[1].counters()).toEqual({})
  })

  test('F-154: does not vote for a second endpoint', async () => {
    for (const one of [bed.exchanges[0], bed.exchanges[2]]) one.set({ kind: 'lie', rewrite: () => archived })
    const two = { httpRpcUrl: [bed.exchanges[0].url, bed.exchanges[2].url] }
    const { reader } = withProxy({ ...two, rpcThreshold: 1 })
    const { evidence } = await reader.readDeposits({ transactionId: listed() }, aSignal())
    expect(evidence.agreeingEndpoints).toHaveLength(1)
    expect(bed.exchanges[1].counters()).toEqual({ [`${path} txDetails`]: 1 })
    const both = withProxy({ ...two, rpcThreshold: 2 }).reader
    await expect(both.readDeposits({ transactionId: listed() }, aSignal())).rejects.toMatchObject({
      kind: 'upstream_unavailable',
    })
  })

  test('F-82: that fails at one name answers everybody else', async () => {
    bed.exchanges[0].set({ kind: 'lie', rewrite: () => archived })
    const [failing, other] = [listed(), listed()]
    const rewrite = () => {
      throw new Error('the proxy cannot show it')
    }
    bed.exchanges[1].set({ kind: 'lie', rewrite, isAbout: ({ text }) => text.includes(failing) })
    const { reader } = withProxy()
    for (let round = 0; round < 12; round += 1)
      await reader.readDeposits({ transactionId: failing }, aSignal()).catch(() => {})
    expect(await reader.readDeposits({ transactionId: other }, aSignal())).toMatchObject({ deposits: [{}] })
    expect(Object.keys(bed.exchanges[1].counters())).toEqual([`${path} txDetails`, `${path} userDetails`])
  })

  test('that is no URL stops the start', () => {
    expect(() => open({ additionalData: { proxyApiUrl: 'proxy' } })).toThrow(/proxyApiUrl/)
  })

  test('that is not there leaves a limited explorer unanswered', async () => {
    bed.exchanges[0].set({ kind: 'lie', rewrite: () => archived })
    await expect(open().reader.readDeposits({ transactionId: listed() }, aSignal())).rejects.toMatchObject({
      kind: 'upstream_unavailable',
    })
  })
})

describe('on the hub', () => {
  let network: TestNetwork
  beforeAll(async () => {
    network = await startTestNetwork()
  })
  afterAll(() => network?.stop())

  function realEntries() {
    const { genericMapping } = network.deployment.hub
    const endpoints = [{ url: network.chains.hub.url }]
    const quorumLimits = { readingTimeoutMs: 20_000, requestTimeoutMs: 10_000 }
    const quorum = createQuorumClient({ chainId: 'relay', endpoints, limits: quorumLimits })
    onTestFinished(() => quorum.close())
    return createHubEntries({ quorum, mappingAddress: genericMapping })
  }

  const aliasOfSender = hubAlias({ ...mainNetwork('hyperliquid-vm'), chainId }, sender)

  test('an entry of a nonce names the order and the depositor of a deposit', async () => {
    const { chain } = network.chains.hub
    const nonce = 1_761_563_890_702n
    const depositor = account('77')
    const data: Hex = `${orderId}${depositor.slice(2)}`
    const args = [aliasOfSender, nonceMappingId(nonce), data] as const
    const call = encodeFunctionData({ abi: genericMappingAbi, functionName: 'setEntryFor', args })
    const to = network.deployment.hub.genericMapping
    await chain.send(network.keys.deployer, [{ what: 'the entry', to, data: call }])
    const { timestamp } = await chain.client.getBlock()
    expect(await realEntries().read(aliasOfSender, nonceMappingId(nonce), aSignal())).toMatchObject({
      data,
      createdAtSeconds: timestamp,
    })
    const transactionId = bed.list(usdSend({ time: nonce }), { timeMs: Number(timestamp) * 1_000 })
    const { reader } = open({}, realEntries())
    expect(await reader.readDeposits({ transactionId }, aSignal())).toMatchObject({
      deposits: [{ depositor, depositId: orderId }],
    })
  })

  test('no entry is told with the time of the block that was read', async () => {
    const { timestamp } = await network.chains.hub.chain.client.getBlock()
    const entry = await realEntries().read(aliasOfSender, nonceMappingId(1n), aSignal())
    expect(entry).toMatchObject({ data: '0x', createdAtSeconds: 0n })
    expect(entry.readAtSeconds).toBeGreaterThanOrEqual(timestamp)
  })
})
