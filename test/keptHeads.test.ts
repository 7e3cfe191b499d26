// Goal: nobody settles by what an oracle remembers of a chain that it cannot see any more. Method: the whole HTTP
// surface over one running chain of each family, whose clock the test moves; endpoints die one after the other.
import { type VmType, vmTypes } from '@causeway/core/encodings'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { paths } from '../apps/oracle/test/fixtures/oracleApp.ts'
import { type BedOracle, openBedOracle } from './support/familyBeds/bedOracle.ts'
import {
  askedAmount,
  depositOrder,
  filledAmount,
  orderAcross,
  payFor,
} from './support/familyBeds/bedOrders.ts'
import type { FamilyBed } from './support/familyBeds/familyBed.ts'
import { type FamilyBeds, startFamilyBeds } from './support/familyBeds/startFamilyBeds.ts'

const headAgeMaxMs = 30_000
const clock = { nowMs: 0 }
let beds: FamilyBeds
let oracle: BedOracle
beforeAll(async () => {
  beds = await startFamilyBeds()
  oracle = await openBedOracle(Object.values(beds.of), 100, { now: () => clock.nowMs })
})
afterAll(async () => {
  await oracle?.close()
  await beds?.stop()
})

type Question = readonly [path: string, body: object]

/** An order paid on one chain and filled on another. */
async function filled(paidOn: FamilyBed, filledOn: FamilyBed) {
  const paid = [{ bed: paidOn, amount: askedAmount(paidOn) }]
  const { id, settlement } = await depositOrder(orderAcross([paidOn], filledOn), paid, oracle.networkOf)
  const transactionId = await payFor(id, filledOn, { amount: filledAmount(filledOn) })
  const [{ transactionId: depositId = '' } = {}] = settlement.inputs
  return {
    fill: { ...settlement, fill: { transactionId } },
    deposit: { chainId: paidOn.chain.id, transactionId: depositId },
  }
}

const answersTo = async (questions: readonly Question[]) => {
  const answers = []
  for (const [path, body] of questions) {
    const { status, body: answer } = await oracle.post(path, body)
    answers.push([status, Object(answer).errorCode])
  }
  return answers
}

const all = (questions: readonly Question[], answer: readonly unknown[]) => questions.map(() => answer)

/** The others are asked beside one that lives: it dies last. */
const partner: VmType = 'ethereum-vm'
const families = [...vmTypes.filter((family) => family !== partner), partner]

describe.each(families)('P-21: what is kept of %s', (family) => {
  test('P-21: is given without an upstream call while its head was agreed on lately, and then refused like a new fact', async () => {
    const [bed, other] = [beds.of[family], beds.of[partner]]
    const [origin, destination] = [await filled(bed, other), await filled(other, bed)]
    const withdrawal = await bed.withdrawal('executed')
    const unread = await filled(bed, other)
    await bed.finalize()
    const kept: readonly Question[] = [
      [paths.deposits, origin.deposit],
      [paths.fills, origin.fill],
      [paths.fills, destination.fill],
      [paths.withdrawals, { chainId: bed.chain.id, ...withdrawal }],
    ]
    await oracle.look()
    expect(await answersTo(kept)).toEqual(all(kept, [200, undefined]))

    clock.nowMs += headAgeMaxMs
    const { requests } = await bed.upstream.measure(async () => {
      expect(await answersTo(kept)).toEqual(all(kept, [200, undefined]))
    })
    expect(requests).toBe(0)

    await bed.upstream.stop()
    expect(await answersTo(kept)).toEqual(all(kept, [200, undefined]))
    clock.nowMs += 1
    await oracle.look()
    const [ofNewFact] = await answersTo([[paths.deposits, unread.deposit]])
    expect(ofNewFact).toEqual([503, expect.stringMatching(/^RPC_HTTP_ERROR$|^REQUEST_TIMED_OUT$/)])
    expect(await answersTo(kept)).toEqual(all(kept, ofNewFact ?? []))

    // Facts that the reader keeps, in a request that was never answered.
    const asked: readonly Question[] = [[paths.fills, { ...destination.fill, hints: { asked: 'anew' } }]]
    expect(await answersTo(asked)).toEqual([ofNewFact])
    if (family !== partner)
      expect(await answersTo([[paths.deposits, destination.deposit]])).toEqual([[200, undefined]])
  })
})
