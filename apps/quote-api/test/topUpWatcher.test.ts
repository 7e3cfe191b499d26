// Goal: every kind of deposit ends where the table of top-ups says, and nothing that one endpoint says alone
// moves money. Method: the watcher over scripted chains and a PostgreSQL of the test's own.
import { type Hex, UpstreamDisagreementError } from '@causeway/core'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { createLedger, ledgerMigrations } from '@causeway/ledger'
import {
  type BlockTree,
  createBlockTree,
  type ScriptedChain,
  type ScriptedTransaction,
  startFaultProxy,
  startScriptedChain,
} from '@causeway/localnet'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createReadMemory } from '../src/chainReadings/readMemory.ts'
import { creditSuspense, listSuspense } from '../src/money/topUps/operator.ts'
import { reconcile } from '../src/money/topUps/reconcile.ts'
import { retryTopUps } from '../src/money/topUps/settleTopUps.ts'
import type { TopUpPass } from '../src/money/topUps/topUpPass.ts'
import { watchTopUps } from '../src/money/topUps/watchTopUps.ts'
import { orderMigrations } from './orderSupport/orders.ts'
import {
  chainOver,
  custody,
  hexOf,
  plainTransaction,
  token,
  topUpTransaction,
  transferLog,
} from './topUpSupport/scriptedTopUps.ts'

let server: TestDatabase
let scripted: ScriptedChain
let tree: BlockTree
let chainId = 10_000
let chain: ReturnType<typeof chainOver>
let wallet: Hex
const ledger = createLedger()
const signal = new AbortController().signal

beforeAll(async () => {
  server = await startTestDatabase({
    directories: [{ name: 'ledger', path: ledgerMigrations }, orderMigrations],
  })
})
afterAll(() => server?.stop())
beforeEach(async () => {
  chainId += 1
  wallet = hexOf(0x9000_0000 + chainId, 20)
  tree = createBlockTree()
  scripted = await startScriptedChain({ chainId, tree })
  chain = chainOver([scripted.url], { chainId })
})
afterEach(async () => {
  await chain.close()
  await scripted.stop()
})

const watch = (over = chain, lateBlocks = 0n): Promise<TopUpPass> =>
  watchTopUps({ ...watcherOver(over), fromBlock: 0n, lateBlocks, memory: createReadMemory(() => Date.now()) })
const watcherOver = (over = chain) =>
  ({ chain: over, database: server.database, fence: async () => {}, signal, purpose: 'top-ups' }) as const
const balance = (owner: Hex = wallet) => server.database.transaction((tx) => ledger.balance(tx, owner))

/** Mines the transactions into one block, and what is needed to make it final. */
function mineFinal(...transactions: readonly ScriptedTransaction[]): void {
  tree.mine(transactions)
  tree.finalize(tree.canonical().length - 1)
}

async function suspended(): Promise<readonly string[]> {
  const events = await listSuspense(server.database, { limit: 1_000 })
  return events.filter((event) => event.chainId === chainId).map(({ parse, value }) => `${parse} ${value}`)
}

const topUp = (id: number, value: bigint, parts: Partial<ScriptedTransaction> = {}) => ({
  ...topUpTransaction({ id: 10 * chainId + id, owner: wallet, value }),
  ...parts,
})

