import { describe, expect, test } from 'vitest'
import {
  aSignal,
  behave,
  dead,
  everyAnswer,
  type FactsCase,
  type FactsFixture,
  factsOf,
  openFacts,
  silent,
} from './factsCase.ts'
import type { Fault } from './wire.ts'

type Faults = (facts: FactsCase) => readonly (Fault | 'honest')[]

const page = everyAnswer({ status: 200, text: '<html>' })
const hasty = { readingTimeoutMs: 1_500, requestTimeoutMs: 1_000, patienceMs: 50 }
const lie = ({ questions }: FactsCase, digit: 1 | 2 | 3) => questions.deposit.lie(digit)

/** Numbers of the two that agree, with which their names end. */
const outvoted: readonly (readonly [string, Faults, string])[] = [
  ['a dead third', () => [dead], '23'],
  ['a third that never answers', () => ['honest', silent], '13'],
  ['a third that lies', (facts) => ['honest', 'honest', lie(facts, 1)], '12'],
  ['a third that does not know the transaction', ({ lose }) => [lose], '23'],
]
const tooFew: readonly (readonly [string, Faults, object])[] = [
  ['two are dead', () => [dead, dead], { code: 'RPC_HTTP_ERROR', kind: 'upstream_unavailable' }],
  ['two never answer', () => [silent, silent], { code: 'REQUEST_TIMED_OUT', kind: 'upstream_unavailable' }],
  [
    'two answer nonsense',
    () => [page, everyAnswer('garbage')],
    { code: 'RPC_HTTP_ERROR', kind: 'upstream_unavailable' },
  ],
]
const contradictions: readonly (readonly [string, Faults])[] = [
  ['one lies and one is dead', (facts) => [lie(facts, 1), dead]],
  ['two lie, each something else', (facts) => [lie(facts, 1), lie(facts, 2)]],
  ['all three say something else', (facts) => [lie(facts, 1), lie(facts, 2), lie(facts, 3)]],
  ['one does not know it and one is dead', ({ lose }) => [lose, dead]],
]

/** Answers of several endpoints together, in every family: each stands behind a wire of its own, before one chain. */
export function describeQuorum(family: string, start: () => Promise<FactsFixture>): void {
  describe(family, () => {
    const open = openFacts(start)
    describeVotes(open)
    describeReadings(open)
    describeFinalBlocks(open)
  })
}

/** @source P-107, F-83 */
function describeVotes(open: () => FactsCase): void {
  test.each(outvoted)(
    'P-107: two of three that say the same are enough, beside %s',
    async (_name, faults, agreeing) => {
      const facts = open()
      const truth = factsOf(await facts.read())
      behave(facts, ...faults(facts))
      const answer = await facts.read(facts.questions.deposit, { limits: hasty })
      expect(answer).toMatchObject(facts.deposit.facts)
      expect(factsOf(answer)).toEqual(truth)
      const names: readonly string[] = Object(answer).evidence.agreeingEndpoints
      expect(names.map((name) => name.at(-1)).toSorted()).toEqual([...agreeing])
    },
  )

  test.each(tooFew)('P-107: fewer are refused as unavailable when %s', async (_name, faults, refusal) => {
    const facts = open()
    behave(facts, ...faults(facts))
    expect(await facts.read(facts.questions.deposit, { limits: hasty })).toMatchObject(refusal)
  })

  test.each(contradictions)('and as a disagreement when %s', async (_name, faults) => {
    const facts = open()
    behave(facts, ...faults(facts))
    expect(await facts.read()).toMatchObject({
      code: 'UPSTREAM_DISAGREEMENT',
      kind: 'upstream_disagreement',
      data: { chainId: expect.any(String) },
    })
  })

  test('each question is outvoted or refused by its own lies', async () => {
    const facts = open()
    for (const [name, question] of Object.entries(facts.questions)) {
      if (question.lie === undefined) continue
      for (const wire of facts.wires) wire.reset()
      const truth = factsOf(await facts.read(question))
      behave(facts, question.lie(1))
      expect(factsOf(await facts.read(question)), name).toEqual(truth)
      behave(facts, question.lie(1), question.lie(2))
      expect(await facts.read(question), name).toMatchObject({ code: 'UPSTREAM_DISAGREEMENT' })
    }
  })

  test('F-83: two that have no such transaction do not decide where one shows it in a block', async () => {
    const facts = open()
    behave(facts, facts.lose, facts.lose)
    expect(await facts.read()).toMatchObject({ code: facts.lostByTwo, retryable: true })
    behave(facts, facts.lose, facts.lose, facts.lose)
    expect(await facts.read()).toMatchObject({ code: 'TRANSACTION_MISSING', retryable: true })
  })

  test('P-107: losing endpoints never lowers the bar, however long they fail', async () => {
    const facts = open()
    behave(facts, everyAnswer('fail'), everyAnswer('fail'))
    const { reader, close } = facts.open(
      facts.wires.map(({ url }) => url),
      { limits: hasty },
    )
    for (let round = 0; round < 8; round += 1)
      await expect(facts.questions.deposit.ask(reader, aSignal())).rejects.toMatchObject({
        kind: 'upstream_unavailable',
      })
    await close()
  })

  test('a threshold of all endpoints is kept as well', async () => {
    const facts = open()
    const all = { threshold: 3 }
    behave(facts, 'honest', 'honest', dead)
    expect(await facts.read(facts.questions.deposit, all)).toMatchObject({ kind: 'upstream_unavailable' })
    behave(facts, 'honest', 'honest', lie(facts, 1))
    expect(await facts.read(facts.questions.deposit, all)).toMatchObject({ code: 'UPSTREAM_DISAGREEMENT' })
  })
}

