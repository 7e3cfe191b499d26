// Goal: a claim takes what a wallet is owed once and gives it back or pays it once, whatever is repeated, mixed or
// tried at the same moment. Method: random commands against a model of maps and bigints, with the books verified
// at the end; then the claims of one balance side by side.
import type { Hex } from '@causeway/core'
import type { TestDatabase } from '@causeway/database'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  accrueAppFees,
  balanceEvents,
  endAppFeeClaim,
  haltReservations,
  type LedgerAsset,
  listAppFeeClaims,
  openAppFeeClaim,
  readAppFeeClaim,
  readClaimableAppFees,
  verifyLedger,
} from '../src/index.ts'
import { requestIdOf, startLedgerBed } from './support/ledgerBed.ts'

let bed: TestDatabase
beforeAll(async () => {
  bed = await startLedgerBed()
})
afterAll(() => bed?.stop())

const assetAt = (chainId: number): LedgerAsset => ({
  chainId,
  address: '0xaa',
  symbol: 'WETH',
  name: 'Wrapped Ether',
  decimals: 18,
})
const weth = assetAt(10)
const evidence = { proof: 'test' }
const transactionOf = (name: string): Hex => requestIdOf(`transaction ${name}`)

const accrue = (wallet: string, amount: bigint, asset = weth, name = `${wallet} ${amount}`) =>
  accrueAppFees(bed.database, { requestId: requestIdOf(name), asset, fees: [{ recipient: wallet, amount }] })
const open = (name: string, wallet: string, amount: bigint, asset = weth) =>
  bed.database.transaction((tx) =>
    openAppFeeClaim(tx, {
      claimId: requestIdOf(name),
      wallet,
      recipient: `payee of ${wallet}`,
      asset,
      amount,
    }),
  )
const pay = (name: string) =>
  bed.database.transaction((tx) => {
    const end = { status: 'paid', transactionHash: transactionOf(name) } as const
    return endAppFeeClaim(tx, { claimId: requestIdOf(name), end, actor: 'test', evidence })
  })
const fail = (name: string) =>
  bed.database.transaction((tx) => {
    const end = { status: 'failed', reason: 'TTL_EXPIRED' } as const
    return endAppFeeClaim(tx, { claimId: requestIdOf(name), end, actor: 'test', evidence })
  })
async function claimable(wallet: string, asset = weth): Promise<bigint> {
  const balances = await readClaimableAppFees(bed.database, wallet)
  return balances.find((balance) => balance.asset.chainId === asset.chainId)?.amount ?? 0n
}

describe('a claim', () => {
  test('takes its amount at once, and is paid once', async () => {
    await accrue('paid', 10n)
    expect(await open('paid', 'paid', 4n)).toBe('opened')
    expect(await open('paid', 'paid', 4n)).toBe('exists')
    expect(await claimable('paid')).toBe(6n)
    expect([await pay('paid'), await pay('paid'), await fail('paid')]).toEqual([true, false, false])
    expect(await open('paid', 'paid', 4n)).toBe('exists')
    expect(await claimable('paid')).toBe(6n)
    expect(await readAppFeeClaim(bed.database, requestIdOf('paid'))).toMatchObject({
      status: 'paid',
      amount: 4n,
      transactionHash: transactionOf('paid'),
      asset: weth,
    })
  })

  test('that fails can be claimed again, and its wallet sees both movements', async () => {
    await accrue('failed', 10n)
    await open('failed', 'failed', 10n)
    expect(await open('second', 'failed', 1n)).toBe('insufficient')
    expect([await fail('failed'), await fail('failed'), await pay('failed')]).toEqual([true, false, false])
    expect(await claimable('failed')).toBe(10n)
    const { events } = await balanceEvents(bed.database, { wallet: 'failed', limit: 5 })
    expect(events.map(({ context, delta, balanceAfter }) => [context, delta, balanceAfter])).toEqual([
      ['claim', 10n, 10n],
      ['claim', -10n, 0n],
      ['app-fee', 10n, 10n],
    ])
    expect(await open('second', 'failed', 10n)).toBe('opened')
    const { claims } = await listAppFeeClaims(bed.database, { wallet: 'failed', limit: 5 })
    expect(claims.map(({ status }) => status)).toEqual(['pending', 'failed'])
  })

  test('takes nothing of another currency, of another wallet, or of what is not there', async () => {
    await accrue('owner', 10n)
    expect(await open('elsewhere', 'owner', 1n, assetAt(8453))).toBe('insufficient')
    expect(await open('stranger', 'stranger', 1n)).toBe('insufficient')
    expect(await open('too much', 'owner', 11n)).toBe('insufficient')
    expect(await readAppFeeClaim(bed.database, requestIdOf('too much'))).toBeUndefined()
    expect(await pay('never opened')).toBe(false)
    expect(await claimable('owner')).toBe(10n)
  })

  test('of the same balance at the same moment gets what is left, and no more', async () => {
    await accrue('shared', 10n)
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, index) => open(`shared ${index}`, 'shared', 3n)),
    )
    expect(outcomes.toSorted()).toEqual([
      ...Array.from({ length: 5 }, () => 'insufficient'),
      ...Array.from({ length: 3 }, () => 'opened'),
    ])
    expect(await claimable('shared')).toBe(1n)
    const [first = 0] = outcomes.flatMap((outcome, index) => (outcome === 'opened' ? [index] : []))
    const ends = await Promise.all([
      ...Array.from({ length: 4 }, () => pay(`shared ${first}`)),
      ...Array.from({ length: 4 }, () => fail(`shared ${first}`)),
    ])
    expect(ends.filter((isDone) => isDone)).toHaveLength(1)
  })

  test('is refused while the books do not add up; one that is open still ends', async () => {
    await accrue('halted', 10n)
    await open('before the halt', 'halted', 5n)
    await bed.database.transaction((tx) => haltReservations(tx, []))
    expect(await open('behind the halt', 'halted', 5n)).toBe('halted')
    expect(await open('before the halt', 'halted', 5n)).toBe('exists')
    expect(await pay('before the halt')).toBe(true)
    await bed.database.query(
      `update ledger_halt set cleared_at = now(), cleared_by = 'test', reason = 'test' where cleared_at is null`,
    )
  })

  test.each([
    ['comes back to life', `update app_fee_claim set status = 'pending', tx_hash = null, ended_at = null`],
    ['gets another recipient', `update app_fee_claim set recipient = 'thief'`],
    ['gets another end', `update app_fee_claim set status = 'failed', tx_hash = null, fail_reason = 'x'`],
    ['is deleted', 'delete from app_fee_claim'],
  ])('that ended never %s, whoever writes', async (_what, statement) => {
    const where = ` where claim_id = decode('${requestIdOf('paid').slice(2)}', 'hex')`
    await expect(bed.database.query(statement + where)).rejects.toThrow()
  })

  test('ends with the amount that it began with, whoever writes', async () => {
    await accrue('terms', 5n)
    await open('terms', 'terms', 5n)
    const where = ` where claim_id = decode('${requestIdOf('terms').slice(2)}', 'hex')`
    const end = `update app_fee_claim set status = 'paid', tx_hash = claim_id, ended_at = now()`
    await expect(bed.database.query(`${end}, amount = 4${where}`)).rejects.toThrow('keeps its terms')
  })

  test('is paid by a transaction of its own', async () => {
    await accrue('two claims', 2n)
    await open('one', 'two claims', 1n)
    await open('other', 'two claims', 1n)
    await pay('one')
    const end = { status: 'paid', transactionHash: transactionOf('one') } as const
    const again = bed.database.transaction((tx) =>
      endAppFeeClaim(tx, { claimId: requestIdOf('other'), end, actor: 'test', evidence }),
    )
    await expect(again).rejects.toThrow()
    expect(await readAppFeeClaim(bed.database, requestIdOf('other'))).toMatchObject({ status: 'pending' })
  })
})

