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

/** Values that signatures are bound to beside the payload. */
export type SignatureContext = {
  readonly hub: {
    readonly executionDomain: ExecutionDomain
    /** Absent where the hub file names no allocator: withdrawal-initiated cannot be signed there. */
    readonly withdrawRequestDomain?: WithdrawRequestDomain
    /** Absent where the hub file names no generic mapping: no entry of one can be signed there. */
    readonly mappingDomain?: MappingDomain
  }
  readonly networkOf: NetworkOf
}

/** One signature array of a response, and what its entries must have signed. */
export type SignatureArray = {
  /** Its place in the response, e.g. `messages.0.signatures`. */
  readonly path: string
  readonly claims: readonly SignatureClaim[]
  /** Entries of this array as they came, checked against its schema. @throws ZodError */
  readClaims(entries: unknown): readonly SignatureClaim[]
  /** The domain of our own hub; `undefined` for messages, and where the hub file names no contract for it. */
  readonly ownDomain: SignatureDomain | undefined
  /**
   * The digest that a signature of `domain` covers, computed from the payload and never taken from it; `undefined` when
   * the payload cannot be signed in this domain.
   */
  requestOf(domain: SignatureDomain | undefined): SigningRequest | undefined
  /** The digest of `requestOf`, computed once per domain. */
  digestOf(domain: SignatureDomain | undefined): Uint8Array | undefined
}

/** @param idOf the id of the message that carries the array; its DomainErrors mean "cannot be signed" */
export function messageArray(
  path: string,
  entries: readonly MessageSignature[],
  idOf: () => Hex,
): SignatureArray {
  const readClaims = (received: unknown) => messageClaims(messageSignaturesSchema.parse(received))
  const place = { path, claims: messageClaims(entries), readClaims, ownDomain: undefined }
  return createArray(place, (domain) =>
    domain === undefined ? { purpose: 'message', messageId: idOf() } : undefined,
  )
}

export function executionArray(
  entries: readonly ExecutionSignature[],
  { idempotencyKey, actions }: Execution,
  { executionDomain }: SignatureContext['hub'],
): SignatureArray {
  const { version } = executionDomain
  return createArray(
    {
      path: 'execution.signatures',
      claims: executionClaims(entries),
      readClaims: (received) => executionClaims(executionSignaturesSchema.parse(received)),
      ownDomain: toSignatureDomain(executionDomain),
    },
    (domain) => {
      const address = toTypedDomain(domain)
      if (address === undefined) return undefined
      return {
        purpose: 'execution',
        domain: { ...address, version },
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
      const address = toTypedDomain(domain)
      return address === undefined ? undefined : { purpose: 'withdraw-request', domain: address, request }
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
      const address = toTypedDomain(domain)
      return address === undefined ? undefined : { purpose: 'mapping-entry', domain: address, entry }
    },
  )
}

function createArray(
  place: Pick<SignatureArray, 'path' | 'claims' | 'readClaims' | 'ownDomain'>,
  build: (domain: SignatureDomain | undefined) => SigningRequest | undefined,
): SignatureArray {
  const digests = new Map<string, Uint8Array | undefined>()
  const requestOf = (domain: SignatureDomain | undefined) => {
    try {
      return build(domain)
    } catch (error) {
      // A payload that names an unknown chain or a malformed address: nobody honest signed it.
      if (error instanceof DomainError) return undefined
      throw error
    }
  }
  return {
    ...place,
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

/** One text per domain; the empty one for messages. */
export function domainKey(domain: SignatureDomain | undefined): string {
  return domain === undefined ? '' : `${domain.chainId}:${domain.contract}`
}

function toSignatureDomain(domain: MappingDomain): SignatureDomain {
  return { chainId: String(domain.chainId), contract: lowerCase(domain.verifyingContract) }
}

/** `undefined` for a chain id beyond the integers of a domain: no hub has one. */
function toTypedDomain(domain: SignatureDomain | undefined): MappingDomain | undefined {
  const chainId = Number(domain?.chainId)
  if (domain === undefined || !Number.isSafeInteger(chainId)) return undefined
  return { chainId, verifyingContract: domain.contract }
}
