import type { Hex } from '@causeway/core'
import { bytes32Text, evmAddressText, hexText, uint256Text } from '@causeway/core'
import { z } from 'zod'

/** Far above any real number of signers: bounds the work that one answer causes. */
const signaturesMax = 1_024
const signatureLengthMax = 1_024

/**
 * Deliberately loose: an entry that is no signature is not counted, but must not make the whole answer invalid.
 * `recoverSigner` decides which entries count.
 */
const signatureText = z.string().max(signatureLengthMax)

/** A signature over a message id. @source rule P-128 */
const messageSignatureSchema = z.object({ oracleSigner: evmAddressText, signature: signatureText })

/** A signature over an execution, with the domain of the hub's oracle contract. */
const executionSignatureSchema = z.object({
  oracleChainId: uint256Text,
  oracleContract: evmAddressText,
  oracleSigner: evmAddressText,
  signature: signatureText,
})

/** A signature over payload parameters, with the domain of the allocator's spender contract. */
const payloadSignatureSchema = z.object({
  allocatorSpenderChainId: uint256Text,
  allocatorSpenderContract: evmAddressText,
  oracleSigner: evmAddressText,
  signature: signatureText,
})

/** A signature over an entry of the hub's generic mapping, with that contract's domain. */
const mappingSignatureSchema = z.object({
  genericMappingChainId: uint256Text,
  genericMappingContract: evmAddressText,
  oracleSigner: evmAddressText,
  signature: signatureText,
})

export const messageSignaturesSchema = z.array(messageSignatureSchema).max(signaturesMax)
export const executionSignaturesSchema = z.array(executionSignatureSchema).max(signaturesMax)
export const payloadSignaturesSchema = z.array(payloadSignatureSchema).max(signaturesMax)
export const mappingSignaturesSchema = z.array(mappingSignatureSchema).max(signaturesMax)

export type MessageSignature = z.infer<typeof messageSignatureSchema>
export type ExecutionSignature = z.infer<typeof executionSignatureSchema>
export type PayloadSignature = z.infer<typeof payloadSignatureSchema>
export type MappingSignature = z.infer<typeof mappingSignatureSchema>

const actionBytesMax = 1_024
/** Most messages and actions that are read of an answer: it bounds the work on what a peer sends. */
export const messagesMax = 5_000

export const executionFields = {
  idempotencyKey: bytes32Text,
  actions: z.array(hexText(actionBytesMax)).min(1).max(messagesMax),
}

export const executionSchema = z.object({
  ...executionFields,
  signatures: executionSignaturesSchema,
})

const shortText = z.string().max(128)

/** Sources of the facts, in the answer where the request asks for them; neither signed nor compared. */
export const evidenceSchema = z.array(
  z.object({
    chainId: shortText,
    blockHash: shortText.optional(),
    blockNumber: uint256Text.optional(),
    finalityRule: shortText,
    agreeingEndpoints: z.array(shortText),
  }),
)

/** Contract and chain that a signature is bound to; a message signature has none. */
export type SignatureDomain = {
  /** Decimal. */
  readonly chainId: string
  /** Lower case. */
  readonly contract: Hex
}

/** One entry of any signature array. It proves nothing until the signature recovers to the signer. */
export type SignatureClaim = {
  /** As the entry declares it, lower case. */
  readonly signer: Hex
  readonly signature: string
  /** Absent for messages. */
  readonly domain?: SignatureDomain
}

type SignerAndSignature = { readonly oracleSigner: Hex; readonly signature: string }

export function messageClaims(entries: readonly SignerAndSignature[]): readonly SignatureClaim[] {
  return entries.map(({ oracleSigner, signature }) => ({ signer: lowerCase(oracleSigner), signature }))
}

export function executionClaims(entries: readonly ExecutionSignature[]): readonly SignatureClaim[] {
  return entries.map((entry) => typedClaim(entry, entry.oracleChainId, entry.oracleContract))
}

export function payloadClaims(entries: readonly PayloadSignature[]): readonly SignatureClaim[] {
  return entries.map((entry) =>
    typedClaim(entry, entry.allocatorSpenderChainId, entry.allocatorSpenderContract),
  )
}

export function mappingClaims(entries: readonly MappingSignature[]): readonly SignatureClaim[] {
  return entries.map((entry) => typedClaim(entry, entry.genericMappingChainId, entry.genericMappingContract))
}

export function toMessageSignatures(claims: readonly SignatureClaim[]): MessageSignature[] {
  return claims.map(({ signer, signature }) => ({ oracleSigner: signer, signature }))
}

/** @throws RangeError for a claim without a domain: a caller's bug */
export function toExecutionSignatures(claims: readonly SignatureClaim[]): ExecutionSignature[] {
  return claims.map((claim) => {
    const { chainId, contract } = requireDomain(claim)
    return {
      oracleChainId: chainId,
      oracleContract: contract,
      oracleSigner: claim.signer,
      signature: claim.signature,
    }
  })
}

/** @throws RangeError for a claim without a domain: a caller's bug */
export function toPayloadSignatures(claims: readonly SignatureClaim[]): PayloadSignature[] {
  return claims.map((claim) => {
    const { chainId, contract } = requireDomain(claim)
    return {
      allocatorSpenderChainId: chainId,
      allocatorSpenderContract: contract,
      oracleSigner: claim.signer,
      signature: claim.signature,
    }
  })
}

/** @throws RangeError for a claim without a domain: a caller's bug */
export function toMappingSignatures(claims: readonly SignatureClaim[]): MappingSignature[] {
  return claims.map((claim) => {
    const { chainId, contract } = requireDomain(claim)
    return {
      genericMappingChainId: chainId,
      genericMappingContract: contract,
      oracleSigner: claim.signer,
      signature: claim.signature,
    }
  })
}

export function lowerCase(hex: Hex): Hex {
  return `0x${hex.slice(2).toLowerCase()}`
}

/** The claim of an entry whose signature is bound to a domain. */
function typedClaim(
  { oracleSigner, signature }: SignerAndSignature,
  chainId: string,
  contract: Hex,
): SignatureClaim {
  return { signer: lowerCase(oracleSigner), signature, domain: domainOf(chainId, contract) }
}

/** A domain in one spelling, without leading zeros of the chain id, so that equal domains are equal text. */
function domainOf(chainId: string, contract: Hex): SignatureDomain {
  return { chainId: chainId.replace(/^0+(?=[0-9])/, ''), contract: lowerCase(contract) }
}

function requireDomain({ domain }: SignatureClaim): SignatureDomain {
  if (domain === undefined) throw new RangeError('a signature over typed data needs its domain')
  return domain
}
