// Goal: what another allocator signed with the same key counts here, whichever reading of the hub tells of it first.
// Method: a round over a hub that is told block by block; logs and state are read at heights of their own, as
// two agreements of endpoints are.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type FinalBlock, type Hex, withdrawRequestPayloadId } from '@causeway/core'
import { encodeEvmWithdrawal, payloadWithdrawal, withdrawRequestOf } from '@causeway/families/rules'
import {
  createRawKeySigner,
  createSigningCaps,
  type HeldStore,
  noHeldStore,
  noJournal,
  parsePrivateKey,
} from '@causeway/signer'
import { expect, onTestFinished, test } from 'vitest'
import type { AllocatorContract } from '../hub/allocatorContract.ts'
import { createServiceStops, noServiceStops, type ServiceStops } from '../hub/serviceStops.ts'
import { createPayloadKeys } from '../keys/payloadKeys.ts'
import { judgeIssued } from '../payloads/issued.ts'
import { chainOfPayer, type PayingDepository, paymentOf } from '../payloads/payingDepository.ts'
import { createMemoryState } from '../state/stateFiles.ts'
import { createAllocatorRound, type RoundReport } from './allocatorRound.ts'

const bytes = (byte: string, count: number): Hex => `0x${byte.repeat(count)}`
const payer: PayingDepository = {
  vmType: 'ethereum-vm',
  chain: 'base',
  hubChainId: '8453',
  depository: bytes('0d', 20),
}
const withdrawal = (nonce: bigint) =>
  encodeEvmWithdrawal({
    calls: [{ to: bytes('22', 20), data: '0x', value: 5n, allowFailure: false }],
    nonce,
    expiration: 1_800_000_000n,
  })

/** A payload of 5 wei, as the contract issues it. */
function issuePayload() {
  const { currency, amount, recipient } = paymentOf(payer, withdrawal(0n))
  const asked = { currency, amount, recipient, spender: bytes('99', 20), nonce: 42n }
  const request = withdrawRequestOf(chainOfPayer(payer), payloadWithdrawal(payer.vmType, withdrawal(0n)), {
    ...asked,
    depository: payer.depository,
  })
  const payloadId = withdrawRequestPayloadId(request)
  return { payloadId, request, payload: withdrawal(BigInt(payloadId)) }
}

const issued = issuePayload()
const issuedBlock = 10n
const signedBlock = 12n
const hashOf = (number: bigint): Hex => `0x${number.toString(16).padStart(64, '0')}`
const block = (number: bigint): FinalBlock => ({ number, hash: hashOf(number) })

/** Another process signed the payload, and its signature is final in block 12. */
function hubSeenAt(heights: { logs: bigint; state: bigint }): AllocatorContract {
  const isWithin = (number: bigint, from: bigint) => number >= from && number <= heights.logs
  return {
    signer: async () => bytes('00', 20),
    async readEvents(from) {
      const parentHash = from === 0n ? undefined : hashOf(from - 1n)
      if (heights.logs < from) return { issued: [], signed: [], until: undefined, parentHash }
      const [hash = bytes('00', 32)] = hashesOf()
      const signature = { payloadId: issued.payloadId, hash, blockSeconds: 60n }
      return {
        issued: isWithin(issuedBlock, from) ? [{ ...issued, blockNumber: issuedBlock }] : [],
        signed: isWithin(signedBlock, from) ? [signature] : [],
        until: block(heights.logs),
        parentHash,
      }
    },
    async readPayload() {
      const isFinal = heights.state >= signedBlock
      const { payload, payloadId: named } = issued
      return {
        payload,
        payloadIdOfNonce: named,
        balance: 5n,
        height: heights.state,
        stored: hashesOf().map(() => ({ isFinal, isSeen: isFinal })),
      }
    },
  }
}

function hashesOf(): readonly Hex[] {
  const verdict = judgeIssued(issued, [payer])
  return verdict.kind === 'sign' ? verdict.hashes : []
}

