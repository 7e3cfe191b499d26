// Goal: of several fill wallets one alone can pay an id, whatever their solvers, their clocks and the service do.
// Attackers: a service that offers an item to all of them at once; a solver that stalls between signing and sending, and
// sends when another one has taken over; one that is gone for good. Method: random histories over a model of the
// contract, which refuses what comes after its deadline and knows one payment per wallet.
import type { Hex } from '@causeway/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  fillTurn,
  isOwnClaim,
  type OtherRecord,
  othersFill,
  refundTurn,
  refuseTurn,
  type Sharing,
  type Turn,
} from './turns.ts'

const wallets: readonly Hex[] = [`0x${'0a'.repeat(20)}`, `0x${'0b'.repeat(20)}`, `0x${'0c'.repeat(20)}`]
const deadline = 10_000
const turnSeconds = 600
const finalityLag = 90
const ids = fc.bigInt(0n, 2n ** 256n - 1n).map((word): Hex => `0x${word.toString(16).padStart(64, '0')}`)

/** A solver looks at a time, signs what it may, and its transaction lands at another one, or never. */
const looks = fc.array(
  fc.record({
    wallet: fc.nat(2),
    atSeconds: fc.integer({ min: deadline - 4_000, max: deadline + 6_000 }),
    landsAfter: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 5_000 })),
  }),
  { maxLength: 40 },
)

type TurnOf = (id: Hex, nowSeconds: number, sharing: Sharing) => Turn | undefined

/** Which wallets have paid in the end, where each takes its turn as the rule says. */
function play(
  turnOf: TurnOf,
  id: Hex,
  list: readonly { wallet: number; atSeconds: number; landsAfter: number }[],
): readonly Hex[] {
  const landing: { wallet: Hex; atSeconds: number }[] = []
  for (const { wallet, atSeconds, landsAfter } of [...list].sort((a, b) => a.atSeconds - b.atSeconds)) {
    const own = wallets[wallet] ?? '0x'
    const turn = turnOf(id, atSeconds, { fillWallets: wallets, own, turnSeconds })
    if (turn === undefined || atSeconds > turn.endSeconds) continue
    const finalSeconds = atSeconds - finalityLag
    const others = wallets
      .filter((other) => other !== own)
      .map((other): OtherRecord => {
        const isPaid = landing.some((one) => one.wallet === other && one.atSeconds <= finalSeconds)
        return { state: isPaid ? 'paid' : 'open', timestampSeconds: finalSeconds }
      })
    if (refuseTurn(turn, others) !== undefined) continue
    // The contract takes nothing after the deadline that was signed.
    if (atSeconds + landsAfter <= turn.endSeconds)
      landing.push({ wallet: own, atSeconds: atSeconds + landsAfter })
  }
  return [...new Set(landing.map(({ wallet }) => wallet))]
}

const turnsOf: readonly [string, TurnOf][] = [
  ['a fill', (id, _nowSeconds, sharing) => fillTurn(id, deadline, sharing)],
  [
    'a refund',
    (id, nowSeconds, sharing) => refundTurn({ id, orderDeadlineSeconds: deadline }, nowSeconds, sharing),
  ],
]

describe.each(turnsOf)('%s', (_what, turnOf) => {
  test('Q-227: is paid by one wallet at most, whoever is offered it, stalls and sends late', () => {
    fc.assert(
      fc.property(ids, looks, (id, list) => {
        expect(play(turnOf, id, list).length).toBeLessThanOrEqual(1)
      }),
      { numRuns: 2_000 },
    )
  })

  test('is paid by another wallet where the first ones are gone for good', () => {
    fc.assert(
      fc.property(ids, fc.nat(2), (id, wallet) => {
        const always = Array.from({ length: 90 }, (_, index) => ({
          wallet,
          landsAfter: 1,
          atSeconds: deadline - 3_000 + index * 60,
        }))
        expect(play(turnOf, id, always)).toEqual([wallets[wallet]])
      }),
    )
  })
})

test('without turns two wallets pay: each is offered the order and each pays it once', () => {
  const free: TurnOf = () => ({ endSeconds: deadline, afterSeconds: undefined })
  const both = [0, 1].map((wallet) => ({ wallet, atSeconds: deadline - 50, landsAfter: 1 }))
  expect(play(free, `0x${'01'.repeat(32)}`, both)).toHaveLength(2)
})

