import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Movement, receivedBy } from './movements.ts'

const isSolver = (account: string) => account === 'solver' || account === 'router'
const received = (...movements: readonly Movement[]) => receivedBy('recipient', movements, isSolver)
const move = (from: string, to: string, amount: bigint): Movement => ({ from, to, amount })

describe('what a recipient received', () => {
  test('is what the solver’s side moved to him, over all its accounts', () => {
    expect(received(move('solver', 'recipient', 5n), move('router', 'recipient', 2n))).toEqual({
      net: 7n,
      paidIn: 7n,
      fromOthers: 0n,
    })
  })

  test('is nothing that a stranger, a vault or nobody moved', () => {
    for (const payer of ['stranger', 'depository', 'nobody']) {
      expect(received(move(payer, 'recipient', 5n))).toEqual({ net: 0n, paidIn: 0n, fromOthers: 5n })
    }
  })

  test('is nothing where it went back, at once or over another account', () => {
    expect(received(move('solver', 'recipient', 5n), move('recipient', 'solver', 5n)).net).toBe(0n)
    expect(received(move('recipient', 'stranger', 5n), move('solver', 'recipient', 5n)).net).toBe(0n)
  })

  test('is nothing where a stranger’s money stands in for what went back', () => {
    const airdrop = move('stranger', 'recipient', 5n)
    expect(received(airdrop, move('solver', 'recipient', 5n), move('recipient', 'solver', 5n))).toMatchObject(
      { net: 0n, fromOthers: 5n },
    )
  })

  test('is nothing that he moved to himself, which takes nothing away either', () => {
    const toHimself = move('recipient', 'recipient', 5n)
    expect(receivedBy('recipient', [toHimself], () => true)).toMatchObject({ net: 0n, paidIn: 0n })
    expect(received(toHimself, move('solver', 'recipient', 3n)).net).toBe(3n)
  })

  test('is never below nothing, whatever he sent on', () => {
    expect(received(move('solver', 'recipient', 5n), move('recipient', 'stranger', 6n)).net).toBe(0n)
    expect(received(move('recipient', 'stranger', 6n)).net).toBe(0n)
  })

  test('is never more than he gained and never more than the solver’s side moved', () => {
    const account = fc.constantFrom('recipient', 'solver', 'router', 'stranger', 'depository')
    const amount = fc.bigInt({ min: 0n, max: 1_000n })
    fc.assert(
      fc.property(fc.array(fc.record({ from: account, to: account, amount })), (movements) => {
        const { net, paidIn } = received(...movements)
        const sum = (side: 'from' | 'to') =>
          movements.reduce((total, one) => (one[side] === 'recipient' ? total + one.amount : total), 0n)
        const gained = sum('to') - sum('from')
        return net >= 0n && net <= paidIn && (net === 0n || net <= gained)
      }),
    )
  })
})
