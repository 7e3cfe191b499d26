// Known attacks as fixed sequences: by the shipped rules each is refused and everything holds; by rules that lack the one
// check, as the code was before, the same steps break an invariant that random runs look at, and so these find it too.
import type { Hex } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { rememberSlack, violations } from './invariants.ts'
import { type Currency, modelNetwork } from './network.ts'
import { deposit, mint } from './parties/owner.ts'
import { settleFill } from './parties/solver.ts'
import { type Rules, shippedRules } from './rules.ts'
import { firstBroken } from './run.ts'
import { type KnownDeposit, type KnownOrder, World } from './world.ts'

export type Invariant = `I${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}`

export type Hole = {
  readonly name: string
  readonly without: Rules
  readonly breaks: Invariant
  readonly attack: (world: World) => Promise<void>
}

export async function worldOf(rules: Rules): Promise<World> {
  const world = new World(modelNetwork(rules), rules)
  await rememberSlack(world)
  return world
}

export const amount = 1_000n

export type Paid = { readonly known: KnownOrder; readonly deposit: KnownDeposit }

/** An order with its deposit on the hub. */
export async function paidFor(
  world: World,
  recipient: Hex = world.user(3).address,
  currency: Currency = 'USDC',
): Promise<Paid> {
  const owner = world.user(0)
  const asked = { owner, origin: 'base', destination: 'optimism', currency, amount } as const
  const known = await world.newOrder({ ...asked, recipients: [recipient] })
  return { known, deposit: await depositFor(world, known) }
}

/** @param deposited default the amount that the order was quoted for */
export async function depositFor(world: World, known: KnownOrder, deposited?: bigint): Promise<KnownDeposit> {
  const { owner, origin: chain, currency, quotedInput, orderId } = known
  const money = { owner, chain, currency, amount: deposited ?? quotedInput }
  const made = await deposit(world, money, { orderId, by: 'call' })
  await world.finalize(chain)
  if (made === undefined) throw new Error('the deposit failed')
  await mint(world, made)
  return made
}

export async function settle(world: World, { known, deposit: made }: Paid, transaction: Hex | undefined) {
  if (transaction === undefined) throw new Error('nothing was paid')
  await world.finalize(known.destination)
  return settleFill(world, known, { deposit: made, transaction })
}

export function provesHoles(holes: readonly Hole[]): void {
  describe.each(holes)('$name', ({ attack, without, breaks }) => {
    test('by the shipped rules', async () => {
      const world = await worldOf(shippedRules)
      await attack(world)
      expect(await violations(world)).toEqual([])
    })

    test('and without the check an invariant breaks', async () => {
      const world = await worldOf(without)
      await attack(world)
      expect(await violations(world)).toContainEqual(expect.stringContaining(`${breaks}: `))
    })
  })
}

/** Not only the known steps: the random ones come upon a missing check by themselves. */
export function findsHoles(
  holes: readonly (readonly [what: string, without: Rules, breaks: readonly Invariant[]])[],
): void {
  test.each(holes)('random runs find that %s', async (_what, rules, breaks) => {
    const found = await firstBroken(rules, 200, 1)
    expect(breaks.filter((one) => found?.includes(`${one}: `))).not.toEqual([])
  })
}
