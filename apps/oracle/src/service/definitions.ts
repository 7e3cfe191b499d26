import { type AttestationKind, attestationKinds, withdrawalBytesMax } from '@causeway/attestations'
import type { z } from 'zod'
import type { Attest, AttestationContext } from '../attestations/context.ts'
import { attestDeposits, canonicalDeposits } from '../attestations/deposits.ts'
import { attestFill } from '../attestations/fills.ts'
import { attestNoFillOrRefund } from '../attestations/noFillOrRefund.ts'
import { attestNonceMapping } from '../attestations/nonceMapping.ts'
import { attestRecovery } from '../attestations/recovery.ts'
import { attestRefund } from '../attestations/refunds.ts'
import { attestRequestedWithdrawal } from '../attestations/requestedWithdrawals.ts'
import { attestWithdrawalInitiated } from '../attestations/withdrawalInitiated.ts'
import { attestWithdrawalInitiation } from '../attestations/withdrawalInitiation.ts'
import { attestWithdrawal } from '../attestations/withdrawals.ts'
import {
  depositsRequestSchema,
  fillsRequestSchema,
  noFillOrRefundRequestSchema,
  nonceMappingRequestSchema,
  recoveryRequestSchema,
  refundsRequestSchema,
  requestedWithdrawalsRequestSchema,
  withdrawalFlowRequestSchema,
  withdrawalsRequestSchema,
} from '../wire/requests.ts'

/** Switches that any attestation request may carry. */
export type RequestSwitches = {
  /** True: the peers of this oracle are to sign as well. */
  readonly requestPeerSignatures?: boolean | undefined
  /** True: the answer is to name the sources of its facts. */
  readonly includeEvidence?: boolean | undefined
  /** True: an order is to be settled without proof of its payments. */
  readonly force?: boolean | undefined
}

/** One attestation route: its request, its answer, the rule from one to the other, and what HTTP and caps need. */
export type AttestationDefinition<Request extends RequestSwitches, Response> = {
  readonly kind: AttestationKind<Response>
  readonly requestSchema: z.ZodType<Request>
  readonly attest: Attest<Request, Response>
  /**
   * Gives the request canonical spelling, so that requests for the same fact share one cached answer and one piece of
   * work. Default: unchanged. @throws DomainError for a value that has no canonical spelling
   */
  readonly canonical?: (request: Request, context: AttestationContext) => Request
  /** The chain that a request is mainly about, for metrics. */
  readonly chainOf: (request: Request) => string
  readonly summary: string
  /** Transaction id of the payment, for the log, where it is not a top-level member of the request. */
  readonly paidBy?: (request: Request) => string | undefined
  /** Transactions behind a forced answer, for the log. */
  readonly forcedBy?: (request: Request) => object
  /**
   * True when its execution lets no value out, so that caps do not count it: an initiation only moves a balance to a
   * withdrawal address, and an owner may ask for any number of them. The later payout is counted.
   */
  readonly letsNothingOut?: boolean
  /** True where deposits are attested before anyone asks, peers included. */
  readonly isPreparedAhead?: boolean
  /** Size limit of a request in bytes; default: that of the server. */
  readonly bodyBytesMax?: number
}

export const depositsDefinition = define({
  kind: attestationKinds.deposits,
  requestSchema: depositsRequestSchema,
  attest: attestDeposits,
  canonical: canonicalDeposits,
  chainOf: ({ chainId }) => chainId,
  isPreparedAhead: true,
  summary: 'Attest the deposits of a transaction',
})

export const withdrawalsDefinition = define({
  kind: attestationKinds.withdrawals,
  requestSchema: withdrawalsRequestSchema,
  attest: attestWithdrawal,
  chainOf: ({ chainId }) => chainId,
  summary: 'Attest what became of a withdrawal',
  // Two hex digits per byte, and room for the other members.
  bodyBytesMax: 2 * withdrawalBytesMax + 16 * 1_024,
})

