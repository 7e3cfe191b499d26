// Goal: a statement adds up to the ledger, to the unit, whatever period it is asked for, and one of a period that has
// ended never says anything else. Adversaries: a clock that is set back, a transfer that is still on its way at
// midnight, periods that are closed in any order. Method: the migrated schema, real holds, rows dated by hand.
import type { SqlTx } from '@causeway/core'
import type { TestDatabase } from '@causeway/database'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  accrueAppFees,
  createLedger,
  openAccount,
  readStatement,
  type Statement,
  type StatementGroup,
  StatementTooLongError,
} from '../src/index.ts'
import { fund, holdNamed, noCaps, requestIdOf, startLedgerBed } from './support/ledgerBed.ts'

let bed: TestDatabase
const ledger = createLedger({ caps: noCaps })
beforeAll(async () => {
  bed = await startLedgerBed()
})
afterAll(() => bed?.stop())

const day = (number: number) => new Date(Date.UTC(2026, 0, number))
const read = (wallet: string, from: number, to: number, groups: readonly StatementGroup[] = []) =>
  readStatement(bed.database, { wallet, from: day(from), to: day(to), groups })

/** Moves what a sponsor's last movement, or all that was not dated yet, says about its time. */
async function dateNew(tx: SqlTx, sponsor: string, at: Date): Promise<void> {
  await tx.query("set local session_replication_role = 'replica'")
  await tx.query(
    `update transfer set created_at = $2 where created_at > '2026-06-01' and
       (select id from account where kind = 'sponsor' and owner = $1) in (debit_account, credit_account)`,
    [sponsor, at],
  )
}
const dated = (sponsor: string, number: number, hour = 12) =>
  bed.database.transaction((tx) => dateNew(tx, sponsor, new Date(day(number).getTime() + hour * 3_600_000)))

async function pay(
  sponsor: string,
  name: string,
  amountMicroUsd: bigint,
  change: object = {},
): Promise<void> {
  const held = holdNamed(`${sponsor} ${name}`, { sponsor, amountMicroUsd: amountMicroUsd + 5n, ...change })
  await bed.database.transaction((tx) => ledger.reserve(tx, held))
  await ledger.post(bed.database, { requestId: held.requestId, amountMicroUsd, evidence: {} })
}

const sponsorOf = ({ accounts }: Statement) => {
  const [account] = accounts
  if (account === undefined) throw new Error('no account')
  return account
}
const sumOf = (statement: Statement) =>
  sponsorOf(statement).lines.reduce((total, { amount }) => total + amount, 0n)

describe('a statement', () => {
  test('tells what came, what was paid and for whom, by what it is asked to tell apart', async () => {
    await fund(bed.database, 'told', 1_000n)
    await dated('told', 2)
    await pay('told', 'a', 30n, { user: 'ann' })
    await pay('told', 'b', 20n, { user: 'ann' })
    await dated('told', 3)
    await pay('told', 'c', 7n, { user: 'bob' })
    await dated('told', 3, 23)
    const whole = sponsorOf(await read('told', 1, 32))
    expect(whole).toEqual({
      asset: undefined,
      opening: { posted: 0n, held: 0n },
      lines: [
        { kind: 'correction', count: 1, amount: 1_000n },
        { kind: 'fees', count: 3, amount: -57n },
      ],
      closing: { posted: 943n, held: 0n },
    })
    const byDay = sponsorOf(await read('told', 1, 32, ['day', 'user']))
    expect(byDay.lines).toEqual([
      { kind: 'correction', day: '2026-01-02', count: 1, amount: 1_000n },
      { kind: 'fees', day: '2026-01-03', user: 'ann', count: 2, amount: -50n },
      { kind: 'fees', day: '2026-01-03', user: 'bob', count: 1, amount: -7n },
    ])
    const [{ originChainId, destinationChainId, key, requestId } = {}] = sponsorOf(
      await read('told', 3, 4, ['request', 'route', 'key']),
    ).lines
    const named = holdNamed('any')
    expect([originChainId, destinationChainId, key]).toEqual([
      named.originChainId,
      named.destinationChainId,
      named.apiKeyId,
    ])
    expect(['a', 'b', 'c'].map((name) => requestIdOf(`told ${name}`))).toContain(requestId)
  })

  test('of a wallet that never had an account is empty, and so is one of before', async () => {
    expect((await read('nobody', 1, 32)).accounts).toEqual([])
    await fund(bed.database, 'later', 5n)
    await dated('later', 10)
    expect(sponsorOf(await read('later', 1, 10)).closing).toEqual({ posted: 0n, held: 0n })
  })

  test('of app fees has its own account, in its own currency', async () => {
    const asset = { chainId: 10, address: '0xaa', symbol: 'WETH', name: 'Wrapped Ether', decimals: 18 }
    const accrual = { requestId: requestIdOf('fee'), asset, fees: [{ recipient: 'app', amount: 9n }] }
    await bed.database.transaction((tx) => accrueAppFees(tx, accrual))
    const { accounts } = await readStatement(bed.database, {
      wallet: 'app',
      from: day(1),
      to: new Date(Date.UTC(2100, 0, 1)),
      groups: [],
    })
    expect(accounts).toMatchObject([
      { asset, lines: [{ kind: 'app-fee', count: 1, amount: 9n }], closing: { posted: 9n, held: 0n } },
    ])
  })

  test('of too many lines is refused whole', async () => {
    const query = { wallet: 'told', from: day(1), to: day(32), groups: ['request'] as const }
    await expect(readStatement(bed.database, { ...query, linesMax: 3 })).rejects.toThrow(
      StatementTooLongError,
    )
    expect(sponsorOf(await readStatement(bed.database, { ...query, linesMax: 4 })).lines).toHaveLength(4)
  })
})

