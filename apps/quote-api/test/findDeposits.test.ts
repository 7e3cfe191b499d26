// Goal: whatever endpoints leave out or delay, a deposit is found, once, and whatever one transaction does, its
// neighbours are found in the same look. Method: the passes of the watcher over a real database and a chain that shows
// only what its script says, at any height.

import { UpstreamDisagreementError, UpstreamUnavailableError } from '@causeway/core'
import { codecOf, mainNetwork } from '@causeway/core/encodings'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { EndpointFailure, TransactionTooLargeError } from '@causeway/rpc'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createReadMemory } from '../src/chainReadings/readMemory.ts'
import type { CommandContext } from '../src/operate/cli/command.ts'
import { rereadCommands } from '../src/operate/cli/reread.ts'
import { createOrderStore } from '../src/requests/orders/orderStore.ts'
import type { SettlementChain } from '../src/requests/settlement/chain/settlementChain.ts'
import { readDepositCursor } from '../src/requests/settlement/deposits/depositCursor.ts'
import { findFinalDeposits } from '../src/requests/settlement/finding/findFinalDeposits.ts'
import { findNewDeposits } from '../src/requests/settlement/finding/findNewDeposits.ts'
import type { FindingChain } from '../src/requests/settlement/finding/listBlocks.ts'
import { createReadNamed } from '../src/requests/settlement/finding/readNamed.ts'
import { createDepositWatcher } from '../src/requests/settlement/finding/watchDeposits.ts'
import type { SettlementContext } from '../src/requests/settlement/settlementContext.ts'
import { endStop, readStops } from '../src/requests/stops/stopStore.ts'
import { listPutAside } from '../src/requests/work/putAsideStore.ts'
import { orderMigrations } from './orderSupport/orders.ts'
import { chainId, order, scriptedChain } from './settlementSupport/scriptedDeposits.ts'

let server: TestDatabase
beforeAll(async () => {
  server = await startTestDatabase({ directories: [orderMigrations] })
  await createOrderStore({ database: server.database }).save(order)
})
afterAll(() => server?.stop())

let nowMs = 1_000_000
const told: object[] = []
const context = () => ({
  database: server.database,
  announce: async () => undefined,
  observe: (event: object) => void told.push(event),
})
const run = { fence: async () => undefined, signal: new AbortController().signal }

beforeEach(async () => {
  told.length = 0
  await server.database.query('delete from deposit_seen')
  await server.database.query('delete from deposit_cursor')
  await server.database.query('delete from put_aside')
  await server.database.query('delete from chain_stop')
})

function watcher({ chain, head }: ReturnType<typeof scriptedChain>) {
  const memory = createReadMemory(() => nowMs)
  return {
    live: () => findNewDeposits(context(), chain, { head: head(), askedAtSeconds: 5, memory }, run),
    final: () => findFinalDeposits(context(), chain, { head: head(), memory }, run),
  }
}

const seen = async () =>
  (
    await server.database.query<{ tx_hash: string; block_hash: string; mined_after: Date | null }>(
      'select tx_hash, block_hash, mined_after from deposit_seen order by id',
    )
  ).map(({ tx_hash }) => tx_hash)

test('F-70: a list that is late by some seconds loses nothing', async () => {
  const at = scriptedChain()
  const { live } = watcher(at)
  await live()
  at.hidden.add('late')
  at.mine('late')
  await live()
  at.grow(3)
  await live()
  expect(await seen()).toEqual([])
  at.hidden.delete('late')
  await live()
  expect(await seen()).toEqual(['late'])
})

test('F-70: one that comes much later is found once its block is final, and is no later for that', async () => {
  const at = scriptedChain()
  const { live, final } = watcher(at)
  await live()
  at.hidden.add('late')
  at.mine('late')
  at.grow(20)
  await live()
  at.hidden.delete('late')
  await live()
  expect(await seen()).toEqual([])
  at.grow(30)
  await live()
  await final()
  expect(await seen()).toEqual(['late'])
  const [row] = await server.database.query<{ mined_after: Date | null }>(
    'select mined_after from deposit_seen',
  )
  expect(row?.mined_after).toBeNull()
})

test('F-70: the cursor moves for good over final blocks alone, and over none of the last half minute', async () => {
  const at = scriptedChain()
  const { live, final } = watcher(at)
  await live()
  await final()
  expect(await readDepositCursor(server.database, chainId)).toMatchObject({ finalTo: 170n, scannedTo: 200n })
  // Lists are late even where blocks are final at once.
  const quick = { ...at, chain: { ...at.chain, finalHeight: async () => at.head() } }
  await watcher(quick).final()
  expect((await readDepositCursor(server.database, chainId))?.finalTo).toBe(185n)
})

