// Goal: what makes a price or a quote dearer is seen when it is written. Method: a process of its own counts calls to
// chains and allocated bytes, which do not depend on the machine. A dearer request fails here: make it cheaper, or
// write the new figure beside the process and say in the commit what it buys.
import { beforeAll, expect, test } from 'vitest'
import { keptKiB, measureRequestCosts, type RequestCosts } from './serviceSupport/requestCost.ts'

const tolerance = 1.1

let costs: RequestCosts

beforeAll(async () => {
  costs = await measureRequestCosts()
}, 180_000)

test.each(['priceCalls', 'quoteCalls'] as const)(
  'a user of whom nothing is known costs three calls to chains, and none when he asks again: %s',
  (calls) => {
    // State of the user and a trial of the deposit on the origin, a trial of the payment on the destination.
    expect(costs[calls]).toEqual({ first: 3, again: 0 })
  },
)

test.each(['price', 'quote'] as const)('a %s allocates at most a tenth more than the kept figure', (kind) => {
  expect(costs[`${kind}KiB`]).toBeLessThan(keptKiB[kind] * tolerance)
})
