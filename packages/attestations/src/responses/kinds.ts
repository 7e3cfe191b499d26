import { depositMessageId, fillMessageId, refundMessageId, withdrawalMessageId } from '@causeway/core'
import { defineKind, type KindDefinition, type SignaturesAt } from './attestationKind.ts'
import {
  isAboutDeposits,
  isAboutNoFillOrRefund,
  isAboutNonceMapping,
  isAboutRecovery,
} from './isAboutRequest.ts'
import { isAboutFill, isAboutRefund } from './isAboutSettlement.ts'
import {
  isAboutInitiated,
  isAboutInitiation,
  isAboutRequestedWithdrawal,
  isAboutWithdrawal,
} from './isAboutWithdrawal.ts'
import {
  normaliseDeposits,
  normaliseNoFillOrRefund,
  normaliseRecovery,
  normaliseRequestedWithdrawal,
  normaliseSettlement,
  normaliseWithdrawal,
  normaliseWithdrawalInitiated,
  normaliseWithdrawalInitiation,
} from './normaliseResponse.ts'
import {
  type DepositsResponse,
  depositsResponseSchema,
  type FillsResponse,
  fillsResponseSchema,
  type NoFillOrRefundResponse,
  type NonceMappingResponse,
  noFillOrRefundResponseSchema,
  nonceMappingResponseSchema,
  type RecoveryResponse,
  type RefundsResponse,
  type RequestedWithdrawalsResponse,
  recoveryResponseSchema,
  refundsResponseSchema,
  requestedWithdrawalsResponseSchema,
  type WithdrawalInitiatedResponse,
  type WithdrawalInitiationResponse,
  type WithdrawalsResponse,
  withdrawalInitiatedResponseSchema,
  withdrawalInitiationResponseSchema,
  withdrawalsResponseSchema,
} from './schemas.ts'
import {
  executionArray,
  mappingArray,
  messageArray,
  payloadArray,
  type SignatureArray,
  type SignatureContext,
} from './signatureArrays.ts'
import {
  toExecutionSignatures,
  toMappingSignatures,
  toMessageSignatures,
  toPayloadSignatures,
} from './signatureEntries.ts'

// In each kind `signatureArrays` tells what is signed for each path of a response, and `withSignatures` puts
// signatures there: both name the same paths.

const deposits = defineKind<DepositsResponse>({
  name: 'deposits',
  path: '/attestations/depository-deposits/v1',
  responseSchema: depositsResponseSchema,
  isAbout: isAboutDeposits,
  normalise: normaliseDeposits,
  signatureArrays({ messages, execution }, { hub, networkOf }) {
    const arrays = messages.map((message, index) =>
      messageArray(`messages.${index}.signatures`, message.signatures, () =>
        depositMessageId(message, networkOf),
      ),
    )
    return [...arrays, ...executionArrays(execution, hub)]
  },
  withSignatures({ messages, execution, ...rest }, signaturesAt) {
    return {
      ...rest,
      messages: messages.map((message, index) => ({
        ...message,
        signatures: toMessageSignatures(signaturesAt(`messages.${index}.signatures`)),
      })),
      ...signedExecution(execution, signaturesAt),
    }
  },
})

const withdrawals = defineKind<WithdrawalsResponse>({
  name: 'withdrawals',
  path: '/attestations/depository-withdrawals/v1',
  responseSchema: withdrawalsResponseSchema,
  isAbout: isAboutWithdrawal,
  normalise: normaliseWithdrawal,
  signatureArrays({ message, execution }, { hub, networkOf }) {
    const messageIdOf = () => withdrawalMessageId(message, networkOf)
    return [
      messageArray('message.signatures', message.signatures, messageIdOf),
      ...executionArrays(execution, hub),
    ]
  },
  withSignatures({ message, execution, ...rest }, signaturesAt) {
    const signatures = toMessageSignatures(signaturesAt('message.signatures'))
    return { ...rest, message: { ...message, signatures }, ...signedExecution(execution, signaturesAt) }
  },
})

const requestedWithdrawals = defineKind<RequestedWithdrawalsResponse>({
  name: 'withdrawals-v2',
  path: '/attestations/depository-withdrawals/v2',
  responseSchema: requestedWithdrawalsResponseSchema,
  isAbout: isAboutRequestedWithdrawal,
  normalise: normaliseRequestedWithdrawal,
  signatureArrays: ({ execution }, { hub }) => executionArrays(execution, hub),
  withSignatures: withOnlyExecutionSigned,
})

const fills = defineKind<FillsResponse>({
  name: 'fills',
  path: '/attestations/solver-fills/v1',
  responseSchema: fillsResponseSchema,
  isAbout: isAboutFill,
  normalise: normaliseSettlement,
  signatureArrays({ message, execution }, { hub, networkOf }) {
    const messageIdOf = () => fillMessageId(message, networkOf)
    return [
      messageArray('message.signatures', message.signatures, messageIdOf),
      ...executionArrays(execution, hub),
    ]
  },
  withSignatures: withSettlementSignatures,
})

const refunds = defineKind<RefundsResponse>({
  name: 'refunds',
  path: '/attestations/solver-refunds/v1',
  responseSchema: refundsResponseSchema,
  isAbout: isAboutRefund,
  normalise: normaliseSettlement,
  signatureArrays({ message, execution }, { hub, networkOf }) {
    const messageIdOf = () => refundMessageId(message, networkOf)
    return [
      messageArray('message.signatures', message.signatures, messageIdOf),
      ...executionArrays(execution, hub),
    ]
  },
  withSignatures: withSettlementSignatures,
})

