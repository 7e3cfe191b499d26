// Goal: hub balances and executed keys are what the quorum of the hub's endpoints shows at one block.
// Method: the hub's own contracts on a real node, behind proxies.
import type { Hex } from '@causeway/core'
import {
  createHubBooks,
  createHubReader,
  domainProblems,
  findCodeless,
  readShownDomain,
} from '@causeway/families'
import {
  type FaultProxy,
  hubAbi,
  startFaultProxy,
  startTestNetwork,
  type TestNetwork,
} from '@causeway/localnet'
import { createQuorumClient } from '@causeway/rpc'
import { encodeAbiParameters, encodeFunctionData, keccak256, parseAbiParameters, toHex } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { aSignal } from './ethereumSupport/chainBed.ts'

const holder: Hex = `0x${'71'.repeat(20)}`
const tokenId = 2n ** 200n + 5n

let network: TestNetwork
let proxies: readonly FaultProxy[]

beforeAll(async () => {
  network = await startTestNetwork()
  const { hub } = network.deployment.hub
  const { chain, url } = network.chains.hub
  const role = keccak256(toHex('OPERATOR_ROLE'))
  const { deployer } = network.keys
  const data = [
    encodeFunctionData({ abi: hubAbi, functionName: 'grantRole', args: [role, deployer.address] }),
    encodeFunctionData({ abi: hubAbi, functionName: 'mint', args: [holder, tokenId, 12_345n] }),
  ]
  await chain.send(
    deployer,
    data.map((each, index) => ({ what: `hub call ${index}`, to: hub, data: each })),
  )
  proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl: url })))
})
afterAll(async () => {
  await Promise.all((proxies ?? []).map((proxy) => proxy.stop()))
  await network?.stop()
})
beforeEach(async () => {
  for (const proxy of proxies) await proxy.set({ kind: 'pass' })
})

function hubQuorum() {
  const quorum = createQuorumClient({
    chainId: 'relay',
    endpoints: proxies.map(({ url }) => ({ url })),
    limits: { readingTimeoutMs: 20_000, requestTimeoutMs: 10_000 },
  })
  onTestFinished(() => quorum.close())
  return quorum
}

function hubReader(hubAddress?: Hex) {
  const quorum = hubQuorum()
  const rule = { mode: 'depth', tag: 'finalized', blocks: 2n, seconds: 0n } as const
  return createHubReader({ quorum, oracleAddress: network.deployment.hub.oracle, hubAddress, rule })
}

describe('the hub books', () => {
  test('O-96: many balances and keys are read in pages, in the order of the question', async () => {
    const { oracle } = network.deployment.hub
    const books = createHubBooks({ quorum: hubQuorum(), oracleAddress: oracle })
    const held = Array.from({ length: 205 }, (_, index) => ({ holder, tokenId: tokenId + BigInt(index % 2) }))
    expect(await books.balances(held, aSignal())).toEqual(
      held.map((one) => (one.tokenId === tokenId ? 12_345n : 0n)),
    )
    const keys = Array.from({ length: 101 }, (_, index) => keccak256(toHex(index)))
    expect(await books.executed(keys, aSignal())).toEqual(keys.map(() => false))
    expect(await books.executed([], aSignal())).toEqual([])
  })
})

describe('the hub reader', () => {
  test('finds the hub that the oracle contract names', async () => {
    expect(await hubReader().hubAddress(aSignal())).toBe(network.deployment.hub.hub.toLowerCase())
  })

  test('reads a balance, with and without a configured hub', async () => {
    for (const reader of [hubReader(), hubReader(network.deployment.hub.hub)]) {
      expect(await reader.balanceOf(holder, tokenId, aSignal())).toBe(12_345n)
      expect(await reader.balanceOf(holder, tokenId + 1n, aSignal())).toBe(0n)
    }
  })

  test('reads a balance that is final, and how long a newer one takes', async () => {
    const own = tokenId + 7n
    const data = encodeFunctionData({ abi: hubAbi, functionName: 'mint', args: [holder, own, 5n] })
    const { hub } = network.deployment.hub
    await network.chains.hub.chain.send(network.keys.deployer, [{ what: 'money', to: hub, data }])
    const reader = hubReader()
    expect(await reader.finalBalanceOf(holder, own, aSignal())).toEqual({ balance: 0n, waitSeconds: 4 })
    expect(await reader.balanceOf(holder, own, aSignal())).toBe(5n)
    await network.mine('hub', 2)
    expect(await reader.finalBalanceOf(holder, own, aSignal())).toMatchObject({ balance: 5n })
  })

  test('says that a key which nobody executed is not executed', async () => {
    expect(await hubReader().isExecuted(`0x${'ab'.repeat(32)}`, aSignal())).toBe(false)
  })

  test('believes two of three, and nobody when each says something else', async () => {
    const forged = (digits: string) => ({
      kind: 'lie' as const,
      rewrite: ({ method }: { readonly method: string }, result: unknown) =>
        method === 'eth_call' ? `0x${digits.padStart(64, '0')}` : result,
    })
    await proxies[0]?.set(forged('ff'))
    const reader = hubReader(network.deployment.hub.hub)
    expect(await reader.balanceOf(holder, tokenId, aSignal())).toBe(12_345n)
    await proxies[1]?.set(forged('fe'))
    await expect(reader.balanceOf(holder, tokenId, aSignal())).rejects.toMatchObject({
      code: 'UPSTREAM_DISAGREEMENT',
    })
  })

  test('takes an address without code for an endpoint that does not answer', async () => {
    await expect(hubReader(holder).balanceOf(holder, tokenId, aSignal())).rejects.toMatchObject({
      kind: 'upstream_unavailable',
    })
  })
})

