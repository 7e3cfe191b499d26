import type { AttestationKind, ProvenRow } from '@causeway/attestations'
import { canonicalJson, type Hex, sha256TextHex } from '@causeway/core'
import type { AnswerReader, RecognisedPayload } from './readAnswers.ts'
import type { SignerPolicy } from './settings.ts'

/** One payload with one set of domains, and who signed it. */
export type Group<Response> = {
  readonly key: string
  readonly payload: Response
  readonly paths: readonly string[]
  readonly rows: Map<Hex, ProvenRow>
  hasLocal: boolean
}

type Counted<Response> = Pick<Group<Response>, 'key' | 'payload' | 'paths'> & {
  readonly row: ProvenRow
  readonly isLocal: boolean
}

/** Signatures grouped by their message, until one group holds the threshold. */
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

  /** The group that holds the threshold: nothing is counted any more. */
  get complete(): Group<Response> | undefined {
    return this.#complete
  }

  isAllowed(signer: Hex): boolean {
    const { signers } = this.#policy
    return signers === undefined || signers.has(signer)
  }

  /** @returns whether it was counted */
  count({ row, key, payload, paths, isLocal }: Counted<Response>): boolean {
    if (this.#complete !== undefined) return false
    const { signers, threshold } = this.#policy
    const group = this.#groups.get(key) ?? { key, payload, paths, rows: new Map(), hasLocal: false }
    this.#groups.set(key, group)
    if (isLocal) group.hasLocal = true
    if (!group.rows.has(row.signer)) group.rows.set(row.signer, row)
    // A message alone is waited for to the end: an answer that can be executed is worth more.
    const isWhole = !this.#kind.isHeld(group.payload)
    if (signers !== undefined && isWhole && group.rows.size >= threshold) this.#complete = group
    return true
  }

  /**
   * The group to answer with when waiting is over.
   * @param localKey of this oracle's own group: without an allowlist the only one that counts
   */
  conclude(localKey: string | undefined): Group<Response> | undefined {
    if (this.#complete !== undefined) return this.#complete
    this.#lendMessages()
    const { signers, threshold } = this.#policy
    if (signers === undefined) return localKey === undefined ? undefined : this.#groups.get(localKey)
    return [...this.#groups.values()].sort(byStrength(this.#kind, threshold))[0]
  }

  /**
   * Counts a signer of message and execution in the group of the message alone as well, because peers at their cap hold
   * the execution back.
   */
  #lendMessages(): void {
    const groups = [...this.#groups.values()]
    if (!groups.some(({ payload }) => this.#kind.isHeld(payload))) return
    for (const { rows, paths, payload } of groups) {
      const message = this.#reader.messageOf(payload)
      if (message === undefined) continue
      const places = message.arrays.map(({ path }) => paths.indexOf(path))
      for (const row of rows.values()) this.#lend(message, atPlaces(row, places))
    }
  }

  #lend(message: RecognisedPayload, row: ProvenRow): void {
    const group = this.#groups.get(groupKey(message, row))
    if (group !== undefined && !group.rows.has(row.signer)) group.rows.set(row.signer, row)
  }

  /** True if a signer under these keys has a part in the answer. */
  haveExecutionOrMessage(keys: ReadonlySet<string>, winner: Group<Response>): boolean {
    if (keys.has(winner.key)) return true
    if (!this.#kind.isHeld(winner.payload)) return false
    const text = this.#kind.unsignedPayload(winner.payload)
    return [...keys].some((key) => {
      const group = this.#groups.get(key)
      return group !== undefined && this.#reader.messageOf(group.payload)?.text === text
    })
  }

  /**
   * True if the messages are equal and one answer lacks the execution: the peer's own signing cap held it back, and the
   * facts agree.
   */
  haveSameMessage(one: Response, other: Response): boolean {
    const { isHeld, unsignedPayload } = this.#kind
    if (isHeld(one) === isHeld(other)) return false
    const textOf = (payload: Response) =>
      isHeld(payload) ? unsignedPayload(payload) : this.#reader.messageOf(payload)?.text
    return textOf(one) === textOf(other)
  }

  isHeldUnder(keys: ReadonlySet<string>): boolean {
    return [...keys].some((key) => {
      const group = this.#groups.get(key)
      return group !== undefined && this.#kind.isHeld(group.payload)
    })
  }
}

function atPlaces({ signer, claims, domains }: ProvenRow, places: readonly number[]): ProvenRow {
  return {
    signer,
    claims: places.flatMap((at) => claims.slice(at, at + 1)),
    domains: places.flatMap((at) => domains.slice(at, at + 1)),
  }
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

/** One text per payload and domains. */
export function groupKey({ text, arrays, keys }: RecognisedPayload, { domains }: ProvenRow): string {
  const joined = domains.join(' ')
  const cachedKey = keys.get(joined)
  if (cachedKey !== undefined) return cachedKey
  const key = sha256TextHex(canonicalJson([text, arrays.map(({ path }, index) => [path, domains[index]])]))
  keys.set(joined, key)
  return key
}
