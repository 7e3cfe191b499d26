/** Request ids: a random prefix per process and a counter; cheaper than random bytes per request. */
export function createRequestIds(processPrefix: string): () => string {
  let count = 0
  return () => {
    count += 1
    return `${processPrefix}-${count.toString(36)}`
  }
}

const acceptedId = /^[\w-]{1,64}$/

/** The caller's own `x-request-id`, kept for logs when it cannot break a log line. */
export function readClientRequestId(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && acceptedId.test(header) ? header : undefined
}
