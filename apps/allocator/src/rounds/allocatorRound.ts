import {
  type FinalBlock,
  type Hex,
  InvalidAddressError,
  InvalidWithdrawalError,
  InvalidWithdrawRequestError,
} from '@causeway/core'
import type { CountedValue, HeldStore, SigningCaps } from '@causeway/signer'
import type { AllocatorContract, IssuedEvent, SignedEvent } from '../hub/allocatorContract.ts'
import type { ServiceStops } from '../hub/serviceStops.ts'
import type { SignatureStore, Storing } from '../hub/signatureStore.ts'
import type { PayloadKeys, Signable } from '../keys/payloadKeys.ts'
import { type IssuedPayload, judgeIssued, lacksBacking, type Verdict } from '../payloads/issued.ts'
import type { SignedPlace } from '../payloads/signedPlace.ts'
import type { StateFiles } from '../state/stateFiles.ts'

/** What a round did with a payload, for logs and metrics. */
export interface RoundReport {
  signed(payloadId: Hex, place: SignedPlace): void
  /** For good: it is not looked at again in this run. */
  refused(payloadId: Hex, reason: string): void
  /** Told once per payload. */
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

export function createAllocatorRound(options: RoundOptions): AllocatorRound {
  const { contract, store, keys, places, caps, held, state, stops, report, now } = options
  const pending = new Map<Hex, IssuedEvent>()
  const toldHeld = new Set<Hex>()
  /** Payloads whose signatures are all stored, by the final height that showed it. */
  const settled = new Map<Hex, bigint>()
  let scanned: FinalBlock | undefined
  let isLoaded = false

  async function load(): Promise<void> {
    if (isLoaded) return
    scanned = await state.readPosition()
    pending.clear()
    toldHeld.clear()
    settled.clear()
    isLoaded = true
  }

  /** @returns false when a final block changed */
  async function scan(signal: AbortSignal): Promise<boolean> {
    for (;;) {
      const from = scanned === undefined ? options.firstBlock : scanned.number + 1n
      const { issued, signed, until, parentHash } = await contract.readEvents(from, { signal })
      if (scanned !== undefined && parentHash !== undefined && parentHash !== scanned.hash) {
        const reason = `final block ${scanned.number} was ${scanned.hash} and is ${parentHash}`
        await state.stop({ reason, since: new Date(now()).toISOString(), isRewritten: true })
        report.rewritten(scanned, parentHash)
        return false
      }
      if (until === undefined) return true
      for (const event of issued) pending.set(event.payloadId, event)
      for (const event of signed) countForeign(event)
      scanned = until
      for (const [payloadId, height] of settled) if (height <= until.number) drop(payloadId)
      await keepPosition()
    }
  }

  /** What another process signed with the same key uses up the caps here too. */
  function countForeign({ payloadId, blockSeconds }: SignedEvent): void {
    const issued = pending.get(payloadId)
    const verdict = issued && judge(issued, places)
    if (verdict?.kind !== 'sign') return
    caps.count(countedValue(payloadId, verdict), Number(blockSeconds) * 1_000)
  }

  /** Behind the last block before which nothing waits: a run that ends loses no payload. */
  async function keepPosition(): Promise<void> {
    if (scanned !== undefined && pending.size === 0) await state.writePosition(scanned)
  }

  function drop(payloadId: Hex): void {
    pending.delete(payloadId)
    toldHeld.delete(payloadId)
    settled.delete(payloadId)
  }

  /** The state may be read a block ahead of the events: that it was signed, and when, those have yet to tell. */
  function settle(payloadId: Hex, height: bigint): void {
    if (scanned !== undefined && height <= scanned.number) drop(payloadId)
    else settled.set(payloadId, height)
  }

  function refuse(payloadId: Hex, reason: string): void {
    drop(payloadId)
    report.refused(payloadId, reason)
  }

  async function isAdmitted(payloadId: Hex, verdict: Signable): Promise<boolean> {
    const value = countedValue(payloadId, verdict)
    const answer = caps.admit(value)
    if (answer.kind !== 'held') return true
    if (await held.isReleased(payloadId)) {
      caps.exempt(value)
      await held.forget(payloadId)
      report.released(payloadId)
      return true
    }
    if (toldHeld.has(payloadId)) return false
    toldHeld.add(payloadId)
    const { reason } = answer.excess
    report.held(payloadId, verdict.place, reason)
    const lets = [
      `${verdict.backing.amount} of hub token ${verdict.backing.hubTokenId} on ${verdict.place.chain}`,
    ]
    const since = new Date(now()).toISOString()
    await held.keep(payloadId, { kind: 'payload', key: payloadId, lets, reason, since })
    return false
  }

  /** What waits at a cap is not read again before there is room for it. */
  async function isStillHeld(payloadId: Hex, verdict: Signable): Promise<boolean> {
    return caps.judge(countedValue(payloadId, verdict)).kind === 'held' && !(await held.isReleased(payloadId))
  }

  /** Signatures of one payload that are to be stored. Counted before they are made, so that a kill loses no count. */
  async function signaturesOf(
    issued: IssuedEvent,
    signal: AbortSignal,
  ): Promise<readonly (Storing & { readonly chain: string })[]> {
    const { payloadId } = issued
    const verdict = judge(issued, places)
    if (verdict.kind === 'refuse') {
      refuse(payloadId, verdict.reason)
      return []
    }
    const { hashes, backing } = verdict
    if (toldHeld.has(payloadId) && (await isStillHeld(payloadId, verdict))) return []
    const hub = await contract.readPayload(issued, { hashes, backing }, { signal })
    // Another majority of endpoints may be a little behind the one that told of the payload.
    if (hub.height < issued.blockNumber) return []
    if (hub.stored.every(({ isFinal }) => isFinal)) {
      settle(payloadId, hub.height)
      return []
    }
    const open = hashes.flatMap((hash, index) =>
      hub.stored[index]?.isSeen === true ? [] : [{ hash, index }],
    )
    if (open.length === 0) return []
    const lack = lacksBacking(issued, backing, hub)
    if (lack !== undefined) {
      refuse(payloadId, lack)
      return []
    }
    const { chain } = verdict.place
    if ((await stops.stopOf(chain)) !== undefined) return []
    if (!(await isAdmitted(payloadId, verdict))) return []
    const signed: (Storing & { readonly chain: string })[] = []
    for (const { hash, index } of open) {
      if ((await state.readStop()) !== undefined) return []
      signed.push({ chain, payloadId, hash, signature: await keys.sign(issued, verdict, index, { signal }) })
    }
    report.signed(payloadId, verdict.place)
    return signed
  }

  return {
    async run(signal) {
      if ((await state.readStop()) !== undefined) {
        // Whoever resumes it may have dropped what was read: the position on disk decides.
        isLoaded = false
        return
      }
      await load()
      if (!(await scan(signal))) return
      const batch: (Storing & { readonly chain: string })[] = []
      for (const issued of [...pending.values()]) {
        if (settled.has(issued.payloadId)) continue
        if (batch.length >= storedPerRoundMax) break
        batch.push(...(await signaturesOf(issued, signal)))
      }
      if ((await state.readStop()) !== undefined) return
      // A signature that is not stored moves nothing; what is left out is signed again after the stop.
      const going: Storing[] = []
      for (const { chain, ...storing } of batch)
        if ((await stops.stopOf(chain)) === undefined) going.push(storing)
      await store.store(going, { signal })
      await keepPosition()
    },
    pending: () => pending.size,
    readUpTo: () => scanned?.number,
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
