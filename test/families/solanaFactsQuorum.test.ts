// Goal: facts are what enough of the configured endpoints say, final blocks are watched, and endpoints that do
// not fit the configuration are named. Method: one node behind three proxies that lie, hang or are dead.

import { type ChainSources, loadChains, openFamilyChain } from '@causeway/chains'
import type { Hex } from '@causeway/core'
import { type FaultMode, type FaultProxy, startFaultProxy } from '@causeway/localnet'
import { depositNative, forwardInstruction, solanaBodies } from '@causeway/localnet/standIns/solana'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import {
  aSignal,
  type ReaderSettings,
  readerOf,
  type SolanaBed,
  startSolanaBed,
} from './solanaSupport/solanaBed.ts'

const nodeErrors = solanaBodies.nodeErrors.body

const id: Hex = `0x${'ab'.repeat(32)}`
const pass: FaultMode = { kind: 'pass' }
const dead: FaultMode = { kind: 'refuse' }
const short = { readingTimeoutMs: 1_500, requestTimeoutMs: 1_000, patienceMs: 50 }

let bed: SolanaBed
let deposit: string
let proxies: readonly FaultProxy[]

beforeAll(async () => {
  bed = await startSolanaBed()
  const inner = depositNative(bed.depository, { sender: bed.user.publicKey, amount: 7n, id })
  deposit = await bed.send([forwardInstruction(bed.forwarder, inner)])
  proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl: bed.url })))
})
afterAll(async () => {
  await Promise.all((proxies ?? []).map((proxy) => proxy.stop()))
  await bed?.stop()
})
beforeEach(() => behave(pass, pass, pass))

const urls = () => proxies.map(({ url }) => url)
async function behave(...modes: readonly FaultMode[]): Promise<void> {
  await Promise.all(proxies.map((proxy, index) => proxy.set(modes[index] ?? pass)))
}
const open = (settings: ReaderSettings = {}) =>
  readerOf(bed, { urls: urls(), quorumLimits: short, limits: { finalEntriesMax: 0 }, ...settings }).reader
const read = (settings: ReaderSettings = {}, transactionId = deposit) =>
  open(settings).readDeposits({ transactionId }, aSignal())

function lieAbout(method: string, change: (result: Record<string, unknown>) => unknown): FaultMode {
  return {
    kind: 'lie',
    rewrite: (call, result) => (call.method === method ? change({ ...Object(result) }) : result),
  }
}
const inMeta = (change: (meta: Record<string, unknown>) => object) =>
  lieAbout('getTransaction', (result) => ({ ...result, meta: change({ ...Object(result['meta']) }) }))
const withoutInner = inMeta((meta) => ({ ...meta, innerInstructions: [] }))
const atSlot = (slot: number) => lieAbout('getTransaction', (result) => ({ ...result, slot }))
const anyHash = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const otherHash = '7EaP2zkxDLo86x4rnNwwLhB593PsbMva41dqfrfxhsb1'

test.each<readonly [string, FaultMode]>([
  ['hides inner instructions', withoutInner],
  ['says it failed', inMeta((meta) => ({ ...meta, err: 'AccountInUse' }))],
  ['names another slot', atSlot(3)],
  ['is behind', { kind: 'nodeError', ...nodeErrors.nodeBehind }],
])('two of three that say the same are enough, beside a third that %s', async (_name, mode) => {
  await behave(pass, pass, mode)
  const { deposits, evidence } = await read()
  expect(deposits).toMatchObject([{ amount: 7n, depositId: id, onchainIndex: '1' }])
  expect(evidence.agreeingEndpoints).toEqual(['e1', 'e2'])
})

test('two that know no deposit, each of another kind, contradict each other', async () => {
  await behave(
    withoutInner,
    inMeta((meta) => ({ ...meta, err: 'AccountInUse' })),
  )
  await expect(read()).rejects.toMatchObject({ code: 'UPSTREAM_DISAGREEMENT', data: { chainId: 'solana' } })
})

