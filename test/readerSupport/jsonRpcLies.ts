import { everyAnswer } from './factsCase.ts'
import type { Fault } from './wire.ts'

const inEach = (change: (answer: object) => object): Fault =>
  everyAnswer({
    change(text) {
      const answer: unknown = JSON.parse(text)
      return JSON.stringify(Array.isArray(answer) ? answer.map(change) : change(Object(answer)))
    },
  })

/** Answers of JSON-RPC to a question that nobody asked. */
export const otherId = inEach((answer) => ({ ...answer, id: 1_000_000 }))

/** Each call is refused by an error of the node. */
export const refusing = (error: { readonly code: number; readonly message: string }): Fault =>
  inEach((answer) => ({ jsonrpc: '2.0', id: Object(answer).id, error }))
