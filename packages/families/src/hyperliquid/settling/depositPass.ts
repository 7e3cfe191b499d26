import { MalformedAnswerError, parseRecord } from '@causeway/rpc'
import type { HyperliquidView } from '../reading/hyperliquidView.ts'
import { type LedgerEntry, readLedger } from '../reading/ledgerPages.ts'
import { statusRequest } from '../reading/requests.ts'

/** Time that a transfer is remembered: the hub may name its order for an hour, and a hundred seconds are a margin. */
export const mappingLagMs = 3_700_000n

/** Time by which endpoints may list a transfer late. */
const lateMs = 30_000n

/** How much of the time before its own range one look lists, after a start. */
const olderPerLookMs = 300_000n

/** A range in milliseconds of the exchange; both ends belong to it. */
export type Times = { readonly from: bigint; readonly to: bigint }

/** A transfer to a depository as the depository's ledger lists it. */
export type ListedTransfer = {
  readonly hash: string
  readonly timeMs: number
  /** Its sender, in lower case. */
  readonly user: string
  /** Null where the ledger does not show it. */
  readonly nonce: number | null
}

/**
 * The ranges that one look lists, the newest first: its own, begun earlier for late listings, and, until the whole hour
 * before is listed, a further part of that hour.
 * @param listed range that earlier looks listed
 * @returns `listed`: the range with this look; `isWhole`: the hour before is listed too. Pure. @source F-52
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
 * Transfers to depositories that one endpoint lists in the ranges, oldest first. The endpoint's time is read first: one
 * that has not reached the end of the ranges counts as not answering.
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
    hash,
    timeMs,
    user: typeof user === 'string' ? user.toLowerCase() : '',
    nonce: typeof nonce === 'number' && Number.isSafeInteger(nonce) && nonce >= 0 ? nonce : null,
  }
}
