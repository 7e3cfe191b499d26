import { MalformedAnswerError, parseHash, parseList, parseRecord } from '@causeway/rpc'
import type { HyperliquidView } from './hyperliquidView.ts'
import { ledgerRangeRequest } from './requests.ts'

/** Ledger entry of an account. `delta` stays unparsed. */
export type LedgerEntry = {
  readonly hash: string
  readonly timeMs: number
  readonly delta: Readonly<Record<string, unknown>>
}

const requestName = 'userNonFundingLedgerUpdates'
/** Most entries of one answer; later ones are asked for by time. @source Hyperliquid API, "Info endpoint" */
const listedMax = 500
/** Limit of pages: a million entries, more than any range that is asked for holds. */
const pagesMax = 2_000

/**
 * All ledger entries of an account that one endpoint lists between two times in milliseconds, both included, oldest
 * first. Entries at the border of two pages occur twice. @throws EndpointFailure, MalformedAnswerError
 */
export async function readLedger(
  view: Pick<HyperliquidView, 'ask'>,
  account: string,
  { from, to }: { readonly from: bigint; readonly to: bigint },
  signal: AbortSignal,
): Promise<readonly LedgerEntry[]> {
  const ledgerEntries: LedgerEntry[] = []
  let start = Number(from)
  for (let page = 0; page < pagesMax; page += 1) {
    const entries = parseList(
      await view.ask(ledgerRangeRequest(account, start, Number(to)), signal),
      requestName,
    )
    const pageEntries = entries.map(parseEntry)
    ledgerEntries.push(...pageEntries)
    const lastMs = pageEntries.at(-1)?.timeMs
    if (pageEntries.length < listedMax || lastMs === undefined) return ledgerEntries
    // The next page repeats the last millisecond, because a full page may have cut it. If a page holds one millisecond
    // alone, its other entries cannot be asked for.
    start = lastMs > start ? lastMs : lastMs + 1
  }
  // A list that is not complete is no answer.
  throw new MalformedAnswerError(requestName)
}

function parseEntry(entry: unknown): LedgerEntry {
  const { hash, time, delta } = parseRecord(entry, requestName)
  if (typeof time !== 'number' || !Number.isSafeInteger(time)) throw new MalformedAnswerError(requestName)
  return { hash: parseHash(hash, requestName), timeMs: time, delta: parseRecord(delta, requestName) }
}
