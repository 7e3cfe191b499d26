import {
  type AttestationKind,
  canonicalJson,
  type Hex,
  type ProvenRow,
  type RecoverSigner,
  type SignatureArray,
  type SignatureClaim,
  type SignatureContext,
  sha256TextHex,
  verifyRows,
} from '@causeway/core'
import type { SignerPolicy } from './settings.ts'
import { cutSignatures, findGaps } from './signatureGaps.ts'

/** Where a response came from: `undefined` is this oracle itself. */
export type Source = { readonly peer: string } | undefined

/** An answer with the signatures that count, and how many that are. */
export type Aggregate<Response> = {
  /** Every signature recovered, ascending by signer, one per signer. */
  readonly response: Response
  /** Distinct counted signers. */
  readonly matched: number
  /** What `ORACLE_SIGNERS_THRESHOLD` asks for; 1 without an allowlist, which knows no threshold. */
  readonly required: number
  /** Peers whose answers had no part in it, though they were readable. */
  readonly mismatched: readonly string[]
  /** Of these, who held the execution: what they signed is true as far as it goes. */
  readonly held: readonly string[]
  /** What signers outside the allowlist said, compared with the answer. */
  readonly shadows: readonly ShadowAgreement[]
}

/** Whether an oracle that does not count yet says the same. @source attestation-oracle.md, Authentication 6 */
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
  /** The same for an answer that was read here. */
  addRead(answer: ReadAnswer<Response>, peer: string): boolean
  /** `undefined` when there is no group to answer with. Call it once, when waiting is over. */
  conclude(): Aggregate<Response> | undefined
}

/** One payload with one set of domains, and who signed it. */
type Group<Response> = {
  readonly key: string
  readonly payload: Response
  readonly paths: readonly string[]
  readonly rows: Map<Hex, ProvenRow>
  hasLocal: boolean
}

/** A payload that is known, and the signatures that came with it. */
export type ReadAnswer<Response> = {
  readonly payload: Response
  readonly known: KnownPayload
  /** One list per signature array, in document order. */
  readonly claims: readonly (readonly SignatureClaim[])[]
}

/** What an answer is beside its signatures, and in which of its gaps each array stands. */
type Mould<Response> = {
  readonly payload: Response
  readonly known: KnownPayload
  readonly gaps: readonly number[]
}

type KnownPayload = {
  /** Canonical JSON. */
  readonly text: string
  /** Without signatures; they remember the digests. */
  readonly arrays: readonly SignatureArray[]
  readonly isAbout: boolean
  readonly isHeld: boolean
  /** Keys of groups by the domains of their rows. */
  readonly keys: Map<string, string>
}

/** Outsiders of one answer that are compared; more of them is no shadow oracle. */
const shadowsPerAnswerMax = 4

