import type { FinalBlock, Hex } from '@causeway/core'
import {
  InvalidAddressError,
  InvalidWithdrawalError,
  InvalidWithdrawRequestError,
} from '@causeway/core/encodings'
import { createLruCache } from '@causeway/rpc'
import type { CountedValue, HeldRecord, HeldStore, SigningCaps } from '@causeway/signer'
import type { AllocatorContract, IssuedEvent, SignedEvent } from '../hub/allocatorContract.ts'
import type { ServiceStops } from '../hub/serviceStops.ts'
import type { SignatureStore, Storing } from '../hub/signatureStore.ts'
import type { PayloadKeys, Signable } from '../keys/payloadKeys.ts'
import { backingProblem, type IssuedPayload, judgeIssued, type Verdict } from '../payloads/issued.ts'
import type { PayingDepository } from '../payloads/payingDepository.ts'
import type { StateFiles } from '../state/stateFiles.ts'

/** Outcomes of a round's payloads, for logs and metrics. */
export interface RoundReport {
  signed(payloadId: Hex, payer: PayingDepository): void
  /** The payload is refused for good: this run does not judge it again. */
  refused(payloadId: Hex, reason: string): void
  /** The payload waits at a cap. Called once per payload. */
  held(payloadId: Hex, payer: PayingDepository, reason: 'cap' | 'unlisted'): void
  released(payloadId: Hex): void
  /** A final block changed: nothing is signed any more. */
  rewritten(block: FinalBlock, found: string): void
}