type Claim = { readonly wallet: string; readonly chainId: number; readonly amount: bigint; status: string }
type Command =
  | { readonly do: 'accrue' | 'open'; readonly name: string; readonly terms: Omit<Claim, 'status'> }
  | { readonly do: 'pay' | 'fail'; readonly name: string }

const terms = fc.record({
  wallet: fc.constantFrom('w1', 'w2'),
  chainId: fc.constantFrom(10, 8453),
  amount: fc.bigInt({ min: 1n, max: 10n ** 30n }),
})
const name = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ do: fc.constantFrom('accrue' as const, 'open' as const), name, terms }),
  fc.record({ do: fc.constantFrom('pay' as const, 'fail' as const), name }),
)

describe('any sequence of claims', () => {
  test('moves exactly what a model moves, and the books add up', async () => {
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 25 }), async (commands) => {
        run += 1
        const owed = new Map<string, bigint>()
        const claims = new Map<string, Claim>()
        const keyOf = ({ wallet, chainId }: Pick<Claim, 'wallet' | 'chainId'>) => `${wallet} ${chainId}`
        const move = (of: Pick<Claim, 'wallet' | 'chainId'>, amount: bigint) =>
          owed.set(keyOf(of), (owed.get(keyOf(of)) ?? 0n) + amount)
        for (const [index, step] of commands.entries()) {
          const own = `${run} ${step.name}`
          if (step.do === 'accrue') {
            const { wallet, chainId, amount } = step.terms
            await accrue(`${wallet} of ${run}`, amount, assetAt(chainId), `accrual ${run} ${index}`)
            move(step.terms, amount)
          } else if (step.do === 'open') {
            const { wallet, chainId, amount } = step.terms
            const outcome = await open(own, `${wallet} of ${run}`, amount, assetAt(chainId))
            const isKnown = claims.has(step.name)
            const isCovered = (owed.get(keyOf(step.terms)) ?? 0n) >= amount
            expect(outcome).toBe(isKnown ? 'exists' : isCovered ? 'opened' : 'insufficient')
            if (outcome !== 'opened') continue
            claims.set(step.name, { ...step.terms, status: 'pending' })
            move(step.terms, -amount)
          } else {
            const claim = claims.get(step.name)
            const isEnding = claim?.status === 'pending'
            expect(await (step.do === 'pay' ? pay(own) : fail(own))).toBe(isEnding)
            if (claim === undefined || !isEnding) continue
            claim.status = step.do === 'pay' ? 'paid' : 'failed'
            if (step.do === 'fail') move(claim, claim.amount)
          }
        }
        for (const wallet of ['w1', 'w2']) {
          for (const chainId of [10, 8453]) {
            const amount = owed.get(keyOf({ wallet, chainId })) ?? 0n
            expect(await claimable(`${wallet} of ${run}`, assetAt(chainId))).toBe(amount)
          }
        }
        for (const [claimName, { status, amount }] of claims) {
          const stored = await readAppFeeClaim(bed.database, requestIdOf(`${run} ${claimName}`))
          expect(stored).toMatchObject({ status, amount })
        }
      }),
      { numRuns: 40 },
    )
    expect(await verifyLedger(bed.database)).toEqual([])
  })
})
