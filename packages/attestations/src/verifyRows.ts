import type { Hex, RecoverSigner } from '@causeway/core'
import { domainKey, type SignatureArray } from './responses/signatureArrays.ts'
import type { SignatureClaim } from './responses/signatureEntries.ts'

/**
 * A signer with one valid signature in every signature array of a response. One with valid signatures in several
 * domains has several rows. Two rows count toward the same quorum only if their `domains` are equal.
 */
export type ProvenRow = {
  readonly signer: Hex
  /** `domainKey` of its signature in each array. */
  readonly domains: readonly string[]
  /** Its signature in each array. */
  readonly claims: readonly SignatureClaim[]
}

/** An honest array has one signature per signer. A dishonest one may have more: this bounds the recoveries. */
const triesPerSignerMax = 16

/**
 * Finds the signers with a valid signature in **every** array, by recovery over digests that are computed from the
 * payload. Per signer and domain the first valid signature counts; all others are ignored.
 * @param options.isWanted false: the signer is skipped without recovering anything
 * @source rule P-131
 */
export function verifyRows(
  arrays: readonly SignatureArray[],
  options: { isWanted: (signer: Hex) => boolean; recover: RecoverSigner },
): readonly ProvenRow[] {
  const { isWanted, recover } = options
  const claimsOf = arrays.map(({ claims }) => groupBySigner(claims))
  const [first, ...others] = claimsOf
  if (first === undefined) return []
  const rows: ProvenRow[] = []
  for (const signer of first.keys()) {
    if (!isWanted(signer) || !others.every((claims) => claims.has(signer))) continue
    const proven = arrays.map((array, index) =>
      firstValidPerDomain(array, claimsOf[index]?.get(signer) ?? [], signer, recover),
    )
    for (const claims of combinations(proven)) {
      rows.push({ signer, domains: claims.map(({ domain }) => domainKey(domain)), claims })
    }
  }
  return rows
}

function groupBySigner(claims: readonly SignatureClaim[]): ReadonlyMap<Hex, readonly SignatureClaim[]> {
  const bySigner = new Map<Hex, SignatureClaim[]>()
  for (const claim of claims) {
    const signerClaims = bySigner.get(claim.signer)
    if (signerClaims === undefined) bySigner.set(claim.signer, [claim])
    else signerClaims.push(claim)
  }
  return bySigner
}

function firstValidPerDomain(
  array: SignatureArray,
  claims: readonly SignatureClaim[],
  signer: Hex,
  recover: RecoverSigner,
): readonly SignatureClaim[] {
  const valid = new Map<string, SignatureClaim>()
  const tried = new Set<string>()
  for (const claim of claims) {
    const domain = domainKey(claim.domain)
    const attempt = `${domain} ${claim.signature}`
    if (valid.has(domain) || tried.has(attempt)) continue
    if (tried.size === triesPerSignerMax) break
    tried.add(attempt)
    const digest = array.digestOf(claim.domain)
    if (digest !== undefined && recover(digest, claim.signature) === signer) valid.set(domain, claim)
  }
  return [...valid.values()]
}

/** All rows with one element of each list. Only arrays over typed data can hold several domains, so there are few. */
function combinations(lists: readonly (readonly SignatureClaim[])[]): readonly (readonly SignatureClaim[])[] {
  let combined: readonly (readonly SignatureClaim[])[] = [[]]
  for (const list of lists) combined = combined.flatMap((row) => list.map((claim) => [...row, claim]))
  return combined
}
