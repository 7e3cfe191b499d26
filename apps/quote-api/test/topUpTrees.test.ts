// Goal: whatever a chain does above its final blocks, each top-up of the final chain is credited exactly once
// and nothing else is. Method: random block trees (forks, switches back, re-inclusion in another place of
// another block, a moving final pointer) on scripted chains, read by two watchers of one database at a time.
// CAUSEWAY_FAULTS=1 runs the long form.
import { type Hex, UpstreamUnavailableError } from '@causeway/core'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { ledgerMigrations, verifyLedger } from '@causeway/ledger'
import { createBlockTree, type ScriptedTransaction, startScriptedChain } from '@causeway/localnet'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createReadMemory } from '../src/chainReadings/readMemory.ts'
import { watchTopUps } from '../src/money/topUps/watchTopUps.ts'
import { orderMigrations } from './orderSupport/orders.ts'
import {
  chainOver,
  hexOf,
  noiseTransaction,
  plainTransaction,
  topUpTransaction,
} from './topUpSupport/scriptedTopUps.ts'

const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const numRuns = isLongForm ? 1_000 : 100

let server: TestDatabase
let runs = 0

beforeAll(async () => {
  server = await startTestDatabase({
    directories: [{ name: 'ledger', path: ledgerMigrations }, orderMigrations],
  })
})
afterAll(() => server?.stop())

type Step =
  | { readonly kind: 'mine'; readonly picks: readonly number[] }
  | { readonly kind: 'reorg'; readonly depth: number; readonly blocks: readonly (readonly number[])[] }
  | { readonly kind: 'switchBack'; readonly pick: number }
  | { readonly kind: 'finalize'; readonly below: number }
  | { readonly kind: 'watch' }

const picks = fc.array(fc.nat(8), { maxLength: 4 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('mine' as const), picks }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('reorg' as const),
      depth: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 64 })),
      blocks: fc.array(picks, { minLength: 1, maxLength: 6 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('switchBack' as const), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('finalize' as const), below: fc.nat(6) }) },
  { weight: 4, arbitrary: fc.constant({ kind: 'watch' as const }) },
)

/** Nine transactions of one run: top-ups of three wallets, plain transfers and noise. */
function transactionsOf(run: number): readonly ScriptedTransaction[] {
  const owner = (index: number): Hex => hexOf(0x5000_0000 + 10 * run + index, 20)
  return Array.from({ length: 9 }, (_, index) => {
    const id = 100 * run + index
    if (index === 7) return plainTransaction({ id, value: 1_000n + BigInt(index) })
    if (index === 8) return noiseTransaction(id)
    return topUpTransaction({ id, owner: owner(index % 3), value: 1n + BigInt(index) * 1_000_000n })
  })
}

test(
  'over random block trees each final top-up is credited exactly once',
  async () => {
    let credits = 0
    let orphans = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), fc.nat(70), async (steps, length) => {
        runs += 1
        const { credited, orphaned } = await runTree(runs, steps, length)
        credits += credited
        orphans += orphaned
      }),
      { numRuns, endOnFailure: true },
    )
    expect(credits).toBeGreaterThan(numRuns)
    expect(orphans).toBeGreaterThan(numRuns / 5)
    expect(await server.database.transaction((tx) => verifyLedger(tx))).toEqual([])
  },
  isLongForm ? 1_800_000 : 120_000,
)

