/** What `answerJson` needs of a reply; the reply of every route fits, whatever its schema. */
type JsonReply = {
  /** True once the request was answered without waiting: because it took too long. */
  readonly sent: boolean
  type(contentType: string): unknown
  send(payload: never): unknown
}

/**
 * Answers with JSON that is text already, once it is there, or with the error that it ends in. The text
 * goes past the serializer of the route's schema, which walks an object member by member: tests must hold
 * it against the schema in its place. For a handler that returns nothing: what Fastify does with the
 * promise of an async one costs as much as pricing.
 *
 * Answers of one turn of the event loop are written together at its end: a write that has to wake its
 * reader costs twice one that finds it awake.
 */
export function answerJson(reply: JsonReply, answer: Promise<string>): void {
  answer.then(
    (json) =>
      setImmediate(() => {
        if (reply.sent) return
        reply.type('application/json; charset=utf-8')
        // CAST: a route's own type asks for the object that this text stands for.
        reply.send(Buffer.from(json) as never)
      }),
    // CAST: every reply takes an error, whatever it answers otherwise.
    (error: unknown) => {
      if (!reply.sent) reply.send(toError(error) as never)
    },
  )
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error
    ? thrown
    : new Error('something else than an error was thrown', { cause: thrown })
}
