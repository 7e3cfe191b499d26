// The rules that a run is played by. The shipped ones are what the services run; a variant lacks one check, so
// that a test sees the invariants fail without it.

import { type EthereumFactsReader, tryTransaction } from '@causeway/families'
import type { AttestationContext } from '../../apps/oracle/src/attestations/context.ts'
import { attestDeposits } from '../../apps/oracle/src/attestations/deposits.ts'
import { attestFill } from '../../apps/oracle/src/attestations/fills.ts'
import { attestRefund } from '../../apps/oracle/src/attestations/refunds.ts'
import { attestRequestedWithdrawal } from '../../apps/oracle/src/attestations/requestedWithdrawals.ts'
import { attestWithdrawalInitiated } from '../../apps/oracle/src/attestations/withdrawalInitiated.ts'
import { attestWithdrawalInitiation } from '../../apps/oracle/src/attestations/withdrawalInitiation.ts'
import { attestWithdrawal } from '../../apps/oracle/src/attestations/withdrawals.ts'
import type { SettledOrders } from '../../apps/oracle/src/caps/settledOrders.ts'
import { createOpenRewards } from '../../apps/quote-api/src/pricing/openQuotes/openRewards.ts'
import { bookedFor, paidFor } from '../../apps/quote-api/src/requests/settlement/amounts/depositShare.ts'
import { fullLimit } from '../../apps/solver/src/wallet/exposure.ts'
import type { Chain } from './chain/chain.ts'

export const attestations = {
  deposits: attestDeposits,
  fill: attestFill,
  refund: attestRefund,
  initiation: attestWithdrawalInitiation,
  initiated: attestWithdrawalInitiated,
  withdrawal: attestWithdrawal,
  requestedWithdrawal: attestRequestedWithdrawal,
} as const
export type Attestations = typeof attestations
export type Kind = keyof Attestations
export type RequestOf<Name extends Kind> = Parameters<Attestations[Name]>[0]
export type ResponseOf<Name extends Kind> = Awaited<ReturnType<Attestations[Name]>>['unsigned']

type Allocator = NonNullable<AttestationContext['allocator']>

export type Rules = {
  /** Chain reader of an oracle. */
  readonly readerOf: (shipped: EthereumFactsReader, chain: Chain) => EthereumFactsReader
  /** Source of issued payloads for an oracle, for one request. */
  readonly allocatorOf: (shipped: Allocator, request: object) => Allocator
  /** Hub balances as an oracle reads them. */
  readonly balancesOf: (shipped: AttestationContext['hubBalances']) => AttestationContext['hubBalances']
  /** Record of settled orders at an oracle. */
  readonly settledOf: (shipped: SettledOrders) => Pick<SettledOrders, 'admit'>
  /** True if the allocator's contract accepts one request per nonce. */
  readonly oneRequestPerNonce: boolean
  /** Rules of quotes and their books: what a deposit is paid, what it books, and what moves earn. */
  readonly paidFor: typeof paidFor
  readonly bookedFor: typeof bookedFor
  readonly rewardsOf: typeof createOpenRewards
  /** Rules of the payer: the proof that its payments have, whether it runs them before, and when it waits. */
  readonly paysBy: 'record' | 'transfer'
  readonly tryTransaction: typeof tryTransaction
  readonly fullLimit: typeof fullLimit
}

export const shippedRules: Rules = {
  readerOf: (shipped) => shipped,
  allocatorOf: (shipped) => shipped,
  balancesOf: (shipped) => shipped,
  settledOf: (shipped) => shipped,
  oneRequestPerNonce: true,
  paidFor,
  bookedFor,
  rewardsOf: createOpenRewards,
  paysBy: 'record',
  tryTransaction,
  fullLimit,
}