describe('a top-up', () => {
  test('is pending when it is seen and spendable when it is final', async () => {
    tree.mine([topUp(1, 5_000_000n)])
    const seen = await watch()
    expect(seen.seen).toHaveLength(1)
    expect(await balance()).toMatchObject({ availableMicroUsd: 0n, pendingMicroUsd: 5_000_000n })
    tree.finalize(1)
    expect((await watch()).final).toHaveLength(1)
    expect(await balance()).toMatchObject({ availableMicroUsd: 5_000_000n, pendingMicroUsd: 0n })
    const again = await watch()
    expect([again.seen, again.final]).toEqual([[], []])
  })

  test('that is pending cannot pay for a quote', async () => {
    tree.mine([topUp(1, 5_000_000n)])
    await watch()
    const outcome = await server.database.transaction((tx) =>
      ledger.reserve(tx, {
        requestId: hexOf(chainId, 32),
        sponsor: wallet,
        apiKeyId: 'key',
        user: hexOf(1, 20),
        recipient: hexOf(1, 20),
        originChainId: 10,
        destinationChainId: 8_453,
        components: ['relay'],
        amountMicroUsd: 1n,
        lifetimeSeconds: 60,
        requoteKey: 'r',
      }),
    )
    expect(outcome.status).not.toBe('reserved')
  })

  test('of dust is credited to the last unit, and a second one adds to it', async () => {
    mineFinal(topUp(1, 1n), topUp(2, 2n))
    mineFinal(topUp(3, 1_000_000n))
    await watch()
    expect(await balance()).toMatchObject({ availableMicroUsd: 1_000_003n })
  })

  test('whose calldata claims another amount than was moved waits in suspense with what was moved', async () => {
    const { logs } = topUp(1, 7n)
    mineFinal(topUp(1, 9n, { logs }))
    await watch()
    expect(await balance()).toMatchObject({ availableMicroUsd: 0n })
    expect(await suspended()).toEqual(['unknown_call 7'])
  })

  test('that is dropped before it is final is not pending any more, and counts once in its new block', async () => {
    const transaction = topUp(1, 5n)
    tree.mine([transaction])
    await watch()
    tree.reorg(1, [[], []])
    expect((await watch()).orphaned).toBe(1)
    expect(await balance()).toMatchObject({ availableMicroUsd: 0n, pendingMicroUsd: 0n })
    mineFinal(plainTransaction({ id: 10 * chainId + 9, value: 3n }), transaction)
    await watch()
    expect(await balance()).toMatchObject({ availableMicroUsd: 5n, pendingMicroUsd: 0n })
  })

  test('missed near the head is found when its block is final', async () => {
    for (let block = 0; block < 5; block += 1) tree.mine()
    await watch()
    // The fork reaches deeper than the overlap of the scan near the head.
    for (let block = 0; block < 70; block += 1) tree.mine()
    await watch()
    tree.reorg(72, [[topUp(1, 5n)], ...Array.from({ length: 80 }, () => [])])
    tree.finalize(20)
    await watch()
    expect(await balance()).toMatchObject({ availableMicroUsd: 5n })
  })
})

describe('what is no top-up', () => {
  const other: Hex = `0x${'ee'.repeat(20)}`

  test.each<[string, Partial<ScriptedTransaction>]>([
    ['another token', { to: other, logs: [transferLog(hexOf(1, 20), 5n, other)] }],
    ['another receiver', { logs: [transferLog(hexOf(1, 20), 5n, token, other)] }],
    ['nothing', { logs: [transferLog(hexOf(1, 20), 0n)] }],
    ['custody’s own money', { from: custody, logs: [transferLog(custody, 5n)] }],
    ['a failed transaction', { succeeded: false, logs: [] }],
  ])('%s leaves no trace', async (_what, parts) => {
    mineFinal(topUp(1, 5n, parts))
    const pass = await watch()
    expect([pass.final, pass.conflicts, await suspended()]).toEqual([[], [], []])
    expect(await balance()).toMatchObject({ availableMicroUsd: 0n, pendingMicroUsd: 0n })
  })

  test('a transfer without a label waits in suspense until an operator credits it, once', async () => {
    mineFinal(plainTransaction({ id: 10 * chainId, value: 9n }))
    await watch()
    expect(await suspended()).toEqual(['no_tail 9'])
    const event = (await listSuspense(server.database, { limit: 1_000 })).find(
      (one) => one.chainId === chainId,
    )
    const credit = () =>
      creditSuspense(server.database, { eventId: event?.id ?? 0n, wallet, actor: 'operator', reason: 'T-1' })
    await credit()
    await expect(credit()).rejects.toMatchObject({ code: 'CLAIM_ALREADY_SETTLED' })
    expect(await balance()).toMatchObject({ availableMicroUsd: 9n })
    expect(await suspended()).toEqual([])
  })
})