function describeReadings(open: () => FactsCase): void {
  test('evidence names the block, the rule and endpoints by alias, never by URL', async () => {
    const facts = open()
    const { evidence } = Object(await facts.read())
    expect(evidence).toEqual({ ...facts.deposit.evidence, agreeingEndpoints: expect.any(Array) })
    expect(evidence.agreeingEndpoints.length).toBeGreaterThanOrEqual(2)
    expect(JSON.stringify(evidence.agreeingEndpoints)).not.toContain('http')
  })

  test('a delay is read all the same', async () => {
    const facts = open()
    behave(facts, everyAnswer({ delayMs: 50 }))
    expect(await facts.read(facts.questions.deposit, { count: 1 })).toMatchObject(facts.deposit.facts)
  })

  test('a transaction that nobody knows is missing', async () => {
    const { wires, open: openReader, ids } = open()
    const { reader, close } = openReader([wires[0].url], {})
    await expect(reader.readDeposits({ transactionId: ids.unknown }, aSignal())).rejects.toMatchObject({
      code: 'TRANSACTION_MISSING',
      kind: 'invalid_request',
    })
    await close()
  })

  test('what is no transaction id is refused before anybody is asked, and the same id is read however it is written', async () => {
    const { wires, open: openReader, ids, deposit } = open()
    const { reader, close } = openReader([wires[0].url], {})
    for (const transactionId of ids.invalid)
      await expect(reader.readDeposits({ transactionId }, aSignal()), transactionId).rejects.toMatchObject({
        code: 'INVALID_TRANSACTION_ID',
      })
    expect(wires[0].requests()).toBe(0)
    for (const transactionId of deposit.spelled)
      expect(await reader.readDeposits({ transactionId }, aSignal())).toMatchObject({
        transactionId: deposit.transactionId,
      })
    await close()
  })

  test('what is final is read once by all who ask, until it is forgotten', async () => {
    const { wires, open: openReader, questions } = open()
    const { reader, close } = openReader([wires[0].url], { finalEntriesMax: 10 })
    const ask = () => questions.deposit.ask(reader, aSignal())
    const [first] = await Promise.all(Array.from({ length: 20 }, ask))
    const cold = wires[0].requests()
    expect(await ask()).toEqual(first)
    expect(wires[0].requests()).toBe(cold)
    reader.forget()
    await ask()
    expect(wires[0].requests()).toBe(2 * cold)
    await close()
  })

  test('a caller that gives up is told so, and the others are answered', async () => {
    const { wires, open: openReader, questions } = open()
    const { reader, close } = openReader([wires[0].url], {})
    const impatient = new AbortController()
    const refused = questions.deposit.ask(reader, impatient)
    const answered = questions.deposit.ask(reader, aSignal())
    impatient.abort()
    await expect(refused).rejects.toMatchObject({ code: 'REQUEST_TIMED_OUT' })
    await expect(answered).resolves.toMatchObject({ kind: 'deposits' })
    await close()
  })

  test('a cold question takes so many requests to one endpoint, and to each of three', async () => {
    const facts = open()
    for (const [name, question] of Object.entries(facts.questions)) {
      if (question.requests === undefined) continue
      for (const wire of facts.wires) wire.reset()
      await facts.read(question, { count: 1 })
      const alone = facts.wires[0].requests()
      facts.wires[0].reset()
      await facts.read(question, { threshold: 3 })
      expect([alone, ...facts.wires.map((wire) => wire.requests())], name).toEqual([
        question.requests[0],
        ...facts.wires.map(() => question.requests?.[1]),
      ])
    }
  })
}

function describeFinalBlocks(open: () => FactsCase): void {
  test('the newest final block and the hash of any are told, and one that does not exist is none', async () => {
    const facts = open()
    const newest = await facts.newestFinal?.()
    behave(facts, dead)
    const { reader, close } = facts.open(
      facts.wires.map(({ url }) => url),
      {},
    )
    const { finalBlocks } = reader
    if (newest === undefined || finalBlocks === undefined) return expect(newest).toBeUndefined()
    const told = await finalBlocks.readNewest(aSignal())
    expect(told).toEqual(newest)
    expect(await finalBlocks.readHash(told.number, aSignal())).toBe(told.hash)
    expect(await finalBlocks.readHash(told.number + 10_000n, aSignal())).toBeUndefined()
    return close()
  })
}