describe('a contract whose domain is compared', () => {
  const settings = { version: 'the version', chainId: 'the chain', contract: 'the contract' }
  const described: Hex = `0x${'5267'.padEnd(40, '0')}`

  /** Runtime code that answers every call with `data`. */
  function answering(data: Hex): Hex {
    const size = ((data.length - 2) / 2).toString(16).padStart(4, '0')
    // PUSH2 size, PUSH1 12, PUSH1 0, CODECOPY, PUSH2 size, PUSH1 0, RETURN, then the data.
    return `0x61${size}600e60003961${size}6000f3${data.slice(2)}`
  }

  const eip5267 = (domain: { name: string; version: string; chainId: bigint; verifyingContract: Hex }) =>
    answering(
      encodeAbiParameters(
        parseAbiParameters('bytes1, string, string, uint256, address, bytes32, uint256[]'),
        [
          '0x0f',
          domain.name,
          domain.version,
          domain.chainId,
          domain.verifyingContract,
          `0x${'00'.repeat(32)}`,
          [],
        ],
      ),
    )

  const compare = async (address: Hex, version: string, chainId = 537_713) => {
    const shown = await readShownDomain(hubQuorum(), address, aSignal())
    return domainProblems(
      { name: 'RelayOracle', version, chainId, verifyingContract: address, settings },
      shown,
    )
  }

  test('by its separator alone fits in its own version and chain and in no other', async () => {
    const { oracle } = network.deployment.hub
    expect(await compare(oracle, '2')).toEqual([])
    expect(await compare(oracle, '1')).toEqual([expect.stringContaining('the version')])
    expect(await compare(oracle, '2', 537_714)).toEqual([expect.stringContaining('the chain')])
  })

  test('by its own description names every member that differs', async () => {
    const good = { name: 'RelayOracle', version: '2', chainId: 537_713n, verifyingContract: described }
    const { node } = network.chains.hub.chain
    await node.setCode({ address: described, bytecode: eip5267(good) })
    expect(await compare(described, '2')).toEqual([])
    expect(await compare(described, '1')).toEqual([expect.stringContaining('the version is not the version')])
    const other = { ...good, name: 'RelayHub', chainId: 1n, verifyingContract: holder }
    await node.setCode({ address: described, bytecode: eip5267(other) })
    expect(await compare(described, '2')).toEqual([
      expect.stringContaining('another name'),
      expect.stringContaining('the chain is not'),
      expect.stringContaining('is not the contract'),
    ])
  })

  test('P-88: that shows no domain is a problem of its setting', async () => {
    expect(await compare(network.deployment.hub.hub, '2')).toEqual([
      expect.stringContaining('the contract shows no EIP-712 domain'),
    ])
  })

  test('is what two of three endpoints show, whatever the third says', async () => {
    await proxies[0]?.set({
      kind: 'lie',
      rewrite: ({ method }, result) => (method === 'eth_call' ? `0x${'ee'.repeat(32)}` : result),
    })
    expect(await compare(network.deployment.hub.oracle, '2')).toEqual([])
    await proxies[0]?.set({
      kind: 'lie',
      rewrite: ({ method }, result) => (method === 'eth_getCode' ? '0x' : result),
    })
    const { oracle } = network.deployment.hub
    expect(await findCodeless(hubQuorum(), [oracle, holder], aSignal())).toEqual([holder])
  })
})
