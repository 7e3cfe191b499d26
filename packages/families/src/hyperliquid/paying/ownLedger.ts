import { minBigint, UpstreamUnavailableError } from '@causeway/core'
import type { QuorumClient } from '@causeway/rpc'
import { type Electorate, reachedBy, type Vote, valuesByVoice } from '@causeway/rpc'
import { parseTime } from '../quoting/calls.ts'
import { type OwnSend, parseOwnSends } from '../reading/answers.ts'
import type { HyperliquidView } from '../reading/hyperliquidView.ts'
import { readLedger } from '../reading/ledgerPages.ts'
import { statusRequest } from '../reading/requests.ts'

/** A transfer of the wallet, as enough endpoints list it. `destination` in lower case. */
export type ExecutedTransfer = Pick<OwnSend, 'hash' | 'destination'>

/** Outcome of the fill wallet's nonces, by the transfers that the exchange lists for it. */
export type OwnLedger = {
  /** Unix milliseconds of the exchange that enough endpoints had reached when they listed. */
  readonly timeMs: bigint
  /** Transfer that was executed under a nonce; nothing else is ever executed under the same nonce. */
  executedAt(nonce: bigint): ExecutedTransfer | undefined
  /**
   * True if the nonce is too old to be executed, and no endpoint lists a transfer under it. False for a nonce
   * that this reading did not ask for, or whose transfer was known before it.
   */
  isExpired(nonce: bigint): boolean
  /** Number of known transfers with higher nonces; the exchange may have executed more. */
  countAbove(nonce: bigint): number
}

/**
 * Time after which a nonce can no longer be executed: the exchange accepts it for two days, and an hour covers clocks
 * and late lists. @source Hyperliquid API, "Nonces and API wallets"
 */
const acceptedForMs = 49n * 3_600_000n
/** Tolerance in milliseconds by which a transfer may be dated before its nonce. */
const marginMs = 60_000n
/**
 * Readings that are requested within `gatherMs` become one, at most one per `pauseMs`: the exchange limits requests.
 */
const gatherMs = 20
const pauseMs = 1_000
const readTimeoutMs = 6_000
/** Limit of transfers in memory; the oldest is dropped first. */
const keptMax = 20_000

/** One endpoint's time, and the transfers that it lists, by nonce. */
type Listing = { readonly timeMs: bigint; readonly sends: ReadonlyMap<bigint, ExecutedTransfer> }

type LedgerOptions = {
  readonly quorum: QuorumClient<HyperliquidView>
  readonly electorate: Electorate
  /** Lower case. */
  readonly wallet: string
}

/** Opens a reader of the fill wallet's own transfers. Each reading asks for the given nonces. */
export function createOwnLedger(options: LedgerOptions): (nonces: readonly bigint[]) => Promise<OwnLedger> {
  const reader = new LedgerReader(options)
  return (nonces) => reader.read(nonces)
}

/**
 * Remembers executed transfers, which never change, and merges readings that are requested together: the
 * first request starts the wait, later ones add their nonces to it, and all get one ledger.
 */
class LedgerReader {
  readonly #options: LedgerOptions
  readonly #known = new Map<bigint, ExecutedTransfer>()
  #lastReadMs = Number.NEGATIVE_INFINITY
  #gathering: { readonly nonces: bigint[]; readonly ledger: Promise<OwnLedger> } | undefined

  constructor(options: LedgerOptions) {
    this.#options = options
  }

  read(nonces: readonly bigint[]): Promise<OwnLedger> {
    if (this.#gathering === undefined) {
      const gathered: bigint[] = []
      this.#gathering = { nonces: gathered, ledger: this.#readLater(gathered) }
    }
    this.#gathering.nonces.push(...nonces)
    return this.#gathering.ledger
  }

  async #readLater(nonces: readonly bigint[]): Promise<OwnLedger> {
    const waitMs = Math.max(gatherMs, this.#lastReadMs + pauseMs - performance.now())
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    this.#gathering = undefined
    this.#lastReadMs = performance.now()
    return this.#readNow(nonces)
  }

