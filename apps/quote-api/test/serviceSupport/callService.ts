import { type ErrorBody, errorBodySchema } from '@causeway/http'
import type { z } from 'zod'
import { priceResponseSchema } from '../../src/http/wire/priceResponse.ts'
import { quoteResponseSchema } from '../../src/http/wire/quoteResponse.ts'
import { checkErrorData } from '../fixtures/errorDataForms.ts'

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

/** The body of a refusal, in the one shape that refusals have, with the documented data of its code. */
export function readError(answer: Answer): ErrorBody {
  const body = errorBodySchema.parse(JSON.parse(answer.text))
  checkErrorData(body)
  return body
}

export type PriceAnswer = z.infer<typeof priceResponseSchema>
export type QuoteAnswer = z.infer<typeof quoteResponseSchema>

/** POST /price. @throws Error unless it is priced */
export async function price(serviceUrl: string, body: object): Promise<PriceAnswer> {
  return readOk(await post(`${serviceUrl}/price`, body), priceResponseSchema)
}

/** POST /quote. @throws Error unless it is quoted */
export async function quote(serviceUrl: string, body: object): Promise<QuoteAnswer> {
  return readOk(await post(`${serviceUrl}/quote`, body), quoteResponseSchema)
}