const unexpected = () => {
  throw new Error('nothing is signed or refused here')
}
const report: RoundReport = {
  signed: unexpected,
  refused: unexpected,
  held: unexpected,
  released: unexpected,
  rewritten: unexpected,
}

function openRound(
  heights: { logs: bigint; state: bigint },
  more: {
    readonly stops?: ServiceStops
    readonly report?: RoundReport
    readonly held?: Pick<HeldStore, 'keep' | 'isReleased' | 'forget'>
    readonly contract?: AllocatorContract
    readonly now?: () => number
  } = {},
) {
  const { now = () => 120_000 } = more
  const stored: Hex[] = []

  const privateKey = parsePrivateKey(bytes('77', 32), 'a test')
  const keys = createPayloadKeys({ signer: createRawKeySigner({ privateKey }), ed25519: undefined }, [payer])
  const verdict = judgeIssued(issued, [payer])
  if (verdict.kind !== 'sign') throw new Error(verdict.reason)
  const cap = { chain: 'base', currency: bytes('00', 20), amount: 8n }
  const caps = createSigningCaps({
    table: new Map([[verdict.backing.hubTokenId, cap]]),
    isUnlistedHeld: true,
    now,
    journal: noJournal,
    rememberedMax: 10,
  })
  const state = createMemoryState()
  const round = createAllocatorRound({
    contract: hubSeenAt(heights),
    keys,
    payers: [payer],
    caps,
    held: noHeldStore,
    state,
    report,
    firstBlock: 0n,
    now,
    stops: noServiceStops,
    ...more,
    store: { store: async (batch) => void stored.push(...batch.map(({ payloadId }) => payloadId)) },
  })
  /** Counts five of the cap's eight for something else. */
  const fill = () => {
    caps.count({ key: bytes('ee', 32), amounts: new Map([[verdict.backing.hubTokenId, 5n]]) }, now())
  }
  return { round, state, stored, fill, used: () => caps.usage().map(({ signed }) => signed) }
}

/** Held payloads that a process keeps. `isBroken`: its disk is full. */
function memoryHeld() {
  const ids = new Set<string>()
  const disk = { isBroken: false }
  const held = {
    ...noHeldStore,
    async keep(id: string) {
      if (disk.isBroken) throw new Error('no space is left')
      ids.add(id)
    },
    forget: async (id: string) => void ids.delete(id),
  }
  return { held, ids, disk }
}

test('L-95: a signature that the state shows before its event is read uses up the cap all the same', async () => {
  const heights = { logs: 11n, state: 12n }
  const { round, state, used } = openRound(heights)
  const { signal } = new AbortController()
  await round.run(signal)
  expect(await state.readPosition()).toBeUndefined()
  expect(used()).toEqual([0n])
  heights.logs = 12n
  await round.run(signal)
  expect(used()).toEqual([5n])
  expect(round.pending()).toBe(0)
  expect(await state.readPosition()).toEqual(block(12n))
})

test('a payload whose signature and event are read leaves nothing open, though no block follows', async () => {
  const { round, state, used } = openRound({ logs: 12n, state: 12n })
  const { signal } = new AbortController()
  await round.run(signal)
  expect(used()).toEqual([5n])
  expect(await state.readPosition()).toEqual(block(12n))
})

test('L-95: a held payload that comes to fit its cap is signed, and listed as held no more', async () => {
  const { held, ids } = memoryHeld()
  const clock = { ms: 120_000 }
  const { round, stored, fill } = openRound(
    { logs: 11n, state: 11n },
    { held, now: () => clock.ms, report: { ...report, held: () => {}, signed: () => {} } },
  )
  fill()
  const { signal } = new AbortController()
  await round.run(signal)
  expect([stored, [...ids]]).toEqual([[], [issued.payloadId]])
  clock.ms += 7_200_000
  await round.run(signal)
  expect([stored, [...ids]]).toEqual([[issued.payloadId], []])
})

