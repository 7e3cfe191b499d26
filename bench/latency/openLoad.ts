import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { MixedRequest } from './routeMix.ts'

const answerMaxMs = 30_000
const refusalSchema = z.object({ errorCode: z.string() })

export type TimedAnswer = Pick<MixedRequest, 'kind' | 'group'> & {
  /** From the moment at which it was due to the last byte of the answer. */
  readonly tookMs: number
  /** Delay of sending, ms: this process was not scheduled in time, or other processes had the processors. */
  readonly sentLateMs: number
  /** From the parsed request to the answer, by the service's `Server-Timing`; 0 where it says nothing. */
  readonly insideMs: number
  /** Time the service waited for chains, ms, from its `Server-Timing`. */
  readonly chainMs: number
  /** Undefined for an answer that is a success. */
  readonly refusal: string | undefined
  /** True if one endpoint of each chain hung when the request was due. */
  readonly isHanging: boolean
}

/**
 * Requests at even distances whatever the answers do, each over a connection that it need not wait for and timed from
 * the moment at which it was due: neither a stall of the service nor one of this process hides behind later requests.
 */
export async function openLoad(args: {
  readonly url: string
  readonly rate: number
  readonly seconds: number
  readonly apiKeys: readonly string[]
  next(): MixedRequest
  isHanging(): boolean
}): Promise<readonly TimedAnswer[]> {
  const { url, rate, seconds, apiKeys, next, isHanging } = args
  const agent = new Agent({ keepAlive: true })
  const startMs = performance.now()
  const answers: Promise<TimedAnswer>[] = []
  for (let index = 0; index < rate * seconds; index += 1) {
    const { path, body, kind, group, isKeyed } = next()
    const key = isKeyed ? apiKeys[index % apiKeys.length] : undefined
    const dueMs = startMs + (index * 1_000) / rate
    const waitMs = dueMs - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    const wasHanging = isHanging()
    const sentLateMs = performance.now() - dueMs
    answers.push(
      send({ url: new URL(path, url), agent, body, key }).then((answer) => ({
        kind,
        group,
        isHanging: wasHanging,
        sentLateMs,
        ...answer,
        tookMs: performance.now() - dueMs,
      })),
    )
  }
  const all = await Promise.all(answers)
  agent.destroy()
  return all
}

type Told = Pick<TimedAnswer, 'chainMs' | 'insideMs' | 'refusal'>

/** Sends one request. A transport error counts as a refusal too: callers cannot tell the difference. */
function send(args: {
  readonly url: URL
  readonly agent: Agent
  readonly body: string
  readonly key: string | undefined
}): Promise<Told> {
  const { url, agent, body, key } = args
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...(key !== undefined && { 'x-api-key': key }),
  }
  return new Promise((resolve) => {
    const sent = request(url, { method: 'POST', agent, headers, timeout: answerMaxMs }, (response) => {
      const isSuccess = response.statusCode === 200
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => {
        if (!isSuccess) chunks.push(chunk)
      })
      response.once('error', () => resolve({ ...unheard, refusal: 'CUT' }))
      response.once('end', () =>
        resolve({
          ...timesOf(String(response.headers['server-timing'])),
          refusal: isSuccess ? undefined : refusalOf(Buffer.concat(chunks).toString(), response.statusCode),
        }),
      )
    })
    sent.once('timeout', () => sent.destroy())
    sent.once('error', () => resolve({ ...unheard, refusal: 'NO_ANSWER' }))
    sent.end(body)
  })
}

const unheard = { chainMs: 0, insideMs: 0 }

function timesOf(timing: string): typeof unheard {
  return {
    chainMs: Number(/(?:^|, )chain;dur=([0-9.]+)/.exec(timing)?.[1] ?? 0),
    insideMs: Number(/(?:^|, )total;dur=([0-9.]+)/.exec(timing)?.[1] ?? 0),
  }
}

function refusalOf(text: string, status: number | undefined): string {
  try {
    return refusalSchema.parse(JSON.parse(text)).errorCode
  } catch {
    return `HTTP_${status}`
  }
}
