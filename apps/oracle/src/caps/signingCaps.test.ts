// Hourly signing caps of one process, against a caller who wants more.
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  ConfigurationError,
  encodeBurnAction,
  encodeMintAction,
  encodeTransferAction,
  type Hex,
} from '@causeway/core'
import {
  type CapTable,
  createCapJournal,
  createSigningCaps,
  noJournal,
  type SigningCapsOptions,
} from '@causeway/signer'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { valueLetOut } from './valueLetOut.ts'

const token = 7n
const other = 8n
const table: CapTable = new Map([[token, { chain: 'base', currency: 'usdc', amount: 1_000n }]])
const minute = 60_000
const start = Date.UTC(2026, 0, 1, 10, 59)
const keyOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`
const value = (number: number, amount: bigint, hubTokenId = token) => ({
  key: keyOf(number),
  amounts: new Map([[hubTokenId, amount]]),
})

function capsAt(clock: { now: number }, own: Partial<SigningCapsOptions> = {}) {
  return createSigningCaps({
    table,
    isUnlistedHeld: true,
    now: () => clock.now,
    journal: noJournal,
    rememberedMax: 100,
    ...own,
  })
}

describe('a thief', () => {
  test('P-98: gets no second cap at the boundary of an hour', () => {
    const clock = { now: start }
    const caps = capsAt(clock)
    expect(caps.admit(value(1, 1_000n)).kind).toBe('upper')
    for (const minutes of [1, 2, 30, 59, 60]) {
      clock.now = start + minutes * minute
      expect(caps.admit(value(100 + minutes, 1n)).kind).toBe('held')
    }
    clock.now = start + 61 * minute
    expect(caps.admit(value(2, 1_000n)).kind).toBe('upper')
  })

  test('P-98: signs no more than the cap in any hour, however amounts and pauses fall', () => {
    const ask = fc.record({ pauseMs: fc.nat(20 * minute), amount: fc.bigInt({ min: 1n, max: 700n }) })
    fc.assert(
      fc.property(fc.array(ask, { maxLength: 60 }), fc.nat(minute), (asks, offset) => {
        const clock = { now: start + offset }
        const caps = capsAt(clock)
        const signed: { readonly at: number; readonly amount: bigint }[] = []
        for (const [index, { pauseMs, amount }] of asks.entries()) {
          clock.now += pauseMs
          if (caps.admit(value(index, amount)).kind !== 'held') signed.push({ at: clock.now, amount })
        }
        for (const { at } of signed) {
          const within = signed.filter((entry) => entry.at >= at && entry.at <= at + 60 * minute)
          expect(within.reduce((sum, { amount }) => sum + amount, 0n)).toBeLessThanOrEqual(1_000n)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('gets nothing for a token without a cap, nor beyond the cap at once', () => {
    const caps = capsAt({ now: start })
    expect(caps.admit(value(1, 1n, other))).toEqual({
      kind: 'held',
      excess: { reason: 'unlisted', hubTokenId: other, amount: 1n },
    })
    expect(caps.admit(value(2, 1_001n)).kind).toBe('held')
    expect(caps.usage()).toEqual([{ chain: 'base', currency: 'usdc', amount: 1_000n, signed: 0n }])
  })

  test('P-99: who asks for more under a key that was signed is counted for the rest', () => {
    const caps = capsAt({ now: start })
    expect(caps.admit(value(1, 100n)).kind).toBe('within')
    expect(caps.admit(value(1, 1_101n)).kind).toBe('held')
    expect(caps.admit(value(1, 900n)).kind).toBe('upper')
    expect(caps.admit(value(2, 101n)).kind).toBe('held')
    expect(caps.usage()).toMatchObject([{ signed: 900n }])
  })

  test('with a second process gets no second cap: what it signed counts here, once, for its hour', () => {
    const clock = { now: start }
    const caps = capsAt(clock)
    caps.count(value(1, 900n), start - 59 * minute)
    caps.count(value(1, 900n), start)
    caps.count(value(2, 5_000n), start - 70 * minute)
    expect(caps.usage()).toMatchObject([{ signed: 900n }])
    expect(caps.admit(value(3, 101n)).kind).toBe('held')
    expect(caps.admit(value(1, 900n)).kind).toBe('free')
    clock.now += 2 * minute
    expect(caps.admit(value(3, 101n)).kind).toBe('within')
  })

  test('a cap of zero signs nothing', () => {
    const closed: CapTable = new Map([[token, { chain: 'base', currency: 'usdc', amount: 0n }]])
    expect(capsAt({ now: start }, { table: closed }).admit(value(1, 1n)).kind).toBe('held')
  })
})

describe('what was signed', () => {
  test('P-99: counts once, and is never held, within the hour or later', () => {
    const clock = { now: start }
    const caps = capsAt(clock)
    caps.admit(value(1, 600n))
    for (let again = 0; again < 700; again++) expect(caps.admit(value(1, 600n)).kind).toBe('free')
    caps.admit(value(2, 400n))
    expect(caps.admit(value(1, 600n)).kind).toBe('free')
    clock.now += 300 * minute
    expect(caps.admit(value(1, 600n)).kind).toBe('free')
    expect(caps.usage()).toMatchObject([{ signed: 0n }])
  })

  test('is forgotten by age of use, and then counts anew', () => {
    const caps = capsAt({ now: start }, { rememberedMax: 2 })
    for (const number of [1, 2, 1, 3]) caps.admit(value(number, 10n))
    expect([caps.admit(value(1, 10n)).kind, caps.judge(value(2, 10n)).kind]).toEqual(['free', 'within'])
    expect(caps.usage()).toMatchObject([{ signed: 30n }])
  })
})

describe('STATE_DIR', () => {
  async function directory(): Promise<string> {
    const made = await mkdtemp(join(tmpdir(), 'causeway-caps-'))
    onTestFinished(() => rm(made, { recursive: true, force: true }))
    return made
  }
  const journalIn = (place: string) =>
    createCapJournal(place, (error) => {
      throw error
    })
  const file = 'signing-caps.jsonl'

  test('an oracle that is restarted in a loop signs no more than one that runs', async () => {
    const place = await directory()
    const clock = { now: start }
    let signed = 0
    for (let run = 0; run < 20; run++) {
      // Nothing is closed: each run was killed.
      const caps = capsAt(clock, { journal: journalIn(place) })
      if (caps.admit(value(run, 300n)).kind !== 'held') signed += 1
      expect(caps.judge(value(0, 300n)).kind).toBe('free')
      clock.now += minute
    }
    expect(signed).toBe(3)
  })

  test('a clock that was set back before a restart lets nothing out of the window', async () => {
    const place = await directory()
    capsAt({ now: start + 600 * minute }, { journal: journalIn(place) }).admit(value(1, 1_000n))
    const clock = { now: start }
    const caps = capsAt(clock, { journal: journalIn(place) })
    expect(caps.admit(value(2, 1n)).kind).toBe('held')
    clock.now += 61 * minute
    expect(caps.admit(value(2, 1n)).kind).toBe('within')
  })

  test('half a line at the end is what nothing was signed by; any other bad line stops the start', async () => {
    const place = await directory()
    capsAt({ now: start }, { journal: journalIn(place) }).admit(value(1, 1_000n))
    const whole = await readFile(join(place, file), 'utf8')
    await appendFile(join(place, file), '{"minute":1,"cou')
    expect(capsAt({ now: start }, { journal: journalIn(place) }).admit(value(2, 1n)).kind).toBe('held')
    await writeFile(join(place, file), `${whole}{"minute":-1}\n`)
    const begin = () => capsAt({ now: start }, { journal: journalIn(place) })
    expect(begin).toThrow(ConfigurationError)
    expect(begin).toThrow(/STATE_DIR: line 2 of signing-caps\.jsonl/)
  })

  test('what an operator released is remembered and uses nothing up', async () => {
    const place = await directory()
    capsAt({ now: start }, { journal: journalIn(place) }).exempt(value(1, 5_000n))
    const caps = capsAt({ now: start }, { journal: journalIn(place) })
    expect(caps.admit(value(1, 5_000n)).kind).toBe('free')
    expect(caps.usage()).toMatchObject([{ signed: 0n }])
  })

  test('what a journal cannot take still counts in this process', async () => {
    const place = await directory()
    const failures: unknown[] = []
    const journal = createCapJournal(place, (error) => failures.push(error))
    const caps = capsAt({ now: start }, { journal })
    journal.close()
    expect(caps.admit(value(1, 1_000n)).kind).toBe('upper')
    expect(caps.admit(value(2, 1n)).kind).toBe('held')
    expect(failures).toHaveLength(1)
  })
})

describe('the value of an execution', () => {
  const account = (digit: string): Hex => `0x${digit.repeat(40)}`
  const transfer = (from: string, to: string, amount: bigint, hubTokenId = token) =>
    encodeTransferAction({ hubFrom: account(from), hubTo: account(to), hubTokenId, amount })

  test.each<[string, readonly Hex[], readonly [bigint, bigint][], boolean]>([
    [
      'is all that is minted',
      [1n, 2n].map((amount) => encodeMintAction({ hubTo: account('1'), hubTokenId: token, amount })),
      [[token, 3n]],
      false,
    ],
    [
      'is what is burned',
      [encodeBurnAction({ hubFrom: account('1'), hubTokenId: token, amount: 5n })],
      [[token, 5n]],
      false,
    ],
    [
      'is a deposit, and a fee out of it is part of it',
      [transfer('1', '2', 100n), transfer('2', '3', 10n)],
      [[token, 100n]],
      false,
    ],
    [
      'is what is minted beside what is burned',
      [
        encodeMintAction({ hubTo: account('1'), hubTokenId: token, amount: 5n }),
        encodeBurnAction({ hubFrom: account('1'), hubTokenId: token, amount: 5n }),
      ],
      [[token, 10n]],
      false,
    ],
    [
      'is what an account gives beside what is minted for it',
      [encodeMintAction({ hubTo: account('1'), hubTokenId: token, amount: 5n }), transfer('1', '2', 5n)],
      [[token, 10n]],
      false,
    ],
    [
      'is what is burned beside what was given before',
      [transfer('1', '2', 5n), encodeBurnAction({ hubFrom: account('2'), hubTokenId: token, amount: 5n })],
      [[token, 10n]],
      false,
    ],
    [
      'is a deposit, all of which may be passed on as fees',
      [transfer('1', '2', 100n), transfer('2', '3', 100n)],
      [[token, 100n]],
      false,
    ],
    [
      'is overdrawn by fees beyond the deposit',
      [transfer('1', '2', 1n), transfer('2', '3', 900n)],
      [[token, 900n]],
      true,
    ],
    [
      'is overdrawn by fees of another token',
      [transfer('1', '2', 1n), transfer('2', '3', 900n, other)],
      [
        [token, 1n],
        [other, 900n],
      ],
      true,
    ],
  ])('%s', (_what, actions, amounts, isOverdrawn) => {
    expect(valueLetOut(actions)).toEqual({ amounts: new Map(amounts), isOverdrawn })
  })

  test('nothing unreadable passes for worthless', () => {
    expect(() => valueLetOut(['0x1234'])).toThrow(RangeError)
  })
})
