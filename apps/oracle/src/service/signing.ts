import type { AttestationKind, SignatureClaim, SignatureContext } from '@causeway/attestations'
import type { Signer } from '@causeway/core'
import type { OracleMetrics } from './oracleMetrics.ts'

/** The signer with metrics of each signature's duration and outcome. */
export function measuredSigner(signer: Signer, metrics: Pick<OracleMetrics, 'observeSigning'>): Signer {
  return {
    address: signer.address,
    async sign(request, options) {
      const startedAt = performance.now()
      const observe = (outcome: 'signed' | 'failed') =>
        metrics.observeSigning((performance.now() - startedAt) / 1000, outcome)
      try {
        const signature = await signer.sign(request, options)
        observe('signed')
        return signature
      } catch (error) {
        observe('failed')
        throw error
      }
    },
  }
}

/**
 * Puts this oracle's signature into every signature array of a response that it built from facts. What is signed comes
 * from `AttestationKind.signatureArrays`, which verification uses as well, so that the two cannot differ.
 * @returns `isSigned` is false where there is nothing to sign: no deposits
 * @throws SignerFailedError
 */
export async function signResponse<Response>(
  kind: AttestationKind<Response>,
  unsigned: Response,
  { signer, context }: { readonly signer: Signer; readonly context: SignatureContext },
  options: { readonly signal: AbortSignal },
): Promise<{ readonly response: Response; readonly isSigned: boolean }> {
  const arrays = kind.signatureArrays(unsigned, context)
  const claims = await Promise.all(
    arrays.map(async ({ path, ownDomain, requestOf }): Promise<readonly [string, SignatureClaim]> => {
      const request = requestOf(ownDomain)
      if (request === undefined) throw new Error('an answer that was built from facts can be signed')
      const signature = await signer.sign(request, options)
      const domain = ownDomain === undefined ? {} : { domain: ownDomain }
      return [path, { signer: signer.address, signature, ...domain }]
    }),
  )
  const claimAt = new Map(claims)
  const response = kind.withSignatures(unsigned, (path) => {
    const claim = claimAt.get(path)
    return claim === undefined ? [] : [claim]
  })
  return { response, isSigned: arrays.length > 0 }
}