test('O-61: a final block that is another one stops the chain once, with both hashes, and go ends it', async () => {
  const at = scriptedChain()
  const { live, final } = watcher(at)
  const stops = () => readStops(server.database)
  await live()
  await final()
  at.grow(5)
  await live()
  await final()
  expect(await stops()).toEqual([])
  at.replaceFrom(170n, 'b', 60)
  await final()
  const reason = 'final block 175 was a175 and is b175'
  expect(await stops()).toMatchObject([{ chainId, toldBy: 'operator', actor: 'quote-api', reason }])
  await server.database.transaction((tx) =>
    endStop(tx, { chainId, name: 'base', actor: 'cli:root', reason: 'counted' }),
  )
  await live()
  await final()
  expect(await stops()).toEqual([])
})

test('O-68: a chain that is shorter than its final block is read no further, and stops once it stays so', async () => {
  const at = scriptedChain()
  const { live, final } = watcher(at)
  await live()
  at.grow(5)
  await live()
  await final()
  const { finalTo = 0n } = (await readDepositCursor(server.database, chainId)) ?? {}
  let head = at.head()
  const chain = { ...at.chain, head: async () => head } as unknown as SettlementChain
  const look = createDepositWatcher(
    { ...context(), chains: new Map(), now: () => nowMs } as unknown as SettlementContext,
    chain,
    15_000,
  )
  const sights = () =>
    server.database.query('select read_at from deposit_sight where chain_id = $1', [chainId])
  // Endpoints that lag by half a minute are no shorter chain.
  head = finalTo - 15n
  await look(run)
  head = finalTo - 16n
  const before = await sights()
  await expect(look(run)).rejects.toThrow(/ends at block [0-9]+, below its final block/)
  nowMs += 29_999
  await expect(look(run)).rejects.toThrow(/ends at block/)
  expect([await readStops(server.database), await sights()]).toEqual([[], before])
  nowMs += 1
  await look(run)
  const reason = `the chain ends at block ${head}, below its final block ${finalTo}`
  expect(await readStops(server.database)).toMatchObject([
    { chainId, toldBy: 'operator', actor: 'quote-api', reason },
  ])
  expect(await readDepositCursor(server.database, chainId)).not.toMatchObject({ finalTo })
})

test('O-68: one that is long enough again in time is not stopped, and its final block is compared', async () => {
  const at = scriptedChain()
  const { live, final } = watcher(at)
  await live()
  at.grow(5)
  await live()
  await final()
  let head = 100n
  const look = createDepositWatcher(
    { ...context(), chains: new Map(), now: () => nowMs } as unknown as SettlementContext,
    { ...at.chain, head: async () => head } as unknown as SettlementChain,
    15_000,
  )
  await expect(look(run)).rejects.toThrow(/ends at block 100/)
  nowMs += 20_000
  at.replaceFrom(150n, 'b', 60)
  head = at.head()
  await look(run)
  expect(await readStops(server.database)).toMatchObject([
    { reason: expect.stringMatching(/^final block [0-9]+ was a/) },
  ])
})

test('F-70: each transaction is read once, however often its block is looked at', async () => {
  const at = scriptedChain()
  const { live, final } = watcher(at)
  await live()
  at.mine('one', 'two')
  for (let look = 0; look < 20; look += 1) {
    await live()
    at.mine()
  }
  at.grow(30)
  await live()
  await final()
  expect(at.asked).toEqual(['one', 'two'])
  // A restart knows nothing of it, and finds nothing twice.
  const before = await seen()
  await server.database.query(
    'update deposit_cursor set final_to = 190, scanned_to = 205, scanned_hash = $1',
    ['a205'],
  )
  const again = watcher(at)
  await again.live()
  await again.final()
  expect(await seen()).toEqual(before)
})

test('F-70: a receipt whose logs come late is read again, each time after a longer pause', async () => {
  const at = scriptedChain()
  const { live } = watcher(at)
  await live()
  at.empty.add('short')
  at.mine('short')
  for (let look = 0; look < 30; look += 1) {
    await live()
    nowMs += 500
  }
  expect(at.asked.length).toBe(5)
  at.empty.delete('short')
  nowMs += 10_000
  await live()
  expect(await seen()).toEqual(['short'])
})