describe('no endpoint makes up a transaction', () => {
  test.each<readonly [string, (bytes: Buffer) => Buffer]>([
    [
      'with another amount',
      (bytes) => replaced(bytes, bytes.indexOf(Buffer.from('ab'.repeat(32), 'hex')) - 8),
    ],
    ['with another id', (bytes) => replaced(bytes, bytes.indexOf(Buffer.from('ab'.repeat(32), 'hex')) + 3)],
    ['with another signature', (bytes) => replaced(bytes, 9)],
    ['with bytes behind it', (bytes) => Buffer.concat([bytes, Buffer.of(0)])],
    ['cut short', (bytes) => bytes.subarray(0, -1)],
    ['without signatures', (bytes) => Buffer.concat([Buffer.of(0), bytes.subarray(65)])],
    ['of nothing', () => Buffer.alloc(0)],
    ['of zeros', (bytes) => Buffer.alloc(bytes.length)],
  ])('%s, even alone', async (_name, change) => {
    const forge = lieAbout('getTransaction', (result) => {
      const [text] = Object(result['transaction'])
      return { ...result, transaction: [change(Buffer.from(text, 'base64')).toString('base64'), 'base64'] }
    })
    await behave(forge)
    await expect(read({ urls: urls().slice(0, 1) })).rejects.toMatchObject({ code: 'RPC_HTTP_ERROR' })
  })

  test('F-140: by showing another one in its place', async () => {
    const other = await bed.send([
      depositNative(bed.depository, { sender: bed.user.publicKey, amount: 99n, id }),
    ])
    const stored = Buffer.from(bed.node.transaction(other)?.bytes ?? []).toString('base64')
    await behave(lieAbout('getTransaction', (result) => ({ ...result, transaction: [stored, 'base64'] })))
    await expect(read({ urls: urls().slice(0, 1) })).rejects.toMatchObject({ code: 'RPC_HTTP_ERROR' })
  })
})

function replaced(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] ?? 0) ^ 1
  return copy
}

describe('final blocks', () => {
  const blocks = (settings: ReaderSettings = {}) => open(settings).finalBlocks

  test('the newest is what enough endpoints have reached, and its hash is read again', async () => {
    const slot = bed.node.slot('finalized')
    const hash = bed.node.block(slot)?.hash
    await behave(lieAbout('getSlot', () => Number(slot) + 1_000))
    expect(await blocks().readNewest(aSignal())).toEqual({ number: slot, hash })
    expect(await blocks().readHash(slot, aSignal())).toBe(hash)
  })

  test('one above the end of the final chain is not there', async () => {
    expect(await blocks().readHash(bed.node.slot('finalized') + 5n, aSignal())).toBeUndefined()
  })

  test('one that was final and is gone after the cluster was set back is not there', async () => {
    bed.node.hold()
    const { node } = bed
    node.mine(3)
    const lost = node.slot('processed')
    node.drop()
    expect(await blocks().readHash(lost, aSignal())).toBeUndefined()
  })

  test.each<readonly [string, FaultMode]>([
    ['skipped or pruned', { kind: 'nodeError', ...nodeErrors.slotSkipped }],
    ['gone from its ledger', { kind: 'nodeError', ...nodeErrors.blockCleanedUp }],
    ['null', lieAbout('getBlock', () => null)],
  ])('one that nodes call %s is unknown, not gone', async (_name, mode) => {
    await behave(mode, mode, mode)
    await expect(blocks().readHash(3n, aSignal())).rejects.toMatchObject({ kind: 'upstream_unavailable' })
  })

  test('one in a slot without a block is unknown as well', async () => {
    bed.node.skipSlot()
    const skipped = bed.node.slot('finalized') - 1n
    await expect(blocks().readHash(skipped, aSignal())).rejects.toMatchObject({
      kind: 'upstream_unavailable',
    })
  })
})

