// Goal: balances and allowances cost at most one call per user and block, many users share calls, and
// nothing that happens to the chain keeps a quote waiting or makes it fail. Method: a real node and token.
import { type Hex, UpstreamDisagreementError } from '@causeway/core'
import {
  type AccountCodeOptions,
  type ChainHead,
  createAccountCodeReader,
  createUserFactsReader,
  readHead,
  type UserFactsOptions,
  type UserFactsReader,
} from '@causeway/families'
import { startFaultProxy } from '@causeway/localnet'
import { createJsonRpcClient } from '@causeway/rpc'
import { erc20Abi } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type EvmTestbed, startEvmTestbed } from './evmTestbed.ts'

const spender = `0x${'51'.repeat(20)}` as const
const native = `0x${'00'.repeat(20)}` as const
const generous = { budgetMs: 20_000 }
const userAt = (index: number): Hex => `0x${(index + 1).toString(16).padStart(40, 'a')}`

let chain: EvmTestbed
let head: ChainHead

beforeAll(async () => {
  chain = await startEvmTestbed()
  const { walletClient, publicClient } = chain.bed
  const hash = await walletClient.writeContract({
    address: chain.token,
    abi: erc20Abi,
    functionName: 'approve',
    args: [spender, 77n],
  })
  await publicClient.waitForTransactionReceipt({ hash })
  await chain.node({ method: 'anvil_setBalance', params: [userAt(0), '0x7b'] })
})
afterAll(() => chain.stop())
beforeEach(async () => {
  await chain.proxy.set({ kind: 'pass' })
  await chain.node({ method: 'anvil_mine', params: ['0x1'] })
  head = await readHead(chain.client())
  chain.proxy.resetCounters()
})

function readerOf(options: Partial<UserFactsOptions> = {}): UserFactsReader {
  return createUserFactsReader({
    client: chain.client(),
    multicall3: chain.bed.multicall3,
    currentHead: () => head,
    callTimeoutMs: 20_000,
    ...options,
  })
}

const ethCalls = () => chain.proxy.counters().callsByMethod['eth_call'] ?? 0

describe('facts', () => {
  test('of a token are balance and allowance, in one call', async () => {
    const facts = await readerOf().read({ user: chain.owner, currency: chain.token, spender }, generous)
    expect(facts).toEqual({ balance: 2n ** 200n, allowance: 77n })
    expect(ethCalls()).toBe(1)
  })

  test('of the native currency are the balance, which needs no allowance', async () => {
    const reader = readerOf()
    expect(await reader.read({ user: userAt(0), currency: native, spender }, generous)).toEqual({
      balance: 123n,
    })
  })

  test('without a spender are the balance', async () => {
    const facts = await readerOf().read(
      { user: chain.owner.toUpperCase().replace('0X', '0x'), currency: chain.token, spender: undefined },
      generous,
    )
    expect(facts).toEqual({ balance: 2n ** 200n })
  })

  test('of a contract that is no token are missing, and those asked with it are not', async () => {
    const reader = readerOf()
    const [none, some] = await Promise.all([
      reader.read({ user: chain.owner, currency: spender, spender }, generous),
      reader.read({ user: chain.owner, currency: chain.token, spender }, generous),
    ])
    expect(none).toEqual({})
    expect(some).toMatchObject({ allowance: 77n })
    expect(ethCalls()).toBe(1)
  })

  test.each([
    ['the zero address', native],
    ['the burn address', `0x${'0'.repeat(36)}dEaD`],
    ['what is no address of this family', 'So11111111111111111111111111111111111111112'],
  ])('of %s are not asked for', async (_name, user) => {
    expect(await readerOf().read({ user, currency: chain.token, spender }, generous)).toEqual({})
    expect(chain.proxy.counters().requests).toBe(0)
  })

  test('are not asked for while no block is known', async () => {
    const reader = readerOf({ currentHead: () => undefined })
    expect(await reader.read({ user: chain.owner, currency: chain.token, spender }, generous)).toEqual({})
    expect(chain.proxy.counters().requests).toBe(0)
  })
})

