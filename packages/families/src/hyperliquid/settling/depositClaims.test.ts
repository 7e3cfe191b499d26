import { expect, test } from 'vitest'
import type { EntryPlace, HubEntry } from '../../shared/hubEntries.ts'
import { placeOfMapping } from '../reading/nonceMapping.ts'
import { createDepositClaims } from './depositClaims.ts'
import { type ListedTransfer, timesOfLook } from './depositPass.ts'

const signal = AbortSignal.timeout(30_000)
const startMs = 1_761_563_890_000

const transfer = (user: string, number: number, nonce: number | null = number): ListedTransfer => ({
  hash: `${user} ${number}`,
  timeMs: startMs + number,
  user,
  nonce,
})

/** A hub that counts what it is asked for, and transfers of `user` that it has entries for. */
function hubOf(mapped: ReadonlySet<string>) {
  const asked: EntryPlace[][] = []
  const entryOf = ({ user, id }: EntryPlace): HubEntry => {
    const isMapped = mapped.has(`${user} ${id}`)
    return {
      data: isMapped ? `0x${'ab'.repeat(32)}` : '0x',
      createdAtSeconds: isMapped ? BigInt(startMs / 1_000) : 0n,
      readAtSeconds: BigInt(startMs / 1_000),
    }
  }
  return {
    asked,
    hubEntries: {
      read: async (user: EntryPlace['user'], id: EntryPlace['id']) => entryOf({ user, id }),
      async readEach(places: readonly EntryPlace[]) {
        asked.push([...places])
        return places.map(entryOf)
      },
    },
  }
}

const account = (number: number) => `0x${number.toString(16).padStart(40, '0')}`
const placed = (user: string, nonce: number) => {
  const place = placeOfMapping('hyperliquid', user, BigInt(nonce))
  return `${place.user} ${place.id}`
}

test('F-51: behind ten thousand transfers of ten strangers an honest one is found at the first look', async () => {
  const honest = account(99)
  const { asked, hubEntries } = hubOf(new Set([placed(honest, 5)]))
  const claims = createDepositClaims({ chainId: 'hyperliquid', hubEntries }, () => startMs)
  const strangers = Array.from({ length: 10_000 }, (_, index) => transfer(account(index % 10), index + 6))
  const found = await claims.look([transfer(honest, 5), ...strangers], BigInt(startMs), signal)
  expect(found.transfers.map(({ user }) => user)).toEqual([honest])
  expect(found.isShort).toBe(true)
  expect(asked.map(({ length }) => length)).toEqual([40])
})

test('F-51: what the hub has no entry for is asked for again with growing pauses, and never looked up', async () => {
  let nowMs = startMs
  const mapped = new Set<string>()
  const { asked, hubEntries } = hubOf(mapped)
  const claims = createDepositClaims({ chainId: 'hyperliquid', hubEntries }, () => nowMs)
  const one = transfer(account(1), 5)
  for (; nowMs < startMs + 10_000; nowMs += 100)
    expect((await claims.look([one], BigInt(nowMs), signal)).transfers).toEqual([])
  expect(asked).toHaveLength(5)
  mapped.add(placed(account(1), 5))
  nowMs += 10_000
  expect((await claims.look([], BigInt(nowMs), signal)).transfers).toMatchObject([one])
  // It is named as long as it may count, for whoever could not keep it.
  expect((await claims.look([], BigInt(nowMs), signal)).transfers).toMatchObject([one])
  expect((await claims.look([], BigInt(nowMs + 4_000_000), signal)).transfers).toEqual([])
})

test('F-51: of transfers whose nonce no ledger shows eight are looked up in one look, senders in turn', async () => {
  const { hubEntries } = hubOf(new Set())
  const claims = createDepositClaims({ chainId: 'hyperliquid', hubEntries }, () => startMs)
  const strangers = Array.from({ length: 500 }, (_, index) => transfer(account(1), index + 6, null))
  const { transfers } = await claims.look([transfer(account(2), 1, null), ...strangers], 0n, signal)
  expect(transfers).toHaveLength(8)
  expect(transfers.map(({ user }) => user)).toContain(account(2))
})

test('F-52: a look lists its own range and half a minute before it, and older times a part each until they are over', () => {
  const at = 1_761_563_890_000n
  let listed: Parameters<typeof timesOfLook>[1]
  let covered = 0n
  let looks = 0
  for (let to = at; ; to += 1_000n) {
    const look = timesOfLook({ from: to - 999n, to }, listed)
    expect(look.times[0]).toEqual({ from: to - 30_999n, to })
    for (const { from, to: end } of look.times.slice(1)) covered += end - from + 1n
    looks += 1
    listed = look.listed
    if (look.isWhole) break
  }
  expect(looks).toBe(13)
  expect(covered).toBe(at - 30_999n - (listed?.from ?? 0n))
  // One that goes on reads no hour again, one that begins elsewhere does.
  expect(timesOfLook({ from: at + 13_000n, to: at + 14_000n }, listed).times.length).toBeLessThan(3)
  const later = timesOfLook({ from: at + 600_000n, to: at + 601_000n }, listed)
  expect(later.listed.from).toBe(at + 600_000n - 30_000n - 300_000n)
})
