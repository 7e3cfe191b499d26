import { DomainError } from '@causeway/core'

/** The caller's own calls would fail on the destination. */
export class DestinationCallFailedError extends DomainError {
  readonly code = 'DESTINATION_TX_FAILED'
  readonly kind = 'invalid_request'

  /** @param args.reason the contract's reason, cleaned; @param args.index position of the failing call */
  constructor(args: { chainId: string; index?: number; reason: string }) {
    const { chainId, index, reason } = args
    super(`The destination calls fail on chain ${chainId}: ${reason}.`, {
      data: { chainId, reason, ...(index !== undefined && { index }) },
    })
  }
}

/** The chain's nodes cannot run several calls after each other, and one that builds on another failed. */
export class SimulationUnsupportedError extends DomainError {
  readonly code = 'SIMULATION_UNSUPPORTED'
  readonly kind = 'invalid_request'

  constructor(chainId: string) {
    super(
      `Calls that build on each other cannot be simulated on chain ${chainId}: name their gas in txsGasLimit.`,
      { data: { chainId, field: 'txsGasLimit' } },
    )
  }
}

/** Too many simulations are under way on the chain. */
export class SimulationOverloadedError extends DomainError {
  readonly code = 'SIMULATION_OVERLOADED'
  readonly kind = 'overloaded'

  constructor(chainId: string) {
    super(`Too many destination calls are being simulated on chain ${chainId}.`, {
      data: { chainId },
      retryAfterSeconds: 1,
    })
  }
}
