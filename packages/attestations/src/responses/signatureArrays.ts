import type {
  Execution,
  ExecutionDomain,
  Hex,
  MappingDomain,
  MappingEntry,
  NetworkOf,
  SigningRequest,
  WithdrawRequest,
  WithdrawRequestDomain,
} from '@causeway/core'
import { DomainError } from '@causeway/core'
import { signingDigest } from '@causeway/families/rules'
import {
  type ExecutionSignature,
  executionClaims,
  executionSignaturesSchema,
  lowerCase,
  type MappingSignature,
  type MessageSignature,
  mappingClaims,
  mappingSignaturesSchema,
  messageClaims,
  messageSignaturesSchema,
  type PayloadSignature,
  payloadClaims,
  payloadSignaturesSchema,
  type SignatureClaim,
  type SignatureDomain,
} from './signatureEntries.ts'

/** The hub and chains for which a response is signed or verified: digests depend on them beside the payload. */
export type SignatureContext = {
  readonly hub: {
    readonly executionDomain: ExecutionDomain
    /** Domain of withdraw requests; absent where the hub file names no allocator, so that none can be signed. */
    readonly withdrawRequestDomain?: WithdrawRequestDomain
    /** Domain of mapping entries; absent where the hub file names no generic mapping, so that none can be signed. */
    readonly mappingDomain?: MappingDomain
  }
  readonly networkOf: NetworkOf
}

/** One signature array of a response, with the digest that its signatures must cover. */
export type SignatureArray = {
  /** Path of the array in the response, e.g. `messages.0.signatures`. */
  readonly path: string
  /** The signatures in it, not verified. */
  readonly claims: readonly SignatureClaim[]
  /** Parses entries of the same array from another response. @throws ZodError */
  readClaims(entries: unknown): readonly SignatureClaim[]
  /**
   * The domain on our hub, in which oracles sign and verifiers count; `undefined` for messages, which have
   * none, and where the hub file names no contract. Claims in other domains are checked by the digest of
   * their own domain: an oracle counts signatures for another hub apart.
   */
  readonly ownDomain: SignatureDomain | undefined
  /**
   * The structure that a signature in `domain` must sign, built from the payload; `undefined` when the payload cannot be
   * signed in this domain.
   */
  requestOf(domain: SignatureDomain | undefined): SigningRequest | undefined
  /** The digest of that request, computed once per domain. */
  digestOf(domain: SignatureDomain | undefined): Uint8Array | undefined
}

/** @param idOf the id of the message that carries the array; its DomainErrors mean "cannot be signed" */
export function messageArray(
  path: string,
  entries: readonly MessageSignature[],
  idOf: () => Hex,
): SignatureArray {
  const readClaims = (received: unknown) => messageClaims(messageSignaturesSchema.parse(received))
  const array = { path, claims: messageClaims(entries), readClaims, ownDomain: undefined }
  return createArray(array, (domain) =>
    domain === undefined ? { purpose: 'message', messageId: idOf() } : undefined,
  )
}

export function executionArray(
  entries: readonly ExecutionSignature[],
  { idempotencyKey, actions }: Execution,
  { executionDomain }: SignatureContext['hub'],
): SignatureArray {
  // Signature entries name no version, so that of our hub is taken for every domain.
  const { version } = executionDomain
  return createArray(
    {
      path: 'execution.signatures',
      claims: executionClaims(entries),
      readClaims: (received) => executionClaims(executionSignaturesSchema.parse(received)),
      ownDomain: toSignatureDomain(executionDomain),
    },
    (domain) => {
      const typedDomain = toTypedDomain(domain)
      if (typedDomain === undefined) return undefined
      return {
        purpose: 'execution',
        domain: { ...typedDomain, version },
        execution: { idempotencyKey, actions },
      }
    },
  )
}

export function payloadArray(
  entries: readonly PayloadSignature[],
  request: WithdrawRequest,
  { withdrawRequestDomain: own }: SignatureContext['hub'],
): SignatureArray {
  return createArray(
    {
      path: 'payloadParams.signatures',
      claims: payloadClaims(entries),
      readClaims: (received) => payloadClaims(payloadSignaturesSchema.parse(received)),
      ownDomain: own === undefined ? undefined : toSignatureDomain(own),
    },
    (domain) => {
      const typedDomain = toTypedDomain(domain)
      if (typedDomain === undefined) return undefined
      return { purpose: 'withdraw-request', domain: typedDomain, request }
    },
  )
}

export function mappingArray(
  entries: readonly MappingSignature[],
  entry: MappingEntry,
  { mappingDomain: own }: SignatureContext['hub'],
): SignatureArray {
  return createArray(
    {
      path: 'genericMapping.signatures',
      claims: mappingClaims(entries),
      readClaims: (received) => mappingClaims(mappingSignaturesSchema.parse(received)),
      ownDomain: own === undefined ? undefined : toSignatureDomain(own),
    },
    (domain) => {
      const typedDomain = toTypedDomain(domain)
      return typedDomain === undefined ? undefined : { purpose: 'mapping-entry', domain: typedDomain, entry }
    },
  )
}

function createArray(
  array: Pick<SignatureArray, 'path' | 'claims' | 'readClaims' | 'ownDomain'>,
  build: (domain: SignatureDomain | undefined) => SigningRequest | undefined,
): SignatureArray {
  const digests = new Map<string, Uint8Array | undefined>()
  const requestOf = (domain: SignatureDomain | undefined) => {
    try {
      return build(domain)
    } catch (error) {
      // The payload names an unknown chain or a malformed address, so no honest oracle signed it.
      if (error instanceof DomainError) return undefined
      throw error
    }
  }
  return {
    ...array,
    requestOf,
    digestOf(domain) {
      const key = domainKey(domain)
      if (digests.has(key)) return digests.get(key)
      const request = requestOf(domain)
      const digest = request === undefined ? undefined : signingDigest(request)
      digests.set(key, digest)
      return digest
    },
  }
}

/** Text by which domains are compared; empty for messages. */
export function domainKey(domain: SignatureDomain | undefined): string {
  return domain === undefined ? '' : `${domain.chainId}:${domain.contract}`
}

function toSignatureDomain(domain: MappingDomain): SignatureDomain {
  return { chainId: String(domain.chainId), contract: lowerCase(domain.verifyingContract) }
}

/** The domain as EIP-712 takes it; `undefined` for a chain id that is no safe integer: no hub has such an id. */
function toTypedDomain(domain: SignatureDomain | undefined): MappingDomain | undefined {
  const chainId = Number(domain?.chainId)
  if (domain === undefined || !Number.isSafeInteger(chainId)) return undefined
  return { chainId, verifyingContract: domain.contract }
}