test('F-70: a reorganization between the two looks, and a chain that became shorter, lose nothing', async () => {
  const at = scriptedChain()
  const { live, final } = watcher(at)
  await live()
  await final()
  at.mine('moved')
  await live()
  at.replaceFrom(195n, 'b', 4)
  at.put(196n, 'moved')
  await live()
  const where = await server.database.query<{ block_hash: string }>(
    'select block_hash from deposit_seen order by id',
  )
  expect(where.map(({ block_hash }) => block_hash)).toEqual(['a201', 'b196'])
  at.grow(60)
  at.replaceFrom(150n, 'c', 10)
  at.put(155n, 'low')
  await live()
  expect(await seen()).toContain('low')
  at.grow(60)
  await live()
  await final()
  expect((await readDepositCursor(server.database, chainId))?.finalTo).toBe(189n)
})

test('F-70: a reorganization to blocks that endpoints do not have yet waits for the next look', async () => {
  const at = scriptedChain()
  const { live } = watcher(at)
  await live()
  at.replaceFrom(195n, 'b', 10)
  at.put(196n, 'moved')
  const { blockHashes } = at.chain
  const once = vi.fn<typeof blockHashes>(async () => {
    if (once.mock.calls.length > 9) throw new UpstreamUnavailableError('asked again and again')
    return new Map()
  })
  Object.assign(at.chain, { blockHashes: once })
  await expect(live()).rejects.toThrow('Chain base cannot be read')
  expect(once).toHaveBeenCalledTimes(1)
  Object.assign(at.chain, { blockHashes })
  await live()
  expect(await seen()).toEqual(['moved'])
})

test('F-70: a cursor of an older release is read again from as far as a reorganization is followed', async () => {
  const at = scriptedChain()
  at.put(150n, 'skipped')
  await server.database.query(
    "insert into deposit_cursor (chain_id, scanned_to, scanned_hash) values ($1, 200, 'a200')",
    [chainId],
  )
  const { live, final } = watcher(at)
  await live()
  await final()
  expect(await seen()).toEqual(['skipped'])
})

test('F-72: a transaction that endpoints do not answer for delays none beside it, and is put aside once it is final', async () => {
  const at = scriptedChain()
  const { live, final } = watcher(at)
  await live()
  at.failures.set('strange', new UpstreamUnavailableError('Chain base cannot be read at the moment.'))
  at.failures.set('large', new TransactionTooLargeError({ chainId: 'base', transactionId: 'large' }))
  at.mine('strange', 'large', 'honest')
  for (let look = 0; look < 60; look += 1) {
    await live()
    nowMs += 500
    at.mine()
  }
  expect(await seen()).toEqual(['honest'])
  expect(at.asked.filter((id) => id === 'strange').length).toBeLessThanOrEqual(6)
  expect(told.filter((event) => 'event' in event && event.event === 'unanswered')).toMatchObject([
    { transactionId: 'strange' },
  ])
  await final()
  const aside = await listPutAside(server.database)
  expect(aside.map(({ transactionId, reason }) => [transactionId, reason]).toSorted()).toEqual([
    ['large', 'too_large'],
    ['strange', 'unanswered'],
  ])
  expect((await readDepositCursor(server.database, chainId))?.finalTo).toBe(231n)
})

test('O-60, F-72: a transaction that is put aside leaves its chain one whose deposits can be read', async () => {
  const at = scriptedChain()
  const chain = { ...at.chain, head: async () => at.head() } as unknown as SettlementChain
  const look = createDepositWatcher(
    { ...context(), chains: new Map(), now: () => nowMs } as unknown as SettlementContext,
    chain,
    15_000,
  )
  const readAt = async () => {
    const rows = await server.database.query<{ at: string }>(
      'select read_at::text as at from deposit_sight where chain_id = $1',
      [chainId],
    )
    return rows[0]?.at
  }
  await look(run)
  at.failures.set('strange', new UpstreamUnavailableError('Chain base cannot be read at the moment.'))
  at.mine('strange')
  for (let count = 0; count < 80; count += 1) {
    const before = await readAt()
    nowMs += 1_000
    at.mine()
    await look(run)
    expect(await readAt()).not.toBe(before)
  }
  expect((await listPutAside(server.database)).map(({ transactionId }) => transactionId)).toEqual(['strange'])
  expect(await readStops(server.database)).toEqual([])
})

test('F-72: where a range is refused for what stands in it, its halves are read, at last each transaction of a block', async () => {
  const at = scriptedChain()
  const { live, final } = watcher(at)
  await live()
  at.mine('before')
  at.mine('crowd', 'honest')
  at.refuse('crowd', 0n)
  at.empty.add('crowd')
  at.grow(10)
  at.mine('after')
  await live()
  expect((await seen()).toSorted()).toEqual(['after', 'before', 'honest'])
  at.grow(40)
  await final()
  expect((await readDepositCursor(server.database, chainId))?.finalTo).toBe(223n)
})

