import { DomainError } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { mutateAnswers } from '../../packages/chains/test/fixtures/mutateAnswers.ts'
import { mutateText } from '../families/bitcoinSupport/mutateText.ts'
import {
  behave,
  type Change,
  changing,
  everyAnswer,
  type FactsCase,
  type FactsFixture,
  factsOf,
  openFacts,
} from './factsCase.ts'
import type { Fault, Treatment } from './wire.ts'

/** Answers that each name one thing that is wrong with them. */
export type Malformed = {
  /** The question: a method or a path. */
  readonly of: string
  /** Name of the question of the fixture that asks it. */
  readonly question: string
  /** Default: by name. */
  readonly isIt?: Parameters<typeof changing>[0]
  readonly changes: readonly (readonly [string, Change])[]
}

type Lies = {
  readonly malformed?: readonly Malformed[]
  /** Answers of its own kind that are none. */
  readonly refusals?: readonly (readonly [string, Fault])[]
  /** Holds if the facts of the only endpoint may be told, beside the true ones. Default: they are of one kind. */
  mayBeTold?(facts: object, truth: object, question: string): void
  /** Questions to which two may tell the same untruth by chance: that there is nothing. */
  readonly answeredByNothing?: readonly string[]
  /** A change inside what an answer carries as text. */
  mutateInside?(answer: string, seed: number): string
}

const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const mutations = isLongForm ? 10_000 : 200
const longest = { timeout: isLongForm ? 3_600_000 : 300_000 }

const slow: readonly (readonly [string, Treatment])[] = [
  ['a body of 65 MiB', 'oversize'],
  ['a byte a second', 'drip'],
  ['silence', 'hang'],
]
const rubbish: readonly (readonly [string, Treatment])[] = [
  ['a page with status 200', { status: 200, text: '<html>' }],
  ['half an answer', { change: (answer) => answer.slice(0, Math.ceil(answer.length / 2)) }],
  ['an empty body', { status: 200, text: '' }],
  ['a list', { status: 200, text: '[]' }],
  ['status 500', 'fail'],
  ['status 502 with a page', { status: 502, text: '<html>' }],
  ['status 204 without a body', { status: 204, text: '' }],
  ['status 403', { status: 403, text: '{}' }],
  ['status 429', { status: 429, text: '{}' }],
  ['status 429 with retry-after', { status: 429, text: '', headers: { 'retry-after': '1' } }],
  ['bytes that are not HTTP', 'garbage'],
  ['a redirect', { status: 307, text: '', headers: { location: 'http://127.0.0.1:9/' } }],
  ['a cut connection', 'reset'],
]
const hasty = { requestTimeoutMs: 1_500, readingTimeoutMs: 4_000, patienceMs: 10 }

/** Whatever an endpoint answers, a reader tells true facts or a typed refusal, in time. */
export function describeLies(family: string, start: () => Promise<FactsFixture>, lies: Lies = {}): void {
  describe(family, () => {
    const open = openFacts(start)
    describeRubbish(open, lies)
    for (const malformed of lies.malformed ?? []) describeMalformed(open, malformed)
    describeMutations(open, lies)
  })
}

function describeRubbish(open: () => FactsCase, { refusals = [] }: Lies): void {
  const plain = rubbish.map(([name, treatment]) => [name, everyAnswer(treatment)] as const)
  test.each([...plain, ...refusals])(
    'an endpoint with %s did not answer, and two others do',
    async (_name, fault) => {
      const facts = open()
      for (const [name, question] of Object.entries(facts.questions)) {
        behave(facts, () => 'pass')
        const truth = factsOf(await facts.read(question))
        behave(facts, fault)
        const alone = await facts.read(question, { count: 1 })
        expect(alone, name).toMatchObject({ kind: 'upstream_unavailable', retryable: true })
        expect(factsOf(await facts.read(question)), name).toEqual(truth)
      }
    },
  )

  test.each(slow)(
    'an endpoint with %s did not answer in time, and two others do',
    async (_name, treatment) => {
      const facts = open()
      behave(facts, everyAnswer(treatment))
      const { deposit } = facts.questions
      const alone = await facts.read(deposit, { count: 1, limits: hasty })
      expect(alone).toMatchObject({ kind: 'upstream_unavailable', retryable: true })
      expect(await facts.read(deposit, { limits: hasty })).toMatchObject(facts.deposit.facts)
    },
  )
}

