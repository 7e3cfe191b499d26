import type {
  AttestationKind,
  SignatureArray,
  SignatureClaim,
  SignatureContext,
} from '@causeway/attestations'
import { cutSignatures, findGaps } from './signatureGaps.ts'

/** A parsed answer: its payload without signatures, and the signatures apart. */
export type ReadAnswer<Response> = {
  readonly payload: Response
  readonly known: RecognisedPayload
  /** One list per signature array, in document order. */
  readonly claims: readonly (readonly SignatureClaim[])[]
}

/** Data that is derived from a payload, once although several oracles send the same payload. */
export type RecognisedPayload = {
  /** `AttestationKind.unsignedPayload`: equal for equal payloads. */
  readonly text: string
  /** Signature arrays, without signatures. Shared, because each caches the digests that it computed. */
  readonly arrays: readonly SignatureArray[]
  /** True if it is about the fact that the request asks for. */
  readonly isAbout: boolean
  /** True if its execution is held. */
  readonly isHeld: boolean
  /** Cache of the results of `groupKey`, by domains. */
  readonly keys: Map<string, string>
}

/**
 * Parsed JSON of the array that was cut out of gap number `gap`. @throws SyntaxError without an array, for
 * `''` is no JSON
 */
function entriesIn(arrays: readonly string[], gap: number | undefined): unknown {
  return JSON.parse((gap === undefined ? undefined : arrays[gap]) ?? '')
}

/** A parsed answer without its signatures, from which further answers with the same text around them are made. */
type AnswerTemplate<Response> = {
  readonly payload: Response
  readonly known: RecognisedPayload
  /** For each of `known.arrays`, the number of its entries among those cut from the text: see `findGaps`. */
  readonly gaps: readonly number[]
}

export type AnswerReaderOptions<Response> = {
  readonly kind: AttestationKind<Response>
  readonly context: SignatureContext
  /** The validated body: peers' answers about anything else do not count. */
  readonly request: Readonly<Record<string, unknown>>
}

/**
 * Parses the oracles' answers to one request. Most are equal except for signatures, so it recognises equal payloads and
 * does the expensive work (parsing, comparing with the request, hashing) once.
 */
export class AnswerReader<Response extends object> {
  readonly #options: AnswerReaderOptions<Response>
  /** By `unsignedPayload`. */
  readonly #known = new Map<string, RecognisedPayload>()
  /** By plain `JSON.stringify`, a cheaper lookup that suffices for oracles of the same release. */
  readonly #byPlainText = new Map<string, RecognisedPayload>()
  /** By the received text without signatures, the frame. */
  readonly #templates = new Map<string, AnswerTemplate<Response>>()

  constructor(options: AnswerReaderOptions<Response>) {
    this.#options = options
  }

  /**
   * Parses an answer. If one with the same frame was read before, only the signatures are parsed.
   * @throws SyntaxError, ZodError
   */
  readText(text: string): ReadAnswer<Response> {
    const { frame, entries } = cutSignatures(text)
    const template = this.#templates.get(frame)
    if (template === undefined) {
      const answer = this.read(this.#options.kind.responseSchema.parse(JSON.parse(text)))
      const gaps = findGaps(frame, answer.known.arrays)
      if (gaps !== undefined) this.#templates.set(frame, { ...answer, gaps })
      return answer
    }
    const { payload, known, gaps } = template
    const claims = known.arrays.map((array, index) => array.readClaims(entriesIn(entries, gaps[index])))
    return { payload, known, claims }
  }

  /** Takes an answer that is parsed already. */
  read(received: Response): ReadAnswer<Response> {
    const { kind, context } = this.#options
    const response = kind.normalise(received, context.networkOf)
    const payload = kind.withSignatures(response, () => [])
    const claims = kind.signatureArrays(response, context).map((array) => array.claims)
    return { payload, known: this.#recognise(payload), claims }
  }

  /** The payload without its execution, as an oracle at its cap signs it; `undefined` if it has none. */
  messageOf(payload: Response): RecognisedPayload | undefined {
    const { kind } = this.#options
    return kind.executionOf(payload) === undefined
      ? undefined
      : this.#recognise(kind.withoutExecution(payload))
  }

  #recognise(payload: Response): RecognisedPayload {
    const { kind, context, request } = this.#options
    const plainText = JSON.stringify(payload)
    const cached = this.#byPlainText.get(plainText)
    if (cached !== undefined) return cached
    const text = kind.unsignedPayload(payload)
    const recognised = this.#known.get(text) ?? {
      text,
      arrays: kind.signatureArrays(payload, context),
      isAbout: kind.isAbout(payload, request, context.networkOf),
      isHeld: kind.isHeld(payload),
      keys: new Map<string, string>(),
    }
    this.#known.set(text, recognised)
    this.#byPlainText.set(plainText, recognised)
    return recognised
  }
}
