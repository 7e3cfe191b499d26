import { type ErrorBody, errorBodySchema } from '@causeway/http'
import type { z } from 'zod'
import { priceResponseSchema } from '../../src/http/wire/priceResponse.ts'
import { quoteResponseSchema } from '../../src/http/wire/quoteResponse.ts'

/** One answer as it came over the wire. */
export type Answer = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** From the first byte sent to the last received. */
  readonly elapsedMs: number
}

export async function send(url: string, init: RequestInit = {}): Promise<Answer> {
  const startedAtMs = performance.now()
  const response = await fetch(url, { redirect: 'manual', ...init })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    elapsedMs: performance.now() - startedAtMs,
  }
}

export function post(url: string, body: object, headers: Record<string, string> = {}): Promise<Answer> {
  return send(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

/** The body of a success. @throws Error with the answer when it is something else */
export function readOk<Value>(answer: Answer, schema: z.ZodType<Value>): Value {
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
  return schema.parse(JSON.parse(answer.text))
}

/** The body of a refusal, in the one shape that refusals have. */
export function readError(answer: Answer): ErrorBody {
  return errorBodySchema.parse(JSON.parse(answer.text))
}

export type PriceAnswer = z.infer<typeof priceResponseSchema>
export type QuoteAnswer = z.infer<typeof quoteResponseSchema>

const patienceMs = 20_000

/**
 * Asks again while the service says to come back: values of a chain are too old for a moment where a machine was
 * busy with something else. What must not be refused even then is asked by `post`.
 */
export async function postPatiently(
  url: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const giveUpAtMs = Date.now() + patienceMs
  for (;;) {
    const answer = await post(url, body, headers)
    if (answer.status !== 503 || Date.now() > giveUpAtMs) return answer
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** POST /price. @throws Error unless it is priced */
export async function price(serviceUrl: string, body: object): Promise<PriceAnswer> {
  return readOk(await postPatiently(`${serviceUrl}/price`, body), priceResponseSchema)
}

/** POST /quote. @throws Error unless it is quoted */
export async function quote(serviceUrl: string, body: object): Promise<QuoteAnswer> {
  return readOk(await postPatiently(`${serviceUrl}/quote`, body), quoteResponseSchema)
}