  async #readNow(nonces: readonly bigint[]): Promise<OwnLedger> {
    const executedByNonce = this.#known
    const { threshold } = this.#options.electorate
    // Nonces whose transfer is not known yet: only these decide from when transfers are listed.
    const unknown = nonces.filter((nonce) => !executedByNonce.has(nonce))
    const listings = await this.#listByVoice(startOf(unknown))
    const timeMs = reachedBy(
      threshold,
      listings.map((listing) => listing.timeMs),
    )
    if (timeMs < 0n)
      throw new UpstreamUnavailableError(
        "Too few endpoints of the exchange list the fill wallet's transfers.",
      )
    for (const nonce of new Set(listings.flatMap(({ sends }) => [...sends.keys()]))) {
      const agreed = agreedOn(
        listings.flatMap(({ sends }) => sends.get(nonce) ?? []),
        threshold,
      )
      if (agreed !== undefined) this.#keep(nonce, agreed)
    }
    return {
      timeMs,
      executedAt: (nonce) => executedByNonce.get(nonce),
      // Lists were asked for from the lowest of `unknown`, so they say nothing about other nonces.
      isExpired: (nonce) =>
        unknown.includes(nonce) &&
        listings.every(({ sends }) => !sends.has(nonce)) &&
        timeMs >= nonce + acceptedForMs,
      countAbove: (nonce) => [...executedByNonce.keys()].filter((other) => other > nonce).length,
    }
  }

  #keep(nonce: bigint, transfer: ExecutedTransfer): void {
    this.#known.set(nonce, transfer)
    const [oldest] = this.#known.keys()
    if (this.#known.size > keptMax && oldest !== undefined) this.#known.delete(oldest)
  }

  async #listByVoice(from: bigint | undefined): Promise<readonly Listing[]> {
    const { quorum, electorate, wallet } = this.#options
    const signal = AbortSignal.timeout(readTimeoutMs)
    const each = await quorum.askEach(
      (view, viewSignal) => readListing(view, wallet, from, viewSignal),
      signal,
    )
    // Explorers have the aliases of the client's endpoints, whose voices (one per host) count for them.
    const voiceOf = new Map(electorate.voters.map(({ alias, voice }) => [alias, voice]))
    return valuesByVoice(
      each.map(
        ({ alias, said }): Vote<Listing> => ({ alias, voice: voiceOf.get(alias) ?? alias, value: said }),
      ),
    )
  }
}

/** Start of the list in Unix milliseconds: the lowest nonce less a margin; undefined if nothing has to be listed. */
function startOf(nonces: readonly bigint[]): bigint | undefined {
  const [first, ...more] = nonces
  if (first === undefined) return undefined
  const least = more.reduce(minBigint, first)
  return least > marginMs ? least - marginMs : 0n
}

/**
 * One endpoint's list, empty if nothing has to be listed. Its time is read first, so that the list has what
 * was executed until then.
 * @throws EndpointFailure, MalformedAnswerError
 */
async function readListing(
  view: HyperliquidView,
  wallet: string,
  from: bigint | undefined,
  signal: AbortSignal,
): Promise<Listing> {
  const timeMs = parseTime({ ok: true, result: await view.ask(statusRequest, signal) })
  if (from === undefined || from > timeMs) return { timeMs, sends: new Map() }
  const entries = await readLedger(view, wallet, { from, to: timeMs }, signal)
  const sends = parseOwnSends(entries, wallet).map(({ nonce, ...shown }) => [nonce, shown] as const)
  return { timeMs, sends: new Map(sends) }
}

/** The transfer that enough voices list with the same hash and destination. */
function agreedOn(transfers: readonly ExecutedTransfer[], threshold: number): ExecutedTransfer | undefined {
  return transfers.find(
    (one) =>
      transfers.filter(({ hash, destination }) => hash === one.hash && destination === one.destination)
        .length >= threshold,
  )
}
