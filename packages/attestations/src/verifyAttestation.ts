import type { Hex, NetworkOf, RecoverSigner } from '@causeway/core'
import type { AttestationKind } from './responses/attestationKind.ts'
import { domainKey, type SignatureArray, type SignatureContext } from './responses/signatureArrays.ts'
import { verifyRows } from './verifyRows.ts'

/** Verdict on a response: which listed signers signed all of it for this hub. */
export type AttestationVerdict = {
  /** True when `matched` reaches `required`. */
  readonly isQuorum: boolean
  /** Distinct listed signers with a valid signature in every array, lower case, ascending. */
  readonly signers: readonly Hex[]
  /** Number of `signers`. */
  readonly matched: number
  /** The threshold. */
  readonly required: number
  /** True when the response has only a message, because the oracle holds its execution. */
  readonly isExecutionHeld: boolean
  /** Why declared signers do not count, or why the whole response does not. */
  readonly problems: readonly AttestationProblem[]
}

/** `not_proven`: a listed signer without a valid signature in every array. `detail`: path of the wrong field. */
export type AttestationProblem =
  | { readonly reason: 'schema'; readonly detail: string }
  | { readonly reason: 'nothing_to_sign' }
  | { readonly reason: 'unlisted_signer' | 'not_proven'; readonly signer: Hex }

/**
 * Recovers every signature of a response over digests computed from its payload and counts the
 * distinct listed signers that signed **every** array of it in the domains of `hub`. Pure; nothing
 * that the response declares is trusted. It does not check that the payload is about the fact that the
 * caller asked for: compare it with the request by `kind.isAbout`, or `data` and the execution's key by hand.
 * @param response as received, parsed JSON
 * @param options.signers allowlist in any case
 * @param options.threshold at least 1
 * @throws RangeError for a threshold that is no integer of at least 1
 * @source rule P-131
 */
export function verifyAttestation<Response>(
  response: unknown,
  options: {
    kind: AttestationKind<Response>
    signers: Iterable<string>
    threshold: number
    hub: SignatureContext['hub']
    networkOf: NetworkOf
    recover: RecoverSigner
  },
): AttestationVerdict {
  const { kind, threshold, hub, networkOf, recover } = options
  if (!Number.isSafeInteger(threshold) || threshold < 1) throw new RangeError('the threshold is at least 1')
  const allowed = new Set<string>([...options.signers].map((signer) => signer.toLowerCase()))
  const parsed = kind.responseSchema.safeParse(response)
  if (!parsed.success) {
    const detail = parsed.error.issues[0]?.path.join('.') ?? ''
    return verdict([], threshold, [{ reason: 'schema', detail }])
  }
  const arrays = kind.signatureArrays(parsed.data, { hub, networkOf }).map(inOwnDomain)
  const isHeld = kind.isHeld(parsed.data)
  if (arrays.length === 0) return verdict([], threshold, [{ reason: 'nothing_to_sign' }], isHeld)
  const rows = verifyRows(arrays, { isWanted: (signer) => allowed.has(signer), recover })
  const signers = new Set(rows.map(({ signer }) => signer))
  const problems = [...declaredSigners(arrays)]
    .filter((signer) => !signers.has(signer))
    .map((signer): AttestationProblem => {
      return { reason: allowed.has(signer) ? 'not_proven' : 'unlisted_signer', signer }
    })
  return verdict([...signers].sort(), threshold, problems, isHeld)
}

function verdict(
  signers: readonly Hex[],
  required: number,
  problems: readonly AttestationProblem[],
  isExecutionHeld = false,
): AttestationVerdict {
  const matched = signers.length
  return { isQuorum: matched >= required, signers, matched, required, isExecutionHeld, problems }
}

/** The array without signatures of other domains: a signature for another hub must not count for this one. */
function inOwnDomain(array: SignatureArray): SignatureArray {
  const own = domainKey(array.ownDomain)
  return {
    ...array,
    digestOf: (domain) => (domainKey(domain) === own ? array.digestOf(domain) : undefined),
  }
}

function declaredSigners(arrays: readonly SignatureArray[]): ReadonlySet<Hex> {
  return new Set(arrays.flatMap(({ claims }) => claims.map(({ signer }) => signer)))
}
