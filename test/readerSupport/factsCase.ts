import type { QuorumLimits } from '@causeway/rpc'
import { afterAll, afterEach, beforeAll } from 'vitest'
import type { FamilyReader } from '../../packages/families/src/shared/createFactsReader.ts'
import { type Fault, openWire, type Wire } from './wire.ts'

/** A reader, and what ends its connections. */
export type OpenReader = { readonly reader: FamilyReader; close(): Promise<void> }

export type OpenOptions = {
  /** Default: two thirds of the endpoints. */
  readonly threshold?: number
  /** A family whose chain has limits of its own takes none. */
  readonly limits?: Partial<QuorumLimits>
  /** Default: 0, so that each fault is met anew. */
  readonly finalEntriesMax?: number
}

export type Ask = (reader: FamilyReader, options: { readonly signal: AbortSignal }) => Promise<object>

export type Question = {
  readonly ask: Ask
  /** A well-formed lie, another one for each digit; absent where the other questions show as much. */
  readonly lie?: (digit: 1 | 2 | 3) => Fault
  /** Requests of a cold reading to the only endpoint, and to each of three that must all agree. */
  readonly requests?: readonly [number, number]
}

/** One endpoint of a family's chain, and what is read there. */
export type FactsFixture = {
  readonly url: string
  open(urls: readonly string[], options: OpenOptions): OpenReader
  readonly deposit: {
    readonly transactionId: string
    /** Other ways to write its id. */
    readonly spelled: readonly string[]
    /** Is read. */
    readonly facts: object
    /** Names its block. */
    readonly evidence: object
  }
  readonly ids: {
    readonly unknown: string
    /** Are no ids of a transaction. */
    readonly invalid: readonly string[]
  }
  /** `deposit` reads the one above. */
  readonly questions: { readonly deposit: Question & Required<Pick<Question, 'lie'>> } & Readonly<
    Record<string, Question>
  >
  /** The endpoint has no transaction of any id. */
  readonly lose: Fault
  /** The answer when two of three have no such transaction. */
  readonly lostByTwo: 'TRANSACTION_MISSING' | 'UPSTREAM_DISAGREEMENT'
  /** Absent where heights are no blocks, or the family does not tell. */
  newestFinal?(): Promise<{ readonly number: bigint; readonly hash: unknown }>
  stop?(): Promise<void>
}

/** The fixture with three wires before its endpoint, healed after each test. */
export type FactsCase = FactsFixture & {
  readonly wires: readonly [Wire, Wire, Wire]
  /** Answer to a question at so many of the wires, or its refusal. */
  read(question?: Question, options?: OpenOptions & { readonly count?: 1 | 3 }): Promise<unknown>
}

export const everyAnswer =
  (treatment: ReturnType<Fault>): Fault =>
  () =>
    treatment
export const dead = everyAnswer('reset')
export const silent = everyAnswer('hang')
export const aSignal = () => ({ signal: AbortSignal.timeout(60_000) })

/** Facts without the names of the endpoints that agree. */
export const factsOf = (answer: unknown) => ({
  ...Object(answer),
  evidence: { ...Object(Object(answer).evidence), agreeingEndpoints: [] },
})

/** Starts the fixture before all tests of a file. @returns the case, for tests to call */
export function openFacts(start: () => Promise<FactsFixture>): () => FactsCase {
  let opened: FactsCase | undefined
  beforeAll(async () => {
    const fixture = await start()
    const wires = [
      await openWire(fixture.url),
      await openWire(fixture.url),
      await openWire(fixture.url),
    ] as const
    const read: FactsCase['read'] = async (question = fixture.questions.deposit, options = {}) => {
      const { count = 3, ...rest } = options
      const { reader, close } = fixture.open(
        wires.slice(0, count).map(({ url }) => url),
        rest,
      )
      return question
        .ask(reader, aSignal())
        .catch((error: unknown) => error)
        .finally(close)
    }
    opened = { ...fixture, wires, read }
  })
  afterEach(() => {
    for (const wire of opened?.wires ?? []) wire.reset()
  })
  afterAll(async () => {
    await Promise.all((opened?.wires ?? []).map((wire) => wire.stop()))
    await opened?.stop?.()
  })
  return () => {
    if (opened === undefined) throw new Error('the fixture did not start')
    return opened
  }
}

/** Faults of the wires in turn. */
export function behave({ wires }: Pick<FactsCase, 'wires'>, ...faults: readonly (Fault | 'honest')[]): void {
  for (const [index, fault] of faults.entries()) if (fault !== 'honest') wires[index]?.set(fault)
}

export type Change = (answer: unknown) => unknown

/** Changes what is answered to questions that `isIt` picks: by method, by path outside JSON-RPC, or by the answer. */
export const changing =
  (isIt: (question: string, answer: unknown) => boolean, change: Change): Fault =>
  (asked) => ({
    change(text) {
      const [path = '', body] = asked.split(/ (.*)/s)
      const calls: unknown = body?.includes('"jsonrpc"') ? JSON.parse(body) : undefined
      const answer: unknown = JSON.parse(text)
      if (calls === undefined) return JSON.stringify(isIt(path, answer) ? change(answer) : answer)
      const methods = new Map([calls].flat().map((call) => [Object(call).id, String(Object(call).method)]))
      const changed = [answer].flat().map((one) => {
        const { id, result } = Object(one)
        return isIt(methods.get(id) ?? '', result) ? { ...Object(one), result: change(result) } : one
      })
      return JSON.stringify(Array.isArray(answer) ? changed : changed[0])
    },
  })

/** An answer with a member replaced; `undefined` leaves it out. */
export const set =
  (member: string, value: unknown): Change =>
  (answer) => ({ ...Object(answer), [member]: value })
