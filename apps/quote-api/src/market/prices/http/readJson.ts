import { UpstreamUnavailableError } from '@causeway/core'
import type { z } from 'zod'
import { startDeadline } from '../../deadline.ts'

const answerBytesMax = 1024 * 1024

export type JsonQuestion<Schema extends z.ZodType> = {
  /** Who is asked, for messages; never its URL. */
  readonly service: string
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
  const { service, url, headers, schema, timeoutMs } = question
  const deadline = startDeadline(question.signal, timeoutMs)
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json', ...headers },
      redirect: 'error',
      signal: deadline.signal,
    })
    if (response.status !== 200) {
      await response.body?.cancel()
      throw new UpstreamUnavailableError(`${service} answered with status ${response.status}.`)
    }
    return schema.parse(JSON.parse(await readText(response, service)))
  } catch (error) {
    if (error instanceof UpstreamUnavailableError) throw error
    if (deadline.hasPassed()) {
      const code = 'REQUEST_TIMED_OUT'
      throw new UpstreamUnavailableError(`${service} did not answer in time.`, { code, cause: error })
    }
    throw new UpstreamUnavailableError(`${service} gave no valid answer.`, { cause: error })
  } finally {
    deadline.release()
  }
}

async function readText(response: Response, service: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > answerBytesMax) throw new UpstreamUnavailableError(`${service} sent too much.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