test('L-95: a held payload that another process signs is listed as held no more', async () => {
  const { held, ids } = memoryHeld()
  const heights = { logs: 11n, state: 11n }
  const { round, fill } = openRound(heights, { held, report: { ...report, held: () => {} } })
  fill()
  const { signal } = new AbortController()
  await round.run(signal)
  expect([...ids]).toEqual([issued.payloadId])
  Object.assign(heights, { logs: 12n, state: 12n })
  await round.run(signal)
  expect([round.pending(), [...ids]]).toEqual([0, []])
})

test('L-95: what is held while nothing can be written is listed as soon as it can', async () => {
  const { held, ids, disk } = memoryHeld()
  const { round, fill } = openRound(
    { logs: 11n, state: 11n },
    { held, report: { ...report, held: () => {} } },
  )
  fill()
  disk.isBroken = true
  const { signal } = new AbortController()
  await expect(round.run(signal)).rejects.toThrow('no space')
  disk.isBroken = false
  await round.run(signal)
  expect([...ids]).toEqual([issued.payloadId])
})

test('L-96: what another process signs counts here too, where its money came only after this one refused it', async () => {
  const heights = { logs: 11n, state: 11n }
  const hub = hubSeenAt(heights)
  const { round, used } = openRound(heights, {
    report: { ...report, refused: () => {} },
    contract: {
      ...hub,
      readPayload: async (...asked) => ({ ...(await hub.readPayload(...asked)), balance: 4n }),
    },
  })
  const { signal } = new AbortController()
  await round.run(signal)
  expect([round.pending(), used()]).toEqual([0, [0n]])
  heights.logs = 12n
  await round.run(signal)
  expect(used()).toEqual([5n])
})

/** The operations listener of quote-api, as a test has it answer. */
async function startStops() {
  const said = { status: 200, body: '{"all":false,"chains":[]}' }
  const server = createServer((request, response) => {
    if (request.url !== '/stops?reader=allocator') throw new Error(`asked ${request.url}`)
    response.statusCode = said.status
    response.end(said.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  // CAST: a server that listens on TCP.
  const { port } = server.address() as AddressInfo
  let nowMs = 0
  const stops = createServiceStops({
    url: `http://127.0.0.1:${port}`,
    chains: ['base'],
    onChange: () => {},
    nowMs: () => {
      nowMs += 2_000
      return nowMs
    },
  })
  return { said, stops }
}

test.each<[string, number, string]>([
  ['names the chain', 200, '{"all":false,"chains":["optimism","base"]}'],
  ['says all', 200, '{"all":true,"chains":[]}'],
  ['does not answer well', 503, '{"all":false,"chains":[]}'],
  ['answers something else', 200, '{"stops":[]}'],
  ['answers without end of sense', 200, 'no'],
])(
  'O-44: nothing is signed or stored while quote-api %s, and all of it once the stop is over',
  async (_what, status, body) => {
    const { said, stops } = await startStops()
    Object.assign(said, { status, body })
    const signed: string[] = []
    const { round, stored, used } = openRound(
      { logs: 11n, state: 11n },
      { stops, report: { ...report, signed: (id) => void signed.push(id) } },
    )
    const { signal } = new AbortController()
    await round.run(signal)
    expect([signed, stored, used(), round.pending()]).toEqual([[], [], [0n], 1])
    Object.assign(said, { status: 200, body: '{"all":false,"chains":["optimism"]}' })
    await round.run(signal)
    expect([signed, stored]).toEqual([[issued.payloadId], [issued.payloadId]])
  },
)

test('O-44: what was signed when the stop came is not stored before it is over', async () => {
  const { said, stops } = await startStops()
  const { round, stored } = openRound(
    { logs: 11n, state: 11n },
    { stops, report: { ...report, signed: () => Object.assign(said, { body: '{"all":true,"chains":[]}' }) } },
  )
  const { signal } = new AbortController()
  await round.run(signal)
  expect(stored).toEqual([])
  said.body = '{"all":false,"chains":[]}'
  const { round: next, stored: storedThen } = openRound(
    { logs: 11n, state: 11n },
    { stops, report: { ...report, signed: () => {} } },
  )
  await next.run(signal)
  expect(storedThen).toEqual([issued.payloadId])
})
