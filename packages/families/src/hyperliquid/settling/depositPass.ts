import { MalformedAnswerError, parseRecord } from '@causeway/rpc'
import type { HyperliquidView } from '../reading/hyperliquidView.ts'
import { type LedgerEntry, readLedger } from '../reading/ledgerPages.ts'
import { statusRequest } from '../reading/requests.ts'

/** A transfer is the order's deposit once the hub says so, which counts for an hour: so long one is not forgotten. */
export const mappingLagMs = 3_700_000n

/** Hosted endpoints list what was executed some seconds later. */
const lateMs = 30_000n

/** Part of the hour before it that one look lists. */
const olderPerLookMs = 300_000n

/** Milliseconds of the exchange; both ends belong to it. */
export type Times = { readonly from: bigint; readonly to: bigint }

export type ListedTransfer = {
  readonly hash: string
  readonly timeMs: number
  /** Its sender, in lower case. */
  readonly user: string
  /** Null where the ledger does not show it. */
  readonly nonce: number | null
}

/**
 * The times that a look lists, the newest first: its own, with those possibly listed late, and a part of the hour
 * before that was not listed yet, until all of it was.
 * @param listed what earlier looks listed
 * @returns listed: with this look. Pure. @source F-52
 */
export function timesOfLook(
  { from, to }: Times,
  listed: Times | undefined,
): { readonly times: readonly Times[]; readonly listed: Times; readonly isWhole: boolean } {
  const own = { from: from > lateMs ? from - lateMs : 0n, to }
  const joins = listed !== undefined && own.from <= listed.to + 1n && own.to + 1n >= listed.from
  const coverage = joins ? { from: least(own.from, listed.from), to: listed.to > to ? listed.to : to } : own
  const oldest = from > mappingLagMs ? from - mappingLagMs : 0n
  if (coverage.from <= oldest) return { times: [own], listed: coverage, isWhole: true }
  const start = coverage.from - olderPerLookMs
  const older = { from: start > oldest ? start : oldest, to: coverage.from - 1n }
  return { times: [own, older], listed: { ...coverage, from: older.from }, isWhole: older.from === oldest }
}

const least = (one: bigint, other: bigint) => (one < other ? one : other)

/**
 * Transfers to depositories that an endpoint lists in some times, in order of time. The endpoint's own time comes first:
 * one that has not reached them has not answered.
 * @throws EndpointFailure, MalformedAnswerError
 */
export async function readDepositPass(
  view: HyperliquidView,
  question: { readonly times: readonly Times[]; readonly depositories: readonly string[] },
  signal: AbortSignal,
): Promise<readonly ListedTransfer[]> {
  const requestName = 'exchangeStatus'
  const { time } = parseRecord(await view.ask(statusRequest, signal), requestName)
  const reached = typeof time === 'number' ? BigInt(Math.floor(time)) : -1n
  if (question.times.some(({ to }) => reached < to)) throw new MalformedAnswerError(requestName)
  const each = await Promise.all(
    question.depositories.flatMap((depository) =>
      question.times.map((range) => listOf(view, depository, range, signal)),
    ),
  )
  const transfersByHash = new Map(each.flat().map((one) => [one.hash, one]))
  return [...transfersByHash.values()].toSorted(
    (one, other) => one.timeMs - other.timeMs || (one.hash < other.hash ? -1 : 1),
  )
}

async function listOf(
  view: HyperliquidView,
  depository: string,
  range: Times,
  signal: AbortSignal,
): Promise<readonly ListedTransfer[]> {
  const entries = await readLedger(view, depository, range, signal)
  return entries.flatMap((entry) => transferTo(depository, entry) ?? [])
}

function transferTo(depository: string, { hash, timeMs, delta }: LedgerEntry): ListedTransfer | undefined {
  const { type, destination, user, nonce } = delta
  if (type !== 'send' && type !== 'internalTransfer') return undefined
  if (typeof destination !== 'string' || destination.toLowerCase() !== depository) return undefined
  return {
    ...{ hash, timeMs, user: typeof user === 'string' ? user.toLowerCase() : '' },
    nonce: typeof nonce === 'number' && Number.isSafeInteger(nonce) && nonce >= 0 ? nonce : null,
  }
}
