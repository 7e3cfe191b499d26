import type { HubEntries } from '../../shared/hubEntries.ts'
import { type ClaimState, claimOf, placeOfMapping } from '../reading/nonceMapping.ts'
import { type ListedTransfer, mappingLagMs } from './depositPass.ts'

/** Entries of the hub that one look asks for, and transfers without a nonce that it leaves to the explorer. */
const perLook = { named: 40, nameless: 8 }
/** Limits of one sender, and of all. A stranger fills no more than his own share. */
const keptMax = { ofSender: 1_000, all: 100_000 }
const pauseMs = 500

type Kept = ListedTransfer & { readonly state: ClaimState; readonly looks: number; readonly dueMs: number }

/**
 * Transfers to depositories, of which anybody makes many for nothing. One is looked up only once the hub says what it is
 * for. Senders take turns; what was asked for seldom comes first, then what is newest. What has no entry is asked for
 * again after half a second, one, two and so on, for an hour. Kept in memory: after a start the hour is listed again.
 * @param now milliseconds
 * @source F-51
 */
export function createDepositClaims(
  { chainId, hubEntries }: { readonly chainId: string; readonly hubEntries: HubEntries },
  now: () => number,
) {
  const kept = new Map<string, Kept>()
  const ofSender = new Map<string, number>()

  function add(one: ListedTransfer): void {
    const count = ofSender.get(one.user) ?? 0
    if (kept.has(one.hash) || count >= keptMax.ofSender) return
    kept.set(one.hash, { ...one, state: 'open', looks: 0, dueMs: 0 })
    ofSender.set(one.user, count + 1)
    const [oldest] = kept.values()
    if (kept.size > keptMax.all && oldest !== undefined) remove(oldest)
  }

  function remove({ hash, user }: Kept): void {
    const count = ofSender.get(user) ?? 1
    kept.delete(hash)
    if (count > 1) ofSender.set(user, count - 1)
    else ofSender.delete(user)
  }

  const note = (one: Kept, state: ClaimState) =>
    kept.set(one.hash, { ...one, state, looks: one.looks + 1, dueMs: now() + pauseMs * 2 ** one.looks })

  return {
    /**
     * Takes in what a look lists, and asks the hub about some of it.
     * @param atMs time of the exchange
     * @returns those that are an order's, and some that only the explorer can tell of; isShort: others wait for their turn
     * @throws UpstreamUnavailableError, UpstreamDisagreementError
     */
    async look(
      listed: readonly ListedTransfer[],
      atMs: bigint,
      signal: AbortSignal,
    ): Promise<{ readonly transfers: readonly ListedTransfer[]; readonly isShort: boolean }> {
      for (const one of listed) add(one)
      for (const one of kept.values()) if (BigInt(one.timeMs) + mappingLagMs < atMs) remove(one)
      const due = inTurns([...kept.values()].filter(({ state, dueMs }) => state === 'open' && dueMs <= now()))
      const withNonce = due.filter(({ nonce }) => nonce !== null)
      const withoutNonce = due.filter(({ nonce }) => nonce === null)
      const batch = withNonce.slice(0, perLook.named)
      const places = batch.map(({ user, nonce }) => placeOfMapping(chainId, user, BigInt(nonce ?? 0)))
      const entries = places.length === 0 ? [] : await hubEntries.readEach(places, { signal })
      for (const [index, one] of batch.entries()) {
        const entry = entries[index]
        if (entry !== undefined) note(one, claimOf(entry, BigInt(one.timeMs)))
      }
      const openTransfers = withoutNonce.slice(0, perLook.nameless)
      for (const one of openTransfers) note(one, 'open')
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
    .map((one) => {
      const turn = turnsOf.get(one.user) ?? 0
      turnsOf.set(one.user, turn + 1)
      return { one, turn }
    })
    .toSorted((first, second) => first.turn - second.turn)
    .map(({ one }) => one)
}

const seldomFirst = (one: Kept, other: Kept) => one.looks - other.looks || other.timeMs - one.timeMs