export type RoundOptions = {
  /** Reads the issued payloads and their state. */
  readonly contract: AllocatorContract
  readonly store: Pick<SignatureStore, 'store'>
  readonly keys: PayloadKeys
  readonly payers: readonly PayingDepository[]
  readonly caps: SigningCaps
  readonly held: Pick<HeldStore, 'keep' | 'isReleased' | 'forget'>
  readonly state: StateFiles
  /** The stops at quote-api. */
  readonly stops: Pick<ServiceStops, 'stopOf'>
  readonly firstBlock: bigint
  readonly report: RoundReport
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** One pass over the payloads that the allocator's contract issued. `Rounds` repeats it every few seconds. */
export interface AllocatorRound {
  /**
   * Reads newly final events, signs the payloads that may be signed, and stores the signatures in the contract.
   * @throws UpstreamDisagreementError, UpstreamUnavailableError, SignerFailedError; the next round goes on
   */
  run(signal: AbortSignal): Promise<void>
  /** Number of payloads whose signatures are not all stored in a final block. */
  pending(): number
  /** Last final block that was read. */
  readUpTo(): bigint | undefined
}

/** A signature to store, with the chain of the depository that the payload pays from: its stops are checked again. */
type PayerStoring = Storing & { readonly chain: string }

/** A round takes no further payload once it has so many signatures, as they are sent together. */
const storedPerRoundMax = 20
const refusedMax = 1_000

export const createAllocatorRound = (options: RoundOptions): AllocatorRound => new Round(options)

/**
 * A payload is pending from its event on. In each round it meets one of these ends:
 * - refused: it is dropped, and this run does not judge it again;
 * - held at a cap: it stays pending, is reported once, and is judged again in each round;
 * - signed and sent, or put off by a stop: it stays pending. While the newest block does not show a
 *   signature, the next round makes and sends it again. The caps count a payload once, by its id, however
 *   often that happens;
 * - settled: final blocks show all its signatures. It is dropped once the events up to that height are read.
 *
 * The position is written only while nothing is pending: a restart reads again from there, and so finds all
 * that is not done. Nothing is signed during a stop, above a cap that no operator lifted, or without the
 * money on the hub.
 */
class Round implements AllocatorRound {
  readonly #options: RoundOptions
  /** Issued payloads that are not done with, by id. */
  readonly #pending = new Map<Hex, IssuedEvent>()
  /** Ids of pending payloads that were reported as held. */
  readonly #reportedHeld = new Set<Hex>()
  /** Held payloads that are to be written where operators see them. */
  readonly #unwritten = new Map<Hex, HeldRecord>()
  /** Refused payloads, by id: another process may sign one later, once the hub has its money. */
  readonly #refused = createLruCache<IssuedEvent>(refusedMax)
  /** Pending payloads whose signatures are all stored, with the final height at which that was read. */
  readonly #settled = new Map<Hex, bigint>()
  /** Last block whose events were read. */
  #scanned: FinalBlock | undefined
  #isLoaded = false

  constructor(options: RoundOptions) {
    this.#options = options
  }

  async run(signal: AbortSignal): Promise<void> {
    const { store, state, stops } = this.#options
    if ((await state.readStop()) !== undefined) {
      // The operator's `resume` may remove the position file, so it is read again afterwards.
      this.#isLoaded = false
      return
    }
    await this.#load()
    if (!(await this.#scan(signal))) return
    const batch: PayerStoring[] = []
    for (const issued of [...this.#pending.values()]) {
      if (this.#settled.has(issued.payloadId)) continue
      if (batch.length >= storedPerRoundMax) break
      batch.push(...(await this.#signaturesOf(issued, signal)))
    }
    // A stop may have come while the batch was signed. The batch's signatures are then not stored, so that no
    // money moves, and are made again after the stop.
    if ((await state.readStop()) !== undefined) return
    const allowed: Storing[] = []
    for (const { chain, ...storing } of batch)
      if ((await stops.stopOf(chain)) === undefined) allowed.push(storing)
    await store.store(allowed, { signal })
    // Written last, because a full disk must not keep other payloads from being signed.
    await this.#keepHeld()
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
    this.#reportedHeld.clear()
    this.#unwritten.clear()
    this.#settled.clear()
    this.#isLoaded = true
  }

  /** Reads events up to the newest final block. @returns false when a final block changed, which stops the allocator */
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
      // No block has become final since.
      if (until === undefined) return true
      for (const event of issued) this.#pending.set(event.payloadId, event)
      // After the issued ones, which tell what a signature pays.
      for (const event of signed) this.#countForeign(event)
      this.#scanned = until
      for (const [payloadId, height] of this.#settled) if (height <= until.number) await this.#drop(payloadId)
      await this.#keepPosition()
    }
  }

  /**
   * Counts a stored signature that another process may have made with the same key, as caps hold for the key.
   * One that this process made was counted under the same payload id before, so it adds nothing.
   */
  #countForeign({ payloadId, blockSeconds }: SignedEvent): void {
    const { payers, caps } = this.#options
    const issued = this.#pending.get(payloadId) ?? this.#refused.get(payloadId)
    const verdict = issued && judge(issued, payers)
    if (verdict?.kind !== 'sign') return
    caps.count(countedValue(payloadId, verdict), Number(blockSeconds) * 1_000)
  }

  /** Writes the position only while no payload waits: the next start reads waiting ones again. */
  async #keepPosition(): Promise<void> {
    const { state } = this.#options
    if (this.#scanned !== undefined && this.#pending.size === 0) await state.writePosition(this.#scanned)
  }

  async #keepHeld(): Promise<void> {
    for (const [payloadId, record] of this.#unwritten) {
      await this.#options.held.keep(payloadId, record)
      this.#unwritten.delete(payloadId)
    }
  }

  async #forgetHeld(payloadId: Hex): Promise<void> {
    this.#reportedHeld.delete(payloadId)
    this.#unwritten.delete(payloadId)
    await this.#options.held.forget(payloadId)
  }

  async #drop(payloadId: Hex): Promise<void> {
    this.#pending.delete(payloadId)
    this.#settled.delete(payloadId)
    // An earlier run, too, may have held it.
    await this.#forgetHeld(payloadId)
  }

  /**
   * Drops a payload whose signatures are all stored, once the events up to `height` were read. The state may
   * be read a block ahead of the events, and these tell of signatures that other processes made, which count.
   */
  async #settle(payloadId: Hex, height: bigint): Promise<void> {
    if (this.#scanned !== undefined && height <= this.#scanned.number) await this.#drop(payloadId)
    else this.#settled.set(payloadId, height)
  }

  async #refuse(issued: IssuedEvent, reason: string): Promise<void> {
    const { report } = this.#options
    const { payloadId } = issued
    this.#refused.set(payloadId, issued)
    await this.#drop(payloadId)
    report.refused(payloadId, reason)
  }

  async #isAdmitted(payloadId: Hex, verdict: Signable): Promise<boolean> {
    const { caps, held, report, now } = this.#options
    const value = countedValue(payloadId, verdict)
    const capVerdict = caps.admit(value)
    if (capVerdict.kind !== 'held') {
      await this.#forgetHeld(payloadId)
      return true
    }
    if (await held.isReleased(payloadId)) {
      caps.exempt(value)
      await this.#forgetHeld(payloadId)
      report.released(payloadId)
      return true
    }
    if (this.#reportedHeld.has(payloadId)) return false
    this.#reportedHeld.add(payloadId)
    const { reason } = capVerdict.excess
    report.held(payloadId, verdict.payer, reason)
    const lets = [
      `${verdict.backing.amount} of hub token ${verdict.backing.hubTokenId} on ${verdict.payer.chain}`,
    ]
    const since = new Date(now()).toISOString()
    this.#unwritten.set(payloadId, { kind: 'payload', key: payloadId, lets, reason, since })
    return false
  }

  /** True while a held payload neither fits its cap nor was released: its state then need not be read. */
  async #isStillHeld(payloadId: Hex, verdict: Signable): Promise<boolean> {
    const { caps, held } = this.#options
    return caps.judge(countedValue(payloadId, verdict)).kind === 'held' && !(await held.isReleased(payloadId))
  }

  /**
   * Judges one payload and makes those of its signatures that are not stored yet. The order matters: stops, then the
   * caps, which count before the first signature, so that a killed process loses no count.
   */
  async #signaturesOf(issued: IssuedEvent, signal: AbortSignal): Promise<readonly PayerStoring[]> {
    const { contract, keys, payers, state, stops, report } = this.#options
    const { payloadId } = issued
    const verdict = judge(issued, payers)
    if (verdict.kind === 'refuse') {
      await this.#refuse(issued, verdict.reason)
      return []
    }
    const { hashes, backing } = verdict
    if (this.#reportedHeld.has(payloadId) && (await this.#isStillHeld(payloadId, verdict))) return []
    const hub = await contract.readPayload(issued, { hashes, backing }, { signal })
    // The endpoints of this reading may be behind those that told of the payload: it is read in the next round.
    if (hub.height < issued.blockNumber) return []
    if (hub.stored.every(({ isFinal }) => isFinal)) {
      await this.#settle(payloadId, hub.height)
      return []
    }
    const unsigned = hashes.flatMap((hash, index) =>
      hub.stored[index]?.isSeen === true ? [] : [{ hash, index }],
    )
    // All are stored, but not in a final block yet.
    if (unsigned.length === 0) return []
    const problem = backingProblem(issued, backing, hub)
    if (problem !== undefined) {
      await this.#refuse(issued, problem)
      return []
    }
    const { chain } = verdict.payer
    if ((await stops.stopOf(chain)) !== undefined) return []
    if (!(await this.#isAdmitted(payloadId, verdict))) return []
    const signed: PayerStoring[] = []
    for (const { hash, index } of unsigned) {
      if ((await state.readStop()) !== undefined) return []
      signed.push({ chain, payloadId, hash, signature: await keys.sign(issued, verdict, index, { signal }) })
    }
    report.signed(payloadId, verdict.payer)
    return signed
  }
}

function countedValue(payloadId: Hex, { backing }: Signable): CountedValue {
  return { key: payloadId, amounts: new Map([[backing.hubTokenId, backing.amount]]) }
}

/** `judgeIssued`, which refuses a payload that cannot be read: the contract that built it is not to be trusted. */
function judge(issued: IssuedPayload, payers: readonly PayingDepository[]): Verdict {
  try {
    return judgeIssued(issued, payers)
  } catch (error) {
    const isUnreadable =
      error instanceof InvalidWithdrawalError ||
      error instanceof InvalidWithdrawRequestError ||
      error instanceof InvalidAddressError
    if (isUnreadable) return { kind: 'refuse', reason: 'its payload cannot be read' }
    throw error
  }
}
