import { MalformedAnswerError } from '../../rpc/malformedAnswer.ts'
import { parseRecord } from '../../rpc/quantity.ts'
import type { HyperliquidView } from '../hyperliquidView.ts'
import { type LedgerEntry, readLedger } from '../ledgerPages.ts'
import { statusRequest } from '../requests.ts'

/**
 * A transfer is the order's deposit once the hub says so, which counts for an hour: what is so much older than a range is
 * looked at again. What was read before is remembered, and costs no question.
 */
const mappingLagMs = 3_700_000n

/**
 * Transfers to depositories that an endpoint lists in a range of time, or a little before it, in order of time. The
 * endpoint's own time comes first: one that has not reached the range has not answered.
 * @throws EndpointFailure, MalformedAnswerError
 */
export async function readDepositPass(
  view: HyperliquidView,
  asked: { readonly from: bigint; readonly to: bigint; readonly depositories: readonly string[] },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const what = 'exchangeStatus'
  const { time } = parseRecord(await view.ask(statusRequest, signal), what)
  if (typeof time !== 'number' || BigInt(Math.floor(time)) < asked.to) throw new MalformedAnswerError(what)
  const from = asked.from > mappingLagMs ? asked.from - mappingLagMs : 0n
  const each = await Promise.all(
    asked.depositories.map((depository) => listOf(view, depository, { from, to: asked.to }, signal)),
  )
  const found = new Map(each.flat().map((one) => [one.hash, one]))
  return [...found.values()]
    .toSorted((one, other) =>
      one.timeMs === other.timeMs ? (one.hash < other.hash ? -1 : 1) : one.timeMs - other.timeMs,
    )
    .map(({ hash }) => hash)
}

async function listOf(
  view: HyperliquidView,
  depository: string,
  range: { readonly from: bigint; readonly to: bigint },
  signal: AbortSignal,
): Promise<readonly LedgerEntry[]> {
  const entries = await readLedger(view, depository, range, signal)
  return entries.filter(
    ({ delta: { type, destination } }) =>
      (type === 'send' || type === 'internalTransfer') &&
      typeof destination === 'string' &&
      destination.toLowerCase() === depository,
  )
}