function describeMalformed(open: () => FactsCase, { of, question, isIt, changes }: Malformed): void {
  test.each(changes)(`an answer to ${of} that is %s is none, and is outvoted`, async (_name, change) => {
    const facts = open()
    const asked = facts.questions[question]
    if (asked === undefined) throw new Error(`no question ${question}`)
    const truth = factsOf(await facts.read(asked))
    behave(facts, changing(isIt ?? ((method) => method === of), change))
    const alone = await facts.read(asked, { count: 1 })
    expect(alone).toMatchObject({ kind: 'upstream_unavailable', code: 'RPC_HTTP_ERROR' })
    expect(factsOf(await facts.read(asked))).toEqual(truth)
  })
}

function describeMutations(
  open: () => FactsCase,
  { mayBeTold = ofOneKind, answeredByNothing = [], mutateInside }: Lies,
): void {
  const mutated = (seed: number) => mutating(seed, mutateInside)

  test('facts are the same whatever one of three endpoints says', longest, async () => {
    const facts = open()
    for (const [name, question] of Object.entries(facts.questions)) {
      behave(facts, () => 'pass')
      const truth = factsOf(await facts.read(question))
      for (let seed = 0; seed < mutations; seed += 1) {
        behave(facts, mutated(seed))
        expect(factsOf(await facts.read(question)), `${name}, seed ${seed}`).toEqual(truth)
      }
    }
  })

  test(
    'facts are those of the honest one, or refused, when two of three lie, each in its own way',
    longest,
    async () => {
      const facts = open()
      let refused = 0
      for (const [name, question] of Object.entries(facts.questions)) {
        if (answeredByNothing.includes(name)) continue
        for (const wire of facts.wires) wire.reset()
        const truth = factsOf(await facts.read(question))
        for (let seed = 0; seed < mutations / 4; seed += 1) {
          behave(facts, mutated(2 * seed), mutated(1_000_000 + 3 * seed))
          const answer = await facts.read(question)
          if (answer instanceof Error) {
            expect(answer, `${name}, seed ${seed}`).toBeInstanceOf(DomainError)
            refused += 1
          } else expect(factsOf(answer), `${name}, seed ${seed}`).toEqual(truth)
        }
      }
      expect(refused).toBeGreaterThan(0)
    },
  )

  test('what the only endpoint says is told as facts or refused by name', longest, async () => {
    const facts = open()
    for (const [name, question] of Object.entries(facts.questions)) {
      behave(facts, () => 'pass')
      const truth = factsOf(await facts.read(question, { count: 1 }))
      let refused = 0
      for (let seed = 0; seed < mutations; seed += 1) {
        behave(facts, mutated(2_000_000 + seed))
        const answer = await facts.read(question, { count: 1 })
        if (answer instanceof Error) {
          expect(answer, `${name}, seed ${seed}`).toBeInstanceOf(DomainError)
          refused += 1
        } else mayBeTold(factsOf(answer), truth, name)
      }
      expect(refused, name).toBeGreaterThan(mutations / 10)
    }
  })
}

const ofOneKind = (facts: object, truth: object) => expect(Object(facts).kind).toBe(Object(truth).kind)

/** Changes each answer, or each fourth one: members of its JSON, its text, or what it carries inside. */
function mutating(seed: number, mutateInside: Lies['mutateInside']): Fault {
  const form = seed % 4
  let answers = 0
  return () => {
    answers += 1
    if (form % 2 === 1 && (answers + (seed >> 2)) % 4 !== 0) return 'pass'
    return {
      change(answer) {
        if (form < 2) return mutateMembers(answer, seed)
        return mutateInside === undefined || form === 3
          ? mutateText(answer, seed)
          : mutateInside(answer, seed)
      },
    }
  }
}

function mutateMembers(answer: string, seed: number): string {
  try {
    const parsed: unknown = JSON.parse(answer)
    const isJsonRpc = [parsed].flat().some((one) => 'jsonrpc' in Object(one))
    if (isJsonRpc) return mutateAnswers(answer, seed)
    return mutateAnswers(`{"result":${answer}}`, seed).slice('{"result":'.length, -1)
  } catch {
    return mutateText(answer, seed)
  }
}
