import type { FinalBlock, Hex } from '@causeway/core'
import {
  InvalidAddressError,
  InvalidWithdrawalError,
  InvalidWithdrawRequestError,
} from '@causeway/core/encodings'
import type { CountedValue, HeldStore, SigningCaps } from '@causeway/signer'
import type { AllocatorContract, IssuedEvent, SignedEvent } from '../hub/allocatorContract.ts'
import type { ServiceStops } from '../hub/serviceStops.ts'
import type { SignatureStore, Storing } from '../hub/signatureStore.ts'
import type { PayloadKeys, Signable } from '../keys/payloadKeys.ts'
import { type IssuedPayload, judgeIssued, lacksBacking, type Verdict } from '../payloads/issued.ts'
import type { SignedPlace } from '../payloads/signedPlace.ts'
import type { StateFiles } from '../state/stateFiles.ts'

/** Outcomes of a round's payloads, for logs and metrics. */
export interface RoundReport {
  signed(payloadId: Hex, place: SignedPlace): void
  /** For good: it is not looked at again in this run. */
  refused(payloadId: Hex, reason: string): void
  /** Called once per payload. */
  held(payloadId: Hex, place: SignedPlace, reason: 'cap' | 'unlisted'): void
  released(payloadId: Hex): void
  /** A final block changed: nothing is signed any more. */
  rewritten(block: FinalBlock, found: string): void
}

export type RoundOptions = {
  readonly contract: AllocatorContract
  readonly store: Pick<SignatureStore, 'store'>
  readonly keys: PayloadKeys
  readonly places: readonly SignedPlace[]
  readonly caps: SigningCaps
  readonly held: Pick<HeldStore, 'keep' | 'isReleased' | 'forget'>
  readonly state: StateFiles
  /** The stops of operators at quote-api. */
  readonly stops: Pick<ServiceStops, 'stopOf'>
  readonly firstBlock: bigint
  readonly report: RoundReport
  /** Milliseconds since 1970. */
  readonly now: () => number
}

export interface AllocatorRound {
  /**
   * Reads what became final, and signs and stores what may be signed.
   * @throws UpstreamDisagreementError, UpstreamUnavailableError, SignerFailedError; the next round goes on
   */
  run(signal: AbortSignal): Promise<void>
  /** Payloads that wait for a signature: for their turn, a cap, or the switch. */
  pending(): number
  /** Last final block that was read. */
  readUpTo(): bigint | undefined
}

/** Signatures of one round: they are sent together. */
const storedPerRoundMax = 20

export const createAllocatorRound = (options: RoundOptions): AllocatorRound => new Round(options)

class Round implements AllocatorRound {
  readonly #options: RoundOptions
  readonly #pending = new Map<Hex, IssuedEvent>()
  readonly #toldHeld = new Set<Hex>()
  /** Payloads whose signatures are all stored, by the final height that showed it. */
  readonly #settled = new Map<Hex, bigint>()
  #scanned: FinalBlock | undefined
  #isLoaded = false

  constructor(options: RoundOptions) {
    this.#options = options
  }

