// Goal: value leaves below a cap, or by the operator's word on exactly it, and nothing is counted that moved no value.
// Adversaries: a hub that is silent, a disk that is full, a stranger with many requests or with fees beyond his deposit.
import { encodeMintAction, encodeTransferAction, type Hex } from '@causeway/core'
import { type CapTable, createSigningCaps, type HeldRecord, noJournal } from '@causeway/signer'
import { describe, expect, test } from 'vitest'
import { createSigningGuard, noGuard, type Signing, type SigningGuardOptions } from './signingGuard.ts'

const token = 7n
const other = 8n
const table: CapTable = new Map([[token, { chain: 'base', currency: 'usdc', amount: 1_000n }]])
const start = Date.UTC(2026, 0, 1, 10, 59)
const keyOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`
const account = (digit: string): Hex => `0x${digit.repeat(40)}`
const mint = (number: number, amount: bigint, hubTokenId = token): Signing => ({
  kind: 'deposits',
  execution: {
    idempotencyKey: keyOf(number),
    actions: [encodeMintAction({ hubTo: account('1'), hubTokenId, amount })],
  },
  payout: undefined,
})
const payout = (number: number, amount: bigint, hubTokenId = token): Signing => ({
  kind: 'withdrawal-initiated',
  execution: undefined,
  payout: { key: keyOf(number), hubTokenId, amount },
})
/** A solver that pays a fee beyond what is deposited for him. */
const overdrawn: Signing = {
  kind: 'fills',
  execution: {
    idempotencyKey: keyOf(50),
    actions: [
      encodeTransferAction({ hubFrom: account('1'), hubTo: account('2'), hubTokenId: token, amount: 1n }),
      encodeTransferAction({ hubFrom: account('2'), hubTo: account('3'), hubTokenId: token, amount: 9n }),
    ],
  },
  payout: undefined,
}
const capsAt = (now: () => number) =>
  createSigningCaps({ table, isUnlistedHeld: true, now, journal: noJournal, rememberedMax: 99 })
const idle = () => new AbortController().signal

/** A store in memory, whose disk may be full. */
function memoryStore() {
  const records = new Map<string, HeldRecord | undefined>()
  const released = new Set<string>()
  const disk = { isFull: false, writes: 0 }
  const forgotten: string[] = []
  const store: Required<SigningGuardOptions>['held'] = {
    async keep(id, record) {
      disk.writes += 1
      if (disk.isFull) throw new Error('no space left')
      records.set(id, record)
    },
    isReleased: async (id) => released.has(id),
    async forget(id) {
      forgotten.push(id)
      records.delete(id)
      released.delete(id)
    },
    list: async () => new Map(records),
  }
  return { store, records, released, disk, forgotten }
}

function bed(own: Partial<Pick<SigningGuardOptions, 'isExecuted'>> = {}) {
  const clock = { now: start }
  const now = () => clock.now
  const caps = capsAt(now)
  const asked: Hex[] = []
  const told: string[] = []
  const lines: object[] = []
  const watched = { held: () => Number.NaN, caps: caps.usage }
  const memory = memoryStore()
  const guard = createSigningGuard({
    caps,
    table,
    now,
    held: memory.store,
    isExecuted(key, reading) {
      asked.push(key)
      return own.isExecuted?.(key, reading) ?? Promise.resolve(false)
    },
    metrics: {
      countHeld: (kind, reason) => told.push(`held ${kind} ${reason}`),
      countReleased: (kind) => told.push(`released ${kind}`),
      watchHeld: (read) => Object.assign(watched, { held: read }),
      watchCaps: (read) => Object.assign(watched, { caps: read }),
    },
    log: {
      info: (fields) => lines.push(fields),
      warn: (fields) => lines.push(fields),
      error: (fields) => lines.push(fields),
    },
  })
  const admit = (signing: Signing, signal = idle()) => guard.admit(signing, { signal })
  const signed = () => watched.caps()[0]?.signed
  const waiting = () => watched.held()
  return { ...memory, guard, admit, clock, asked, told, lines, signed, waiting }
}

/** The one id under which something is kept. */
function idIn({ records }: Pick<ReturnType<typeof bed>, 'records'>): string {
  const [id, ...more] = records.keys()
  if (id === undefined || more.length > 0) throw new Error('not one is held')
  return id
}

describe('a signature', () => {
  test('that moves no value is given, whatever the caps are', async () => {
    const { admit, signed, told } = bed()
    expect(await admit({ kind: 'withdrawals', execution: undefined, payout: undefined })).toBe(true)
    expect([signed(), told]).toEqual([0n, []])
    expect(await noGuard.admit(mint(1, 10_000n), { signal: idle() })).toBe(true)
  })

  test.each([
    ['an execution', mint],
    ['a payout', payout],
  ])('of %s counts once, and is held where it would pass the cap', async (_what, sign) => {
    const { admit, signed, waiting } = bed()
    expect([await admit(sign(1, 900n)), await admit(sign(1, 900n))]).toEqual([true, true])
    expect([await admit(sign(2, 101n)), await admit(sign(3, 100n))]).toEqual([false, true])
    expect([signed(), waiting()]).toEqual([1_000n, 1])
  })

  test('P-100: of fees beyond the deposit is held uncounted, unless its key was counted before', async () => {
    const { admit, signed, told, asked } = bed()
    expect(await admit(overdrawn)).toBe(false)
    expect([signed(), asked, told]).toEqual([0n, [], ['held fills overdrawn']])
    await admit(mint(50, 9n))
    expect(await admit(overdrawn)).toBe(true)
  })
})

describe('P-101: the hub', () => {
  test('is asked in the upper half of a cap alone, and by a key that was not counted', async () => {
    const { admit, asked } = bed()
    await admit(mint(1, 500n))
    expect(asked).toEqual([])
    for (const number of [1, 2, 2, 3]) await admit(mint(number, 500n))
    expect(asked).toEqual([keyOf(2), keyOf(3)])
  })

  test('that ran an execution has it signed again, and nothing is counted', async () => {
    const { admit, signed, told } = bed({ isExecuted: async () => true })
    expect([await admit(mint(1, 5_000n)), signed(), told]).toEqual([true, 0n, []])
  })

  test('runs no payout, so that it is not asked for one', async () => {
    const { admit, signed, asked } = bed({ isExecuted: async () => true })
    expect([await admit(payout(1, 900n)), signed(), asked]).toEqual([true, 900n, []])
  })

  test('that refuses, or that nobody waits for any more, has run nothing', async () => {
    const refusing = bed({ isExecuted: () => Promise.reject(new Error('refused')) })
    expect([await refusing.admit(mint(1, 900n)), refusing.signed()]).toEqual([true, 900n])
    const silent = bed({ isExecuted: () => new Promise(() => undefined) })
    expect([await silent.admit(mint(1, 900n), AbortSignal.abort()), silent.signed()]).toEqual([true, 900n])
  })

  test('is given up with the caller, and left alone once it has answered', async () => {
    const signals: (AbortSignal | undefined)[] = []
    const [leaving, served] = [new AbortController(), new AbortController()]
    const { admit } = bed({
      isExecuted(_key, { signal }) {
        signals.push(signal)
        return signals.length === 1 ? new Promise<never>(() => leaving.abort()) : Promise.resolve(false)
      },
    })
    await admit(mint(1, 900n), leaving.signal)
    await admit(mint(2, 100n), served.signal)
    served.abort()
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, false])
  })
})

describe('what is held', () => {
  test('is counted each time, and told and stored once, in words for the operator', async () => {
    const open = bed()
    for (let times = 0; times < 3; times += 1) await open.admit(mint(1, 1_001n))
    const record = {
      kind: 'deposits',
      key: keyOf(1),
      lets: ['1001 of base usdc'],
      reason: 'cap',
      since: '2026-01-01T10:59:00.000Z',
    }
    const id = idIn(open)
    expect(open.records.get(id)).toEqual(record)
    expect(open.lines).toEqual([{ event: 'execution_held', id, ...record }])
    expect([open.disk.writes, open.told, open.waiting()]).toEqual([1, Array(3).fill('held deposits cap'), 1])
  })

  test('of a token without a cap is named by its id on the hub', async () => {
    const open = bed()
    await open.admit(payout(1, 5n, other))
    expect(open.records.get(idIn(open))).toMatchObject({ reason: 'unlisted', lets: ['5 of hub token 8'] })
  })

  test('is stored by a later request where the disk was full, and until then stays known', async () => {
    const open = bed()
    open.disk.isFull = true
    for (let times = 0; times < 2; times += 1) await open.admit(mint(1, 1_001n))
    await open.guard.refresh()
    expect([open.disk.writes, open.records.size, open.waiting()]).toEqual([2, 0, 1])
    open.disk.isFull = false
    for (let times = 0; times < 2; times += 1) await open.admit(mint(1, 1_001n))
    expect([open.disk.writes, open.records.size, open.waiting()]).toEqual([3, 1, 1])
    const [first, ...more] = open.lines
    expect(first).toMatchObject({ event: 'execution_held' })
    const failure = { event: 'held_not_kept', id: idIn(open), err: new Error('no space left') }
    expect(more).toEqual([failure, failure])
  })

  test('is forgotten once it fits and is signed, and nothing else is', async () => {
    const open = bed()
    await open.admit(mint(1, 1_000n))
    await open.admit(mint(2, 500n))
    const id = idIn(open)
    open.clock.now += 61 * 60_000
    await open.admit(mint(3, 1n))
    expect([open.forgotten, open.waiting()]).toEqual([[], 1])
    expect(await open.admit(mint(2, 500n))).toBe(true)
    expect([open.forgotten, open.waiting(), open.records.size]).toEqual([[id], 0, 0])
  })

  test('by another process is known after a refresh, and no more once it was signed there', async () => {
    const open = bed()
    for (const id of ['one', 'two']) open.records.set(id, undefined)
    await open.guard.refresh()
    expect(open.waiting()).toBe(2)
    open.records.delete('one')
    await open.guard.refresh()
    expect(open.waiting()).toBe(1)
  })

  test('is remembered for ten thousand executions, and only counted beyond', async () => {
    const open = bed()
    for (let number = 0; number < 9_999; number += 1) open.records.set(`${number}`, undefined)
    await open.guard.refresh()
    for (const number of [1, 2, 1]) await open.admit(mint(number, 1_001n))
    expect([open.waiting(), open.disk.writes, open.lines.length, open.told.length]).toEqual([10_000, 1, 1, 3])
  })
})

describe('the operator', () => {
  test('has exactly what he released signed, once beside the caps', async () => {
    const open = bed()
    await open.admit(mint(1, 5_000n))
    const id = idIn(open)
    open.released.add(id)
    expect(await open.admit(mint(1, 5_001n))).toBe(false)
    expect(await open.admit(mint(2, 5_000n))).toBe(false)
    expect(await open.admit(mint(1, 5_000n))).toBe(true)
    expect([open.signed(), open.waiting(), open.forgotten]).toEqual([0n, 2, [id]])
    expect(open.told.at(-1)).toBe('released deposits')
    expect(open.lines.at(-1)).toEqual({
      event: 'execution_released',
      kind: 'deposits',
      id,
      key: keyOf(1),
      lets: ['5000 of base usdc'],
    })
    expect([await open.admit(mint(1, 5_000n)), open.told.at(-1)]).toEqual([true, 'released deposits'])
  })

  test.each([
    ['key', payout(2, 5_000n)],
    ['amount', payout(1, 5_001n)],
    ['token', payout(1, 5_000n, other)],
  ])('who released a payout released none with another %s', async (_what, another) => {
    const open = bed()
    await open.admit(payout(1, 5_000n))
    open.released.add(idIn(open))
    expect([await open.admit(another), await open.admit(payout(1, 5_000n))]).toEqual([false, true])
  })

  test('may release fees beyond a deposit, too', async () => {
    const open = bed()
    await open.admit(overdrawn)
    open.released.add(idIn(open))
    expect([await open.admit(overdrawn), open.signed()]).toEqual([true, 0n])
  })

  test('who has no store to release by has what is held stay held', async () => {
    const silent = () => undefined
    const now = () => start
    const guard = createSigningGuard({
      caps: capsAt(now),
      table,
      now,
      isExecuted: async () => false,
      metrics: { countHeld: silent, countReleased: silent, watchHeld: silent, watchCaps: silent },
      log: { info: silent, warn: silent, error: silent },
    })
    const answers = [1, 2].map(() => guard.admit(mint(1, 1_001n), { signal: idle() }))
    expect(await Promise.all(answers)).toEqual([false, false])
  })
})
