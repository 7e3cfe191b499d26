import { maxBigint, minBigint } from '@causeway/core'
import { MalformedAnswerError, parseRecord } from '@causeway/rpc'
import type { HyperliquidView } from '../reading/hyperliquidView.ts'
import { type LedgerEntry, readLedger } from '../reading/ledgerPages.ts'
import { statusRequest } from '../reading/requests.ts'

/** Time that a transfer is remembered: the hub may name its order for an hour, and a hundred seconds are a margin. */
export const mappingLagMs = 3_700_000n

/** Time by which endpoints may list a transfer late. */
const lateMs = 30_000n

/** Part of the hour before a start that one look lists, until all of the hour is listed. */
const olderPerLookMs = 300_000n

/** A range in milliseconds of the exchange; both ends belong to it. */
export type Times = { readonly from: bigint; readonly to: bigint }

/** A transfer to a depository as the depository's ledger lists it. */
export type ListedTransfer = {
  readonly hash: string
  readonly timeMs: number
  /** Its sender, in lower case; empty where the ledger does not show it. */
  readonly user: string
  /** Null where the ledger does not show it. */
  readonly nonce: number | null
}

/**
 * Ranges that one look lists, the newest first: its own, begun earlier for late listings, and, until the whole hour
 * before is listed, a further part of that hour.
 * @param listed range that earlier looks listed
 * @returns `listed`: the range with this look; `isWhole`: the hour before is listed too. Pure. @source F-52
 */
export function timesOfLook(
  { from, to }: Times,
  listed: Times | undefined,
): { readonly times: readonly Times[]; readonly listed: Times; readonly isWhole: boolean } {
  const own = { from: from > lateMs ? from - lateMs : 0n, to }
  const isAdjacent = listed !== undefined && own.from <= listed.to + 1n && own.to + 1n >= listed.from
  // After a gap nothing of earlier looks counts as listed any more.
  const together = isAdjacent ? { from: minBigint(own.from, listed.from), to: maxBigint(listed.to, to) } : own
  const hourBefore = from > mappingLagMs ? from - mappingLagMs : 0n
  if (together.from <= hourBefore) return { times: [own], listed: together, isWhole: true }
  const older = { from: maxBigint(together.from - olderPerLookMs, hourBefore), to: together.from - 1n }
  const isWhole = older.from === hourBefore
  return { times: [own, older], listed: { ...together, from: older.from }, isWhole }
}

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
  const lists = await Promise.all(
    question.depositories.flatMap((depository) =>
      question.times.map((range) => listOf(view, depository, range, signal)),
    ),
  )
  const transfersByHash = new Map(lists.flat().map((transfer) => [transfer.hash, transfer]))
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
