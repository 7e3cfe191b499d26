import { type ProvenRow, type SignatureArray, verifyRows } from '@causeway/attestations'
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

/** The answer to a request with the signatures that count, and what became of each peer's. */
export type Aggregate<Response> = {
  /** One verified signature per signer, ascending by signer. */
  readonly response: Response
  /** Number of those signers. */
  readonly matched: number
  /** `ORACLE_SIGNERS_THRESHOLD`; 1 without `ORACLE_SIGNERS`. */
  readonly required: number
  /** Peers whose readable answers contributed no signature. */
  readonly mismatched: readonly string[]
  /** Peers that signed the message and held the execution, mostly at a cap; their messages are true. */
  readonly held: readonly string[]
  /** Peers that signed with this oracle's own key alone: two oracles wrongly share it. */
  readonly sharing: readonly string[]
  /** Comparison with answers of signers that are not in `ORACLE_SIGNERS`. */
  readonly shadows: readonly ShadowAgreement[]
}

/** Comparison with an oracle that does not count yet (in shadow mode). @source rules O-auth-06, O-108 */
export type ShadowAgreement = { readonly peer: string; readonly signer: Hex; readonly agrees: boolean }

/**
 * Groups the responses to one request by equal payload (the response without signatures) and equal domains
 * (the contracts for which executions are signed), and counts the signers of each group. Pure: the result
 * depends on the responses alone, and not on their order, except that the first group with a quorum ends it.
 * Every message and the execution have an array of signatures each, unless the execution is held; an entry is
 * a claim until it is verified. A row is all that one signer of a response has signed: his verified claims,
 * one in each array.
 */
export interface Aggregation<Response> {
  /**
   * Parses a peer's answer. Answers that differ only in signatures share the work on everything else.
   * @throws SyntaxError, ZodError
   */
  read(text: string): ReadAnswer<Response>
  /** Adds a response. @returns true once a group has a quorum: no further answer needs to be waited for */
  add(response: Response, source: Source): boolean
  /** As `add`, for a peer's answer that `read` has parsed. */
  addRead(answer: ReadAnswer<Response>, peer: string): boolean
  /**
   * The result: the group with a quorum, else the strongest one; without `ORACLE_SIGNERS` only this oracle's
   * own group. `undefined` when no counted signer answered. Call it once, when waiting is over.
   */
  conclude(): Aggregate<Response> | undefined
}

/** Most unlisted signers of one answer that are compared: a shadow oracle signs as one, so this bounds the work. */
const shadowsPerAnswerMax = 4