describe('a transfer through a contract', () => {
  const contract: Hex = `0x${'77'.repeat(20)}`
  const nested = () => {
    const direct = topUp(1, 5n)
    const outer: Hex = `0xb61d27f6${direct.input.slice(2)}`
    const call = { type: 'CALL', from: contract, to: token, input: direct.input }
    return {
      ...direct,
      to: contract,
      input: outer,
      logs: [transferLog(contract, 5n)],
      trace: { type: 'CALL', from: direct.from, to: contract, input: outer, calls: [call] },
    }
  }

  test('waits in suspense in strict mode, whatever its bytes hold', async () => {
    mineFinal(nested())
    await watch()
    expect(await suspended()).toEqual(['indirect 5'])
  })

  test('is credited by its own call in trace mode', async () => {
    const tracing = chainOver([scripted.url], { chainId, mode: 'trace' })
    mineFinal(nested())
    await watch(tracing)
    await tracing.close()
    expect(await balance()).toMatchObject({ availableMicroUsd: 5n })
  })

  test('waits in suspense in trace mode where the node cannot trace', async () => {
    const tracing = chainOver([scripted.url], { chainId, mode: 'trace' })
    const { trace: _trace, ...untraced } = nested()
    mineFinal(untraced)
    await watch(tracing)
    await tracing.close()
    expect(await suspended()).toEqual(['indirect 5'])
  })
})

describe('one endpoint of three', () => {
  test('Q-233: that invents a top-up credits nothing', async () => {
    const lying = createBlockTree()
    const liar = await startScriptedChain({ chainId, tree: lying })
    const honest = await startScriptedChain({ chainId, tree })
    const three = chainOver([liar.url, scripted.url, honest.url], { chainId })
    try {
      tree.mine()
      tree.finalize(1)
      lying.mine([topUp(1, 5n)])
      lying.finalize(1)
      const pass = await watch(three)
      expect(pass.final).toEqual([])
      expect(await balance()).toMatchObject({ availableMicroUsd: 0n })
      tree.mine([topUp(2, 3n)])
      tree.finalize(2)
      lying.mine([])
      lying.finalize(2)
      await watch(three)
      expect(await balance()).toMatchObject({ availableMicroUsd: 3n })
    } finally {
      await three.close()
      await Promise.all([liar.stop(), honest.stop()])
    }
  })

  test('of two that contradict each other credits nothing and says so', async () => {
    const lying = createBlockTree()
    const liar = await startScriptedChain({ chainId, tree: lying })
    const two = chainOver([scripted.url, liar.url], { chainId })
    try {
      mineFinal(topUp(1, 5n))
      lying.mine()
      lying.finalize(1)
      await expect(watch(two)).rejects.toBeInstanceOf(UpstreamDisagreementError)
      expect(await balance()).toMatchObject({ availableMicroUsd: 0n })
    } finally {
      await two.close()
      await liar.stop()
    }
  })

  test('that answers with broken hex is told and passed over', async () => {
    const proxy = await startFaultProxy({ targetUrl: scripted.url })
    const told: string[] = []
    const onMalformed = (alias: string) => told.push(alias)
    const alone = chainOver([proxy.url], { chainId, onMalformed })
    const two = chainOver([proxy.url, scripted.url], { chainId, onMalformed })
    try {
      tree.mine([topUp(1, 5n)])
      await proxy.set({
        kind: 'lie',
        rewrite: ({ method }, result) =>
          method === 'eth_getTransactionByHash' ? { ...asRecord(result), input: '0xabc' } : result,
      })
      expect((await watch(alone)).seen).toEqual([])
      expect(told).not.toEqual([])
      expect(await balance()).toMatchObject({ pendingMicroUsd: 0n })
      await watch(two)
      expect(await balance()).toMatchObject({ pendingMicroUsd: 5n })
    } finally {
      await Promise.all([alone.close(), two.close()])
      await proxy.stop()
    }
  })
})

