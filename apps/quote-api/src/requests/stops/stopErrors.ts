// Errors that readiness shows while something is stopped. The service stays ready with all of them.
import { DomainError } from '@causeway/core'
import type { AssumptionKind, BrokenAssumption } from './assumptions.ts'
import type { Difference } from './solverTerms.ts'
import { type ChainStop, everyChain } from './stopStore.ts'

/** Solvers have other terms than this service. It stays ready, because requests that were sold are still followed. */
export class SolverDiffersError extends DomainError {
  readonly code: string
  readonly kind = 'upstream_unavailable'

  /** The code names the first problem; the message, which is logged, names all. */
  constructor([first, ...others]: readonly [Difference, ...Difference[]]) {
    super(`The solver and this service differ: ${[first, ...others].map(({ text }) => text).join('; ')}.`)
    this.code = differenceCodes[first.kind]
  }
}

const differenceCodes = {
  'order-signer': 'ORDER_SIGNER_DIFFERS',
  'fill-wallet': 'FILL_WALLET_DIFFERS',
  'fill-contract': 'FILL_CONTRACT_DIFFERS',
  'chain-unpaid': 'CHAIN_NOT_PAID',
  'loss-limit': 'LOSS_LIMIT_DIFFERS',
} as const satisfies Record<Difference['kind'], string>

/** A network has changed. The service stays ready, because the chains that matter are stopped. */
export class NetworkChangedError extends DomainError {
  readonly code: string
  readonly kind = 'upstream_unavailable'

  /** The code names the first problem; the message, which is logged, names all. */
  constructor([first, ...others]: readonly [BrokenAssumption, ...BrokenAssumption[]]) {
    super(`Networks are not as the files say: ${[first, ...others].map(textOfBroken).join('; ')}.`)
    this.code = networkCodes[first.what]
  }
}

const textOfBroken = ({ chainId, text }: BrokenAssumption): string =>
  chainId === everyChain ? text : `chain ${chainId}: ${text}`

const networkCodes = {
  'block-time': 'BLOCK_TIME_CHANGED',
  'finality-lag': 'FINALITY_LAGS',
  gas: 'GAS_CHANGED',
  'guardian-set': 'GUARDIAN_SET_UNKNOWN',
} as const satisfies Record<AssumptionKind, string>

/** Chains are stopped. The service stays ready, because every process has the same stops. */
export class SomethingStoppedError extends DomainError {
  readonly code = 'CHAIN_STOPPED'
  readonly kind = 'upstream_unavailable'

  constructor(stops: readonly ChainStop[]) {
    super(`Stopped: ${stops.map(({ chainId }) => (chainId === everyChain ? 'all' : chainId)).join(', ')}.`)
  }
}
