import type { Execution, NetworkOf } from '@causeway/core'
import {
  canonicalJson,
  DomainError,
  depositMessageId,
  fillMessageId,
  refundMessageId,
  withdrawalMessageId,
} from '@causeway/core'
import type { z } from 'zod'
import {
  isAboutDeposits,
  isAboutFill,
  isAboutInitiated,
  isAboutInitiation,
  isAboutNoFillOrRefund,
  isAboutNonceMapping,
  isAboutRecovery,
  isAboutRefund,
  isAboutRequestedWithdrawal,
  isAboutWithdrawal,
  type Request,
} from './isAboutRequest.ts'
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
  type HeldExecution,
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
  type SignatureClaim,
  toExecutionSignatures,
  toMappingSignatures,
  toMessageSignatures,
  toPayloadSignatures,
} from './signatureEntries.ts'

/** Gives the signatures for the array at a path of a response, e.g. `execution.signatures`. */
export type SignaturesAt = (path: string) => readonly SignatureClaim[]

/**
 * Functions that read, compare, sign and verify the answers of one attestation route. Oracles sign and aggregate peers'
 * answers by it; quote-api, solvers and callers verify by it. @source design.md 2, 7.7
 */
export type AttestationKind<Response> = {
  readonly name: AttestationKindName
  /** Path of the route on every oracle. */
  readonly path: string
  readonly responseSchema: z.ZodType<Response>
  /** The response without evidence, in the one spelling under which equal answers are equal text. */
  normalise(response: Response, networkOf: NetworkOf): Response
  /** Signature arrays in document order. None: there is nothing to sign, such as a transaction without deposits. */
  signatureArrays(response: Response, context: SignatureContext): readonly SignatureArray[]
  /** The response with other signatures. @throws RangeError for a signature over typed data without a domain */
  withSignatures(response: Response, signaturesAt: SignaturesAt): Response
  /**
   * True if a normalised response is about the fact that `request` (a validated body) asks for, which signatures alone
   * do not prove. False also for a response that names unknown chains or malformed values.
   */
  isAbout(response: Response, request: Request, networkOf: NetworkOf): boolean
  /** Canonical JSON of everything but signatures and evidence. */
  unsignedPayload(response: Response): string
  /** The execution for the hub; `undefined` if the response has none. */
  executionOf(response: Response): Execution | undefined
  /** The response with `executionHeld` in place of its execution. Payload parameters stay, but are not signed. */
  withoutExecution(response: Response, why?: HeldExecution): Response
  /** True if the execution is held back; no signature covers it then. */
  isHeld(response: Response): boolean
}

/** A kind without the functions that are the same for all kinds. */
type KindDefinition<Response> = Omit<
  AttestationKind<Response>,
  'unsignedPayload' | 'executionOf' | 'withoutExecution' | 'isHeld'
>

type AnyResponse = {
  evidence?: unknown
  execution?: Execution | undefined
  executionHeld?: HeldExecution | undefined
}

function defineKind<Response extends AnyResponse>(
  definition: KindDefinition<Response>,
): AttestationKind<Response> {
  return {
    ...definition,
    isAbout(response, request, networkOf) {
      try {
        return definition.isAbout(response, request, networkOf)
      } catch (error) {
        // An unknown chain, or a malformed address or number.
        if (error instanceof DomainError || error instanceof RangeError || error instanceof SyntaxError) {
          return false
        }
        throw error
      }
    },
    unsignedPayload(response) {
      const { executionHeld, ...payload } = definition.withSignatures(response, () => [])
      // Any reason counts as the same: oracles that hold an execution for different reasons sign the same message.
      const held = executionHeld === undefined ? {} : { executionHeld: 'SIGNING_CAP' }
      return canonicalJson({ ...payload, ...held, evidence: undefined })
    },
    executionOf: ({ execution }) => execution,
    isHeld: ({ executionHeld }) => executionHeld !== undefined,
    withoutExecution(response, why = 'SIGNING_CAP') {
      const { execution: _held, ...rest } = response
      // CAST: every answer that has an execution may have `executionHeld` in its place.
      return { ...rest, executionHeld: why } as Response
    },
  }
}

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
      ...(execution !== undefined && { execution: withExecutionSignatures(execution, signaturesAt) }),
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
    const ofMessage = messageArray('message.signatures', message.signatures, () =>
      withdrawalMessageId(message, networkOf),
    )
    return [ofMessage, ...executionArrays(execution, hub)]
  },
  withSignatures({ message, execution, ...rest }, signaturesAt) {
    return {
      ...rest,
      message: { ...message, signatures: toMessageSignatures(signaturesAt('message.signatures')) },
      ...(execution !== undefined && { execution: withExecutionSignatures(execution, signaturesAt) }),
    }
  },
})