export const fillsDefinition = define({
  kind: attestationKinds.fills,
  requestSchema: fillsRequestSchema,
  attest: attestFill,
  chainOf: ({ order }) => order.output.chainId,
  forcedBy: ({ order, inputs, fill }) => ({
    outputChain: order.output.chainId,
    deposits: inputs.map(({ transactionId }) => transactionId),
    payments: [fill.transactionId],
  }),
  paidBy: ({ fill }) => fill.transactionId,
  summary: "Attest that a solver paid an order's outputs",
})

export const refundsDefinition = define({
  kind: attestationKinds.refunds,
  requestSchema: refundsRequestSchema,
  attest: attestRefund,
  // Metrics show the empty id, of an order without inputs, as `other`.
  chainOf: ({ order }) => order.inputs[0]?.payment.chainId ?? '',
  forcedBy: ({ order, inputs, refunds }) => ({
    outputChain: order.output.chainId,
    deposits: inputs.map(({ transactionId }) => transactionId),
    payments: refunds.map(({ transactionId }) => transactionId),
  }),
  paidBy: ({ refunds }) => refunds[0]?.transactionId,
  summary: "Attest that a solver paid an order's inputs back",
})

export const withdrawalInitiationDefinition = define({
  kind: attestationKinds['withdrawal-initiation'],
  requestSchema: withdrawalFlowRequestSchema,
  attest: attestWithdrawalInitiation,
  chainOf: ({ chainId }) => chainId,
  letsNothingOut: true,
  summary: 'Attest that an owner moves a balance to a withdrawal address',
})

export const withdrawalInitiatedDefinition = define({
  kind: attestationKinds['withdrawal-initiated'],
  requestSchema: withdrawalFlowRequestSchema,
  attest: attestWithdrawalInitiated,
  chainOf: ({ chainId }) => chainId,
  summary: 'Sign the payload parameters of a withdrawal that was initiated',
})

export const requestedWithdrawalsDefinition = define({
  kind: attestationKinds['withdrawals-v2'],
  requestSchema: requestedWithdrawalsRequestSchema,
  attest: attestRequestedWithdrawal,
  chainOf: ({ chainId }) => chainId,
  summary: 'Attest what became of a withdrawal that its owner asked for',
})

/** Does exactly what version 1 does: the public protocol has it under both names. */
export const withdrawalInitiationV2Definition = define({
  ...withdrawalInitiationDefinition,
  kind: attestationKinds['withdrawal-initiation-v2'],
})

/** See `withdrawalInitiationV2Definition`. */
export const withdrawalInitiatedV2Definition = define({
  ...withdrawalInitiatedDefinition,
  kind: attestationKinds['withdrawal-initiated-v2'],
})

export const recoveryDefinition = define({
  kind: attestationKinds.recovery,
  requestSchema: recoveryRequestSchema,
  attest: attestRecovery,
  chainOf: ({ chainId }) => chainId,
  summary: 'Give a deposit back that its solver promised not to use',
})

export const noFillOrRefundDefinition = define({
  kind: attestationKinds['no-fill-or-refund'],
  requestSchema: noFillOrRefundRequestSchema,
  attest: attestNoFillOrRefund,
  chainOf: ({ solverChainId }) => solverChainId,
  summary: "Sign a solver's promise neither to fill nor to refund an order",
})

export const nonceMappingDefinition = define({
  kind: attestationKinds['nonce-mapping'],
  requestSchema: nonceMappingRequestSchema,
  attest: attestNonceMapping,
  chainOf: ({ walletChainId }) => walletChainId,
  summary: "Sign what a wallet's transfer with one nonce is for",
})

/** Infers the types of a definition. */
function define<Request extends RequestSwitches, Response>(
  definition: AttestationDefinition<Request, Response>,
): AttestationDefinition<Request, Response> {
  return definition
}
