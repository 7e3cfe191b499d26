import type {
  AttestationKind,
  SignatureArray,
  SignatureClaim,
  SignatureContext,
} from '@causeway/attestations'
import { cutSignatures, findGaps } from './signatureGaps.ts'

/** A payload that is known, and the signatures that came with it. */
export type ReadAnswer<Response> = {
  readonly payload: Response
  readonly known: RecognisedPayload
  /** One list per signature array, in document order. */
  readonly claims: readonly (readonly SignatureClaim[])[]
}

/** Derived values of a payload, computed once for all its senders. */
export type RecognisedPayload = {
  /** Canonical JSON. */
  readonly text: string
  /** Arrays without signatures. They are shared, because each remembers the digests of its rows. */
  readonly arrays: readonly SignatureArray[]
  /** True if it is about the fact that the request asks for. */
  readonly isAbout: boolean
  /** True if its execution is held back. */
  readonly isHeld: boolean
  /** Keys of groups by the domains of their rows. */
  readonly keys: Map<string, string>
}

/** Payload of an answer without its signatures, and the gap of each signature array. */
type AnswerTemplate<Response> = {
  readonly payload: Response
  readonly known: RecognisedPayload
  readonly gaps: readonly number[]
}

export type AnswerReaderOptions<Response> = {
  readonly kind: AttestationKind<Response>
  readonly context: SignatureContext
  /** The validated body: answers of peers about anything else have no part. */
  readonly request: Readonly<Record<string, unknown>>
}

/** Reads the answers to one request. Equal payloads are recognised, however their signatures differ. */
export class AnswerReader<Response extends object> {
  readonly #options: AnswerReaderOptions<Response>
  readonly #known = new Map<string, RecognisedPayload>()
  /** Payloads by the received text: programs of one release write equal answers equally, and the lookup is cheap. */
  readonly #byPlainText = new Map<string, RecognisedPayload>()
  /** Templates by the text without signatures. */
  readonly #templates = new Map<string, AnswerTemplate<Response>>()

  constructor(options: AnswerReaderOptions<Response>) {
    this.#options = options
  }

  /**
   * An answer from its text. Answers that differ in signatures alone share all that is not.
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
    const claims = known.arrays.map((array, index) =>
      array.readClaims(JSON.parse(entries[gaps[index] ?? -1] ?? '')),
    )
    return { payload, known, claims }
  }

  read(received: Response): ReadAnswer<Response> {
    const { kind, context } = this.#options
    const response = kind.normalise(received, context.networkOf)
    const payload = kind.withSignatures(response, () => [])
    const claims = kind.signatureArrays(response, context).map((array) => array.claims)
    return { payload, known: this.#recognise(payload), claims }
  }

  /** An answer without its execution; `undefined` where nothing is left to sign, or there is none. */
  messageOf(payload: Response): RecognisedPayload | undefined {
    const { kind } = this.#options
    if (kind.executionOf(payload) === undefined) return undefined
    const message = this.#recognise(kind.withoutExecution(payload))
    return message.arrays.length === 0 ? undefined : message
  }

  #recognise(payload: Response): RecognisedPayload {
    const { kind, context, request } = this.#options
    const plain = JSON.stringify(payload)
    const same = this.#byPlainText.get(plain)
    if (same !== undefined) return same
    const text = kind.unsignedPayload(payload)
    const payloadEntry = this.#known.get(text) ?? {
      text,
      arrays: kind.signatureArrays(payload, context),
      isAbout: kind.isAbout(payload, request, context.networkOf),
      isHeld: kind.isHeld(payload),
      keys: new Map<string, string>(),
    }
    this.#known.set(text, payloadEntry)
    this.#byPlainText.set(plain, payloadEntry)
    return payloadEntry
  }
}
