import type { OracleSight } from '@causeway/chains'
import type { ReadinessCheck } from '@causeway/http'
import type { SolverChain } from '../filling/filling.ts'

/** Only shown: other chains are paid on meanwhile. */
export const submitCheck = ({ key, submitFailure }: SolverChain): readonly ReadinessCheck[] =>
  submitFailure === undefined
    ? []
    : [
        {
          ...{ name: `submit-${key}`, isShownOnly: true },
          async check() {
            const failure = submitFailure()
            if (failure !== undefined) throw failure
          },
        },
      ]

/** Only shown: orders are paid up to what may be unattested. */
export const oraclesCheck = (sight: OracleSight): ReadinessCheck => ({
  ...{ name: 'oracles', isShownOnly: true },
  check: async () => sight.assertEnough(),
})
