import { UpstreamUnavailableError } from '@causeway/core'
import type { RpcAnswer } from '@causeway/rpc'
import { countVoices, disagreement, type Electorate, tally, unlessUnreadable, type Vote } from '@causeway/rpc'
import {
  type AgreedReadOptions,
  type AgreementReport,
  agreeOnEach,
  type PollingClient,
} from './agreedReads.ts'
import { type ChainHead, headRequest, parseHead } from './head.ts'

/**
 * Once as many endpoints have answered as must agree, late ones have so many milliseconds to be heard as
 * well. Then the votes are decided on as if all were in (`isLast`).
 */
const patienceMs = 250

/** Most heights, from the highest down, that are asked for when heads differ. */
const heightsMax = 8

/** The head that enough endpoints name, or, if they name different ones, the heights of these. */
type HeadPoll = { readonly head: ChainHead } | { readonly namedHeights: readonly bigint[] }

/**
 * The newest block that enough endpoints show alike. Different heads are no contradiction, since endpoints
 * may lag: once no late head can bring an agreement, all are asked for the blocks at the heights that were
 * named, and the highest that enough know counts. Only the first of these rounds is reported.
 * @throws UpstreamDisagreementError, UpstreamUnavailableError
 */
export async function agreeOnHead(
  client: PollingClient,
  options: AgreedReadOptions = {},
): Promise<ChainHead> {
  const { onReport, ...limits } = options
  const { electorate } = client
  const heads = await client.poll<HeadPoll>([headRequest()], {
    ...limits,
    patienceMs,
    decide(votes, isLast) {
      const headVotes = headsOf(votes)
      const verdict = tally(headVotes, electorate, textOf)
      if (verdict.status === 'agreed') return { head: verdict.value }
      if (!isLast && verdict.status === 'open') return undefined
      const heights = headVotes.flatMap(({ value }) => (value === undefined ? [] : [value.number]))
      // If no endpoint answered, `poll` throws their failures.
      return heights.length === 0 ? undefined : { namedHeights: descending(heights).slice(0, heightsMax) }
    },
    ...(onReport !== undefined && { onHeard: (votes) => onReport(reportOf(headsOf(votes), electorate)) }),
  })
  return 'head' in heads ? heads.head : highestKnown(client, heads.namedHeights, limits)
}

/**
 * The block at a given height, as enough endpoints show it now.
 * @throws UpstreamDisagreementError, UpstreamUnavailableError
 */
export function agreeOnBlock(
  client: PollingClient,
  height: bigint,
  options: AgreedReadOptions = {},
): Promise<ChainHead> {
  return highestKnown(client, [height], options)
}

/** The block at the first of the heights, in descending order, that enough endpoints know and agree about. */
async function highestKnown(
  client: PollingClient,
  heights: readonly bigint[],
  limits: AgreedReadOptions,
): Promise<ChainHead> {
  const { chainId } = client
  const { verdicts } = await agreeOnEach(client, heights.map(headRequest), limits)
  for (const [index, verdict] of verdicts.entries()) {
    if (verdict.status !== 'agreed' || !verdict.value.ok) continue
    const head = parseHead(verdict.value.result)
    // Endpoints that agree on a block of another height have not answered the question.
    if (head.number === heights[index]) return head
  }
  const groupCount = Math.max(
    0,
    ...verdicts.map((verdict) => (verdict.status === 'disagreed' ? verdict.groups : 0)),
  )
  if (groupCount > 0) throw disagreement(chainId, groupCount)
  throw new UpstreamUnavailableError(`Chain ${chainId} cannot be read at the moment.`, {
    code: 'RPC_HTTP_ERROR',
    data: { chainId },
    cause: new Error('no block is known to enough endpoints'),
  })
}

function headsOf(votes: readonly Vote<readonly RpcAnswer[]>[]): readonly Vote<ChainHead>[] {
  return votes.map(({ alias, voice, value }) => ({ alias, voice, value: readHead(value?.[0]) }))
}

function readHead(answer: RpcAnswer | undefined): ChainHead | undefined {
  return answer?.ok === true ? unlessUnreadable(() => parseHead(answer.result)) : undefined
}

function textOf({ number, hash, parentHash, timestampSeconds, baseFeePerGasWei }: ChainHead): string {
  return [number, hash, parentHash, timestampSeconds, baseFeePerGasWei].join()
}

function descending(heights: readonly bigint[]): readonly bigint[] {
  return [...new Set(heights)].sort((a, b) => (a > b ? -1 : 1))
}

/**
 * Report of the votes. An endpoint dissents if it shows another block at the agreed height; another height is no
 * dissent.
 */
function reportOf(votes: readonly Vote<ChainHead>[], { voters, threshold }: Electorate): AgreementReport {
  const verdict = tally(votes, { voters, threshold }, textOf)
  const agreed = verdict.status === 'agreed' ? verdict : undefined
  return {
    agreed: agreed?.voices.size ?? 0,
    required: threshold,
    configured: countVoices(voters),
    dissenting: votes.flatMap(({ alias, value }) =>
      agreed !== undefined && value?.number === agreed.value.number && textOf(value) !== textOf(agreed.value)
        ? [alias]
        : [],
    ),
  }
}