  async run(signal: AbortSignal): Promise<void> {
    const { store, state, stops } = this.#options
    if ((await state.readStop()) !== undefined) {
      // The operator who resumes it may have dropped these events, so the position on disk decides.
      this.#isLoaded = false
      return
    }
    await this.#load()
    if (!(await this.#scan(signal))) return
    const batch: (Storing & { readonly chain: string })[] = []
    for (const issued of [...this.#pending.values()]) {
      if (this.#settled.has(issued.payloadId)) continue
      if (batch.length >= storedPerRoundMax) break
      batch.push(...(await this.#signaturesOf(issued, signal)))
    }
    if ((await state.readStop()) !== undefined) return
    // A signature that is not stored moves nothing; what is left out is signed again after the stop.
    const going: Storing[] = []
    for (const { chain, ...storing } of batch)
      if ((await stops.stopOf(chain)) === undefined) going.push(storing)
    await store.store(going, { signal })
    await this.#keepPosition()
  }

  pending(): number {
    return this.#pending.size
  }

  readUpTo(): bigint | undefined {
    return this.#scanned?.number
  }

  async #load(): Promise<void> {
    const { state } = this.#options
    if (this.#isLoaded) return
    this.#scanned = await state.readPosition()
    this.#pending.clear()
    this.#toldHeld.clear()
    this.#settled.clear()
    this.#isLoaded = true
  }

  /** @returns false when a final block changed */
  async #scan(signal: AbortSignal): Promise<boolean> {
    const { contract, state, report, now, firstBlock } = this.#options
    for (;;) {
      const from = this.#scanned === undefined ? firstBlock : this.#scanned.number + 1n
      const { issued, signed, until, parentHash } = await contract.readEvents(from, { signal })
      if (this.#scanned !== undefined && parentHash !== undefined && parentHash !== this.#scanned.hash) {
        const reason = `final block ${this.#scanned.number} was ${this.#scanned.hash} and is ${parentHash}`
        await state.stop({ reason, since: new Date(now()).toISOString(), isRewritten: true })
        report.rewritten(this.#scanned, parentHash)
        return false
      }
      if (until === undefined) return true
      for (const event of issued) this.#pending.set(event.payloadId, event)
      for (const event of signed) this.#countForeign(event)
      this.#scanned = until
      for (const [payloadId, height] of this.#settled) if (height <= until.number) this.#drop(payloadId)
      await this.#keepPosition()
    }
  }

  /** Counts a signature that another process made with the same key, since the caps hold per key. */
  #countForeign({ payloadId, blockSeconds }: SignedEvent): void {
    const { places, caps } = this.#options
    const issued = this.#pending.get(payloadId)
    const verdict = issued && judge(issued, places)
    if (verdict?.kind !== 'sign') return
    caps.count(countedValue(payloadId, verdict), Number(blockSeconds) * 1_000)
  }

  /** Behind the last block before which nothing waits: a run that ends loses no payload. */
  async #keepPosition(): Promise<void> {
    const { state } = this.#options
    if (this.#scanned !== undefined && this.#pending.size === 0) await state.writePosition(this.#scanned)
  }

  #drop(payloadId: Hex): void {
    this.#pending.delete(payloadId)
    this.#toldHeld.delete(payloadId)
    this.#settled.delete(payloadId)
  }

  /** The state may be read a block ahead of the events: that it was signed, and when, those have yet to tell. */
  #settle(payloadId: Hex, height: bigint): void {
    if (this.#scanned !== undefined && height <= this.#scanned.number) this.#drop(payloadId)
    else this.#settled.set(payloadId, height)
  }

  #refuse(payloadId: Hex, reason: string): void {
    const { report } = this.#options
    this.#drop(payloadId)
    report.refused(payloadId, reason)
  }

  async #isAdmitted(payloadId: Hex, verdict: Signable): Promise<boolean> {
    const { caps, held, report, now } = this.#options
    const value = countedValue(payloadId, verdict)
    const answer = caps.admit(value)
    if (answer.kind !== 'held') return true
    if (await held.isReleased(payloadId)) {
      caps.exempt(value)
      await held.forget(payloadId)
      report.released(payloadId)
      return true
    }
    if (this.#toldHeld.has(payloadId)) return false
    this.#toldHeld.add(payloadId)
    const { reason } = answer.excess
    report.held(payloadId, verdict.place, reason)
    const lets = [
      `${verdict.backing.amount} of hub token ${verdict.backing.hubTokenId} on ${verdict.place.chain}`,
    ]
    const since = new Date(now()).toISOString()
    await held.keep(payloadId, { kind: 'payload', key: payloadId, lets, reason, since })
    return false
  }

  /** True while a payload at its cap has no room: then it is not read again. */
  async #isStillHeld(payloadId: Hex, verdict: Signable): Promise<boolean> {
    const { caps, held } = this.#options
    return caps.judge(countedValue(payloadId, verdict)).kind === 'held' && !(await held.isReleased(payloadId))
  }

  /** Signatures of one payload that are to be stored. Counted before they are made, so that a kill loses no count. */
  async #signaturesOf(
    issued: IssuedEvent,
    signal: AbortSignal,
  ): Promise<readonly (Storing & { readonly chain: string })[]> {
    const { contract, keys, places, state, stops, report } = this.#options
    const { payloadId } = issued
    const verdict = judge(issued, places)
    if (verdict.kind === 'refuse') {
      this.#refuse(payloadId, verdict.reason)
      return []
    }
    const { hashes, backing } = verdict
    if (this.#toldHeld.has(payloadId) && (await this.#isStillHeld(payloadId, verdict))) return []
    const hub = await contract.readPayload(issued, { hashes, backing }, { signal })
    // Another majority of endpoints may be a little behind the one that told of the payload.
    if (hub.height < issued.blockNumber) return []
    if (hub.stored.every(({ isFinal }) => isFinal)) {
      this.#settle(payloadId, hub.height)
      return []
    }
    const open = hashes.flatMap((hash, index) =>
      hub.stored[index]?.isSeen === true ? [] : [{ hash, index }],
    )
    if (open.length === 0) return []
    const lack = lacksBacking(issued, backing, hub)
    if (lack !== undefined) {
      this.#refuse(payloadId, lack)
      return []
    }
    const { chain } = verdict.place
    if ((await stops.stopOf(chain)) !== undefined) return []
    if (!(await this.#isAdmitted(payloadId, verdict))) return []
    const signed: (Storing & { readonly chain: string })[] = []
    for (const { hash, index } of open) {
      if ((await state.readStop()) !== undefined) return []
      signed.push({ chain, payloadId, hash, signature: await keys.sign(issued, verdict, index, { signal }) })
    }
    report.signed(payloadId, verdict.place)
    return signed
  }
}

function countedValue(payloadId: Hex, { backing }: Signable): CountedValue {
  return { key: payloadId, amounts: new Map([[backing.hubTokenId, backing.amount]]) }
}

/** A payload that cannot be read is one of a builder that nobody should trust. */
function judge(issued: IssuedPayload, places: readonly SignedPlace[]): Verdict {
  try {
    return judgeIssued(issued, places)
  } catch (error) {
    const isUnreadable =
      error instanceof InvalidWithdrawalError ||
      error instanceof InvalidWithdrawRequestError ||
      error instanceof InvalidAddressError
    if (isUnreadable) return { kind: 'refuse', reason: 'its payload cannot be read' }
    throw error
  }
}