test('F-72: a transaction that no endpoint shows delays no other top-up, and counts once it is read', async () => {
  const proxy = await startFaultProxy({ targetUrl: scripted.url })
  const over = chainOver([proxy.url], { chainId })
  try {
    const strange = topUp(1, 5n)
    await proxy.set({
      kind: 'lie',
      rewrite: ({ method, params }, result) =>
        method === 'eth_getTransactionReceipt' && params[0] === strange.hash ? { logs: 'none' } : result,
    })
    tree.mine([strange, topUp(2, 3n)])
    await watch(over)
    expect(await balance()).toMatchObject({ pendingMicroUsd: 3n })
    tree.finalize(1)
    await watch(over)
    expect(await balance()).toMatchObject({ availableMicroUsd: 3n })
    const aside = await server.database.query('select transaction_id, purpose, reason from put_aside')
    expect(aside).toEqual([{ transaction_id: strange.hash, purpose: 'top-ups', reason: 'unanswered' }])
    const due = () => server.database.query(`update put_aside set last_tried_at = now() - interval '1 day'`)
    await due()
    expect((await retryTopUps(watcherOver(over))).final).toEqual([])
    await proxy.set({ kind: 'pass' })
    await due()
    expect((await retryTopUps(watcherOver(over))).final).toHaveLength(1)
    expect((await retryTopUps(watcherOver(over))).final).toEqual([])
    expect(await balance()).toMatchObject({ availableMicroUsd: 8n })
    expect(await server.database.query('select 1 from put_aside')).toEqual([])
  } finally {
    await over.close()
    await proxy.stop()
  }
})

test('F-72: a top-up that was seen stays pending while no endpoint shows its transaction any more', async () => {
  const proxy = await startFaultProxy({ targetUrl: scripted.url })
  const over = chainOver([proxy.url], { chainId })
  try {
    const shown = topUp(1, 5n)
    tree.mine([shown])
    await watch(over)
    expect(await balance()).toMatchObject({ pendingMicroUsd: 5n })
    await proxy.set({
      kind: 'lie',
      rewrite: ({ method, params }, result) =>
        method === 'eth_getTransactionReceipt' && params[0] === shown.hash ? { logs: 'none' } : result,
    })
    tree.finalize(1)
    await watch(over)
    expect(await balance()).toMatchObject({ availableMicroUsd: 0n, pendingMicroUsd: 5n })
    mineFinal()
    await watch(over)
    expect(await balance()).toMatchObject({ availableMicroUsd: 0n, pendingMicroUsd: 5n })
    await proxy.set({ kind: 'pass' })
    await server.database.query(`update put_aside set last_tried_at = now() - interval '1 day'`)
    await retryTopUps(watcherOver(over))
    expect(await balance()).toMatchObject({ availableMicroUsd: 5n, pendingMicroUsd: 0n })
  } finally {
    await over.close()
    await proxy.stop()
  }
})

test.each([
  ['logs', 'eth_getLogs', () => []],
  ['logs of receipts', 'eth_getTransactionReceipt', (result: unknown) => ({ ...Object(result), logs: [] })],
] as const)('F-76: %s of final blocks that come late lose no top-up', async (_what, late, hide) => {
  const proxy = await startFaultProxy({ targetUrl: scripted.url })
  const over = chainOver([proxy.url], { chainId })
  try {
    await proxy.set({
      kind: 'lie',
      rewrite: ({ method }, result) => (method === late ? hide(result) : result),
    })
    mineFinal(topUp(1, 5n))
    mineFinal()
    await watch(over, 3n)
    await proxy.set({ kind: 'pass' })
    for (const credited of [5n, 5n]) {
      mineFinal()
      await watch(over, 3n)
      await retryTopUps(watcherOver(over))
      expect(await balance()).toMatchObject({ availableMicroUsd: credited })
    }
  } finally {
    await over.close()
    await proxy.stop()
  }
})