test('F-65: after a pause, a watcher whose endpoint answers few requests in time reads on in small parts', async () => {
  const at = scriptedChain()
  const { live, final } = watcher(at)
  await live()
  at.grow(40)
  at.mine('deposit')
  at.grow(40)
  at.limit(3)
  await live()
  expect(await seen()).toEqual(['deposit'])
  await final()
  expect((await readDepositCursor(server.database, chainId))?.finalTo).toBe(251n)
  // No block is read transaction by transaction where there is no turn for one.
  at.limit(0)
  at.mine('later')
  await expect(live()).rejects.toThrow('no turn')
  expect(at.asked).not.toContain('later')
})

test('F-77: a block of 800 transactions that is refused costs a look one second, and newer deposits go first', async () => {
  const at = scriptedChain()
  const { live } = watcher(at)
  await live()
  const crowd = Array.from({ length: 800 }, (_, index) => `crowd ${index}`)
  for (const one of crowd) at.empty.add(one)
  at.mine(...crowd, 'honest')
  at.refuse('crowd 0', 0n)
  const { deposits } = at.chain
  const slow: typeof at.chain.deposits = async (...args) => {
    nowMs += 10
    return deposits(...args)
  }
  Object.assign(at.chain, { deposits: slow })
  const costs: number[] = []
  for (let look = 0; look < 9; look += 1) {
    const beganMs = nowMs
    at.mine(`newer ${look}`)
    await live()
    expect(await seen()).toContain(`newer ${look}`)
    costs.push(nowMs - beganMs)
  }
  expect(await seen()).toContain('honest')
  // With what was begun before the second ended.
  expect(Math.max(...costs)).toBeLessThan(1_200)
  expect(at.asked.filter((id) => id.startsWith('crowd'))).toHaveLength(800)
  // After a restart the look at final blocks spends a second too, and what is left is tried alone.
  at.grow(40)
  const beganMs = nowMs
  await watcher(at).final()
  expect(nowMs - beganMs).toBeLessThan(1_200)
  expect((await readDepositCursor(server.database, chainId))?.finalTo).toBe(220n)
  expect((await listPutAside(server.database)).length).toBeGreaterThan(600)
})

test('F-72: a block that endpoints list differently waits, and no older one does', async () => {
  const at = scriptedChain()
  await watcher(at).live()
  at.mine('older')
  at.grow(5)
  at.mine('young')
  let isLate = true
  const late = {
    ...at.chain,
    async depositPass(...asked: Parameters<FindingChain['depositPass']>) {
      const pass = await at.chain.depositPass(...asked)
      if (isLate && pass.transactions.includes('young')) throw new UpstreamDisagreementError('late')
      return pass
    },
  }
  const { live } = watcher({ ...at, chain: late })
  await live()
  expect(await seen()).toEqual(['older'])
  // Nothing came of the next look, and nobody reads all that stands in the block.
  await expect(live()).rejects.toThrow('late')
  expect(at.asked).toEqual(['older'])
  isLate = false
  await live()
  expect(await seen()).toEqual(['older', 'young'])
})

test('F-72: silence of endpoints is no refusal: nothing is asked for in parts', async () => {
  const at = scriptedChain()
  await watcher(at).live()
  at.grow(50)
  const silent = {
    ...at.chain,
    depositPass: async (...asked: Parameters<FindingChain['depositPass']>) => {
      await at.chain.depositPass(...asked)
      const failures = [new EndpointFailure({ alias: 'a', reason: 'timeout' })]
      throw new UpstreamUnavailableError('silence', { cause: new AggregateError(failures) })
    },
  }
  const before = at.passes()
  await expect(watcher({ ...at, chain: silent }).live()).rejects.toThrow('silence')
  expect(at.passes() - before).toBe(1)
})

const hash = (digit: string) => `0x${digit.repeat(64)}`
const named = (at: ReturnType<typeof scriptedChain>) => {
  const chain = {
    ...at.chain,
    chain: { ...at.chain.chain, key: 'base', codec: codecOf(mainNetwork('ethereum-vm')) },
  }
  return { ...context(), chains: new Map([[chainId, chain]]), now: () => nowMs }
}

