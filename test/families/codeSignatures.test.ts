// Goal: the code of an account is believed at one final block, by agreement, for one word of an answer: whatever else
// it does, or a minority of endpoints says, is a no, and harms no endpoint. Method: accounts of every behaviour on a
// real node, behind proxies that lie.
import type { CodeSignatureQuestion, Hex } from '@causeway/core'
import type { FinalityRule } from '@causeway/families'
import { type Anvil, type FaultMode, type FaultProxy, startAnvil, startFaultProxy } from '@causeway/localnet'
import { createJsonRpcClient, createQuorumClient } from '@causeway/rpc'
import { concatHex } from 'viem'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  askCodeSignature,
  readCodeSignature,
} from '../../packages/families/src/ethereum/reading/codeSignature.ts'
import {
  addressNamed,
  callNode,
  setOwnedDigest,
  walletCode,
  yesToAll,
} from '../../packages/localnet/test/fixtures/contractWallets.ts'

const digest = new Uint8Array(32).fill(7)
const magic = `0x${'1626ba7e'.padEnd(64, '0')}` as const
const finalityBlocks = 3n
let node: Anvil
let proxies: readonly FaultProxy[]
beforeAll(async () => {
  node = await startAnvil({ chainId: 8_453 })
  proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl: node.url })))
  await mine(10)
})
afterAll(async () => {
  await Promise.all((proxies ?? []).map((proxy) => proxy.stop()))
  await node?.stop()
})
afterEach(() => void setProxies())

const mine = (blocks: number, seconds = 1) =>
  callNode(node.url, 'anvil_mine', [`0x${blocks.toString(16)}`, `0x${seconds.toString(16)}`])
const setProxies = (...modes: readonly FaultMode[]) =>
  proxies.map((proxy, index) => proxy.set(modes[index] ?? { kind: 'pass' }))
let placed = 0
/** An account with that code, in a block that is final. */
async function place(code: Hex, blocks = Number(finalityBlocks)): Promise<Hex> {
  placed += 1
  const account = addressNamed(placed)
  await callNode(node.url, 'anvil_setCode', [account, code])
  await mine(blocks)
  return account
}

const depth: FinalityRule = { mode: 'depth', tag: 'finalized', blocks: finalityBlocks, seconds: 0n }

async function read(account: string, own: Partial<CodeSignatureQuestion> = {}, finality = depth) {
  const endpoints = proxies.map(({ url }, index) => ({ url, alias: `e${index + 1}` }))
  const quorum = createQuorumClient({ chainId: 'base', endpoints })
  try {
    const question = { account, digest, signature: '0x1234' as const, ...own }
    const said = await readCodeSignature({ quorum, finality }, question, AbortSignal.timeout(20_000))
    expect(quorum.health().every(({ isAsked }) => isAsked)).toBe(true)
    return said
  } finally {
    await quorum.close()
  }
}

test('P-80: code that accepts the digest is believed, and the block is named', async () => {
  const account = await place(walletCode.owned)
  await setOwnedDigest(node.url, account, digest)
  await mine(Number(finalityBlocks))
  const checksummed = `0x${account.slice(2).toUpperCase()}`
  expect(await read(checksummed)).toMatchObject({
    chainId: 'base',
    finalityRule: '3 blocks',
    blockNumber: expect.any(BigInt),
  })
  expect(await read(account, { digest: new Uint8Array(32).fill(8) })).toBeUndefined()
})

const hostile: Readonly<Record<string, Hex>> = {
  ...walletCode,
  'is empty': '0x',
  'answers the word at its other end': '0x631626ba7e60005260206000f3',
  'reverts with the word': `0x7f${magic.slice(2)}60005260206000fd`,
  'has an invalid instruction': '0xfe',
  'answers yes to calls with more gas': `0x7f${magic.slice(2)}620f4240 5a1102 60005260206000f3`.replaceAll(
    ' ',
    '',
  ) as Hex,
  'answers yes to its own calls': `0x7f${magic.slice(2)}30331402 60005260206000f3`.replaceAll(' ', '') as Hex,
  'answers 600 KB': `0x7f${magic.slice(2)}600052620927c06000f3`,
}
test.each(Object.entries(hostile))('P-81: code that %s accepts nothing', async (_what, code) => {
  expect(await read(await place(code))).toBeUndefined()
})

test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 256])('P-81: the precompile %i accepts nothing', async (number) => {
  // The identity gives the selector back.
  expect(await read(`0x${number.toString(16).padStart(40, '0')}`)).toBeUndefined()
})