test('F-89: one endpoint that names a head of its own lets no young block pass for an old one', async () => {
  const proxy = await startFaultProxy({ targetUrl: scripted.url })
  await proxy.set({
    kind: 'lie',
    rewrite: ({ method, params }, result) =>
      method === 'eth_getBlockByNumber' && params[0] === 'latest'
        ? { ...Object(result), number: '0x7fffffff' }
        : result,
  })
  const honest = await startScriptedChain({ chainId, tree })
  const over = chainOver([proxy.url, scripted.url, honest.url], { chainId })
  try {
    mineFinal()
    mineFinal()
    expect(await over.head(signal)).toBe(2n)
    expect((await watch(over, 5n)).cursor).toMatchObject({ finalTo: 2n, settledTo: 0n })
  } finally {
    await over.close()
    await Promise.all([proxy.stop(), honest.stop()])
  }
})

describe('a final block that changes', () => {
  test('halts everything, freezes who was credited by it, and reverses nothing by itself', async () => {
    const before = hexOf(0x9100_0000 + chainId, 20)
    mineFinal({ ...topUpTransaction({ id: 10 * chainId + 5, owner: before, value: 4n }) })
    mineFinal(topUp(1, 5n))
    await watch()
    tree.reorg(1, [[], []])
    tree.finalize(3)
    const halted = await watch()
    expect(halted.cursor.haltedReason).toMatch(/^final block 2 changed$/)
    mineFinal(topUp(2, 7n))
    expect((await watch()).cursor.haltedReason).toBeDefined()
    expect(await balance()).toMatchObject({ availableMicroUsd: 5n })
    const frozen = await server.database.query<{ owner: string }>(
      'select owner from account where frozen and owner = any($1)',
      [[wallet, before]],
    )
    expect(frozen).toEqual([{ owner: wallet }])
  })
})

describe('reconciliation with a second endpoint', () => {
  const compared = async () => {
    const second = chainOver([scripted.url], { chainId })
    try {
      return await reconcile({ database: server.database, chain: second, from: 0n, to: 10n, signal })
    } finally {
      await second.close()
    }
  }
  const change = (sql: string) => server.database.query(`${sql} chain_id = $1`, [chainId])

  beforeEach(async () => {
    mineFinal(topUp(1, 600_000n), topUp(2, 400_000n))
    while (tree.canonical().length <= 10) tree.mine()
    tree.finalize(10)
    await watch()
  })

  test('explains everything when nothing was changed', async () => {
    expect(await compared()).toMatchObject({
      differences: [],
      explainedPpm: 1_000_000n,
      totalMicroUsd: 1_000_000n,
    })
  })

  test.each([
    ['dropped', 'update chain_event set block_number = 1000 where value = 400000 and', 600_000n],
    ['altered', 'update chain_event set value = 400001 where value = 400000 and', 600_000n],
    ['altered', `update chain_event set credited_owner = 'somebody' where value = 400000 and`, 600_000n],
    [
      'invented',
      `update chain_event set tx_hash = sha256('x') where value = 400000 and`,
      (600_000n * 1_000_000n) / 1_400_000n,
    ],
    [
      'duplicated',
      `insert into chain_event (chain_id, tx_hash, log_index, tx_log_ordinal, block_number, block_hash, sighting,
         token, from_addr, to_addr, value, parse, credited_owner, state, final_at)
       select chain_id, tx_hash, log_index, 9, block_number, block_hash, 9, token, from_addr, to_addr, value,
         parse, credited_owner, state, final_at from chain_event where value = 400000 and`,
      (1_000_000n * 1_000_000n) / 1_400_000n,
    ],
  ])('names what was %s in the mirror', async (kind, sql, explainedPpm) => {
    await change(sql)
    const found = await compared()
    expect(found.differences.map((difference) => difference.kind)).toContain(kind)
    expect(found.explainedPpm).toBe(explainedPpm)
  })
})

function asRecord(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}
