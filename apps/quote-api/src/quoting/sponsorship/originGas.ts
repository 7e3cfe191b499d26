/** Gas of the origin side, split by who sends the transaction; in any one unit. */
export type OriginGas = {
  /** Sent by the solver for the user: part of the execution fee, so a sponsor may pay it. */
  readonly relayed: bigint
  /** Sent by the user: never sponsored. */
  readonly user: bigint
}

/**
 * A permit deposit is sent by the solver; the approval that a first permit may need, and every other
 * deposit, by the user.
 * @source quote-and-sponsorship.md, Limits; quote-api.md 7, rows 34, 35
 */
export function splitOriginGas(args: {
  readonly usePermit: boolean
  /** 0 where the currency is approved already. */
  readonly approvalGas: bigint
  readonly depositGas: bigint
}): OriginGas {
  const { usePermit, approvalGas, depositGas } = args
  return usePermit
    ? { relayed: depositGas, user: approvalGas }
    : { relayed: 0n, user: approvalGas + depositGas }
}