test('P-81: code that is not final yet, or that only a later block lets say yes, accepts nothing', async () => {
  const account = await place(yesToAll, 1)
  expect(await read(account)).toBeUndefined()
  await mine(Number(finalityBlocks))
  expect(await read(account)).toBeDefined()
  // Its owner takes it away: until that is final, it counts.
  await callNode(node.url, 'anvil_setCode', [account, walletCode['says no']])
  await mine(1)
  expect(await read(account)).toBeDefined()
  await mine(Number(finalityBlocks))
  expect(await read(account)).toBeUndefined()
})

test('P-81: where seconds count, code is final when its block is old enough', async () => {
  const account = await place(yesToAll)
  const rule: FinalityRule = { ...depth, mode: 'depth-and-time', seconds: 60n }
  expect(await read(account, {}, rule)).toBeUndefined()
  await mine(4, 30)
  expect(await read(account, {}, rule)).toMatchObject({ finalityRule: '3 blocks and 60 seconds' })
})

test('P-80: a delegation is code', async () => {
  const code = await place(yesToAll)
  expect(await read(await place(concatHex(['0xef0100', code])))).toBeDefined()
})

const sayingYes: FaultMode = {
  kind: 'lie',
  rewrite: ({ method }, truth) =>
    method === 'eth_call' ? magic : method === 'eth_getCode' ? yesToAll : truth,
}
const sayingNo: FaultMode = {
  kind: 'lie',
  rewrite: ({ method }, truth) => (method === 'eth_call' ? '0x' : truth),
}

test('P-80: one endpoint of three that says yes, no or nothing changes nothing', async () => {
  const [owner, none] = [await place(yesToAll), await place('0x')]
  for (const mode of [sayingYes, sayingNo, { kind: 'http', status: 503 }, { kind: 'html200' }] as const) {
    setProxies(mode)
    expect(await read(owner), mode.kind).toMatchObject({ agreeingEndpoints: expect.any(Array) })
    expect(await read(none), mode.kind).toBeUndefined()
  }
})

test('P-80: endpoints that contradict each other, or keep no state of the final block, are no answer', async () => {
  const owner = await place(yesToAll)
  setProxies(sayingNo, { kind: 'http', status: 503 })
  await expect(read(owner)).rejects.toMatchObject({ kind: expect.stringMatching(/^upstream/) })
  const stateless: FaultMode = {
    kind: 'unsupported',
    methods: ['eth_getCode', 'eth_call'],
    code: -32_000,
    message: 'missing trie node',
  }
  setProxies(stateless, stateless, stateless)
  await expect(read(owner)).rejects.toMatchObject({ kind: 'upstream_unavailable' })
})

/** As quote-api asks: on the newest state. */
async function askNow(account: Hex): Promise<boolean> {
  const endpoints = proxies.map(({ url }) => ({ url }))
  const client = createJsonRpcClient({ chainId: 'base', endpoints, threshold: 2 })
  try {
    return await askCodeSignature(client, { account, digest, signature: '0x1234' }, 5_000)
  } finally {
    await client.close()
  }
}

const askers: readonly (readonly [string, (account: Hex) => Promise<boolean>])[] = [
  ['an oracle', async (account) => (await read(account)) !== undefined],
  ['quote-api', askNow],
]
const failing = (code: number, message: string): FaultMode => ({
  kind: 'unsupported',
  methods: ['eth_call'],
  code,
  message,
})
const troubles = [
  ...[failing(-32_000, 'missing trie node 7a8d'), failing(-32_603, 'Internal error')],
  failing(-32_000, 'execution aborted (timeout = 5s)'),
  failing(-32_601, 'the method eth_call does not exist/is not available'),
]
const failures = [
  ...[
    failing(3, 'execution reverted'),
    failing(-32_000, 'out of gas'),
    failing(-32_015, 'VM execution error.'),
  ],
  ...[failing(-32_000, 'invalid opcode: INVALID'), failing(-32_003, 'EVM error: InvalidFEOpcode')],
  ...[failing(-32_000, 'invalid jump destination'), failing(-32_000, 'stack underflow (0 <=> 2)')],
]

test.each(askers)(
  'Q-67, P-80: %s takes a failure of the code for a no, in the words of any node',
  async (_who, asks) => {
    const owner = await place(yesToAll)
    for (const mode of failures) {
      setProxies(mode, mode, mode)
      expect(await asks(owner), JSON.stringify(mode)).toBe(false)
    }
  },
)

test.each(askers)(
  'Q-67, P-80: %s takes an error of nodes for no answer, and that of one node for nothing',
  async (_who, asks) => {
    const [owner, other] = [await place(yesToAll), await place(walletCode['says no'])]
    for (const mode of troubles) {
      setProxies(mode, mode, mode)
      const unknown = { kind: expect.stringMatching(/^upstream/) }
      await expect(asks(owner), JSON.stringify(mode)).rejects.toMatchObject(unknown)
      setProxies(mode)
      expect([await asks(owner), await asks(other)], JSON.stringify(mode)).toEqual([true, false])
    }
  },
)
