import type { Hex, RecoverSigner } from '@causeway/core'
import { domainKey, type SignatureArray } from './responses/signatureArrays.ts'
import type { SignatureClaim } from './responses/signatureEntries.ts'

/** One signer proven in every signature array of a response. */
export type ProvenRow = {
  readonly signer: Hex
  /** Domains of its signatures, one per array; rows of different domains never count together. */
  readonly domains: readonly string[]
  /** Its signature in each array, in the order of the arrays. */
  readonly claims: readonly SignatureClaim[]
}

/** An honest array holds one signature per signer; a liar's other tries are bounded. */
const triesPerSignerMax = 16

/**
 * The signers whose valid signature stands in **every** array. Declared signers are proven by
 * recovery over digests that are computed from the payload; the first valid signature per signer and
 * domain counts, all others are as if they were not there.
 * @param options.isWanted decides before anything is recovered
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

/** One element of each list, in every way; only executions have more than one domain. */
function combinations(lists: readonly (readonly SignatureClaim[])[]): readonly (readonly SignatureClaim[])[] {
  let combined: readonly (readonly SignatureClaim[])[] = [[]]
  for (const list of lists) combined = combined.flatMap((row) => list.map((claim) => [...row, claim]))
  return combined
}
