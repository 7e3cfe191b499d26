import type { HubEntries } from '../../shared/hubEntries.ts'
import { type ClaimState, claimOf, placeOfMapping } from '../reading/nonceMapping.ts'
import { type ListedTransfer, mappingLagMs } from './depositPass.ts'

/** Most transfers that one look asks the hub about, and most without a nonce that it leaves to the explorer. */
const perLook = { withNonce: 40, withoutNonce: 8 }
/** Limits of remembered transfers, of one sender, so that a stranger fills only his own share, and of all. */
const keptMax = { ofSender: 1_000, all: 100_000 }
/** Time until a transfer without an entry is asked for again; it doubles each time. */
const pauseMs = 500

/** A remembered transfer. `looks`: how often it was asked for; `dueMs`: when it may be asked for again. */
type Kept = ListedTransfer & { readonly state: ClaimState; readonly looks: number; readonly dueMs: number }

/**
 * Decides which transfers to depositories are read as deposits. Anybody can make many transfers for free, so one is
 * read only after the hub says which order it is for. Senders take turns; transfers that were asked for least come
 * first, then the newest. One without an entry is asked for again after half a second, one, two and so on, for an
 * hour. All is kept in memory: after a start the last hour is listed again.
 * @param now milliseconds
 * @source F-51
 */
export function createDepositClaims(
  { chainId, hubEntries }: { readonly chainId: string; readonly hubEntries: HubEntries },
  now: () => number,
) {
  const kept = new Map<string, Kept>()
  const countOfSender = new Map<string, number>()

  function add(transfer: ListedTransfer): void {
    const count = countOfSender.get(transfer.user) ?? 0
    if (kept.has(transfer.hash) || count >= keptMax.ofSender) return
    kept.set(transfer.hash, { ...transfer, state: 'open', looks: 0, dueMs: 0 })
    countOfSender.set(transfer.user, count + 1)
    const [oldest] = kept.values()
    if (kept.size > keptMax.all && oldest !== undefined) remove(oldest)
  }

  function remove({ hash, user }: Kept): void {
    const count = countOfSender.get(user) ?? 1
    kept.delete(hash)
    if (count > 1) countOfSender.set(user, count - 1)
    else countOfSender.delete(user)
  }

  const recordLook = (transfer: Kept, state: ClaimState) => {
    const { hash, looks } = transfer
    kept.set(hash, { ...transfer, state, looks: looks + 1, dueMs: now() + pauseMs * 2 ** looks })
  }

  return {
    /**
     * Takes in what a look lists, and asks the hub about some of it.
     * @param atMs time of the exchange
     * @returns transfers of orders, and some whose nonce only the explorer tells; isShort: others wait for their turn
     * @throws UpstreamUnavailableError, UpstreamDisagreementError
     */
    async look(
      listed: readonly ListedTransfer[],
      atMs: bigint,
      signal: AbortSignal,
    ): Promise<{ readonly transfers: readonly ListedTransfer[]; readonly isShort: boolean }> {
      for (const transfer of listed) add(transfer)
      for (const old of kept.values()) if (BigInt(old.timeMs) + mappingLagMs < atMs) remove(old)
      const due = inTurns([...kept.values()].filter(({ state, dueMs }) => state === 'open' && dueMs <= now()))
      const withNonce = due.filter(({ nonce }) => nonce !== null)
      const withoutNonce = due.filter(({ nonce }) => nonce === null)
      const batch = withNonce.slice(0, perLook.withNonce)
      const places = batch.map(({ user, nonce }) => placeOfMapping(chainId, user, BigInt(nonce ?? 0)))
      const entries = places.length === 0 ? [] : await hubEntries.readEach(places, { signal })
      for (const [index, transfer] of batch.entries()) {
        const entry = entries[index]
        if (entry !== undefined) recordLook(transfer, claimOf(entry, BigInt(transfer.timeMs)))
      }
      const openTransfers = withoutNonce.slice(0, perLook.withoutNonce)
      for (const transfer of openTransfers) recordLook(transfer, 'open')
      return {
        transfers: [...[...kept.values()].filter(({ state }) => state === 'claimed'), ...openTransfers],
        isShort: withNonce.length > batch.length || withoutNonce.length > openTransfers.length,
      }
    },
  }
}

/** The first of each sender, then the second of each, and so on. Pure. */
function inTurns(due: readonly Kept[]): readonly Kept[] {
  const turnsOf = new Map<string, number>()
  return due
    .toSorted(seldomFirst)
    .map((transfer) => {
      const turn = turnsOf.get(transfer.user) ?? 0
      turnsOf.set(transfer.user, turn + 1)
      return { transfer, turn }
    })
    .toSorted((first, second) => first.turn - second.turn)
    .map(({ transfer }) => transfer)
}

const seldomFirst = (one: Kept, other: Kept) => one.looks - other.looks || other.timeMs - one.timeMs