const requestedWithdrawals = defineKind<RequestedWithdrawalsResponse>({
  name: 'withdrawals-v2',
  path: '/attestations/depository-withdrawals/v2',
  responseSchema: requestedWithdrawalsResponseSchema,
  isAbout: isAboutRequestedWithdrawal,
  normalise: normaliseRequestedWithdrawal,
  signatureArrays({ execution }, { hub }) {
    return executionArrays(execution, hub)
  },
  withSignatures({ execution, ...rest }, signaturesAt) {
    return {
      ...rest,
      ...(execution !== undefined && { execution: withExecutionSignatures(execution, signaturesAt) }),
    }
  },
})

const fills = defineKind<FillsResponse>({
  name: 'fills',
  path: '/attestations/solver-fills/v1',
  responseSchema: fillsResponseSchema,
  isAbout: isAboutFill,
  normalise: normaliseSettlement,
  signatureArrays({ message, execution }, { hub, networkOf }) {
    const ofMessage = messageArray('message.signatures', message.signatures, () =>
      fillMessageId(message, networkOf),
    )
    return [ofMessage, ...executionArrays(execution, hub)]
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
    const ofMessage = messageArray('message.signatures', message.signatures, () =>
      refundMessageId(message, networkOf),
    )
    return [ofMessage, ...executionArrays(execution, hub)]
  },
  withSignatures: withSettlementSignatures,
})

const withdrawalInitiation: KindDefinition<WithdrawalInitiationResponse> = {
  name: 'withdrawal-initiation',
  path: '/attestations/withdrawal-initiation/v1',
  responseSchema: withdrawalInitiationResponseSchema,
  isAbout: isAboutInitiation,
  normalise: normaliseWithdrawalInitiation,
  signatureArrays({ execution }, { hub }) {
    return executionArrays(execution, hub)
  },
  withSignatures({ execution, ...rest }, signaturesAt) {
    return {
      ...rest,
      ...(execution !== undefined && { execution: withExecutionSignatures(execution, signaturesAt) }),
    }
  },
}

const withdrawalInitiated: KindDefinition<WithdrawalInitiatedResponse> = {
  name: 'withdrawal-initiated',
  path: '/attestations/withdrawal-initiated/v1',
  responseSchema: withdrawalInitiatedResponseSchema,
  isAbout: isAboutInitiated,
  normalise: normaliseWithdrawalInitiated,
  signatureArrays({ payloadParams: { chainId, amount, signatures, ...rest }, executionHeld }, { hub }) {
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
  signatureArrays({ execution }, { hub }) {
    return executionArrays(execution, hub)
  },
  withSignatures({ execution, ...rest }, signaturesAt) {
    return {
      ...rest,
      ...(execution !== undefined && { execution: withExecutionSignatures(execution, signaturesAt) }),
    }
  },
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

/** The routes that attest; those of version 2 are the public protocol's names. */
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

export type AttestationKindName =
  | 'deposits'
  | 'withdrawals'
  | 'fills'
  | 'refunds'
  | 'withdrawal-initiation'
  | 'withdrawal-initiated'
  | 'withdrawals-v2'
  | 'withdrawal-initiation-v2'
  | 'withdrawal-initiated-v2'
  | 'recovery'
  | 'no-fill-or-refund'
  | 'nonce-mapping'

type SignedExecution = NonNullable<FillsResponse['execution']>

/** The execution's array in a list; none where there is no execution, or it is held. */
function executionArrays(
  execution: SignedExecution | undefined,
  hub: SignatureContext['hub'],
): readonly SignatureArray[] {
  return execution === undefined ? [] : [executionArray(execution.signatures, execution, hub)]
}

function withExecutionSignatures<Execution extends SignedExecution>(
  execution: Execution,
  signaturesAt: SignaturesAt,
): Execution {
  return { ...execution, signatures: toExecutionSignatures(signaturesAt('execution.signatures')) }
}

function withSettlementSignatures<Response extends FillsResponse | RefundsResponse>(
  response: Response,
  signaturesAt: SignaturesAt,
): Response {
  const { message, execution } = response
  return {
    ...response,
    message: { ...message, signatures: toMessageSignatures(signaturesAt('message.signatures')) },
    ...(execution !== undefined && { execution: withExecutionSignatures(execution, signaturesAt) }),
  }
}
