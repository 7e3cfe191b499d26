import { DomainError, UpstreamUnavailableError } from '@causeway/core'
import { AnswerTooLongError, requestText } from '@causeway/rpc'
import type { z } from 'zod'

const answerBytesMax = 1024 * 1024

/** One GET request of a price service. */
export type JsonQuestion<Schema extends z.ZodType> = {
  /** Name of the service for messages; never its URL. */
  readonly service: string
  /** Environment variable with its API key, for messages. */
  readonly keySetting?: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly schema: Schema
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/**
 * GETs and validates one JSON document: 200 only, no redirects, at most 1 MiB.
 * @throws UpstreamUnavailableError for everything else; its message names no URL
 */
export async function readJson<Schema extends z.ZodType>(
  question: JsonQuestion<Schema>,
): Promise<z.infer<Schema>> {
  const { service, keySetting, url, schema, timeoutMs, signal } = question
  const headers = { accept: 'application/json', 'user-agent': 'causeway', ...question.headers }
  try {
    const answer = await requestText({
      url: url.href,
      method: 'GET',
      headers,
      timeoutMs,
      answerBytesMax,
      signal,
    })
    if (answer.status === 200) return schema.parse(JSON.parse(answer.text))
    const { status } = answer
    const isKeyRefused = keySetting !== undefined && (status === 401 || status === 403)
    const advice = isKeyRefused ? `: it wants an API key that it knows, see ${keySetting}` : ''
    throw new UpstreamUnavailableError(`${service} answered with status ${status}${advice}.`)
  } catch (error) {
    if (error instanceof AnswerTooLongError) throw new UpstreamUnavailableError(`${service} sent too much.`)
    if (!(error instanceof DomainError)) {
      throw new UpstreamUnavailableError(`${service} gave no valid answer.`, { cause: error })
    }
    // The error above about a status is passed on, as are those of `requestText`; only a timeout gets other
    // words.
    if (error.code !== 'REQUEST_TIMED_OUT') throw error
    throw new UpstreamUnavailableError(`${service} did not answer in time.`, {
      code: error.code,
      cause: error,
    })
  }
}

/** `path` below a service's base address, whose own path is kept: `https://host/api/v3` + `simple/price`. */
export function serviceUrl(baseUrl: string, path: string): URL {
  return new URL(path, baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`)
}
