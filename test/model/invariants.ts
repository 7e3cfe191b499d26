// Invariants after every step, by whatever party. Judged by the truth alone: the services' own state is not used.
import type { Hex } from '@causeway/core'
import { booksAreSo, capHolds, paymentsAreProven, rewardsAreSo } from './moneyInvariants.ts'
import { canBePaid, isPaid, type PaidSettlement, paidSettlement, withoutDust } from './settledPayments.ts'
import { everyCurrency, flowsOf, type HubMove, heldBy, hubMoves, paidOut } from './truth.ts'
import type { KnownWithdrawal, World } from './world.ts'

function missing(): never {
  throw new Error('an address has its withdrawal')
}

const zeroAddress = `0x${'0'.repeat(40)}`
const sum = (amounts: readonly bigint[]) => amounts.reduce((all, one) => all + one, 0n)
const amountOf = (moves: readonly HubMove[]) => sum(moves.map(({ amount }) => amount))

/** A withdrawal address with what chain and hub say of it. The amount is not a part of it. */
type Paid = Pick<KnownWithdrawal, 'address' | 'alias' | 'hubToken'> & {
  readonly movedIn: bigint
  readonly onHub: bigint
  readonly paidOut: bigint
  readonly burned: bigint
  readonly givenBack: bigint
  /** Paid, and not burned yet: nobody can have it twice, unless it is given back. */
  readonly toBurn: bigint
}

/** @returns a line for everything that does not hold */
export async function violations(world: World): Promise<readonly string[]> {
  const moves = hubMoves(world)
  const addresses = [...new Set(world.withdrawals.map(({ address }) => address))]
  const paid = await Promise.all(addresses.map((address) => readPaid(world, address, moves)))
  return [
    ...(await solvency(world, paid)),
    ...(await sponsorBooks(world)),
    ...settledOnce(world, moves),
    ...paidOnce(paid),
    ...(await settlementsAreSo(world)),
    ...(await nobodyGains(world, moves, paid)),
    ...(await booksAreSo(world)),
    ...rewardsAreSo(world),
    ...(await paymentsAreProven(world)),
    ...capHolds(world),
  ]
}

async function readPaid(world: World, address: Hex, moves: readonly HubMove[]): Promise<Paid> {
  const own = world.withdrawals.filter((withdrawal) => withdrawal.address === address)
  const [{ alias, hubToken } = missing()] = own
  const movedIn = amountOf(moves.filter(({ to, token }) => to === address && token === hubToken))
  const out = moves.filter(({ from, token }) => from === address && token === hubToken)
  const burned = amountOf(out.filter(({ to }) => to === zeroAddress))
  const onHub = await world.hubBalance(address, hubToken)
  const paid = sum(await Promise.all(own.map((withdrawal) => paidOut(world, withdrawal))))
  const open = paid > burned ? paid - burned : 0n
  return {
    address,
    alias,
    hubToken,
    movedIn,
    onHub,
    burned,
    paidOut: paid,
    givenBack: amountOf(out) - burned,
    toBurn: open < onHub ? open : onHub,
  }
}

/** Others may have used the chains before: what they left is not to be touched either. */
export async function rememberSlack(world: World): Promise<void> {
  for (const { chain, name } of everyCurrency) {
    const token = world.hubToken(chain, name)
    const held = await heldBy(world, chain, name, world.network.places[chain].depository)
    world.slackBefore.set(token, held - (await world.hubSupply(token)))
  }
}

/** I1: depositories hold at least what the hub owes, per chain and currency. */
async function solvency(world: World, paid: readonly Paid[]): Promise<readonly string[]> {
  const found = await Promise.all(
    everyCurrency.map(async ({ chain, name }) => {
      const token = world.hubToken(chain, name)
      const supply = await world.hubSupply(token)
      const held = await heldBy(world, chain, name, world.network.places[chain].depository)
      const own = paid.filter(({ hubToken }) => hubToken === token)
      const owed = supply - sum(own.map(({ toBurn }) => toBurn))
      const slack = world.slackBefore.get(token) ?? 0n
      return held - owed >= slack ? [] : [`I1: ${chain} holds ${held} ${name} and the hub owes ${owed}`]
    }),
  )
  return found.flat()
}

/** I2: a sponsor's balance is what was topped up less what was truly filled for him, and covers what is held. */
async function sponsorBooks(world: World): Promise<readonly string[]> {
  const { ledger, sponsor, requests } = world.service
  const [posted, held] = [ledger.posted.get(sponsor) ?? 0n, ledger.held(sponsor)]
  const toppedUp = sum(
    [...ledger.topUps.values()].map(({ state, amount }) => (state === 'final' ? amount : 0n)),
  )
  const debits = [...ledger.holds].flatMap(([requestId, holds]) =>
    holds.flatMap(({ state, postedMicroUsd }) => (state === 'posted' ? [{ requestId, postedMicroUsd }] : [])),
  )
  const unfilled = await Promise.all(
    debits.map(async ({ requestId }) => {
      const request = requests.find(({ quoted }) => quoted.requestId === requestId)
      const { fillTransaction: transaction, known } = request ?? {}
      const isFilled =
        known !== undefined && transaction !== undefined && (await isPaid(world, known, transaction))
      return isFilled ? [] : [`I2: the sponsor paid for ${requestId}, which was not filled`]
    }),
  )
  return [
    ...(posted === toppedUp - sum(debits.map(({ postedMicroUsd }) => postedMicroUsd))
      ? []
      : [`I2: the sponsor has ${posted} of ${toppedUp}`]),
    ...(held >= 0n && held <= posted ? [] : [`I2: ${held} is held of ${posted}`]),
    ...unfilled.flat(),
    ...(toppedUp <= topUpsOnChain(world) ? [] : [`I2: ${toppedUp} is credited and did not come to custody`]),
  ]
}

