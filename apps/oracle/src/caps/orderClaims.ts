import type { Hex } from '@causeway/core'

/** Names of payments (see `ProvenSettlement.payments`) that together prove one settlement of an order. */
export type Proof = readonly string[]

/** A settlement of an order whose execution was signed, with the payments that are assigned to it. */
export type OrderClaim = {
  /** Idempotency key of the execution: it names the deposits. */
  readonly key: Hex
  /** Deposited part of the order's input. See `ProvenSettlement`. */
  readonly worth: bigint
  /** All proofs that requests gave for it so far. */
  readonly proofs: readonly Proof[]
  /** The proof whose payments are assigned to it: no other claim may use them. */
  readonly uses: Proof
}

/** A claim worth less than a quarter of a new one counts as dust and gives its payments up to it. */
const dustDivisor = 4n
/** Most proofs of a claim and most claims of an order, as strangers may deposit for an order without end. */
const proofsMax = 4
const claimsMax = 16

/**
 * Decides whether the settlement of an order may be signed: each payment may settle only one key, that is one set of
 * deposits. A key that was signed before may be signed again. A new key needs payments that no other claim needs; a
 * claim with several proofs is moved to another of them if that helps. Otherwise dust gives way: else a stranger could
 * deposit a trifle for the order, have it settled by the solver's fill first, and so deprive the solver of the real
 * deposit.
 * @returns the claims including this one; `undefined` when it must not be signed
 */
export function claimSettlement(
  claims: readonly OrderClaim[],
  request: Pick<OrderClaim, 'key' | 'worth'> & { readonly proof: Proof },
): readonly OrderClaim[] | undefined {
  const { key, worth, proof } = request
  const own = claims.find((claim) => claim.key === key)
  if (own !== undefined) {
    const isKnown = own.proofs.some((storedProof) => isSame(storedProof, proof))
    if (isKnown || own.proofs.length >= proofsMax) return claims
    return claims.map((claim) => (claim === own ? { ...own, proofs: [...own.proofs, proof] } : claim))
  }
  const claim = { key, worth, proofs: [proof], uses: proof }
  const assigned = assign(claims, claim, new Set())
  if (assigned !== undefined) return assigned.length > claimsMax ? undefined : assigned
  const isDust = (other: OrderClaim) => overlap(other.uses, proof) && other.worth * dustDivisor < worth
  // Without dust this fails once more; with at least one claim gone, the new one cannot pass `claimsMax`.
  return assign(
    claims.filter((other) => !isDust(other)),
    claim,
    new Set(),
  )
}

/**
 * Adds `claim`, or moves it, with the first of its proofs whose payments are free or can be freed (an augmenting path).
 * Example: A is proven by payment 1 or by 2 and uses 1; B is proven by 1 alone. B takes 1, and A is moved to 2.
 * @param taken payments that callers up the recursion need: each level adds some, so the recursion ends
 * @returns all claims; `undefined` where no proof can be assigned
 */
function assign(
  claims: readonly OrderClaim[],
  claim: OrderClaim,
  taken: ReadonlySet<string>,
): readonly OrderClaim[] | undefined {
  for (const proof of claim.proofs) {
    if (proof.some((payment) => taken.has(payment))) continue
    const freedClaims = freePayments(claims, claim.key, proof, new Set([...taken, ...proof]))
    if (freedClaims === undefined) continue
    return [...freedClaims.filter(({ key }) => key !== claim.key), { ...claim, uses: proof }]
  }
  return undefined
}

/** Moves every other claim that uses payments of `proof` to another of its proofs; `undefined` if one has none. */
function freePayments(
  claims: readonly OrderClaim[],
  key: Hex,
  proof: Proof,
  taken: ReadonlySet<string>,
): readonly OrderClaim[] | undefined {
  const others = claims.filter((claim) => claim.key !== key)
  const holder = others.find((claim) => overlap(claim.uses, proof))
  if (holder === undefined) return claims
  const movedClaims = assign(others, holder, taken)
  // Yet another claim may use the rest of the proof's payments, so it looks again.
  return movedClaims && freePayments(movedClaims, key, proof, taken)
}

function overlap(one: Proof, other: Proof): boolean {
  return one.some((payment) => other.includes(payment))
}

/** True for the same payments in any order. */
function isSame(one: Proof, other: Proof): boolean {
  return one.length === other.length && one.every((payment) => other.includes(payment))
}
