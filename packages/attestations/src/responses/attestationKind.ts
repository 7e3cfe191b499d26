import { canonicalJson, DomainError, type Execution, type NetworkOf } from '@causeway/core'
import type { z } from 'zod'
import type { Request } from './requestMembers.ts'
import type { HeldExecution } from './schemas.ts'
import type { SignatureArray, SignatureContext } from './signatureArrays.ts'
import type { SignatureClaim } from './signatureEntries.ts'

/** Gives the signatures for the array at a path of a response, e.g. `execution.signatures`. */
export type SignaturesAt = (path: string) => readonly SignatureClaim[]

/** The routes that attest; those of version 2 are the public protocol's names. */
export type AttestationKindName =
  | 'deposits'
  | 'withdrawals'
  | 'fills'
  | 'refunds'
  | 'withdrawal-initiation'
  | 'withdrawal-initiated'
  | 'withdrawals-v2'
  | 'withdrawal-initiation-v2'
  | 'withdrawal-initiated-v2'
  | 'recovery'
  | 'no-fill-or-refund'
  | 'nonce-mapping'

/**
 * Functions that read, compare, sign and verify the answers of one attestation route. Oracles sign and aggregate peers'
 * answers by it; quote-api, solvers and callers verify by it.
 */
export type AttestationKind<Response> = {
  readonly name: AttestationKindName
  /** Path of the route on every oracle. */
  readonly path: string
  readonly responseSchema: z.ZodType<Response>
  /** The response without evidence, in the one spelling under which equal answers are equal text. */
  normalise(response: Response, networkOf: NetworkOf): Response
  /**
   * Signature arrays in document order. Oracles sign the digest of each, and verifiers check its signatures.
   * None: there is nothing to sign, such as a transaction without deposits.
   */
  signatureArrays(response: Response, context: SignatureContext): readonly SignatureArray[]
  /**
   * The response with the signatures that `signaturesAt` gives for each array, in place of its own.
   * @throws RangeError for a signature over typed data without a domain
   */
  withSignatures(response: Response, signaturesAt: SignaturesAt): Response
  /**
   * True if a normalised response is about the fact that `request` (a validated body) asks for, which signatures alone
   * do not prove. False also for a response that names unknown chains or malformed values.
   */
  isAbout(response: Response, request: Request, networkOf: NetworkOf): boolean
  /**
   * Canonical JSON of everything but signatures and evidence. Normalised responses with equal text attest the
   * same: their signatures are collected together.
   */
  unsignedPayload(response: Response): string
  /** The execution for the hub; `undefined` if the response has none. */
  executionOf(response: Response): Execution | undefined
  /**
   * The response with `executionHeld` in place of its execution. Payload parameters stay, but are not signed.
   * @param why default `SIGNING_CAP`
   */
  withoutExecution(response: Response, why?: HeldExecution): Response
  /** True if the execution is held back; no signature covers it then. */
  isHeld(response: Response): boolean
}

/** A kind without the functions that are the same for all kinds. */
export type KindDefinition<Response> = Omit<
  AttestationKind<Response>,
  'unsignedPayload' | 'executionOf' | 'withoutExecution' | 'isHeld'
>

type AnyResponse = {
  evidence?: unknown
  execution?: Execution | undefined
  executionHeld?: HeldExecution | undefined
}

/** Adds the functions that are the same for all kinds. `isAbout` then takes malformed values for false. */
export function defineKind<Response extends AnyResponse>(
  definition: KindDefinition<Response>,
): AttestationKind<Response> {
  return {
    ...definition,
    isAbout(response, request, networkOf) {
      try {
        return definition.isAbout(response, request, networkOf)
      } catch (error) {
        // An unknown chain, or a malformed address or number.
        if (error instanceof DomainError || error instanceof RangeError || error instanceof SyntaxError) {
          return false
        }
        throw error
      }
    },
    unsignedPayload(response) {
      const { executionHeld, ...payload } = definition.withSignatures(response, () => [])
      // Any reason counts as the same: oracles that hold an execution for different reasons sign the same message.
      const held = executionHeld === undefined ? {} : { executionHeld: 'SIGNING_CAP' }
      return canonicalJson({ ...payload, ...held, evidence: undefined })
    },
    executionOf: ({ execution }) => execution,
    isHeld: ({ executionHeld }) => executionHeld !== undefined,
    withoutExecution(response, why = 'SIGNING_CAP') {
      const { execution: _execution, ...rest } = response
      // CAST: every answer that has an execution may have `executionHeld` in its place.
      return { ...rest, executionHeld: why } as Response
    },
  }
}
