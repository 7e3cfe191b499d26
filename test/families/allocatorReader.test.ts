// Goal: what an allocator issued is read at one final height by agreement: a minority that makes payloads up
// or hides them changes nothing, and a payload that anybody could have had built counts only signed.
// Method: the allocator of the local hub on a real node, behind proxies that lie.
import { bytesToHex, type Hex, type WithdrawRequest, withdrawRequestPayloadId } from '@causeway/core'
import { signingDigest } from '@causeway/families/rules'
import {
  allocatorAbi,
  type FaultProxy,
  startFaultProxy,
  startTestNetwork,
  type TestNetwork,
} from '@causeway/localnet'
import { concatHex, encodeAbiParameters, encodeFunctionData } from 'viem'
import { sign } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  createAllocatorReader,
  type WithdrawalKeys,
} from '../../packages/families/src/ethereum/reading/allocatorReader.ts'
import { createQuorumClient } from '../../packages/rpc/src/quorumClient.ts'

let network: TestNetwork
let proxies: readonly FaultProxy[]
beforeAll(async () => {
  network = await startTestNetwork()
  const targetUrl = network.chains.hub.url
  proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl })))
})
afterAll(async () => {
  await Promise.all((proxies ?? []).map((proxy) => proxy.stop()))
  await network?.stop()
})

const options = () => ({ signal: AbortSignal.timeout(20_000) })
const hash: Hex = `0x${'77'.repeat(32)}`

function readerOf(keys: WithdrawalKeys, urls = proxies.map(({ url }) => url), allocatorAddress?: Hex) {
  const endpoints = urls.map((url, index) => ({ url, alias: `h${index + 1}` }))
  const quorum = createQuorumClient({ chainId: 'relay-allocator', endpoints })
  onTestFinished(() => quorum.close())
  return createAllocatorReader({
    chainId: 'relay-allocator',
    quorum,
    keys,
    allocatorAddress: allocatorAddress ?? network.deployment.hub.allocator,
    rule: { mode: 'depth', tag: 'finalized', blocks: 2n, seconds: 0n },
  })
}

let nonce = 0
function request(): WithdrawRequest {
  nonce += 1
  const { base } = network.deployment
  return {
    chainId: BigInt(base.chainId),
    depository: base.depository,
    currency: base.tokens.USDC,
    amount: 1n,
    recipient: `0x${'22'.repeat(20)}`,
    spender: `0x${'99'.repeat(20)}`,
    data: '0x',
    nonce: `0x${nonce.toString(16).padStart(64, '0')}`,
  }
}

async function issue(wanted: WithdrawRequest): Promise<void> {
  const to = network.deployment.hub.allocator
  const domain = { chainId: network.chains.hub.chainId, verifyingContract: to }
  const digest = bytesToHex(signingDigest({ purpose: 'withdraw-request', domain, request: wanted }))
  const oracles = [...network.keys.oracles].sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1))
  const signatures = oracles
    .slice(0, 2)
    .map(({ privateKey }) => sign({ hash: digest, privateKey, to: 'hex' }))
  const { recipient, ...rest } = wanted
  const args = [{ ...rest, receiver: recipient }, concatHex(await Promise.all(signatures))] as const
  const data = encodeFunctionData({ abi: allocatorAbi, functionName: 'submitWithdrawRequest', args })
  await network.chains.hub.chain.send(network.keys.fillWallet, [{ what: 'submission', to, data }])
}

const question = (wanted: WithdrawRequest) => ({
  payloadId: withdrawRequestPayloadId(wanted),
  spender: wanted.spender,
  nonce: wanted.nonce,
  hashesOf: () => [hash],
})

describe('an allocator that names its payloads', () => {
  test('has issued nothing, then not finally, then for good', async () => {
    const [wanted, reader] = [request(), readerOf('own')]
    expect((await reader.readIssued(question(wanted), options())).payload).toBeUndefined()
    await issue(wanted)
    await expect(reader.readIssued(question(wanted), options())).rejects.toMatchObject({
      code: 'WITHDRAWAL_NOT_FINAL',
      kind: 'not_final',
      retryAfterSeconds: expect.any(Number),
    })
    await network.mine('hub', 2)
    const { payload, evidence } = await reader.readIssued(question(wanted), options())
    expect(payload).toMatch(/^0x[0-9a-f]+$/)
    expect(evidence).toMatchObject({ chainId: 'relay-allocator', finalityRule: '2 blocks' })
    expect(evidence.agreeingEndpoints.length).toBeGreaterThanOrEqual(2)
  })

  test('has issued nothing to another spender or under another nonce', async () => {
    const [wanted, reader] = [request(), readerOf('own')]
    await issue(wanted)
    await network.mine('hub', 2)
    for (const change of [{ spender: `0x${'98'.repeat(20)}` }, { nonce: hash }] as const) {
      const asked = { ...question(wanted), ...change }
      expect((await reader.readIssued(asked, options())).payload).toBeUndefined()
    }
  })

  test.each<[string, unknown]>([
    ['a payload that was never built', encodeAbiParameters([{ type: 'bytes' }], ['0x1234'])],
    ['that there is none', encodeAbiParameters([{ type: 'bytes' }], ['0x'])],
    ['an offset beyond its answer', `0x${'ff'.repeat(64)}`],
    ['nothing', '0x'],
  ])('is believed by agreement: one endpoint of three that says %s changes nothing', async (_lie, result) => {
    const [wanted, other, reader] = [request(), request(), readerOf('own')]
    await issue(wanted)
    await network.mine('hub', 2)
    const honest = await reader.readIssued(question(wanted), options())
    proxies[0]?.set({ kind: 'lie', rewrite: (call, truth) => (call.method === 'eth_call' ? result : truth) })
    onTestFinished(() => void proxies[0]?.set({ kind: 'pass' }))
    const lied = readerOf('own')
    expect((await lied.readIssued(question(wanted), options())).payload).toBe(honest.payload)
    expect((await lied.readIssued(question(other), options())).payload).toBeUndefined()
  })
})

describe('an allocator that does not name its payloads', () => {
  test('has issued what is signed, and nothing that anybody had built', async () => {
    const [wanted, reader] = [request(), readerOf('public')]
    await issue(wanted)
    await network.mine('hub', 2)
    expect((await reader.readIssued(question(wanted), options())).payload).toBeUndefined()
    const { allocator } = network.deployment.hub
    const args = [withdrawRequestPayloadId(wanted), hash, '0x12'] as const
    const data = encodeFunctionData({ abi: allocatorAbi, functionName: 'storeSignature', args })
    await network.chains.hub.chain.send(network.keys.allocator, [{ what: 'signature', to: allocator, data }])
    await network.mine('hub', 2)
    expect((await reader.readIssued(question(wanted), options())).payload).toMatch(/^0x[0-9a-f]+$/)
    const unreadable = { ...question(wanted), hashesOf: () => [] }
    expect((await reader.readIssued(unreadable, options())).payload).toBeUndefined()
  })

  test('is told from one that does', async () => {
    expect(await readerOf('own').namesPayloads(options())).toBe(true)
    const { hub } = network.deployment.hub
    expect(await readerOf('own', undefined, hub).namesPayloads(options())).toBe(false)
  })
})
