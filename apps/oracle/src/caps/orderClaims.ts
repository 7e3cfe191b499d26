import type { Hex } from '@causeway/core'

/** Payments that together prove one settlement of an order. */
export type Proof = readonly string[]

/** A settlement whose execution was signed, and the payments that are used up for it. */
export type OrderClaim = {
  /** Idempotency key of the execution: it names the deposits. */
  readonly key: Hex
  /** Deposited part of the order's input. See `Settles`. */
  readonly worth: bigint
  /** All payments shown for it so far. */
  readonly proofs: readonly Proof[]
  readonly uses: Proof
}

/** A key of larger deposits takes the payment of one that is worth less than this part of it. */
const dustDivisor = 4n
const proofsMax = 4
const claimsMax = 16

/**
 * One payment settles one key. A key that was signed is signed again; another one needs a payment that none of the
 * others needs: one that has several gives one up. What is worth next to nothing yields, else a stranger's dust,
 * deposited and settled first, would take the deposit from the solver that filled the order.
 * @returns the claims with this one among them; `undefined` when it must not be signed
 */
export function claimSettlement(
  claims: readonly OrderClaim[],
  request: Pick<OrderClaim, 'key' | 'worth'> & { readonly proof: Proof },
): readonly OrderClaim[] | undefined {
  const { key, worth, proof } = request
  const own = claims.find((claim) => claim.key === key)
  if (own !== undefined) {
    const isKnown =
      own.proofs.length >= proofsMax || own.proofs.some((storedProof) => isSame(storedProof, proof))
    if (isKnown) return claims
    return claims.map((claim) => (claim === own ? { ...own, proofs: [...own.proofs, proof] } : claim))
  }
  const claim = { key, worth, proofs: [proof], uses: proof }
  const placedClaims = place(claims, claim, new Set())
  if (placedClaims !== undefined) return placedClaims.length > claimsMax ? undefined : placedClaims
  const isDust = (other: OrderClaim) => overlap(other.uses, proof) && other.worth * dustDivisor < worth
  const rest = claims.filter((other) => !isDust(other))
  return rest.length === claims.length ? undefined : place(rest, claim, new Set())
}

/** @param taken payments that are spoken for: every step adds to them, so that it ends */
function place(
  claims: readonly OrderClaim[],
  claim: OrderClaim,
  taken: ReadonlySet<string>,
): readonly OrderClaim[] | undefined {
  for (const proof of claim.proofs) {
    if (proof.some((payment) => taken.has(payment))) continue
    const freed = free(claims, claim.key, proof, new Set([...taken, ...proof]))
    if (freed === undefined) continue
    return [...freed.filter(({ key }) => key !== claim.key), { ...claim, uses: proof }]
  }
  return undefined
}

/** Moves every other claim off the payments of `proof`, where each has another proof. */
function free(
  claims: readonly OrderClaim[],
  key: Hex,
  proof: Proof,
  taken: ReadonlySet<string>,
): readonly OrderClaim[] | undefined {
  const holder = claims.find((claim) => claim.key !== key && overlap(claim.uses, proof))
  if (holder === undefined) return claims
  const moved = place(
    claims.filter((claim) => claim.key !== key),
    holder,
    taken,
  )
  return moved && free(moved, key, proof, taken)
}

function overlap(one: Proof, other: Proof): boolean {
  return one.some((payment) => other.includes(payment))
}

function isSame(one: Proof, other: Proof): boolean {
  return one.length === other.length && one.every((payment) => other.includes(payment))
}
