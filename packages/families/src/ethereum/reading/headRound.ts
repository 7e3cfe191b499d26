import type { EndpointView, RpcAnswer, RpcCall } from '@causeway/rpc'
import { type EvmHeader, headerCall, parseHeader } from './answers.ts'
import { type FinalHeight, type FinalityRule, type Heads, pinFinalHeight } from './finality.ts'

/**
 * First round of a question to endpoints: each is asked for its heads, from which the height of the second round is
 * chosen. For questions that need nothing else before that height is known.
 */
export function headRound(rule: FinalityRule, threshold: number) {
  return {
    first: async (view: EndpointView, signal: AbortSignal): Promise<Heads> =>
      parseHeads(rule, await view.ask(headCalls(rule), signal)),
    pin: (heads: readonly Heads[]): FinalHeight => pinFinalHeight(rule, threshold, heads),
  }
}

/** The calls that `parseHeads` parses the answers of. */
export function headCalls(rule: FinalityRule): readonly RpcCall[] {
  return rule.mode === 'tag' ? [headerCall('latest'), headerCall(rule.tag)] : [headerCall('latest')]
}

/** @throws MalformedAnswerError */
export function parseHeads(rule: FinalityRule, answers: readonly RpcAnswer[]): Heads {
  const [latest, tagged] = answers
  return { latest: parseHeader(latest), tagged: rule.mode === 'tag' ? parseHeader(tagged) : undefined }
}

/** The header at a height of one endpoint's chain. @throws MalformedAnswerError */
export async function readHeader(
  view: EndpointView,
  height: bigint,
  signal: AbortSignal,
): Promise<EvmHeader> {
  const [answer] = await view.ask([headerCall(height)], signal)
  return parseHeader(answer, height)
}
