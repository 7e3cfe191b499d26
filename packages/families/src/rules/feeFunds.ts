import { DomainError } from '@causeway/core'

/** Funds of the account that pays the network for the user's transactions. */
export type FeeFunds = {
  /** Native coin, smallest units. */
  readonly coin: bigint
  /** Units of execution that the account has free of charge, in families with staked units (Tron's energy). */
  readonly units?: bigint
}

/** The account that pays network fees has too little for the steps; found out before the user signs. @source F-98 */
export class FeeFundsError extends DomainError {
  readonly code = 'INSUFFICIENT_FUNDS'
  readonly kind = 'invalid_request'

  /** @param needed smallest units of the native coin, which `unit` names */
  constructor(field: 'user' | 'depositFeePayer', { coin }: FeeFunds, needed: bigint, unit: string) {
    super(`${field} has ${coin} ${unit}; the network takes ${needed} ${unit} for the steps.`, {
      data: { field, availableAmount: coin.toString(), neededAmount: needed.toString() },
    })
  }
}
