// Goal: a chain without deposit addresses costs its scanner one question a look, and its first address is found by the
// next one. Method: looks a second apart on a database that counts, at a chain that grows by a block every two seconds.
import { expect, test } from 'vitest'
import { countedDatabase } from '../../../../test/settlementSupport/countedDatabase.ts'
import type { AddressChain } from '../depositAddressContext.ts'
import { createPaymentScanner } from './scanPayments.ts'

const asksForAddresses = /from deposit_address where/
const movesCursor = /^insert into deposit_address_cursor/

function scanner(seenHead?: () => bigint | undefined) {
  let nowMs = 1_000_000
  let head = 1_000n
  let headsAsked = 0
  let hasAddress = false
  let cursor: object | undefined
  const ranges: bigint[] = []
  const { database, take } = countedDatabase((text, values) => {
    if (asksForAddresses.test(text)) return hasAddress ? [{}] : []
    if (text.includes('from deposit_address_cursor')) return cursor === undefined ? [] : [cursor]
    if (!movesCursor.test(text)) return undefined
    cursor = { scanned_to: values[1], scanned_hash: values[2], final_to: values[3] }
    return []
  })
  const site = {
    // CAST: only the id of the chain is looked at.
    chain: { chainId: 8_453 } as AddressChain['chain'],
    async head() {
      headsAsked += 1
      return head
    },
    ...(seenHead !== undefined && { seenHead }),
    finalHeight: async () => head - 100n,
    isSeenInBlocks: false,
    balances: async () => [],
    blocks: {
      steps: { rangeBlocks: 1_000n, rewindBlocks: 512n, lateBlocks: 15n, firstBlocks: 100n },
      async payments({
        known,
        from,
        to,
      }: {
        readonly known: bigint
        readonly from: bigint
        readonly to: bigint
      }) {
        ranges.push(from)
        const mark = (number: bigint) => ({ number, hash: `a${number}` })
        return { known: mark(known), last: from <= to ? mark(to) : undefined, payments: [], named: [] }
      },
    },
  }
  const scan = createPaymentScanner({ database, screening: undefined, now: () => nowMs }, site)
  const leader = { fence: async () => undefined, signal: new AbortController().signal }
  return {
    ranges,
    headsAsked: () => headsAsked,
    addAddress: () => {
      hasAddress = true
    },
    newLeader: () => ({ ...leader, fence: async () => undefined }),
    async asked(run = leader) {
      nowMs += 1_000
      if (nowMs % 2_000 === 0) head += 1n
      await scan(run)
      return take()
    },
  }
}

test('F-106: a chain without addresses costs one question a look, and a cursor every half minute', async () => {
  const { asked } = scanner()
  await asked()
  const looks: (readonly string[])[] = []
  for (let look = 0; look < 60; look += 1) looks.push(await asked())
  expect(looks.filter((statements) => statements.length === 1)).toHaveLength(58)
  expect(looks.flat().filter((text) => movesCursor.test(text))).toHaveLength(2)
})

test('F-106: from the first address on all blocks are read that a fork may replace', async () => {
  const { asked, addAddress, ranges } = scanner()
  for (let look = 0; look < 41; look += 1) await asked()
  addAddress()
  await asked()
  // Sixty-four blocks below the head of the eleventh look before.
  expect(ranges[0]).toBeLessThanOrEqual(1_021n - 63n)
})

test('a new leadership reads the cursor again', async () => {
  const { asked, newLeader } = scanner()
  await asked()
  await asked()
  expect((await asked()).some((text) => text.includes('from deposit_address_cursor'))).toBe(false)
  expect((await asked(newLeader())).some((text) => text.includes('from deposit_address_cursor'))).toBe(true)
})

test('the head that another reader saw is not asked for again', async () => {
  let seen: bigint | undefined = 1_000n
  const { asked, headsAsked } = scanner(() => seen)
  await asked()
  expect(headsAsked()).toBe(0)
  seen = undefined
  await asked()
  expect(headsAsked()).toBe(1)
})