async function runTree(run: number, steps: readonly Step[], length: number) {
  const chainId = 1_000_000 + run
  const tree = createBlockTree()
  const scripted = await startScriptedChain({ chainId, tree })
  const chains = [chainOver([scripted.url], { chainId }), chainOver([scripted.url], { chainId })]
  const transactions = transactionsOf(run)
  const heads: Hex[] = []
  let orphaned = 0
  let highest = 0

  const watch = async () => {
    const passes = await Promise.allSettled(
      chains.map((chain) =>
        watchTopUps({
          chain,
          database: server.database,
          fromBlock: 0n,
          lateBlocks: 4n,
          fence: async () => {},
          signal: new AbortController().signal,
          purpose: 'top-ups',
          memory: createReadMemory(() => Date.now()),
        }),
      ),
    )
    for (const pass of passes) {
      if (pass.status === 'fulfilled') {
        orphaned += pass.value.orphaned
        expect(pass.value.conflicts).toEqual([])
        expect(pass.value.cursor.haltedReason).toBeUndefined()
      } else if (!(pass.reason instanceof UpstreamUnavailableError)) throw pass.reason
    }
    await expectLedger(chainId, transactions, tree.canonical().slice(0, tree.finalHeight() + 1), 'at most')
  }
  /** Transactions that the next block may hold: those that no ancestor holds. */
  const chosen = (picks: readonly number[], kept: number) => {
    const used = new Set(
      tree
        .canonical()
        .slice(0, kept)
        .flatMap(({ transactions }) => transactions.map(({ hash }) => hash)),
    )
    return [...new Set(picks)]
      .flatMap((pick) => transactions[pick] ?? [])
      .filter(({ hash }) => !used.has(hash))
  }
  const act = async (step: Step) => {
    const height = tree.canonical().length - 1
    if (step.kind === 'mine') tree.mine(chosen(step.picks, height + 1))
    if (step.kind === 'reorg') {
      const depth = Math.min(step.depth, height - tree.finalHeight())
      heads.push(tree.canonical().at(-1)?.hash ?? '0x')
      tree.reorg(depth, [])
      for (const picks of step.blocks) tree.mine(chosen(picks, tree.canonical().length))
    }
    if (step.kind === 'switchBack') {
      const final = tree.canonical()[tree.finalHeight()]
      const current = tree.canonical().at(-1)?.hash ?? '0x'
      const head = heads[step.pick % Math.max(heads.length, 1)]
      if (head !== undefined) tree.switchTo(head)
      if (tree.canonical()[final?.number ?? 0]?.hash !== final?.hash) tree.switchTo(current)
    }
    if (step.kind === 'finalize') tree.finalize(Math.max(tree.finalHeight(), height - step.below))
    if (step.kind === 'watch') await watch()
  }
  try {
    for (let block = 0; block < length; block += 1) tree.mine()
    for (const step of steps) {
      await act(step)
      highest = Math.max(highest, tree.canonical().length)
    }
    // A node that is behind says nothing about the blocks above its head, so the chain grows past them all.
    while (tree.canonical().length <= highest) tree.mine()
    tree.finalize(tree.canonical().length - 1)
    await watch()
    await watch()
    const credited = await expectLedger(chainId, transactions, tree.canonical(), 'exactly')
    return { credited, orphaned }
  } finally {
    await Promise.all(chains.map((chain) => chain.close()))
    await scripted.stop()
  }
}

/** Credits per transaction as the ledger has them are those of the given canonical blocks. */
async function expectLedger(
  chainId: number,
  transactions: readonly ScriptedTransaction[],
  final: readonly { readonly transactions: readonly ScriptedTransaction[] }[],
  how: 'at most' | 'exactly',
): Promise<number> {
  const rows = await server.database.query<{ hash: Hex; amount: bigint; owner: string; state: string }>(
    `select '0x' || encode(e.tx_hash, 'hex') as hash, t.amount, a.owner, e.state
     from chain_event e
     join transfer t on t.chain_event_id = e.id and t.kind in ('posted', 'post')
     join account a on a.id = t.credit_account
     where e.chain_id = $1`,
    [chainId],
  )
  const isFinal = new Set(final.flatMap((block) => block.transactions.map(({ hash }) => hash)))
  const expected = transactions.filter(({ hash, logs }) => isFinal.has(hash) && logs.length === 1)
  const booked = rows.map(({ hash }) => hash)
  expect(new Set(booked).size).toBe(booked.length)
  for (const { hash, amount, owner, state } of rows) {
    const transaction = transactions.find((one) => one.hash === hash)
    expect(isFinal.has(hash)).toBe(true)
    expect(state).toBe('final')
    expect(amount).toBe(BigInt(transaction?.logs[0]?.data ?? '0x0'))
    const named = transaction?.input.slice(2 + 2 * 74, 2 + 2 * 94)
    expect(owner).toBe(named === '' ? `${chainId}:0x${'dc'.repeat(20)}` : `0x${named}`)
  }
  if (how === 'exactly') {
    expect(booked.toSorted()).toEqual(expected.map(({ hash }) => hash).toSorted())
    const [pending] = await server.database.query<{ amount: bigint | null }>(
      `select sum(value) as amount from chain_event where chain_id = $1 and state = 'seen'`,
      [chainId],
    )
    expect(pending?.amount).toBeNull()
  }
  return booked.length
}
