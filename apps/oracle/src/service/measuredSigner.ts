import type { Signer } from '@causeway/core'
import type { OracleMetrics } from './oracleMetrics.ts'

/** The same signer, timed. */
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
