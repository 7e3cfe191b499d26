import { minBigint, UpstreamUnavailableError } from '@causeway/core'
import { type JsonRpcClient, MalformedAnswerError, NodeError, type RpcAnswer } from '@causeway/rpc'
import type { OnMalformed } from '../../shared/settlingChain.ts'
import { type BlockWithHash, blockReading, type Reading } from './chainReadings.ts'

/** A value on which a quorum agrees. */
export type AgreedValue<T> = { readonly value: T; readonly agreeingEndpoints: readonly string[] }

/**
 * One usable answer of any endpoint: good enough for values that are only shown. A malformed answer is dropped, never
 * repaired; then every endpoint is asked.
 * @throws UpstreamUnavailableError, NodeError
 */
export async function askAny<T>(
  client: JsonRpcClient,
  reading: Reading<T>,
  onMalformed: OnMalformed,
  signal: AbortSignal,
): Promise<T> {
  try {
    return reading.parse(await client.batch(reading.calls, { signal }))
  } catch (error) {
    if (!(error instanceof MalformedAnswerError)) throw error
    return await askEvery(client, reading, onMalformed, { signal, error })
  }
}

async function askEvery<T>(
  client: JsonRpcClient,
  reading: Reading<T>,
  onMalformed: OnMalformed,
  failedAttempt: { signal: AbortSignal; error: unknown },
): Promise<T> {
  let failure = failedAttempt.error
  const usableAnswers: T[] = []
  for (const { alias, answers } of await client.askEach(reading.calls, { signal: failedAttempt.signal })) {
    if (answers === undefined) continue
    try {
      usableAnswers.push(reading.parse(answers))
    } catch (error) {
      failure = error
      if (error instanceof MalformedAnswerError) onMalformed(alias)
    }
  }
  const [first] = usableAnswers
  if (first === undefined) throw failure
  return first
}

/**
 * Answer that a quorum of endpoints agrees on; required wherever money moves on it.
 * @throws UpstreamDisagreementError, UpstreamUnavailableError, NodeError
 */
export async function askQuorum<T>(
  client: JsonRpcClient,
  reading: Reading<T>,
  options: { threshold: number; signal: AbortSignal },
): Promise<AgreedValue<T>> {
  const { answers, agreeingEndpoints } = await client.agree(reading.calls, {
    ...options,
    // Votes are compared by the parsed values, since nodes of different software add different members.
    project: reading.parse,
  })
  return { value: reading.parse(answers), agreeingEndpoints }
}

/** The newest block that enough endpoints call final. @throws UpstreamUnavailableError */
export function askFinalHeight(client: JsonRpcClient, options: HeightOptions): Promise<bigint> {
  return askHeight(client, 'finalized', options)
}

type HeightOptions = { threshold: number; signal: AbortSignal; onMalformed: OnMalformed }

/** The highest block that at least `threshold` hosts say they have reached. @throws UpstreamUnavailableError */
export async function askHeight(
  client: JsonRpcClient,
  tag: 'finalized' | 'latest',
  options: HeightOptions,
): Promise<bigint> {
  const reading = blockReading(tag)
  const heights = new Map<string, bigint>()
  for (const { alias, voice, answers } of await client.askEach(reading.calls, {
    signal: options.signal,
  })) {
    const block =
      answers === undefined ? undefined : readOrReport(reading, answers, alias, options.onMalformed)
    if (block === undefined) continue
    // Several URLs of one host count as one voice, with the lowest of their heights.
    const knownHeight = heights.get(voice) ?? block.number
    heights.set(voice, minBigint(knownHeight, block.number))
  }
  const height = [...heights.values()].sort((a, b) => (a < b ? 1 : -1))[options.threshold - 1]
  if (height === undefined) throw new UpstreamUnavailableError(`Too few endpoints name a ${tag} block.`)
  return height
}

/** Number of endpoints that have to agree: as the chain file says, else the client's own threshold. */
export function quorumOf(client: JsonRpcClient, configured: number | undefined): number {
  return configured ?? client.electorate.threshold
}

function readOrReport(
  reading: Reading<BlockWithHash | undefined>,
  answers: readonly RpcAnswer[],
  alias: string,
  onMalformed: OnMalformed,
): BlockWithHash | undefined {
  try {
    return reading.parse(answers)
  } catch (error) {
    if (error instanceof MalformedAnswerError) onMalformed(alias)
    // A node's own error, as for an unknown tag, counts as no answer.
    else if (!(error instanceof NodeError)) throw error
    return undefined
  }
}