/** @source oracle-protocol.md 7.2, 7.3 */
export function createAggregation<Response extends object>(options: {
  kind: AttestationKind<Response>
  context: SignatureContext
  recover: RecoverSigner
  policy: SignerPolicy
  /** The validated body: answers of peers about anything else have no part. */
  request: Readonly<Record<string, unknown>>
}): Aggregation<Response> {
  const { kind, context, recover, policy, request } = options
  const { signers: allowed, threshold } = policy
  const groups = new Map<string, Group<Response>>()
  /** What is computed of a payload is computed once, whoever sends it. */
  const known = new Map<string, KnownPayload>()
  /** By the text as it came: equal answers of equal programs are equal in it, and it costs less. */
  const byPlainText = new Map<string, KnownPayload>()
  const keysOfPeers = new Map<string, Set<string>>()
  const shadows: { readonly peer: string; readonly signer: Hex; readonly key: string }[] = []
  let local: { readonly response: Response; readonly payload: Response; key?: string } | undefined
  let complete: Group<Response> | undefined

  /** By text without signatures. */
  const moulds = new Map<string, Mould<Response>>()

  function read(text: string): ReadAnswer<Response> {
    const { frame, entries } = cutSignatures(text)
    const mould = moulds.get(frame)
    if (mould === undefined) {
      const answer = readResponse(kind.responseSchema.parse(JSON.parse(text)))
      const gaps = findGaps(frame, answer.known.arrays)
      if (gaps !== undefined) moulds.set(frame, { ...answer, gaps })
      return answer
    }
    const { payload, known, gaps } = mould
    const claims = known.arrays.map((array, index) =>
      array.readClaims(JSON.parse(entries[gaps[index] ?? -1] ?? '')),
    )
    return { payload, known, claims }
  }

  function readResponse(received: Response): ReadAnswer<Response> {
    const response = kind.normalise(received, context.networkOf)
    const payload = kind.withSignatures(response, () => [])
    const claims = kind.signatureArrays(response, context).map((array) => array.claims)
    return { payload, known: recognise(payload), claims }
  }

  function add(received: Response, source: Source): boolean {
    if (complete !== undefined) return true
    const answer = readResponse(received)
    if (source === undefined) local = { response: received, payload: answer.payload }
    return judge(answer, source)
  }

  function judge({ payload, known: seen, claims }: ReadAnswer<Response>, source: Source): boolean {
    if (complete !== undefined) return true
    if (source !== undefined) keysOfPeers.set(source.peer, new Set())
    if (source !== undefined && !seen.isAbout) return false
    const arrays = claims.map((list, index) => ({ ...arrayAt(seen, index), claims: list }))
    const rows = verifyRows(arrays, { isWanted: wanted(arrays, source), recover })
    // Without its execution an answer is what anybody can make of another's: it speaks for one signer.
    for (const row of seen.isHeld ? rows.slice(0, 1) : rows) {
      const key = groupKey(seen, row)
      if (source !== undefined) keysOfPeers.get(source.peer)?.add(key)
      if (isAllowed(row.signer)) count(row, key, payload, arrays, source === undefined)
      else if (source !== undefined) shadows.push({ peer: source.peer, signer: row.signer, key })
    }
    return complete !== undefined
  }

  function count(
    row: ProvenRow,
    key: string,
    payload: Response,
    arrays: readonly SignatureArray[],
    isLocal: boolean,
  ): void {
    if (complete !== undefined) return
    let group = groups.get(key)
    if (group === undefined) {
      group = { key, payload, paths: arrays.map(({ path }) => path), rows: new Map(), hasLocal: false }
      groups.set(key, group)
    }
    if (isLocal && local !== undefined) {
      group.hasLocal = true
      local.key = key
    }
    if (!group.rows.has(row.signer)) group.rows.set(row.signer, row)
    // A message alone is waited for to the end: an answer that can be executed is worth more.
    const isWhole = !kind.isHeld(group.payload)
    if (allowed !== undefined && isWhole && group.rows.size >= threshold) complete = group
  }

  /** An answer without its execution; `undefined` where nothing is left to sign, or there is none. */
  function messageOf(payload: Response): KnownPayload | undefined {
    if (kind.executionOf(payload) === undefined) return undefined
    const message = recognise(kind.withoutExecution(payload))
    return message.arrays.length === 0 ? undefined : message
  }

  /** Who signed message and execution signed the message: where others hold the execution, it counts there. */
  function lendMessages(): void {
    const known = [...groups.values()]
    if (!known.some(({ payload }) => kind.isHeld(payload))) return
    for (const { rows, paths, payload } of known) {
      const message = messageOf(payload)
      if (message === undefined) continue
      const places = message.arrays.map(({ path }) => paths.indexOf(path))
      for (const row of rows.values()) {
        const { signer } = row
        const claims = places.flatMap((at) => row.claims.slice(at, at + 1))
        const domains = places.flatMap((at) => row.domains.slice(at, at + 1))
        const group = groups.get(groupKey(message, { signer, claims, domains }))
        if (group !== undefined && !group.rows.has(signer))
          group.rows.set(signer, { signer, claims, domains })
      }
    }
  }

  function isAllowed(signer: Hex): boolean {
    return allowed === undefined || allowed.has(signer)
  }

  /** Listed signers, and of a peer a few others: its own signer may be in shadow mode. */
  function wanted(arrays: readonly SignatureArray[], source: Source): (signer: Hex) => boolean {
    const declared = new Set(arrays[0]?.claims.map(({ signer }) => signer))
    const outsiders = source === undefined ? [] : [...declared].filter((signer) => !isAllowed(signer))
    const compared = new Set(outsiders.slice(0, shadowsPerAnswerMax))
    return (signer) => isAllowed(signer) || compared.has(signer)
  }

  function recognise(payload: Response): KnownPayload {
    const plain = JSON.stringify(payload)
    const same = byPlainText.get(plain)
    if (same !== undefined) return same
    const text = kind.unsignedPayload(payload)
    const found = known.get(text) ?? {
      text,
      arrays: kind.signatureArrays(payload, context),
      isAbout: kind.isAbout(payload, request, context.networkOf),
      isHeld: kind.isHeld(payload),
      keys: new Map<string, string>(),
    }
    known.set(text, found)
    byPlainText.set(plain, found)
    return found
  }

  function conclude(): Aggregate<Response> | undefined {
    if (complete === undefined) lendMessages()
    const winner = complete ?? strongest()
    const required = allowed === undefined ? 1 : threshold
    if (winner === undefined) {
      // A payload without any signature array: no deposits. Only our own word for it is passed on.
      const isUnsigned = local !== undefined && kind.signatureArrays(local.payload, context).length === 0
      if (local === undefined || !isUnsigned) return undefined
      return { response: local.response, matched: 0, required, mismatched: [], held: [], shadows: [] }
    }
    return {
      response: answerOf(winner),
      matched: winner.rows.size,
      required,
      mismatched: [...keysOfPeers].filter(([, keys]) => !hasPart(keys, winner)).map(([peer]) => peer),
      held: [...keysOfPeers].filter(([, keys]) => isOfHeld(keys)).map(([peer]) => peer),
      shadows: shadows.map(({ key, ...shadow }) => ({ ...shadow, agrees: key === winner.key })),
    }
  }

  function hasPart(keys: ReadonlySet<string>, winner: Group<Response>): boolean {
    if (keys.has(winner.key)) return true
    if (!kind.isHeld(winner.payload)) return false
    const text = kind.unsignedPayload(winner.payload)
    return [...keys].some((key) => {
      const group = groups.get(key)
      return group !== undefined && messageOf(group.payload)?.text === text
    })
  }

  function isOfHeld(keys: ReadonlySet<string>): boolean {
    return [...keys].some((key) => {
      const group = groups.get(key)
      return group !== undefined && kind.isHeld(group.payload)
    })
  }

  function strongest(): Group<Response> | undefined {
    if (allowed === undefined) return local?.key === undefined ? undefined : groups.get(local.key)
    return [...groups.values()].sort(byStrength(kind, threshold))[0]
  }

  /** Evidence is this oracle's own observation, and only of the payload that it saw itself. */
  function answerOf(group: Group<Response>): Response {
    const rows = [...group.rows.values()].sort((a, b) => (a.signer < b.signer ? -1 : 1))
    const evidence = group.hasLocal && local !== undefined ? evidenceOf(local.response) : {}
    return kind.withSignatures({ ...group.payload, ...evidence }, (path) => {
      const at = group.paths.indexOf(path)
      return rows.flatMap(({ claims }) => claims.slice(at, at + 1))
    })
  }

  return { read, add, addRead: (answer, peer) => judge(answer, { peer }), conclude }
}