test('a wallet alone has all the time of its order', () => {
  const [own] = wallets
  if (own === undefined) throw new Error('there are wallets')
  const alone = { fillWallets: [own], own, turnSeconds }
  fc.assert(
    fc.property(ids, (id) => {
      expect(fillTurn(id, deadline, alone)).toEqual({ endSeconds: deadline, afterSeconds: undefined })
      expect(isOwnClaim(id, alone)).toBe(true)
    }),
  )
})

test('a claim is one wallet’s', () => {
  fc.assert(
    fc.property(ids, (id) => {
      const owners = wallets.filter((own) => isOwnClaim(id, { fillWallets: wallets, own, turnSeconds }))
      expect(owners).toHaveLength(1)
    }),
  )
})

test('a deposit goes back only when no other wallet has filled its order, nor still may', () => {
  const [own, other] = wallets
  if (own === undefined || other === undefined) throw new Error('there are wallets')
  const sharing = { fillWallets: [own, other], own, turnSeconds }
  const order = { id: `0x${'00'.repeat(32)}` as const, deadlineSeconds: deadline }
  const said = (state: OtherRecord['state'], timestampSeconds: number) =>
    othersFill(order, [{ fillWallet: other, state, timestampSeconds }], sharing)
  expect(said('open', deadline)).toBe('open')
  expect(said('open', deadline + 1)).toBe('over')
  expect(said('closed', 1)).toBe('over')
  expect(said('paid', deadline + 1)).toBe('filled')
})

describe('of three wallets', () => {
  const [a = '0x', b = '0x', c = '0x'] = wallets
  const sharing = (own: Hex) => ({ fillWallets: wallets, own, turnSeconds })
  const second: Hex = `0x${'0'.repeat(63)}1`

  test('Q-227: the id chooses the first, the others follow in the order of the list', () => {
    expect([b, c, a].map((own) => fillTurn(second, deadline, sharing(own)))).toEqual([
      { endSeconds: 8_800, afterSeconds: undefined },
      { endSeconds: 9_400, afterSeconds: 8_800 },
      { endSeconds: 10_000, afterSeconds: 9_400 },
    ])
    const refund = { id: second, orderDeadlineSeconds: deadline }
    const turnAt = (nowSeconds: number, own: Hex) => refundTurn(refund, nowSeconds, sharing(own))
    expect(turnAt(1, b)).toEqual({ endSeconds: 10_600, afterSeconds: undefined })
    expect(turnAt(10_600, b)).toEqual({ endSeconds: 10_600, afterSeconds: undefined })
    expect(turnAt(10_601, b)).toBeUndefined()
    expect(turnAt(10_601, c)).toEqual({ endSeconds: 11_200, afterSeconds: 10_600 })
    expect(turnAt(11_801, b)).toEqual({ endSeconds: 12_400, afterSeconds: 11_800 })
  })

  test('a turn begins when no other may have paid: each is closed, or final beyond the turn before', () => {
    const turn = { endSeconds: 9_400, afterSeconds: 8_800 }
    const at = (timestampSeconds: number, state: OtherRecord['state'] = 'open') => ({
      state,
      timestampSeconds,
    })
    expect(refuseTurn(turn, [at(8_801), at(1, 'closed')])).toBeUndefined()
    expect(refuseTurn(turn, [at(8_801), at(8_800)])).toBe('what another fill wallet signed may still land')
    expect(refuseTurn(turn, [at(8_801), at(8_801, 'paid')])).toBe('another fill wallet has paid it')
    expect(refuseTurn({ ...turn, afterSeconds: undefined }, [at(1, 'paid')])).toBeUndefined()
  })

  test('one that filled it is enough, and one that still may', () => {
    const order = { id: second, deadlineSeconds: deadline }
    const said = (...states: readonly (readonly [Hex, OtherRecord['state'], number])[]) =>
      othersFill(
        order,
        states.map(([fillWallet, state, timestampSeconds]) => ({ fillWallet, state, timestampSeconds })),
        sharing(a),
      )
    expect(said([b, 'paid', 1], [c, 'open', 1])).toBe('filled')
    expect(said([b, 'open', 8_801], [c, 'open', 9_400])).toBe('open')
    expect(said([b, 'open', 8_801], [c, 'open', 9_401])).toBe('over')
  })
})