describe('a configured chain', () => {
  const chainOf = (entry: object = {}) => {
    const chain = { id: 'solana', vmType: 'solana-vm', hubChainId: '5', httpRpcUrl: urls(), ...entry }
    const depository = bed.depository.program.toBase58()
    const sources: ChainSources = {
      environment: 'local',
      chainsJson: { environment: 'local', chains: [{ depository, ...chain }] },
      variables: {},
    }
    const registered = loadChains(sources).chains.get('solana')
    if (registered?.depository === undefined) throw new Error('the chain was not loaded')
    return { ...registered, depository: registered.depository }
  }
  function openChain(entry: object = {}) {
    const opened = openFamilyChain(chainOf(entry), { finalEntriesMax: 10 })
    onTestFinished(() => opened.close())
    return opened
  }
  const { signal } = aSignal()

  test('that fits has no problems and reads facts', async () => {
    const { genesisHash } = bed.node
    const chain = openChain({
      additionalData: { network: genesisHash },
      finality: { mode: 'tag', tag: 'finalized' },
    })
    expect(await chain.verify(signal)).toEqual([])
    expect(await chain.verifyLocal(signal)).toEqual([])
    expect(await chain.reader.readDeposits({ transactionId: deposit }, aSignal())).toMatchObject({
      deposits: [{ amount: 7n }],
    })
    expect(chain.health().map(({ isAsked }) => isAsked)).toEqual([true, true, true])
  })

  test('on another cluster is named, endpoint by endpoint', async () => {
    const problems = await openChain({ additionalData: { network: anyHash } }).verify(signal)
    expect(problems).toHaveLength(3)
    expect(problems[0]).toMatch(/^httpRpcUrl of solana: .*is on another cluster/)
  })

  test('F-142: whose endpoints name different clusters is named without a configured one', async () => {
    await behave(
      pass,
      pass,
      lieAbout('getGenesisHash', () => anyHash),
    )
    const problems = await openChain().verify(signal)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(anyHash)
  })

  test.each<readonly [string, () => string]>([
    ['that does not exist', () => otherHash],
    ['that is an account without code', () => bed.user.publicKey.toBase58()],
  ])('with a depository %s is named', async (_name, depository) => {
    const problems = await openChain({ depository: depository() }).verify(signal)
    expect(problems).toHaveLength(3)
    expect(problems[0]).toMatch(/shows no program at chains: solana\.depository$/)
  })

  test('with one silent endpoint is checked by the others, with two it is refused', async () => {
    await behave(dead)
    expect(await openChain().verify(signal)).toEqual([])
    await behave(dead, { kind: 'html200' })
    await expect(openChain().verify(signal)).rejects.toMatchObject({ kind: 'upstream_unavailable' })
  })

  test('O-32: of a local network refuses nodes that are none of it, and waits while too many are silent', async () => {
    await behave(
      lieAbout('getVersion', () => ({ 'solana-core': '2.1.0' })),
      dead,
    )
    const problems = await openChain().verifyLocal(signal)
    expect(problems).toEqual([expect.stringMatching(/no node of a local network$/)])
    await behave(pass, dead)
    expect(await openChain().verifyLocal(signal)).toEqual([])
    await behave(pass, dead, dead)
    await expect(openChain().verifyLocal(signal)).rejects.toMatchObject({ kind: 'upstream_unavailable' })
  })

  test.each([
    { mode: 'depth', blocks: 3 },
    { mode: 'time', seconds: 3 },
    { mode: 'depth-and-time' },
    { mode: 'tag', tag: 'safe' },
  ])('F-142: with finality %o is refused: the cluster knows one only', (finality) => {
    expect(() => openChain({ finality })).toThrow(/finality/)
  })

  test('with a depository of another family is refused', () => {
    expect(() => openChain({ depository: `0x${'11'.repeat(20)}` })).toThrow(/address/i)
  })
})