describe('calls', () => {
  const ask = (reader: UserFactsReader, user: Hex) =>
    reader.read({ user, currency: chain.token, spender }, generous)

  test('are one per user and block', async () => {
    const reader = readerOf()
    await Promise.all([ask(reader, chain.owner), ask(reader, chain.owner)])
    await ask(reader, chain.owner)
    expect(ethCalls()).toBe(1)

    await chain.node({ method: 'anvil_mine', params: ['0x1'] })
    head = await readHead(chain.client())
    await ask(reader, chain.owner)
    expect(ethCalls()).toBe(2)
  })

  test('of users who ask again within seconds come with the first question of the next block', async () => {
    let nowMs = 0
    const reader = readerOf({ now: () => nowMs })
    const users = [0, 1, 2].map(userAt)
    const askAtNextBlock = async (...asking: Hex[]) => {
      nowMs += 5_000
      await chain.node({ method: 'anvil_mine', params: ['0x1'] })
      head = await readHead(chain.client())
      chain.proxy.resetCounters()
      for (const user of asking) expect(await ask(reader, user)).toMatchObject({ allowance: 0n })
      return ethCalls()
    }
    expect(await askAtNextBlock(...users)).toBe(3)
    // A user who asked once may not come back.
    expect(await askAtNextBlock(...users)).toBe(3)
    expect(await askAtNextBlock(...users)).toBe(1)
    // A user who looks at a quote for some seconds is read at the blocks between.
    expect(await askAtNextBlock(userAt(0))).toBe(1)
    expect(await askAtNextBlock(userAt(0))).toBe(1)
    expect(await askAtNextBlock(...users)).toBe(1)
    // A user who stays away for longer is not read any more.
    for (let block = 0; block < 4; block += 1) expect(await askAtNextBlock(userAt(0))).toBe(1)
    expect(await askAtNextBlock(...users)).toBe(3)
  })

  test('of a crowd that asks twice are bounded, and who asked last comes first', async () => {
    const reader = readerOf()
    const crowd = Array.from({ length: 1_500 }, (_, index) => userAt(100 + index))
    const [newest = userAt(0)] = crowd.slice(-1)
    for (let time = 0; time < 2; time += 1)
      for (let from = 0; from < crowd.length; from += 500)
        await Promise.all(crowd.slice(from, from + 500).map((user) => ask(reader, user)))
    await chain.node({ method: 'anvil_mine', params: ['0x1'] })
    head = await readHead(chain.client())
    chain.proxy.resetCounters()
    await ask(reader, userAt(5))
    await ask(reader, newest)
    expect(ethCalls()).toBe(1)
    // There was no room left for whoever was asked about long before.
    await ask(reader, userAt(100))
    expect(ethCalls()).toBe(2)
  })

  test('of users who ask twice at one block come with the first question of the next', async () => {
    const reader = readerOf()
    const users = [3, 4].map(userAt)
    for (const user of [...users, ...users]) await ask(reader, user)
    await chain.node({ method: 'anvil_mine', params: ['0x1'] })
    head = await readHead(chain.client())
    chain.proxy.resetCounters()
    for (const user of users) await ask(reader, user)
    expect(ethCalls()).toBe(1)
  })

  test('are asked again after a reorg, at the block that replaced the old one', async () => {
    const reader = readerOf()
    await ask(reader, chain.owner)
    await chain.node({ method: 'anvil_reorg', params: [1, []] })
    const orphaned = head
    expect(await ask(readerOf({ currentHead: () => orphaned }), chain.owner)).toEqual({})
    head = await readHead(chain.client())
    expect(head.hash).not.toBe(orphaned.hash)
    expect(await ask(reader, chain.owner)).toMatchObject({ allowance: 77n })
    expect(ethCalls()).toBe(3)
  })

  test('of many users at one moment are one', async () => {
    const reader = readerOf()
    const users = Array.from({ length: 50 }, (_, index) => ask(reader, userAt(index)))
    expect(await Promise.all(users)).toEqual(users.map(() => ({ balance: 0n, allowance: 0n })))
    expect(ethCalls()).toBe(1)
  })

  test('of users who come while one is out leave together when it returns, at most 200 at a time', async () => {
    await chain.proxy.set({ kind: 'latency', delayMs: 150 })
    const reader = readerOf()
    const first = ask(reader, userAt(0))
    await new Promise((resolve) => setTimeout(resolve, 50))
    const others = Array.from({ length: 250 }, (_, index) => ask(reader, userAt(index + 1)))
    await Promise.all([first, ...others])
    expect(ethCalls()).toBe(3)
  })

  test('are repeated for a user whose facts were dropped for others', async () => {
    const reader = readerOf({ entriesMax: 2 })
    for (const index of [0, 1, 2, 0]) await ask(reader, userAt(index))
    expect(ethCalls()).toBe(4)
    await ask(reader, userAt(0))
    expect(ethCalls()).toBe(4)
  })
})

describe('a chain that', () => {
  const question = () => ({ user: chain.owner, currency: chain.token, spender })

  test('is late costs the budget and no more, and the facts are there for the next quote', async () => {
    await chain.proxy.set({ kind: 'latency', delayMs: 300 })
    const reader = readerOf({ callTimeoutMs: 10_000 })
    expect(await reader.read(question(), { budgetMs: 20 })).toEqual({})
    expect(await reader.read(question(), generous)).toMatchObject({ allowance: 77n })
    expect(await reader.read(question(), { budgetMs: 0 })).toMatchObject({ allowance: 77n })
    expect(ethCalls()).toBe(1)
  })

  test.each([
    ['never answers', { kind: 'hang' }],
    ['refuses connections', { kind: 'refuse' }],
    ['answers nonsense', { kind: 'html200' }],
    ['lies about the shape', { kind: 'lie', rewrite: () => '0x1234' }],
    ['fails', { kind: 'nodeError', code: -32_000, message: 'header not found' }],
  ] as const)('%s leaves facts missing, is reported, and is asked again', async (_name, mode) => {
    const failures: unknown[] = []
    const reader = readerOf({ callTimeoutMs: 2_000, onFailure: (error) => failures.push(error) })
    await chain.proxy.set(mode)
    const crowd = Array.from({ length: 5 }, (_, index) => ({ ...question(), user: userAt(index) }))
    const facts = await Promise.all(crowd.map((one) => reader.read(one, generous)))
    expect(facts).toEqual(crowd.map(() => ({})))
    expect(failures).toHaveLength(1)
    expect(failures[0]).toMatchObject({ kind: 'upstream_unavailable' })

    await chain.proxy.set({ kind: 'pass' })
    expect(await reader.read(question(), generous)).toMatchObject({ allowance: 77n })
  })

  test('is slower than its users are many keeps no endless queue', async () => {
    await chain.proxy.set({ kind: 'hang' })
    const reader = readerOf({ callTimeoutMs: 3_000 })
    const crowd = Array.from({ length: 1_300 }, (_, index) =>
      reader.read({ ...question(), user: userAt(index) }, generous),
    )
    let served = false
    void Promise.resolve(crowd[0]).then(() => {
      served = true
    })
    expect(await Promise.all(crowd.slice(-100))).toEqual(Array.from({ length: 100 }, () => ({})))
    expect(served).toBe(false)
    await Promise.all(crowd)
    expect(ethCalls()).toBe(1)
  })
})

