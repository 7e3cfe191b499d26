import type { AttestationKind, ProvenRow } from '@causeway/attestations'
import { canonicalJson, type Hex, sha256TextHex } from '@causeway/core'
import type { AnswerReader, RecognisedPayload } from './readAnswers.ts'
import type { SignerPolicy } from './settings.ts'

/** The signers of one payload in the same domains: their signatures count together. */
export type Group<Response> = {
  /** See `groupKey`. */
  readonly key: string
  readonly payload: Response
  /** Paths of the payload's signature arrays, in the order of each row's claims. */
  readonly paths: readonly string[]
  /** By signer. */
  readonly rows: Map<Hex, ProvenRow>
  /** True if this oracle's own answer has this payload, and not only the same message. */
  hasLocal: boolean
}

/** A signer's verified row, and the group to which it belongs. */
type Counted<Response> = Pick<Group<Response>, 'key' | 'payload' | 'paths'> & {
  readonly row: ProvenRow
  /** True for the row of this oracle's own answer. */
  readonly isLocal: boolean
}

/**
 * Groups of an `Aggregation`. It counts verified signers until one group with an execution reaches the
 * threshold. If none does, `conclude` first counts signers of message and execution also for the message
 * alone. Example: two are required, A signed both, and B, at its cap, the message: the answer is the message
 * with the signatures of A and B.
 */
export class SignerGroups<Response extends object> {
  readonly #kind: AttestationKind<Response>
  readonly #policy: SignerPolicy
  readonly #reader: AnswerReader<Response>
  readonly #groups = new Map<string, Group<Response>>()
  #complete: Group<Response> | undefined

  constructor(parts: {
    readonly kind: AttestationKind<Response>
    readonly policy: SignerPolicy
    readonly reader: AnswerReader<Response>
  }) {
    this.#kind = parts.kind
    this.#policy = parts.policy
    this.#reader = parts.reader
  }

  /** The group that reached the threshold; nothing is counted after that. */
  get complete(): Group<Response> | undefined {
    return this.#complete
  }

  isAllowed(signer: Hex): boolean {
    const { signers } = this.#policy
    return signers === undefined || signers.has(signer)
  }

  /** Counts a row in its group. @returns false when a group is complete already */
  count({ row, key, payload, paths, isLocal }: Counted<Response>): boolean {
    if (this.#complete !== undefined) return false
    const { signers, threshold } = this.#policy
    const group = this.#groups.get(key) ?? { key, payload, paths, rows: new Map(), hasLocal: false }
    this.#groups.set(key, group)
    if (isLocal) group.hasLocal = true
    if (!group.rows.has(row.signer)) group.rows.set(row.signer, row)
    // Without `ORACLE_SIGNERS` every peer is waited for. A group whose execution is held never completes: another one
    // with an execution may still come.
    const canComplete = signers !== undefined && !this.#kind.isHeld(group.payload)
    if (canComplete && group.rows.size >= threshold) this.#complete = group
    return true
  }

  /**
   * The group to answer with when waiting is over.
   * @param localKey key of this oracle's own group, the only one that counts without `ORACLE_SIGNERS`
   */
  conclude(localKey: string | undefined): Group<Response> | undefined {
    if (this.#complete !== undefined) return this.#complete
    this.#lendMessages()
    const { signers, threshold } = this.#policy
    if (signers === undefined) return localKey === undefined ? undefined : this.#groups.get(localKey)
    return [...this.#groups.values()].sort(byStrength(this.#kind, threshold))[0]
  }

  /**
   * Counts signers of message and execution also in the group of the message alone, which peers at their cap have
   * signed: the message may then reach the threshold.
   */
  #lendMessages(): void {
    const groups = [...this.#groups.values()]
    if (!groups.some(({ payload }) => this.#kind.isHeld(payload))) return
    for (const { rows, paths, payload } of groups) {
      const message = this.#reader.messageOf(payload)
      if (message === undefined) continue
      const indices = message.arrays.map(({ path }) => paths.indexOf(path))
      for (const row of rows.values()) this.#lend(message, pickArrays(row, indices))
    }
  }

  /** Counts a row in the group of a message without its execution, if a peer's answer has made that group. */
  #lend(message: RecognisedPayload, row: ProvenRow): void {
    const group = this.#groups.get(groupKey(message, row))
    if (group !== undefined && !group.rows.has(row.signer)) group.rows.set(row.signer, row)
  }

  /**
   * True if a peer with rows in these groups signed what the winner says: its payload or, where that is a message whose
   * execution is held, the same message with an execution.
   */
  haveSigned(keys: ReadonlySet<string>, winner: Group<Response>): boolean {
    if (keys.has(winner.key)) return true
    if (!this.#kind.isHeld(winner.payload)) return false
    const text = this.#kind.unsignedPayload(winner.payload)
    return [...keys].some((key) => {
      const group = this.#groups.get(key)
      return group !== undefined && this.#reader.messageOf(group.payload)?.text === text
    })
  }

  /**
   * True if the messages are equal and only one of the answers has its execution: the facts agree, and the
   * other execution was held.
   */
  haveSameMessage(one: Response, other: Response): boolean {
    const { isHeld, unsignedPayload } = this.#kind
    if (isHeld(one) === isHeld(other)) return false
    const textOf = (payload: Response) =>
      isHeld(payload) ? unsignedPayload(payload) : this.#reader.messageOf(payload)?.text
    return textOf(one) === textOf(other)
  }

  /** True if one of these groups has a held execution. */
  isHeldUnder(keys: ReadonlySet<string>): boolean {
    return [...keys].some((key) => {
      const group = this.#groups.get(key)
      return group !== undefined && this.#kind.isHeld(group.payload)
    })
  }
}

/** The row reduced to the arrays at these indices. */
function pickArrays({ signer, claims, domains }: ProvenRow, indices: readonly number[]): ProvenRow {
  return {
    signer,
    claims: indices.flatMap((index) => claims.slice(index, index + 1)),
    domains: indices.flatMap((index) => domains.slice(index, index + 1)),
  }
}

/**
 * Order of groups when none with an execution reached the threshold: first a message alone that reached it, then groups
 * with an execution, then more signers, then the group of this oracle, then the smaller key.
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

/** Key of the group of a payload and the domains of a row. */
export function groupKey({ text, arrays, keys }: RecognisedPayload, { domains }: ProvenRow): string {
  const joined = domains.join(' ')
  const cachedKey = keys.get(joined)
  if (cachedKey !== undefined) return cachedKey
  const key = sha256TextHex(canonicalJson([text, arrays.map(({ path }, index) => [path, domains[index]])]))
  keys.set(joined, key)
  return key
}
