import { DomainError } from '@causeway/core'

/** The request moves by itself, or has ended. */
export class RequestNotParkedError extends DomainError {
  readonly code = 'REQUEST_NOT_PARKED'
  readonly kind = 'conflict'

  constructor(stage: string) {
    super('The request is not parked.', { data: { stage } })
  }
}

/** A parked request cannot end so. */
export class ResolutionNotPossibleError extends DomainError {
  readonly code = 'RESOLUTION_NOT_POSSIBLE'
  readonly kind = 'conflict'

  /** @param possible what is possible instead */
  constructor(possible: readonly string[]) {
    super('The request cannot be resolved so; see what explain says.', {
      data: { possible: possible.join(', ') || 'nothing' },
    })
  }
}