function topUpsOnChain(world: World): bigint {
  const { custody } = world.network.keys
  const token = world.token('base', 'USDC')
  return sum(
    world.sent.base.flatMap((id) => {
      const receipt = world.network.chains.base.receiptOf(id)
      const flows = receipt === undefined ? [] : flowsOf(world, 'base', receipt)
      return flows.flatMap((flow) =>
        flow.to === custody.address && flow.token === token ? [flow.amount] : [],
      )
    }),
  )
}

/** I3: what was deposited for an order leaves its account once, and an order is not both filled and refunded. */
function settledOnce(world: World, moves: readonly HubMove[]): readonly string[] {
  const solver = world.aliasOf(world.network.keys.orderSigner, 'base')
  const owners = new Set(world.withdrawals.map(({ address }) => address))
  const sources = new Set(
    moves.flatMap(({ from, to }) =>
      to === solver && from !== zeroAddress && !owners.has(from) ? [from] : [],
    ),
  )
  const twice = [...sources].flatMap((source) => {
    const taken = moves.filter(({ from }) => from === source)
    const minted = moves.filter(({ to, from }) => to === source && from === zeroAddress)
    return taken.length <= minted.length ? [] : [`I3: ${source} was settled ${taken.length} times`]
  })
  const both = world.service.requests.flatMap(({ known, items }) => {
    const done = items.filter(({ state }) => state === 'done')
    const filled = done.filter(({ kind }) => kind === 'fill').map(({ depositId }) => depositId)
    const isBoth = done.some(
      ({ kind, depositId, isSurplus }) =>
        kind === 'refund' && isSurplus !== true && filled.includes(depositId),
    )
    return isBoth ? [`I3: ${known.orderId} was filled and its deposit given back`] : []
  })
  return [...twice, ...both]
}

/** I4: no withdrawal is both paid and given back, nor paid twice, nor burned without being paid. */
function paidOnce(paid: readonly Paid[]): readonly string[] {
  return paid.flatMap(({ address, movedIn, paidOut: out, burned, givenBack }) => [
    ...(out > 0n && givenBack > 0n ? [`I4: ${address} was paid ${out} and given back ${givenBack}`] : []),
    ...(out > movedIn ? [`I4: ${address} was paid ${out} of ${movedIn}`] : []),
    ...(burned > out ? [`I4: ${address} was burned ${burned} and paid ${out}`] : []),
  ])
}

/**
 * I5, first half: a settlement is signed only for what the solver's side paid, and one payment is for one deposit.
 * A deposit may be shown with several payments: it settles once, so one of them is enough that no other needs.
 */
async function settlementsAreSo(world: World): Promise<readonly string[]> {
  const signed = [...world.settlements, ...world.service.settlements, ...world.solver.settlements]
  const settled = await Promise.all(signed.map((one) => paidSettlement(world, one)))
  const unpaid = settled.flatMap(({ name, payments }) =>
    payments.flatMap(({ minimum, paid }) =>
      paid >= minimum ? [] : [`I5: ${name} was signed for ${minimum}, and the solver's side paid ${paid}`],
    ),
  )
  if (unpaid.length > 0) return [...new Set(unpaid)]
  const deposits = new Map<string, PaidSettlement[]>()
  for (const one of withoutDust(settled)) deposits.set(one.name, [...(deposits.get(one.name) ?? []), one])
  // The deposit with the fewest possible payments is placed first.
  const ways = [...deposits.values()].sort((one, other) => one.length - other.length)
  return canBePaid(ways, new Map())
    ? []
    : [`I5: ${[...deposits.keys()].join(', ')} were signed for payments that do not cover them all`]
}

/** I5, second half: what is on the hub for an owner and what was paid out to him is what was put in, no less. */
async function nobodyGains(
  world: World,
  moves: readonly HubMove[],
  paid: readonly Paid[],
): Promise<readonly string[]> {
  const { users, orderSigner } = world.network.keys
  const aliases = [
    ...users.flatMap((user) => [world.aliasOf(user, 'base'), world.aliasOf(user, 'optimism')]),
    world.aliasOf(orderSigner, 'base'),
  ]
  const found = await Promise.all(
    aliases.flatMap((alias) =>
      everyCurrency.map(async ({ chain, name }) => {
        const token = world.hubToken(chain, name)
        const own = paid.filter((one) => one.alias === alias && one.hubToken === token)
        const addresses = own.map(({ address }) => address)
        const putIn = amountOf(
          moves.filter((move) => move.to === alias && move.token === token && !addresses.includes(move.from)),
        )
        if (putIn === 0n && own.length === 0) return []
        const onHub = await world.hubBalance(alias, token)
        const has = onHub + sum(own.map((one) => one.onHub - one.toBurn + one.paidOut))
        return has === putIn ? [] : [`I5: ${alias} put in ${putIn} ${name} of ${chain} and has ${has}`]
      }),
    ),
  )
  return found.flat()
}