/**
 * A message that enough signed, where no execution has as many; then what can be executed; then most rows, the
 * group of this oracle, the smallest key.
 */
function byStrength<Response>(
  { isHeld }: Pick<AttestationKind<Response>, 'isHeld'>,
  threshold: number,
): (a: Group<Response>, b: Group<Response>) => number {
  const rankOf = ({ rows, payload }: Group<Response>) => {
    if (rows.size >= threshold) return 0
    return isHeld(payload) ? 2 : 1
  }
  return (a, b) => {
    if (rankOf(a) !== rankOf(b)) return rankOf(a) - rankOf(b)
    if (a.rows.size !== b.rows.size) return b.rows.size - a.rows.size
    if (a.hasLocal !== b.hasLocal) return a.hasLocal ? -1 : 1
    return a.key < b.key ? -1 : 1
  }
}

function groupKey({ text, arrays, keys }: KnownPayload, { domains }: ProvenRow): string {
  const joined = domains.join(' ')
  const known = keys.get(joined)
  if (known !== undefined) return known
  const key = sha256TextHex(canonicalJson([text, arrays.map(({ path }, index) => [path, domains[index]])]))
  keys.set(joined, key)
  return key
}

/** @throws RangeError for a place that equal payloads cannot have: a bug */
function arrayAt({ arrays }: KnownPayload, index: number): SignatureArray {
  const array = arrays[index]
  if (array === undefined) throw new RangeError('equal payloads have equal signature arrays')
  return array
}

function evidenceOf(response: object): { evidence?: unknown } {
  return 'evidence' in response && response.evidence !== undefined ? { evidence: response.evidence } : {}
}
