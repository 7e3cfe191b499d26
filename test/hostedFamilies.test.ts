// Goal: with nodes of each family that answer as hosted ones do, an order from it and one to it end in success or refund, or
// the quote was refused with the cause in words, and no deposit is unseen after 30 seconds. Method: the service, its solver
// and two oracles in processes of their own, each with nodes of one behaviour after the other; CAUSEWAY_FAULTS=1 runs all.
import {
  isPersonalityName,
  nodePersonalities,
  openEndpoints,
  type PersonalityName,
  waitUntil,
} from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { quoteResponseSchema } from '../apps/quote-api/src/http/wire/quoteResponse.ts'
import {
  type Answer,
  postPatiently,
  type QuoteAnswer,
  readError,
  readOk,
} from '../apps/quote-api/test/serviceSupport/callService.ts'
import { type Family, families, requestOf, type Sides, sidesOf } from './support/familySides.ts'
import { type FamilySolving, startFamilySolving } from './support/familySolver.ts'

const isLong = process.env['CAUSEWAY_FAULTS'] === '1'
const unseenMsMax = 30_000
/** Only ends a test that would hang. */
const patient = { patienceMs: 300_000, pollMs: 200 }
const pass: PersonalityName = 'batch-100'

const cases = Object.keys(nodePersonalities)
  .filter(isPersonalityName)
  .flatMap((name) =>
    families
      .filter((side) => side.toLowerCase() === nodePersonalities[name].family)
      .map((side) => [name, side] as const),
  )
/** Four requests a second are less than the watcher of Bitcoin needs to see a deposit in time. */
const isTooSlow = (name: PersonalityName) => name === 'bitcoin-rate'
const sample: readonly PersonalityName[] = ['solana-behind', 'tron-rate']

/** Nodes of each family, which answer the truth until they are given a behaviour. */
const nodesOf = new Map(
  cases.map(([personality, side]) => {
    const nodes = openEndpoints({ personality, environment: {}, report: () => {} })
    return [side, { personality, nodes }] as const
  }),
)
const be = (side: Family, name: PersonalityName) => nodesOf.get(side)?.nodes.changePersonality(name)

let bed: FamilySolving
let at: FamilySolving['six']
let sides: Sides
beforeAll(async () => {
  bed = await startFamilySolving({}, async (places) => {
    let replaced = places
    for (const { personality, nodes } of nodesOf.values()) {
      await nodes.changePersonality(personality)
      replaced = await nodes.replaceEndpoints(replaced)
      await nodes.changePersonality(pass)
    }
    return replaced
  })
  at = bed.six
  sides = sidesOf(at)
  await bed.startSolver().ready()
}, 600_000)
afterAll(async () => {
  await bed?.stop()
  for (const { nodes } of nodesOf.values()) await nodes.stop()
})

const isEnd = (status: string) => status === 'success' || status === 'refund'

/** It ends, and was seen in time; or its quote is refused in words. */
async function lives(pair: readonly [Family, Family]): Promise<void> {
  const { body, deposit } = await requestOf(sides, pair)
  const answer: Answer = await postPatiently(`${at.url}/quote`, body)
  if (answer.status !== 200) return expect(readError(answer).message.length).toBeGreaterThan(20)
  const quote: QuoteAnswer = readOk(answer, quoteResponseSchema)
  await deposit(quote)
  const depositedAtMs = Date.now()
  let seenAtMs: number | undefined
  const circumstances = async () =>
    JSON.stringify([pair, await at.requests.statusOf(quote), await at.requests.settlementOf(quote)])
  const hasEnded = async () => {
    // On a busy machine a status may be refused: it is asked for again.
    const { status } = await at.requests.statusOf(quote).catch(() => ({ status: 'waiting' }))
    if (status !== 'waiting') seenAtMs ??= Date.now()
    return isEnd(status)
  }
  await waitUntil('it ends', hasEnded, { ...patient, circumstances })
  expect((seenAtMs ?? 0) - depositedAtMs, await circumstances()).toBeLessThan(unseenMsMax)
}

test.each(cases.filter(([name]) => (isLong && !isTooSlow(name)) || sample.includes(name)))(
  'O-73: with %s orders from and to %s end, or are refused with the cause',
  async (name, side) => {
    await be(side, name)
    try {
      await Promise.all([lives([side, 'EVM']), lives(['EVM', side])])
    } finally {
      await be(side, pass)
    }
  },
  900_000,
)