/** @source rules O-quorum-02 to O-quorum-05, O-quorum-07, P-131 */
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
  /** By peer, the keys of the groups in which its answer has rows. */
  readonly #groupKeysByPeer = new Map<string, Set<string>>()
  readonly #sharing: string[] = []
  readonly #shadows: {
    readonly peer: string
    readonly signer: Hex
    readonly key: string
    readonly payload: Response
  }[] = []
  /** This oracle's own response, and the key of its group. */
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
      // The transaction has no deposits, so there is nothing to sign. Only this oracle's own answer is given then.
      const isUnsigned = local !== undefined && kind.signatureArrays(local.payload, context).length === 0
      if (local === undefined || !isUnsigned) return undefined
      const nobody = { mismatched: [], held: [], sharing, shadows: [] }
      return { response: local.response, matched: 0, required, ...nobody }
    }
    const peersWhose = (fits: (groupKeys: ReadonlySet<string>) => boolean) =>
      [...this.#groupKeysByPeer].filter(([, groupKeys]) => fits(groupKeys)).map(([peer]) => peer)
    return {
      response: kind.withSignatures(withEvidence(winner, local?.response), signaturesOf(winner)),
      matched: winner.rows.size,
      required,
      mismatched: peersWhose((keys) => !groups.haveSigned(keys, winner)),
      held: peersWhose((keys) => groups.isHeldUnder(keys)),
      sharing,
      shadows: this.#shadows.map(({ peer, signer, key, payload }) => ({
        peer,
        signer,
        agrees: key === winner.key || groups.haveSameMessage(payload, winner.payload),
      })),
    }
  }

  /** Verifies the signers of an answer and counts each in its group. @returns true once a group has a quorum */
  #judge(answer: ReadAnswer<Response>, source: Source): boolean {
    const { payload, known } = answer
    const groups = this.#groups
    if (groups.complete !== undefined) return true
    const groupKeys = new Set<string>()
    if (source !== undefined) this.#groupKeysByPeer.set(source.peer, groupKeys)
    // A peer may have answered another question; this oracle's own answer is about the request by construction.
    if (source !== undefined && !known.isAbout) return false
    const arrays = answer.claims.map((claims, index) => ({ ...arrayAt(known, index), claims }))
    const paths = arrays.map(({ path }) => path)
    const rows = this.#verifiedRows(arrays, source)
    // A peer can leave out the execution of other oracles' answers and then change what no signature of a
    // message covers, such as a deposit's time. So an answer without its execution counts for one signer.
    for (const row of known.isHeld ? rows.slice(0, 1) : rows) {
      const key = groupKey(known, row)
      groupKeys.add(key)
      if (groups.isAllowed(row.signer)) {
        const isCounted = groups.count({ row, key, payload, paths, isLocal: source === undefined })
        if (isCounted && source === undefined && this.#local !== undefined) this.#local.key = key
      } else if (source !== undefined)
        this.#shadows.push({ peer: source.peer, signer: row.signer, key, payload })
    }
    return groups.complete !== undefined
  }

  #verifiedRows(arrays: readonly SignatureArray[], source: Source): readonly ProvenRow[] {
    const { recover, ownSigner } = this.#options
    const rows = verifyRows(arrays, { isWanted: wantedSigners(arrays, source, this.#groups), recover })
    const isOwnAlone = rows.length > 0 && rows.every(({ signer }) => signer === ownSigner)
    if (source !== undefined && isOwnAlone) this.#sharing.push(source.peer)
    return rows
  }
}

/** Signers whose signatures are verified: listed ones and, in a peer's answer, a few others that may be in shadow mode. */
function wantedSigners(
  arrays: readonly SignatureArray[],
  source: Source,
  groups: { isAllowed(signer: Hex): boolean },
): (signer: Hex) => boolean {
  // A signer counts only with a signature in every array, so the first array names them all.
  const declared = new Set(arrays[0]?.claims.map(({ signer }) => signer))
  const outsiders = source === undefined ? [] : [...declared].filter((signer) => !groups.isAllowed(signer))
  const compared = new Set(outsiders.slice(0, shadowsPerAnswerMax))
  return (signer) => groups.isAllowed(signer) || compared.has(signer)
}

/** @throws RangeError for an index that equal payloads cannot have: a bug */
function arrayAt({ arrays }: RecognisedPayload, index: number): SignatureArray {
  const array = arrays[index]
  if (array === undefined) throw new RangeError('equal payloads have equal signature arrays')
  return array
}

/** All signatures of a group by the path of their array, ascending by signer. */
function signaturesOf<Response>({ rows, paths }: Group<Response>) {
  const ascending = [...rows.values()].sort((a, b) => (a.signer < b.signer ? -1 : 1))
  return (path: string) => {
    const index = paths.indexOf(path)
    // Each signer's one signature in that array.
    return ascending.flatMap(({ claims }) => claims.slice(index, index + 1))
  }
}

/** Adds this oracle's evidence to the payload, if it is the payload that this oracle has attested itself. */
function withEvidence<Response extends object>(
  { payload, hasLocal }: Group<Response>,
  local: Response | undefined,
): Response {
  if (!hasLocal || local === undefined || !('evidence' in local) || local.evidence === undefined)
    return payload
  return { ...payload, evidence: local.evidence }
}
