import type { OracleSight } from '@causeway/chains'
import type { ReadinessCheck } from '@causeway/http'
import type { SolverChain } from '../filling/filling.ts'

/** Readiness check of a chain's submit endpoint. It is only shown: the solver pays on other chains meanwhile. */
export const submitCheck = ({ key, submitFailure }: SolverChain): readonly ReadinessCheck[] =>
  submitFailure === undefined
    ? []
    : [
        {
          name: `submit-${key}`,
          isShownOnly: true,
          async check() {
            const failure = submitFailure()
            if (failure !== undefined) throw failure
          },
        },
      ]

/** Readiness check of the oracles. It is only shown: the solver pays on, up to the limits of unattested payments. */
export const oraclesCheck = (sight: OracleSight): ReadinessCheck => ({
  name: 'oracles',
  isShownOnly: true,
  check: async () => sight.assertEnough(),
})