test('F-71: what somebody names is read now, whatever a watcher has passed, and is no earlier for that', async () => {
  const at = scriptedChain()
  const { live } = watcher(at)
  await live()
  const [old, young] = [hash('a'), hash('b')]
  at.put(100n, old)
  at.mine(young)
  const read = createReadNamed(named(at))
  expect(await read(chainId, old.toUpperCase().replace('X', 'x'))).toHaveLength(1)
  expect(await read(chainId, young)).toHaveLength(1)
  expect(await read(chainId, hash('c'))).toEqual([])
  expect(await read(10, hash('d'))).toEqual([])
  expect(await read(chainId, 'no id')).toEqual([])
  const rows = await server.database.query<{ tx_hash: string; mined_after: Date | null }>(
    'select tx_hash, mined_after from deposit_seen order by id',
  )
  expect(rows.map(({ tx_hash, mined_after }) => [tx_hash, mined_after?.getTime()])).toEqual([
    [old, undefined],
    [young, 5_000],
  ])
  await live()
  expect(await seen()).toEqual([old, young])
})

test('F-71: names cost no more than their budget, and put nothing aside', async () => {
  const at = scriptedChain()
  await watcher(at).live()
  const read = createReadNamed(named(at))
  at.failures.set(hash('a'), new TransactionTooLargeError({ chainId: 'base', transactionId: hash('a') }))
  await Promise.all([...'abcdef', 'a'].map((digit) => read(chainId, hash(digit))))
  expect(at.asked.length).toBe(4)
  await read(chainId, hash('a'))
  expect(at.asked.length).toBe(4)
  nowMs += 10_000
  await read(chainId, hash('a'))
  expect(at.asked.length).toBe(5)
  expect(await listPutAside(server.database)).toEqual([])
})

test('F-71: `chains reread` reads a range or a transaction, keeps the deposits and prints them', async () => {
  const at = scriptedChain()
  await watcher(at).live()
  const [one, two, strange] = [hash('1'), hash('2'), hash('3')]
  at.put(20n, one)
  at.put(150n, two)
  at.put(151n, strange)
  at.failures.set(strange, new TransactionTooLargeError({ chainId: 'base', transactionId: strange }))
  const [command] = rereadCommands
  const chain = named(at).chains.get(chainId)
  const reread = async (target: string) => {
    const scene = {
      database: server.database,
      actor: 'cli:test',
      openReader: async () => ({ chain, close: async () => {} }),
    }
    const args = {
      operand: (name: string) => (name === 'chain' ? 'base' : target),
      text: () => undefined,
      list: () => [],
      isOn: () => false,
    }
    // CAST: a command takes of its scene what it needs.
    return command !== undefined && 'run' in command
      ? command.run(scene as unknown as CommandContext, args)
      : undefined
  }
  const output = await reread('10-199')
  expect(await seen()).toEqual([one, two])
  expect(output).toMatchObject({
    isFailure: true,
    data: { deposits: [{ transaction: one }, { transaction: two }] },
  })
  expect(output?.lines.join()).toContain(strange)
  expect((await listPutAside(server.database)).map(({ transactionId }) => transactionId)).toEqual([strange])
  at.failures.clear()
  expect(await reread(strange)).toMatchObject({ isFailure: false })
  expect(await listPutAside(server.database)).toEqual([])
  await expect(reread('20-10')).rejects.toThrow('at most 100000 blocks')
  await expect(reread('none')).rejects.toThrow('expected an id as the chain spells it')
})

test('F-70: reading for good costs a fifteenth more questions than reading the newest blocks', async () => {
  const at = scriptedChain()
  const asked: string[] = []
  const counted =
    <Args extends readonly unknown[], T>(name: string, ask: (...args: Args) => T) =>
    (...args: Args): T => {
      asked.push(name)
      return ask(...args)
    }
  const chain = {
    ...at.chain,
    head: counted('head', async () => at.head()),
    finalHeight: counted('finalHeight', at.chain.finalHeight),
    depositPass: counted('depositPass', at.chain.depositPass),
    blockHashes: counted('blockHashes', at.chain.blockHashes),
  }
  // CAST: nothing is due, so nothing else is asked of them.
  const look = createDepositWatcher(
    { ...context(), now: () => nowMs } as unknown as SettlementContext,
    chain as unknown as SettlementChain,
    15_000,
  )
  const looks = 122
  for (let index = 0; index < looks; index += 1) {
    if (index % 4 === 0) at.mine()
    await look(run)
    nowMs += 500
  }
  // Each look asks for the head, and every second one lists the newest blocks.
  const before = 1.5 * looks
  expect(asked.length).toBeGreaterThan(before)
  expect(asked.length / before).toBeLessThan(1.07)
})
