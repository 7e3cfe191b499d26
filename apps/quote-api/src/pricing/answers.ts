import type { MaybePromise } from '@causeway/core'

// Pricing is plain code over facts. A fact that is in memory is an answer at once, and then a price waits for nothing. A
// rule that needs one that is not throws `MissingAnswer`; once it is there, pricing begins anew and finds it.

/** Ends a run of pricing whose next rule needs an answer that is still to come. */
class MissingAnswer extends Error {
  /** Never rejects. */
  readonly coming: Promise<unknown>

  constructor(coming: Promise<unknown>) {
    super('An answer is missing.')
    this.coming = coming
  }
}

/** An answer that was not there at once: still to come, or with its outcome. */
class LateAnswer {
  readonly coming: Promise<unknown>
  #outcome: { readonly value: unknown } | { readonly error: unknown } | undefined

  constructor(answer: Promise<unknown>) {
    this.coming = answer.then(
      (value) => {
        this.#outcome = { value }
      },
      (error: unknown) => {
        this.#outcome = { error }
      },
    )
  }

  /** @throws MissingAnswer, and the error of the question */
  read(): unknown {
    if (this.#outcome === undefined) throw new MissingAnswer(this.coming)
    if ('error' in this.#outcome) throw this.#outcome.error
    return this.#outcome.value
  }
}

type Port = (question: never) => MaybePromise<unknown>
type Ports<Names extends PropertyKey = string> = { readonly [Name in Names]?: Port | undefined }
type Question<AnyPort> = AnyPort extends (question: infer Asked) => unknown ? Asked : never

/** Ports as rules use them: an answer is there, or `MissingAnswer` is thrown. */
export type AnswersOf<Some> = {
  readonly [Name in keyof Some]-?: (
    question: Question<Some[Name]>,
  ) => Some[Name] extends ((question: never) => infer Answer) | undefined ? Awaited<Answer> : never
}

/**
 * For each port, the words that tell a question from all others of the same request. A member may be left out that is the
 * same in the whole request, or follows from those that are named.
 */
export type QuestionWords<Some> = {
  readonly [Name in keyof Some]-?: (question: Question<Some[Name]>) => readonly unknown[]
}

/** Asks a port, e.g. with a bound on the wait. */
export type AskPort<Name> = (name: Name, ask: () => MaybePromise<unknown>) => MaybePromise<unknown>

/** Remembers the answers that come late, so that each question is asked once. */
class LateAnswers {
  #answers: Map<string, LateAnswer> | undefined

  /** @throws MissingAnswer; what the port throws, or rejected with */
  answer(words: () => string, ask: () => MaybePromise<unknown>): unknown {
    const key = this.#answers && words()
    const late = key === undefined ? undefined : this.#answers?.get(key)
    if (late !== undefined) return late.read()
    const answer = ask()
    if (!(answer instanceof Promise)) return answer
    const coming = new LateAnswer(answer)
    this.#answers ??= new Map()
    this.#answers.set(key ?? words(), coming)
    return coming.read()
  }
}

/**
 * Runs a rule over answers until none is missing: at once where all are in memory.
 * @param run must ask the same questions for the same answers, and change nothing before it has the last one
 * @throws what `run` throws; after a wait by rejecting
 */
export function withAnswers<Some extends Ports<keyof Some>, Result>(
  words: QuestionWords<Some>,
  ports: Some,
  run: (answers: AnswersOf<Some>) => Result,
  askPort: AskPort<keyof Some> = (_name, ask) => ask(),
): MaybePromise<Result> {
  const late = new LateAnswers()
  const answers: Partial<Record<keyof Some, unknown>> = {}
  for (const name in words) {
    const port: Port | undefined = ports[name]
    if (port === undefined) continue
    answers[name] = (question: never) =>
      late.answer(
        () => `${name} ${words[name](question).join(' ')}`,
        () => askPort(name, () => port(question)),
      )
  }
  // CAST: a member for each port, which answers as the port does.
  const given = answers as AnswersOf<Some>
  try {
    return run(given)
  } catch (error) {
    if (!(error instanceof MissingAnswer)) throw error
    return runAgain(() => run(given), error)
  }
}

async function runAgain<Result>(run: () => Result, missing: MissingAnswer): Promise<Result> {
  let awaited = missing
  for (;;) {
    await awaited.coming
    try {
      return run()
    } catch (error) {
      if (!(error instanceof MissingAnswer)) throw error
      awaited = error
    }
  }
}

/**
 * Runs each function, also where one before it misses an answer, so that all their questions are asked at once.
 * @throws MissingAnswer of the first that misses one, and at once what one of them throws
 */
export function gather<Results extends readonly unknown[]>(
  ...asks: { readonly [Index in keyof Results]: () => Results[Index] }
): Results {
  let missing: MissingAnswer | undefined
  const results = asks.map((ask) => {
    try {
      return ask()
    } catch (error) {
      if (!(error instanceof MissingAnswer)) throw error
      missing ??= error
      return undefined
    }
  })
  if (missing !== undefined) throw missing
  // CAST: without a missing answer each function returned its own result, in order.
  return results as unknown as Results
}

/**
 * Runs `price`; where it misses an answer, asks `early` too, so that what is needed later is under way meanwhile.
 * @throws what `price` throws
 */
export function askingEarly<Result>(price: () => Result, early: () => readonly (() => unknown)[]): Result {
  try {
    return price()
  } catch (error) {
    if (!(error instanceof MissingAnswer)) throw error
    try {
      gather(...early())
    } catch (other) {
      if (!(other instanceof MissingAnswer)) throw other
    }
    throw error
  }
}
