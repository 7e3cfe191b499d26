import type { Hex, NetworkOf } from '@causeway/core'
import { codecOf } from '@causeway/core/encodings'
import type {
  DepositsResponse,
  FillsResponse,
  NoFillOrRefundResponse,
  RecoveryResponse,
  RefundsResponse,
  RequestedWithdrawalsResponse,
  WithdrawalInitiatedResponse,
  WithdrawalInitiationResponse,
  WithdrawalsResponse,
} from './schemas.ts'
import { lowerCase } from './signatureEntries.ts'

/**
 * The functions of this file give responses of different oracles one spelling, because they are compared as text. They
 * change the case of hex, the spelling of addresses by their family, and leading zeros of chain ids. Text from the
 * caller and signed text stay unchanged. Evidence, which differs by oracle, is left out. @source rule P-131
 */
export function normaliseDeposits(
  { messages, execution, executionHeld }: DepositsResponse,
  networkOf: NetworkOf,
): DepositsResponse {
  return {
    messages: messages.map((message) => {
      const { data, result } = message
      const address = (text: string) => normaliseAddress(text, data.chainId, networkOf)
      return {
        ...message,
        result: {
          ...result,
          onchainId: lowerCase(result.onchainId),
          depositId: lowerCase(result.depositId),
          depository: address(result.depository),
          depositor: address(result.depositor),
          currency: address(result.currency),
        },
      }
    }),
    ...(execution !== undefined && {
      execution: {
        ...normaliseExecution(execution),
        metadata: execution.metadata.map(({ origin, ...entry }) => ({
          ...entry,
          origin: { ...origin, address: normaliseAddress(origin.address, origin.chainId, networkOf) },
          oracleChainId: withoutLeadingZeros(entry.oracleChainId),
          oracleContract: lowerCase(entry.oracleContract),
        })),
      },
    }),
    ...(executionHeld !== undefined && { executionHeld }),
  }
}

export function normaliseWithdrawal(
  { message, execution, executionHeld, pendingReason }: WithdrawalsResponse,
  networkOf: NetworkOf,
): WithdrawalsResponse {
  const { data, result } = message
  return {
    message: {
      ...message,
      data: { ...data, withdrawal: lowerCase(data.withdrawal) },
      result: {
        ...result,
        withdrawalId: lowerCase(result.withdrawalId),
        depository: normaliseAddress(result.depository, data.chainId, networkOf),
      },
    },
    ...(execution !== undefined && { execution: normaliseExecution(execution) }),
    ...(executionHeld !== undefined && { executionHeld }),
    ...(pendingReason !== undefined && { pendingReason }),
  }
}

export function normaliseRequestedWithdrawal({
  status,
  execution,
  executionHeld,
  pendingReason,
}: RequestedWithdrawalsResponse): RequestedWithdrawalsResponse {
  return {
    status,
    ...(execution !== undefined && { execution: normaliseExecution(execution) }),
    ...(executionHeld !== undefined && { executionHeld }),
    ...(pendingReason !== undefined && { pendingReason }),
  }
}

export function normaliseSettlement<Response extends FillsResponse | RefundsResponse>(
  response: Response,
): Response {
  const { message, execution } = response
  const { result } = message
  return {
    ...response,
    message: { ...message, result: { ...result, orderId: lowerCase(result.orderId) } },
    ...(execution !== undefined && { execution: normaliseExecution(execution) }),
    evidence: undefined,
  }
}

export function normaliseWithdrawalInitiation({
  withdrawalAddress,
  execution,
  executionHeld,
}: WithdrawalInitiationResponse): WithdrawalInitiationResponse {
  return {
    withdrawalAddress: lowerCase(withdrawalAddress),
    ...(execution !== undefined && { execution: normaliseExecution(execution) }),
    ...(executionHeld !== undefined && { executionHeld }),
  }
}

export function normaliseWithdrawalInitiated({
  payloadParams,
  executionHeld,
}: WithdrawalInitiatedResponse): WithdrawalInitiatedResponse {
  const { chainId, spender, nonce, data } = payloadParams
  return {
    payloadParams: {
      ...payloadParams,
      chainId: withoutLeadingZeros(chainId),
      spender: lowerCase(spender),
      nonce: lowerCase(nonce),
      data: lowerCase(data),
    },
    ...(executionHeld !== undefined && { executionHeld }),
  }
}

export function normaliseRecovery({ execution, executionHeld }: RecoveryResponse): RecoveryResponse {
  return {
    ...(execution !== undefined && { execution: normaliseExecution(execution) }),
    ...(executionHeld !== undefined && { executionHeld }),
  }
}

export function normaliseNoFillOrRefund({ genericMapping }: NoFillOrRefundResponse): NoFillOrRefundResponse {
  const { user, id, data, nonce, signatures } = genericMapping
  return {
    genericMapping: {
      user: lowerCase(user),
      id: lowerCase(id),
      data: lowerCase(data),
      nonce: lowerCase(nonce),
      signatures,
    },
  }
}

function normaliseExecution<Execution extends { idempotencyKey: Hex; actions: Hex[] }>(
  execution: Execution,
): Execution {
  const { idempotencyKey, actions } = execution
  return { ...execution, idempotencyKey: lowerCase(idempotencyKey), actions: actions.map(lowerCase) }
}

/** An address of an unknown chain stays as it is: `isAbout` refuses its response. */
function normaliseAddress(text: string, chainId: string, networkOf: NetworkOf): string {
  const network = networkOf(chainId)
  return network === undefined ? text : codecOf(network).spellAddress(text)
}

function withoutLeadingZeros(text: string): string {
  return text.replace(/^0+(?=[0-9])/, '')
}
