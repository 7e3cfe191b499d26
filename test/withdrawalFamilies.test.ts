// Goal: on every family a withdrawal goes the whole way: its owner asks for it, the allocator issues it, its signer's
// own process signs it, the depository's chain pays it, and the hub burns; or it comes to nothing and is given back.
// Never both. Method: three peered oracles, the allocator of the local hub, and a chain of each family.
import { waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hubBalance, submitExecution } from '../apps/oracle/test/support/hubSubmission.ts'
import { accept } from '../apps/oracle/test/support/ownerWithdrawals.ts'
import { type Requested, startWithdrawalBed, type WithdrawalBed } from './support/withdrawalBed.ts'

let bed: WithdrawalBed
beforeAll(async () => {
  bed = await startWithdrawalBed()
  await bed.startSigner()
})
afterAll(() => bed?.stop())

/** An owner has one request per nonce, whatever the chain. */
let nonce = 0

const held = ({ holder, token }: Requested) => hubBalance(bed.network, holder, token)
const owned = ({ alias, token }: Requested) => hubBalance(bed.network, alias, token)

// The clock of Tron and of base moves in the second half of their tests.
describe.each(['solana', 'bitcoin', 'hyperliquid', 'lighter', 'tron', 'base'] as const)('on %s', (key) => {
  const user = (index: number) => {
    const account = bed.network.keys.users[index]
    if (account === undefined) throw new Error(`no user ${index}`)
    return account
  }

  async function issued(owner: number, isDoomed: boolean) {
    const venue = bed.venues[key]
    const additionalData = venue.additionalData?.(isDoomed)
    nonce += 1
    const requested = await bed.request(venue, {
      owner: user(owner),
      nonce: String(nonce),
      ...(additionalData !== undefined && { additionalData }),
    })
    expect(await held(requested)).toBe(venue.amount)
    expect((await bed.v2(requested)).body).toEqual({ status: 0 })
    const own = await bed.issue(requested)
    await waitUntil('it is signed', async () => !(await bed.stored(own)).includes('0x'))
    expect((await bed.v2(requested)).body).toMatchObject({ status: 0 })
    return { venue, requested, own }
  }

  test('a withdrawal is issued, signed, paid on its signature and burned, once', async () => {
    const { venue, requested, own } = await issued(0, false)
    const transactionId = await venue.execute(own.payload, await bed.stored(own))
    const one = await bed.v1(requested, own, { transactionId })
    expect(one.body, JSON.stringify(one.body)).toMatchObject({ message: { result: { status: 1 } } })
    const other = await bed.v2(requested, { transactionId })
    expect(other.body).toMatchObject({
      status: 1,
      execution: { idempotencyKey: one.body.execution.idempotencyKey },
    })
    await accept(bed.network, other)
    expect(await held(requested)).toBe(0n)
    expect(await owned(requested)).toBe(0n)
    expect(await submitExecution(bed.network, one.body.execution)).toBe('AlreadyExecuted')
  })

  test('one that nobody can pay any more is given back, once', async () => {
    const { venue, requested, own } = await issued(1, true)
    const transactionId = await venue.expire(own.payload)
    const named = transactionId === undefined ? {} : { transactionId }
    const [one, other] = [await bed.v1(requested, own, named), await bed.v2(requested, named)]
    expect(one.body, JSON.stringify(one.body)).toMatchObject({ message: { result: { status: 2 } } })
    expect(other.body).toMatchObject({
      status: 2,
      execution: { idempotencyKey: one.body.execution.idempotencyKey },
    })
    await accept(bed.network, one)
    expect(await held(requested)).toBe(0n)
    expect(await owned(requested)).toBe(venue.amount)
    expect(await submitExecution(bed.network, other.body.execution)).toBe('AlreadyExecuted')
  })
})
