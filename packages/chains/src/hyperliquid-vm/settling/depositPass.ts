import { MalformedAnswerError } from '../../rpc/malformedAnswer.ts'
import { parseHash, parseList, parseRecord } from '../../rpc/quantity.ts'
import type { HyperliquidView } from '../hyperliquidView.ts'
import { ledgerRangeRequest, statusRequest } from '../requests.ts'

/**
 * A transfer is the order's deposit once the hub says so, which counts for an hour: what is so much older than a range is
 * looked at again. What was read before is remembered, and costs no question.
 */
const mappingLagMs = 3_700_000n

/** The exchange lists so many at most; what is behind is asked for by its time. @source Hyperliquid API, "Info endpoint" */
const listedMax = 500
/** Far more than a depository gets within the range and the lag. */
const pagesMax = 200

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

type Listed = { readonly hash: string; readonly timeMs: number }

async function listOf(
  view: HyperliquidView,
  depository: string,
  { from, to }: { readonly from: bigint; readonly to: bigint },
  signal: AbortSignal,
): Promise<readonly Listed[]> {
  const what = 'userNonFundingLedgerUpdates'
  const found = new Map<string, Listed>()
  let start = Number(from)
  for (let page = 0; page < pagesMax; page += 1) {
    const request = ledgerRangeRequest(depository, start, Number(to))
    const entries = parseList(await view.ask(request, signal), what).map((entry) => {
      const { hash, time, delta } = parseRecord(entry, what)
      if (typeof time !== 'number' || !Number.isSafeInteger(time)) throw new MalformedAnswerError(what)
      const { type, destination } = parseRecord(delta, what)
      const isDeposit =
        (type === 'send' || type === 'internalTransfer') &&
        typeof destination === 'string' &&
        destination.toLowerCase() === depository
      return { hash: parseHash(hash, what), timeMs: time, isDeposit }
    })
    for (const one of entries) if (one.isDeposit) found.set(one.hash, one)
    const last = entries.at(-1)?.timeMs
    if (entries.length < listedMax || last === undefined) break
    // Again from the millisecond of the last one, of which some may be missing.
    start = last > start ? last : last + 1
  }
  return [...found.values()]
}
