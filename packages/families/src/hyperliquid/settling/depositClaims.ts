import type { HubEntries } from '../../shared/hubEntries.ts'
import { type ClaimState, claimOf, placeOfMapping } from '../reading/nonceMapping.ts'
import { type ListedTransfer, mappingLagMs } from './depositPass.ts'

/** Most transfers that one look asks the hub about, and most without a nonce that it leaves to the explorer. */
const perLook = { withNonce: 40, withoutNonce: 8 }
/** Limits of remembered transfers: of one sender, so that he fills only a share, and of all senders. */
const rememberedMax = { ofSender: 1_000, all: 100_000 }
/** Time until a transfer without an entry is asked for again; it doubles each time. */
const pauseMs = 500

/** A remembered transfer. */
type Remembered = ListedTransfer & {
  /** `open` until the hub is known to have an entry in time (`claimed`), or to get none (`nobodys`). */
  readonly state: ClaimState
  /** Looks that asked the hub about it, or left it to the explorer. */
  readonly lookCount: number
  /** Milliseconds of this machine's clock from which an open one may be asked for again. */
  readonly dueMs: number
}

/**
 * Opens the choice of transfers to depositories that are read as deposits. Anybody can make many transfers
 * for free, so one is read only after the hub says which order it is for. Senders take turns; transfers that
 * were asked for least come first, then the newest. One without an entry is asked for again after half a
 * second, one, two and so on, for an hour; then it is forgotten. A transfer whose nonce the ledger does not
 * show cannot be asked for at the hub, so its reading is left to the caller, a few in each look. All is kept
 * in memory: after a start the last hour is listed again.
 * @param now milliseconds of this machine's clock
 * @source F-51
 */
export const createDepositClaims = (hub: Hub, now: () => number): Pick<DepositClaims, 'look'> =>
  new DepositClaims(hub, now)

/** The hub's entries, and the chain that they are about. */
type Hub = { readonly chainId: string; readonly hubEntries: HubEntries }

class DepositClaims {
  readonly #hub: Hub
  readonly #now: () => number
  /** By hash, the oldest first. */
  readonly #remembered = new Map<string, Remembered>()
  readonly #countOfSender = new Map<string, number>()

  constructor(hub: Hub, now: () => number) {
    this.#hub = hub
    this.#now = now
  }

  /**
   * Takes in what a look lists, forgets transfers that are too old for an entry, and asks the hub about some
   * of the open ones.
   * @param exchangeMs end of the look's range, by the exchange's clock, which transfers' times have too
   * @returns all remembered transfers of orders, in every look again, since the caller keeps what it has
   * read; and some whose nonce only the explorer tells. `isShort`: others wait for their turn
   * @throws UpstreamUnavailableError, UpstreamDisagreementError
   */
  async look(
    listed: readonly ListedTransfer[],
    exchangeMs: bigint,
    signal: AbortSignal,
  ): Promise<{ readonly transfers: readonly ListedTransfer[]; readonly isShort: boolean }> {
    for (const transfer of listed) this.#add(transfer)
    for (const transfer of this.#remembered.values())
      if (BigInt(transfer.timeMs) + mappingLagMs < exchangeMs) this.#remove(transfer)
    const due = inTurns(this.#inState('open').filter(({ dueMs }) => dueMs <= this.#now()))
    const withNonce = due.filter(({ nonce }) => nonce !== null)
    const withoutNonce = due.filter(({ nonce }) => nonce === null)
    const asked = withNonce.slice(0, perLook.withNonce)
    await this.#askHub(asked, signal)
    const leftToExplorer = withoutNonce.slice(0, perLook.withoutNonce)
    for (const transfer of leftToExplorer) this.#recordLook(transfer, 'open')
    return {
      transfers: [...this.#inState('claimed'), ...leftToExplorer],
      isShort: withNonce.length > asked.length || withoutNonce.length > leftToExplorer.length,
    }
  }

  /** Asks the hub which orders transfers with nonces are for, and records its answers. */
  async #askHub(transfers: readonly Remembered[], signal: AbortSignal): Promise<void> {
    if (transfers.length === 0) return
    const { chainId, hubEntries } = this.#hub
    // All of these have a nonce: the 0 is never used.
    const places = transfers.map(({ user, nonce }) => placeOfMapping(chainId, user, BigInt(nonce ?? 0)))
    const entries = await hubEntries.readEach(places, { signal })
    for (const [index, transfer] of transfers.entries()) {
      const entry = entries[index]
      if (entry !== undefined) this.#recordLook(transfer, claimOf(entry, BigInt(transfer.timeMs)))
    }
  }

  #inState(wanted: ClaimState): readonly Remembered[] {
    return [...this.#remembered.values()].filter(({ state }) => state === wanted)
  }

  #recordLook(transfer: Remembered, state: ClaimState): void {
    const { hash, lookCount } = transfer
    const dueMs = this.#now() + pauseMs * 2 ** lookCount
    this.#remembered.set(hash, { ...transfer, state, lookCount: lookCount + 1, dueMs })
  }

  /** A transfer above its sender's limit is dropped; if it is listed again, it is tried again. */
  #add(transfer: ListedTransfer): void {
    const count = this.#countOfSender.get(transfer.user) ?? 0
    if (this.#remembered.has(transfer.hash) || count >= rememberedMax.ofSender) return
    this.#remembered.set(transfer.hash, { ...transfer, state: 'open', lookCount: 0, dueMs: 0 })
    this.#countOfSender.set(transfer.user, count + 1)
    const [oldest] = this.#remembered.values()
    if (this.#remembered.size > rememberedMax.all && oldest !== undefined) this.#remove(oldest)
  }

  #remove({ hash, user }: Remembered): void {
    const count = this.#countOfSender.get(user) ?? 1
    this.#remembered.delete(hash)
    if (count > 1) this.#countOfSender.set(user, count - 1)
    else this.#countOfSender.delete(user)
  }
}

/** The first of each sender, then the second of each, and so on. Pure. */
function inTurns(due: readonly Remembered[]): readonly Remembered[] {
  const turnsOf = new Map<string, number>()
  return due
    .toSorted(seldomThenNewest)
    .map((transfer) => {
      const turn = turnsOf.get(transfer.user) ?? 0
      turnsOf.set(transfer.user, turn + 1)
      return { transfer, turn }
    })
    .toSorted((first, second) => first.turn - second.turn)
    .map(({ transfer }) => transfer)
}

const seldomThenNewest = (one: Remembered, other: Remembered) =>
  one.lookCount - other.lookCount || other.timeMs - one.timeMs
