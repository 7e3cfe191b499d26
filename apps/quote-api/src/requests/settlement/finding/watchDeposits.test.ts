// Goal: a look at a chain that is as the last look left it costs the database one question and the chain one for its head.
// A new block is seen by the very next look, and whatever else changes within a second. Method: looks half a second apart
// at a chain that its test mines, on a database that counts.
import { UpstreamUnavailableError } from '@causeway/core'
import { expect, test } from 'vitest'
import { countedDatabase } from '../../../../test/settlementSupport/countedDatabase.ts'
import { scriptedChain } from '../../../../test/settlementSupport/scriptedDeposits.ts'
import type { SettlementChain } from '../chain/settlementChain.ts'
import type { SettlementContext } from '../settlementContext.ts'
import { createDepositWatcher } from './watchDeposits.ts'

const asksForOpen = /as is_open$/
const readsCursor = /^select final_to, final_hash, scanned_to/
const movesCursor = /^insert into deposit_cursor/
const notesSight = /insert into deposit_sight/
const lists = /^select id, chain_id|^\(select id, chain_id/

/** A watcher that has looked twice, so that nothing is new to it. */
async function idleWatcher(
  more: (at: ReturnType<typeof scriptedChain>) => object = () => ({}),
  options: Parameters<typeof scriptedChain>[0] = {},
) {
  const at = scriptedChain(options)
  let headsAsked = 0
  const deposits: { transaction: unknown; minedAfter: unknown }[] = []
  const state: { isOpen: boolean; cursor: object | undefined; failure: Error | undefined } = {
    isOpen: false,
    cursor: undefined,
    failure: undefined,
  }
  const { database, take } = countedDatabase((text, values) => {
    if (text.includes('as is_open')) return [{ is_open: state.isOpen }]
    if (readsCursor.test(text)) return state.cursor === undefined ? [] : [state.cursor]
    if (text.startsWith('insert into deposit_seen'))
      deposits.push({ transaction: values[1], minedAfter: values[10] })
    if (text.startsWith('update deposit_cursor'))
      state.cursor = { ...state.cursor, final_to: values[1], final_hash: values[2] }
    if (!movesCursor.test(text)) return undefined
    if (state.failure !== undefined) throw state.failure
    const [, final_to, scanned_to, scanned_hash, newest_at] = values
    state.cursor = { final_to, final_hash: null, scanned_to, scanned_hash, newest_at }
    return []
  })
  let nowMs = 1_000_000_000
  const context = { database, announce: async () => undefined, observe: () => undefined, now: () => nowMs }
  const look = createDepositWatcher(
    // CAST: what a look at a chain without open deposits needs.
    context as unknown as SettlementContext,
    {
      ...at.chain,
      async head() {
        headsAsked += 1
        return at.head()
      },
      ...more(at),
    } as unknown as SettlementChain,
    15_000,
  )
  const signal = new AbortController().signal
  const leader = { fence: async () => undefined, signal }
  const asked = async (run = leader) => {
    nowMs += 500
    await look(run)
    return take()
  }
  await asked()
  // The look at final blocks moved their cursor, which is read again.
  await asked()
  headsAsked = 0
  /** Looks of a second, so that the newest block is listed by one of them. */
  const askedForASecond = async () => [...(await asked()), ...(await asked())]
  return {
    at,
    state,
    deposits,
    asked,
    askedForASecond,
    headsAsked: () => headsAsked,
    newLeader: () => ({ fence: async () => undefined, signal }),
  }
}

test('looks at a chain without a new block ask for open deposits, and note once a second that it was read', async () => {
  const { asked } = await idleWatcher()
  const statements: string[] = []
  for (let look = 0; look < 20; look += 1) statements.push(...(await asked()))
  expect(statements.filter((text) => asksForOpen.test(text))).toHaveLength(20)
  expect(statements.filter((text) => notesSight.test(text))).toHaveLength(10)
  expect(statements).toHaveLength(30)
})

test.each(['together', 'apart'] as const)(
  'F-70: the newest block is listed once a second, with its head asked for %s',
  async (how) => {
    const { at, asked, headsAsked } = await idleWatcher(
      how === 'apart' ? undefined : toldTogether({ now: 'all' }),
    )
    const passes = at.passes()
    for (let look = 0; look < 20; look += 1) await asked()
    expect([headsAsked(), at.passes() - passes]).toEqual(how === 'apart' ? [20, 10] : [10, 10])
  },
)

test('F-70, F-106: blocks that come five a second are listed once a second, and none is left out', async () => {
  const { at, asked, deposits } = await idleWatcher(undefined, { blockTimeMs: 200 })
  const passes = at.passes()
  const mined: string[] = []
  for (let block = 0; block < 50; block += 1) {
    mined.push(`in ${block}`)
    at.mine(`in ${block}`)
    if (block % 5 === 2 || block % 5 === 4) await asked()
  }
  expect(at.passes() - passes).toBe(10)
  await asked()
  await asked()
  expect(deposits.map(({ transaction }) => transaction)).toEqual(mined)
})

test('a transaction that is to be read once more is read by the next look, though its block was listed just now', async () => {
  const { at, asked, deposits } = await idleWatcher()
  at.failures.set('unanswered', new UpstreamUnavailableError('no answer'))
  at.mine('unanswered')
  await asked()
  at.failures.clear()
  await asked()
  expect(deposits).toMatchObject([{ transaction: 'unanswered' }])
})

test('a new block is stored by the look that finds it', async () => {
  const { at, state, asked } = await idleWatcher()
  at.mine()
  expect((await asked()).filter((text) => movesCursor.test(text))).toHaveLength(1)
  expect(state.cursor).toMatchObject({ scanned_to: 201n, scanned_hash: 'a201' })
})

test('another block at the same height is seen as a reorganization', async () => {
  const { at, state, askedForASecond, deposits } = await idleWatcher()
  at.replaceFrom(200n, 'b', 1)
  at.put(200n, 'moved')
  await askedForASecond()
  expect(state.cursor).toMatchObject({ scanned_to: 200n, scanned_hash: 'b200' })
  expect(deposits).toMatchObject([{ transaction: 'moved' }])
})

test('F-70: a deposit that endpoints list late is stored though no new block came', async () => {
  const { at, askedForASecond, deposits } = await idleWatcher()
  at.hidden.add('late')
  at.mine('late')
  await askedForASecond()
  expect(deposits).toEqual([])
  at.hidden.delete('late')
  await askedForASecond()
  expect(deposits).toMatchObject([{ transaction: 'late' }])
})

test('a deposit in the next block counts as made after the last look, though that look stored nothing', async () => {
  const { at, asked, deposits } = await idleWatcher()
  for (let look = 0; look < 6; look += 1) await asked()
  at.mine('next')
  await asked()
  // Eight looks, half a second apart, came before the block.
  expect(deposits).toEqual([{ transaction: 'next', minedAfter: 1_000_004 }])
})

test('deposits that another process stored are listed by the next look', async () => {
  const { state, asked } = await idleWatcher()
  expect((await asked()).some((text) => lists.test(text))).toBe(false)
  state.isOpen = true
  expect((await asked()).filter((text) => lists.test(text))).toHaveLength(2)
})

test('a new leadership reads the cursor, which another process may have moved', async () => {
  const { state, asked, newLeader } = await idleWatcher()
  expect((await asked()).some((text) => readsCursor.test(text))).toBe(false)
  state.cursor = { final_to: 100n, final_hash: null, scanned_to: 190n, scanned_hash: 'a190', newest_at: 1n }
  expect((await asked(newLeader())).some((text) => readsCursor.test(text))).toBe(true)
  expect(state.cursor).toMatchObject({ scanned_to: 200n, scanned_hash: 'a200' })
})

test('a block whose commit failed is stored by the next look', async () => {
  const { at, state, asked } = await idleWatcher()
  at.mine('deposit')
  state.failure = new Error('the database is away')
  await expect(asked()).rejects.toThrow('away')
  state.failure = undefined
  await asked()
  expect(state.cursor).toMatchObject({ scanned_to: 201n })
})

/** A chain that tells its head together with the blocks up to it, unless endpoints `differ` or are `silent`. */
const toldTogether =
  (says: { now: 'all' | 'differ' | 'silent' }) => (at: ReturnType<typeof scriptedChain>) => ({
    async newestPass({ known, from }: { readonly known: bigint; readonly from: bigint }) {
      if (says.now === 'silent') throw new UpstreamUnavailableError('Too few endpoints name a latest block.')
      const head = at.head()
      if (says.now === 'differ') return { head, pass: undefined }
      return {
        head,
        pass: await at.chain.depositPass({ known, from, to: head }, new AbortController().signal),
      }
    },
  })

test.each(['all', 'differ', 'silent'] as const)(
  'a deposit, a reorganization and a shorter chain are seen where head and blocks are asked for together: %s',
  async (now) => {
    const { at, state, deposits, asked, askedForASecond } = await idleWatcher(toldTogether({ now }))
    at.mine('first')
    await asked()
    expect(deposits).toMatchObject([{ transaction: 'first' }])
    at.replaceFrom(201n, 'b', 1)
    at.put(201n, 'second')
    await askedForASecond()
    expect(deposits.at(-1)).toMatchObject({ transaction: 'second' })
    at.replaceFrom(199n, 'c', 1)
    at.put(199n, 'third')
    await asked()
    expect(deposits.at(-1)).toMatchObject({ transaction: 'third' })
    expect(state.cursor).toMatchObject({ scanned_to: 199n, scanned_hash: 'c199' })
  },
)

test('head and blocks are asked for apart where that failed together, until a look succeeds', async () => {
  const says: Parameters<typeof toldTogether>[0] = { now: 'all' }
  const { at, asked, askedForASecond, headsAsked } = await idleWatcher(toldTogether(says))
  at.mine('one')
  await askedForASecond()
  // One look found the block by its head, and one that it was still the newest.
  expect(headsAsked()).toBe(2)
  says.now = 'silent'
  await asked()
  says.now = 'all'
  await asked()
  expect(headsAsked()).toBe(4)
})