const withdrawalInitiation: KindDefinition<WithdrawalInitiationResponse> = {
  name: 'withdrawal-initiation',
  path: '/attestations/withdrawal-initiation/v1',
  responseSchema: withdrawalInitiationResponseSchema,
  isAbout: isAboutInitiation,
  normalise: normaliseWithdrawalInitiation,
  signatureArrays: ({ execution }, { hub }) => executionArrays(execution, hub),
  withSignatures: withOnlyExecutionSigned,
}

const withdrawalInitiated: KindDefinition<WithdrawalInitiatedResponse> = {
  name: 'withdrawal-initiated',
  path: '/attestations/withdrawal-initiated/v1',
  responseSchema: withdrawalInitiatedResponseSchema,
  isAbout: isAboutInitiated,
  normalise: normaliseWithdrawalInitiated,
  signatureArrays({ payloadParams: { chainId, amount, signatures, ...rest }, executionHeld }, { hub }) {
    // This kind has no execution to leave out: held payload parameters stay in the answer, unsigned.
    if (executionHeld !== undefined) return []
    const request = { ...rest, chainId: BigInt(chainId), amount: BigInt(amount) }
    return [payloadArray(signatures, request, hub)]
  },
  withSignatures({ payloadParams, ...rest }, signaturesAt) {
    const signatures = toPayloadSignatures(signaturesAt('payloadParams.signatures'))
    return { ...rest, payloadParams: { ...payloadParams, signatures } }
  },
}

const recovery = defineKind<RecoveryResponse>({
  name: 'recovery',
  path: '/attestations/recover/v1',
  responseSchema: recoveryResponseSchema,
  isAbout: isAboutRecovery,
  normalise: normaliseRecovery,
  signatureArrays: ({ execution }, { hub }) => executionArrays(execution, hub),
  withSignatures: withOnlyExecutionSigned,
})

const noFillOrRefund = defineKind<NoFillOrRefundResponse>({
  name: 'no-fill-or-refund',
  path: '/attestations/signatures/no-fill-or-refund/v1',
  responseSchema: noFillOrRefundResponseSchema,
  isAbout: isAboutNoFillOrRefund,
  normalise: normaliseNoFillOrRefund,
  signatureArrays({ genericMapping: { signatures, ...entry } }, { hub }) {
    return [mappingArray(signatures, entry, hub)]
  },
  withSignatures({ genericMapping, ...rest }, signaturesAt) {
    const signatures = toMappingSignatures(signaturesAt('genericMapping.signatures'))
    return { ...rest, genericMapping: { ...genericMapping, signatures } }
  },
})

const nonceMapping = defineKind<NonceMappingResponse>({
  ...noFillOrRefund,
  name: 'nonce-mapping',
  path: '/attestations/signatures/nonce-mapping/v2',
  responseSchema: nonceMappingResponseSchema,
  isAbout: isAboutNonceMapping,
})

/** The kind of each route. */
export const attestationKinds = {
  deposits,
  withdrawals,
  fills,
  refunds,
  'withdrawal-initiation': defineKind(withdrawalInitiation),
  'withdrawal-initiated': defineKind(withdrawalInitiated),
  'withdrawals-v2': requestedWithdrawals,
  'withdrawal-initiation-v2': defineKind<WithdrawalInitiationResponse>({
    ...withdrawalInitiation,
    name: 'withdrawal-initiation-v2',
    path: '/attestations/withdrawal-initiation/v2',
  }),
  'withdrawal-initiated-v2': defineKind<WithdrawalInitiatedResponse>({
    ...withdrawalInitiated,
    name: 'withdrawal-initiated-v2',
    path: '/attestations/withdrawal-initiated/v2',
  }),
  recovery,
  'no-fill-or-refund': noFillOrRefund,
  'nonce-mapping': nonceMapping,
} as const

type SignedExecution = NonNullable<FillsResponse['execution']>

/** The execution's array in a list; none where there is no execution, or it is held. */
function executionArrays(
  execution: SignedExecution | undefined,
  hub: SignatureContext['hub'],
): readonly SignatureArray[] {
  return execution === undefined ? [] : [executionArray(execution.signatures, execution, hub)]
}

/** The member `execution` with other signatures; no member where there is no execution. */
function signedExecution<Execution extends SignedExecution>(
  execution: Execution | undefined,
  signaturesAt: SignaturesAt,
): { readonly execution?: Execution } {
  if (execution === undefined) return {}
  const signatures = toExecutionSignatures(signaturesAt('execution.signatures'))
  return { execution: { ...execution, signatures } }
}

/** The response with other signatures of its execution, the only member that is signed. */
function withOnlyExecutionSigned<Response extends { execution?: SignedExecution | undefined }>(
  response: Response,
  signaturesAt: SignaturesAt,
): Response {
  const { execution, ...rest } = response
  // CAST: all members of the response, in another order.
  return { ...rest, ...signedExecution<SignedExecution>(execution, signaturesAt) } as Response
}

/** The fill's or refund's response with other signatures of its message and execution. */
function withSettlementSignatures<Response extends FillsResponse | RefundsResponse>(
  response: Response,
  signaturesAt: SignaturesAt,
): Response {
  const { message, execution } = response
  return {
    ...response,
    message: { ...message, signatures: toMessageSignatures(signaturesAt('message.signatures')) },
    ...signedExecution<SignedExecution>(execution, signaturesAt),
  }
}