describe('code of accounts', () => {
  const codeReaderOf = (options: Partial<AccountCodeOptions> = {}) =>
    createAccountCodeReader({
      client: chain.client(),
      currentHead: () => head,
      callTimeoutMs: 20_000,
      ...options,
    })
  const codeCalls = () => chain.proxy.counters().callsByMethod['eth_getCode'] ?? 0
  const delegated = userAt(900)

  test('is that of contracts and delegated accounts, read once per account and block', async () => {
    await chain.node({ method: 'anvil_setCode', params: [delegated, `0xef0100${'77'.repeat(20)}`] })
    await chain.node({ method: 'anvil_mine', params: ['0x1'] })
    head = await readHead(chain.client())
    chain.proxy.resetCounters()
    const reader = codeReaderOf()
    const all = () =>
      Promise.all([chain.token, delegated, userAt(0), native].map((one) => reader.hasCode(one, generous)))
    expect(await all()).toEqual([true, true, false, false])
    expect(await all()).toEqual([true, true, false, false])
    expect(codeCalls()).toBe(3)
    expect(await reader.hasCode('bc1qnoaccounthere', generous)).toBeUndefined()
  })

  test.each([
    ['never answers', { kind: 'hang' }],
    ['answers nonsense', { kind: 'lie', rewrite: () => 'code' }],
    ['fails', { kind: 'nodeError', code: -32_000, message: 'header not found' }],
  ] as const)('is unknown on a chain that %s, and asked again', async (_name, mode) => {
    const reader = codeReaderOf({ callTimeoutMs: 1_000 })
    await chain.proxy.set(mode)
    expect(await reader.hasCode(chain.token, generous)).toBeUndefined()
    await chain.proxy.set({ kind: 'pass' })
    expect(await reader.hasCode(chain.token, generous)).toBe(true)
  })

  test('F-87: over which endpoints contradict each other is unknown alone, and all of one moment leave together', async () => {
    const strange = userAt(7)
    const asked: number[] = []
    const agree: AccountCodeOptions['client']['agree'] = async (calls) => {
      asked.push(calls.length)
      if (calls.some(({ params: [account] }) => account === strange))
        throw new UpstreamDisagreementError('no')
      return { answers: calls.map(() => ({ ok: true, result: '0x' })), agreeingEndpoints: [] }
    }
    const reader = codeReaderOf({ client: { agree } })
    const accounts = Array.from({ length: 60 }, (_, index) => userAt(index))
    const said = await Promise.all(accounts.map((one) => reader.hasCode(one, generous)))
    expect(said).toEqual(accounts.map((one) => (one === strange ? undefined : false)))
    expect(asked[0]).toBe(60)
    expect(asked.length).toBeLessThan(15)
  })

  test('that is late costs the budget and no more, and is there for the next quote', async () => {
    await chain.proxy.set({ kind: 'latency', delayMs: 300 })
    const reader = codeReaderOf()
    expect(await reader.hasCode(chain.token, { budgetMs: 20 })).toBeUndefined()
    expect(await reader.hasCode(chain.token, generous)).toBe(true)
    expect(codeCalls()).toBe(1)
  })

  test('is what enough endpoints say: one that lies refuses nobody', async () => {
    const lie = await startFaultProxy({ targetUrl: chain.bed.anvil.url })
    onTestFinished(() => lie.stop())
    await lie.set({ kind: 'lie', rewrite: () => '0x6001' })
    // On loopback the port tells who speaks.
    const urls = [lie.url, chain.bed.anvil.url, chain.proxy.url]
    const client = createJsonRpcClient({
      chainId: 'base',
      endpoints: urls.map((url) => ({ url })),
    })
    onTestFinished(() => client.close())
    const reader = codeReaderOf({ client })
    expect(await reader.hasCode(userAt(1), generous)).toBe(false)
    expect(await reader.hasCode(chain.token, generous)).toBe(true)
  })
})
