import { AttestationError } from '../attestations/errors.ts'

/** Bounds the attestations that are being worked on. Further ones are refused at once, never queued. */
export interface WorkSlots {
  /** @throws AttestationError `OVERLOADED` */
  run<Result>(work: () => Promise<Result>): Promise<Result>
  readonly inUse: number
}

export function createWorkSlots(slotsMax: number): WorkSlots {
  let inUse = 0
  return {
    get inUse() {
      return inUse
    },
    async run(work) {
      if (inUse >= slotsMax) {
        throw new AttestationError('OVERLOADED', 'Too many attestations are being worked on.', {
          retryAfterSeconds: 1,
        })
      }
      inUse += 1
      try {
        return await work()
      } finally {
        inUse -= 1
      }
    },
  }
}
