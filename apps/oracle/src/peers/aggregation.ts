import { type SignatureArray, verifyRows } from '@causeway/attestations'
import type { Hex, RecoverSigner } from '@causeway/core'
import {
  AnswerReader,
  type AnswerReaderOptions,
  type ReadAnswer,
  type RecognisedPayload,
} from './readAnswers.ts'
import { requiredSignatures, type SignerPolicy } from './settings.ts'
import { type Group, groupKey, SignerGroups } from './signerGroups.ts'

/** Peer that sent a response; `undefined` is this oracle itself. */
export type Source = { readonly peer: string } | undefined

/** An answer with the signatures that count, and how many that are. */
export type Aggregate<Response> = {
  /** Every signature recovered, ascending by signer, one per signer. */
  readonly response: Response
  /** Distinct counted signers. */
  readonly matched: number
  /** Value of `ORACLE_SIGNERS_THRESHOLD`; 1 without an allowlist, which knows no threshold. */
  readonly required: number
  /** Peers whose answers had no part in it, though they were readable. */
  readonly mismatched: readonly string[]
  /** Mismatched peers that held the execution back: their signed messages are true. */
  readonly held: readonly string[]
  /** Peers that signed as this oracle itself and as nobody else: one key stands in both. */
  readonly sharing: readonly string[]
  /** Answers of signers outside the allowlist, compared with this one. */
  readonly shadows: readonly ShadowAgreement[]
}

/** Agreement of an oracle that does not count yet. @source attestation-oracle.md, Authentication 6 */
export type ShadowAgreement = { readonly peer: string; readonly signer: Hex; readonly agrees: boolean }

/**
 * Gathers the responses to one request into groups of equal payload and domains. Pure: what it says
 * depends on the responses alone, and but for an early end not on their order.
 */
export interface Aggregation<Response> {
  /**
   * An answer from its text. Answers that differ in signatures alone share all that is not.
   * @throws SyntaxError, ZodError
   */
  read(text: string): ReadAnswer<Response>
  /** @returns true once a group holds the threshold: nothing else needs to be waited for */
  add(response: Response, source: Source): boolean
  /** Adds a peer's answer that was read here. */
  addRead(answer: ReadAnswer<Response>, peer: string): boolean
  /** `undefined` when there is no group to answer with. Call it once, when waiting is over. */
  conclude(): Aggregate<Response> | undefined
}

/** Outsiders of one answer that are compared; more of them is no shadow oracle. */
const shadowsPerAnswerMax = 4

/** @source oracle-protocol.md 7.2, 7.3 */
export const createAggregation = <Response extends object>(
  options: AggregationOptions<Response>,
): Aggregation<Response> => new GroupedAnswers(options)

type AggregationOptions<Response extends object> = AnswerReaderOptions<Response> & {
  readonly recover: RecoverSigner
  readonly policy: SignerPolicy
  /** Lower case. */
  readonly ownSigner: Hex
}