describe('a period that has ended', () => {
  test('L-55: says the same when the clock is set back into it; the next period has what came later', async () => {
    await fund(bed.database, 'back', 100n)
    await dated('back', 5)
    const told = await read('back', 1, 32, ['day'])
    await pay('back', 'late', 10n)
    await dated('back', 31)
    expect(await read('back', 1, 32, ['day'])).toEqual(told)
    expect(sponsorOf(await read('back', 32, 60, ['day']))).toMatchObject({
      opening: { posted: 100n },
      lines: [{ kind: 'fees', day: '2026-02-01', amount: -10n }],
      closing: { posted: 90n },
    })
  })

  test('holds nothing that came after a later period was closed', async () => {
    await fund(bed.database, 'order', 100n)
    await dated('order', 5)
    await read('order', 1, 60)
    await pay('order', 'late', 10n)
    await dated('order', 6)
    const [first, second] = [await read('order', 1, 32), await read('order', 32, 60)]
    expect(sponsorOf(first).closing).toEqual({ posted: 100n, held: 0n })
    expect(sponsorOf(second)).toMatchObject({
      opening: { posted: 100n },
      lines: [],
      closing: { posted: 100n },
    })
  })

  test('waits for what is still on its way', async () => {
    await fund(bed.database, 'slow', 100n)
    await dated('slow', 5)
    const held = holdNamed('slow on its way', { sponsor: 'slow', amountMicroUsd: 40n })
    let asked: Promise<Statement> | undefined
    await bed.database.transaction(async (tx) => {
      await ledger.reserve(tx, held)
      await dateNew(tx, 'slow', new Date(day(32).getTime() - 1))
      asked = read('slow', 1, 32)
      await Promise.race([asked, new Promise((resolve) => setTimeout(resolve, 300))])
    })
    expect(sponsorOf((await asked) ?? { isClosed: false, accounts: [] }).closing).toEqual({
      posted: 100n,
      held: 40n,
    })
  })

  test('is closed once, and nobody changes how', async () => {
    await read('told', 1, 32)
    await expect(bed.database.query('update statement_close set posted = 0')).rejects.toThrow('append-only')
    await expect(bed.database.query('delete from statement_close')).rejects.toThrow('append-only')
  })

  test('is not one that goes on: what comes is told too, and nothing is closed', async () => {
    await fund(bed.database, 'open', 100n)
    const ask = () =>
      readStatement(bed.database, {
        wallet: 'open',
        from: day(1),
        to: new Date(Date.UTC(2100, 0, 1)),
        groups: [],
      })
    expect(await ask()).toMatchObject({ isClosed: false })
    await pay('open', 'more', 10n)
    expect(sponsorOf(await ask()).closing).toEqual({ posted: 90n, held: 0n })
    const account = await bed.database.transaction((tx) =>
      openAccount(tx, { kind: 'sponsor', owner: 'open' }),
    )
    await expect(
      bed.database.query('select ledger_close_statement($1, $2)', [account, new Date(Date.UTC(2100, 0, 1))]),
    ).rejects.toThrow('a period ends before')
  })
})

test('opening, lines and closing add up, periods follow each other, and the last is what the account has', async () => {
  const step = fc.record({
    act: fc.constantFrom('fund', 'hold', 'pay', 'void'),
    amount: fc.bigInt({ min: 1n, max: 50n }),
    dayOfMonth: fc.integer({ min: 1, max: 31 }),
  })
  const cuts = fc.uniqueArray(fc.integer({ min: 2, max: 31 }), { minLength: 1, maxLength: 6 })
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 15 }), cuts, async (steps, boundaries) => {
      run += 1
      const sponsor = `random ${run}`
      await fund(bed.database, sponsor, 2_000n)
      await dated(sponsor, 1)
      // Days may go back: a clock that was set.
      for (const [index, { act, amount, dayOfMonth }] of steps.entries()) {
        if (act === 'fund') await fund(bed.database, sponsor, amount, `${sponsor} ${index}`)
        else if (act === 'pay') await pay(sponsor, String(index), amount)
        else {
          const held = holdNamed(`${sponsor} ${index}`, { sponsor, amountMicroUsd: amount })
          await bed.database.transaction((tx) => ledger.reserve(tx, held))
          if (act === 'void') await ledger.void(bed.database, { requestId: held.requestId, reason: 'test' })
        }
        await dated(sponsor, dayOfMonth)
      }
      // Closed in the order in which they were drawn, not in that of time.
      for (const end of boundaries) await read(sponsor, 1, end)
      const ends = [1, ...boundaries.toSorted((a, b) => a - b), 32]
      let before: unknown = { posted: 0n, held: 0n }
      for (const [index, from] of ends.slice(0, -1).entries()) {
        const statement = await read(sponsor, from, ends[index + 1] ?? 32, ['day', 'user'])
        const { opening, closing } = sponsorOf(statement)
        expect(opening).toEqual(before)
        expect(opening.posted + sumOf(statement)).toBe(closing.posted)
        before = closing
      }
      const { availableMicroUsd, heldMicroUsd } = await ledger.balance(bed.database, sponsor)
      expect(before).toEqual({ posted: availableMicroUsd + heldMicroUsd, held: heldMicroUsd })
    }),
    { numRuns: 15 },
  )
})
