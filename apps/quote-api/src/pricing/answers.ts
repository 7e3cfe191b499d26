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
  readonly #missing: MissingAnswer
  #outcome: { readonly value: unknown } | { readonly error: unknown } | undefined

  constructor(answer: Promise<unknown>) {
    const coming = answer.then(
      (value) => {
        this.#outcome = { value }
      },
      (error: unknown) => {
        this.#outcome = { error }
      },
    )
    this.#missing = new MissingAnswer(coming)
  }

  /** @throws MissingAnswer, and the error of the question */
  read(): unknown {
    if (this.#outcome === undefined) throw this.#missing
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
export type AskPort<Name> = (
  name: Name,
  port: (question: never) => MaybePromise<unknown>,
  question: never,
) => MaybePromise<unknown>

/** Answers of one request. Those that come late are remembered, so that each question is asked once. */
class RequestAnswers<Some extends Ports<keyof Some>> {
  readonly #words: QuestionWords<Some>
  readonly #ports: Some
  readonly #askPort: AskPort<keyof Some> | undefined
  #late: Map<string, LateAnswer> | undefined

  constructor(words: QuestionWords<Some>, ports: Some, askPort: AskPort<keyof Some> | undefined) {
    this.#words = words
    this.#ports = ports
    this.#askPort = askPort
  }

  /** @throws MissingAnswer; what the port throws, or rejected with */
  answer(name: keyof Some, question: never): unknown {
    const late = this.#late?.get(this.#keyOf(name, question))
    if (late !== undefined) return late.read()
    const answer = this.#ask(name, question)
    if (!(answer instanceof Promise)) return answer
    const coming = new LateAnswer(answer)
    this.#late ??= new Map()
    this.#late.set(this.#keyOf(name, question), coming)
    return coming.read()
  }

  #ask(name: keyof Some, question: never): MaybePromise<unknown> {
    const port: Port | undefined = this.#ports[name]
    if (port === undefined) throw new Error(`there is no port ${String(name)}`)
    return this.#askPort === undefined ? port(question) : this.#askPort(name, port, question)
  }

  #keyOf(name: keyof Some, question: never): string {
    return `${String(name)} ${this.#words[name](question).join(' ')}`
  }
}

/** Runs a rule over answers, as `defineQuestions` says. */
type WithAnswers<Some> = <Result>(
  ports: Some,
  run: (answers: AnswersOf<Some>) => Result,
  askPort?: AskPort<keyof Some> | undefined,
) => MaybePromise<Result>

/**
 * Makes a function that runs a rule over answers until none is missing: at once where all are in memory. The rule must
 * ask the same questions for the same answers, and change nothing before it has the last one. What it throws is thrown,
 * after a wait by rejecting.
 */
export function defineQuestions<Some extends Ports<keyof Some>>(
  words: QuestionWords<Some>,
): WithAnswers<Some> {
  class NamedAnswers extends RequestAnswers<Some> {}
  for (const name in words)
    Object.defineProperty(NamedAnswers.prototype, name, {
      value(this: NamedAnswers, question: never) {
        return this.answer(name, question)
      },
    })
  return (ports, run, askPort) => {
    // CAST: it has a member for each port, by the loop above.
    const answers = new NamedAnswers(words, ports, askPort) as unknown as AnswersOf<Some>
    try {
      return run(answers)
    } catch (error) {
      if (!(error instanceof MissingAnswer)) throw error
      return runAgain(() => run(answers), error)
    }
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
 * @throws MissingAnswer of the first that misses one; what one of them throws where none before it misses an answer
 */
export function gather<Results extends readonly unknown[]>(
  ...asks: { readonly [Index in keyof Results]: () => Results[Index] }
): Results {
  let missing: MissingAnswer | undefined
  const results: unknown[] = []
  for (const ask of asks) {
    try {
      results.push(ask())
    } catch (error) {
      if (error instanceof MissingAnswer) missing ??= error
      // Else it comes again once the answers before it are there: which error is told depends on no chain's speed.
      else if (missing === undefined) throw error
    }
  }
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