class GroupedAnswers<Response extends object> implements Aggregation<Response> {
  readonly #options: AggregationOptions<Response>
  readonly #reader: AnswerReader<Response>
  readonly #groups: SignerGroups<Response>
  readonly #keysOfPeers = new Map<string, Set<string>>()
  readonly #sharing: string[] = []
  readonly #shadows: {
    readonly peer: string
    readonly signer: Hex
    readonly key: string
    readonly payload: Response
  }[] = []
  #local: { readonly response: Response; readonly payload: Response; key?: string } | undefined

  constructor(options: AggregationOptions<Response>) {
    const { kind, policy } = options
    this.#options = options
    this.#reader = new AnswerReader(options)
    this.#groups = new SignerGroups({ kind, policy, reader: this.#reader })
  }

  read(text: string): ReadAnswer<Response> {
    return this.#reader.readText(text)
  }

  add(received: Response, source: Source): boolean {
    if (this.#groups.complete !== undefined) return true
    const answer = this.#reader.read(received)
    if (source === undefined) this.#local = { response: received, payload: answer.payload }
    return this.#judge(answer, source)
  }

  addRead(answer: ReadAnswer<Response>, peer: string): boolean {
    return this.#judge(answer, { peer })
  }

  conclude(): Aggregate<Response> | undefined {
    const { kind, context, policy } = this.#options
    const [groups, local, sharing] = [this.#groups, this.#local, this.#sharing]
    const winner = groups.conclude(local?.key)
    const required = requiredSignatures(policy)
    if (winner === undefined) {
      // A payload without any signature array: no deposits. Only our own word for it is passed on.
      const isUnsigned = local !== undefined && kind.signatureArrays(local.payload, context).length === 0
      if (local === undefined || !isUnsigned) return undefined
      const nobody = { mismatched: [], held: [], sharing, shadows: [] }
      return { response: local.response, matched: 0, required, ...nobody }
    }
    const peersOf = (isOne: (keys: ReadonlySet<string>) => boolean) =>
      [...this.#keysOfPeers].filter(([, keys]) => isOne(keys)).map(([peer]) => peer)
    return {
      response: kind.withSignatures(withEvidence(winner, local?.response), signaturesOf(winner)),
      matched: winner.rows.size,
      required,
      mismatched: peersOf((keys) => !groups.haveExecutionOrMessage(keys, winner)),
      held: peersOf((keys) => groups.isHeldUnder(keys)),
      sharing,
      shadows: this.#shadows.map(({ peer, signer, key, payload }) => ({
        ...{ peer, signer },
        agrees: key === winner.key || groups.haveSameMessage(payload, winner.payload),
      })),
    }
  }

  #judge({ payload, known, claims }: ReadAnswer<Response>, source: Source): boolean {
    const { recover, ownSigner } = this.#options
    const groups = this.#groups
    if (groups.complete !== undefined) return true
    const keys = new Set<string>()
    if (source !== undefined) this.#keysOfPeers.set(source.peer, keys)
    if (source !== undefined && !known.isAbout) return false
    const arrays = claims.map((list, index) => ({ ...arrayAt(known, index), claims: list }))
    const paths = arrays.map(({ path }) => path)
    const rows = verifyRows(arrays, { isWanted: wantedSigners(arrays, source, groups), recover })
    if (source !== undefined && rows.length > 0 && rows.every(({ signer }) => signer === ownSigner))
      this.#sharing.push(source.peer)
    // Without its execution an answer is what anybody can make of another's: it speaks for one signer.
    for (const row of known.isHeld ? rows.slice(0, 1) : rows) {
      const key = groupKey(known, row)
      keys.add(key)
      if (groups.isAllowed(row.signer)) {
        const isCounted = groups.count({ row, key, payload, paths, isLocal: source === undefined })
        if (isCounted && source === undefined && this.#local !== undefined) this.#local.key = key
      } else if (source !== undefined)
        this.#shadows.push({ peer: source.peer, signer: row.signer, key, payload })
    }
    return groups.complete !== undefined
  }
}

/** Listed signers, and of a peer a few others: its own signer may be in shadow mode. */
function wantedSigners(
  arrays: readonly SignatureArray[],
  source: Source,
  groups: { isAllowed(signer: Hex): boolean },
): (signer: Hex) => boolean {
  const declared = new Set(arrays[0]?.claims.map(({ signer }) => signer))
  const outsiders = source === undefined ? [] : [...declared].filter((signer) => !groups.isAllowed(signer))
  const compared = new Set(outsiders.slice(0, shadowsPerAnswerMax))
  return (signer) => groups.isAllowed(signer) || compared.has(signer)
}

/** @throws RangeError for a place that equal payloads cannot have: a bug */
function arrayAt({ arrays }: RecognisedPayload, index: number): SignatureArray {
  const array = arrays[index]
  if (array === undefined) throw new RangeError('equal payloads have equal signature arrays')
  return array
}

/** All signatures of a group by their place, ascending by signer. */
function signaturesOf<Response>({ rows, paths }: Group<Response>) {
  const ascending = [...rows.values()].sort((a, b) => (a.signer < b.signer ? -1 : 1))
  return (path: string) => {
    const at = paths.indexOf(path)
    return ascending.flatMap(({ claims }) => claims.slice(at, at + 1))
  }
}

/** Evidence is this oracle's own observation, and only of the payload that it saw itself. */
function withEvidence<Response extends object>(
  { payload, hasLocal }: Group<Response>,
  local: Response | undefined,
): Response {
  if (!hasLocal || local === undefined || !('evidence' in local) || local.evidence === undefined)
    return payload
  return { ...payload, evidence: local.evidence }
}
