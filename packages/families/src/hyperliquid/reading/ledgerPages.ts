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
/** The exchange lists so many at most; what is behind is asked for by its time. @source Hyperliquid API, "Info endpoint" */
const listedMax = 500
/** A million entries: more than an account has within a range that is asked for. */
const pagesMax = 2_000

/**
 * All that an endpoint lists of an account between two times, both included, in order of time; what stands in two pages is
 * there twice. @throws EndpointFailure, MalformedAnswerError
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
    const read = entries.map(parseEntry)
    ledgerEntries.push(...read)
    const last = read.at(-1)?.timeMs
    if (read.length < listedMax || last === undefined) return ledgerEntries
    // Again from the millisecond of the last one, of which some may be missing.
    start = last > start ? last : last + 1
  }
  // Entries that are left out would be lost.
  throw new MalformedAnswerError(requestName)
}

function parseEntry(entry: unknown): LedgerEntry {
  const { hash, time, delta } = parseRecord(entry, requestName)
  if (typeof time !== 'number' || !Number.isSafeInteger(time)) throw new MalformedAnswerError(requestName)
  return { hash: parseHash(hash, requestName), timeMs: time, delta: parseRecord(delta, requestName) }
}
