import type { NetworkOf } from '../../chain/protocolChain.ts'
import type { Hex } from '../../hex.ts'
import { codecOf } from '../../vm/families.ts'
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
 * Answers of several oracles are compared as text. What may differ in spelling alone is brought to one
 * spelling first: the case of hex, addresses as their family spells them, leading zeros of chain ids.
 * What the caller sent and what is signed as text stays as it is. Evidence belongs to one oracle and is
 * left out. @source oracle-protocol.md 7.2
 */
export function spellDeposits(
  { messages, execution, executionHeld }: DepositsResponse,
  networkOf: NetworkOf,
): DepositsResponse {
  return {
    messages: messages.map((message) => {
      const { data, result } = message
      const address = (text: string) => spellAddress(text, data.chainId, networkOf)
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
        ...spellExecution(execution),
        metadata: execution.metadata.map(({ origin, ...entry }) => ({
          ...entry,
          origin: { ...origin, address: spellAddress(origin.address, origin.chainId, networkOf) },
          oracleChainId: spellDecimal(entry.oracleChainId),
          oracleContract: lowerCase(entry.oracleContract),
        })),
      },
    }),
    ...(executionHeld !== undefined && { executionHeld }),
  }
}

export function spellWithdrawal(
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
        depository: spellAddress(result.depository, data.chainId, networkOf),
      },
    },
    ...(execution !== undefined && { execution: spellExecution(execution) }),
    ...(executionHeld !== undefined && { executionHeld }),
    ...(pendingReason !== undefined && { pendingReason }),
  }
}

export function spellRequestedWithdrawal({
  status,
  execution,
  executionHeld,
  pendingReason,
}: RequestedWithdrawalsResponse): RequestedWithdrawalsResponse {
  return {
    status,
    ...(execution !== undefined && { execution: spellExecution(execution) }),
    ...(executionHeld !== undefined && { executionHeld }),
    ...(pendingReason !== undefined && { pendingReason }),
  }
}

export function spellSettlement<Response extends FillsResponse | RefundsResponse>(
  response: Response,
): Response {
  const { message, execution } = response
  const { result } = message
  return {
    ...response,
    message: { ...message, result: { ...result, orderId: lowerCase(result.orderId) } },
    ...(execution !== undefined && { execution: spellExecution(execution) }),
    evidence: undefined,
  }
}

export function spellWithdrawalInitiation({
  withdrawalAddress,
  execution,
  executionHeld,
}: WithdrawalInitiationResponse): WithdrawalInitiationResponse {
  return {
    withdrawalAddress: lowerCase(withdrawalAddress),
    ...(execution !== undefined && { execution: spellExecution(execution) }),
    ...(executionHeld !== undefined && { executionHeld }),
  }
}

export function spellWithdrawalInitiated({
  payloadParams,
  executionHeld,
}: WithdrawalInitiatedResponse): WithdrawalInitiatedResponse {
  const { chainId, spender, nonce, data } = payloadParams
  return {
    payloadParams: {
      ...payloadParams,
      chainId: spellDecimal(chainId),
      spender: lowerCase(spender),
      nonce: lowerCase(nonce),
      data: lowerCase(data),
    },
    ...(executionHeld !== undefined && { executionHeld }),
  }
}

export function spellRecovery({ execution, executionHeld }: RecoveryResponse): RecoveryResponse {
  return {
    ...(execution !== undefined && { execution: spellExecution(execution) }),
    ...(executionHeld !== undefined && { executionHeld }),
  }
}

export function spellNoFillOrRefund({ genericMapping }: NoFillOrRefundResponse): NoFillOrRefundResponse {
  const { user, id, data, nonce, signatures } = genericMapping
  return {
    genericMapping: {
      ...{ user: lowerCase(user), id: lowerCase(id), data: lowerCase(data), nonce: lowerCase(nonce) },
      signatures,
    },
  }
}

function spellExecution<Execution extends { idempotencyKey: Hex; actions: Hex[] }>(
  execution: Execution,
): Execution {
  const { idempotencyKey, actions } = execution
  return { ...execution, idempotencyKey: lowerCase(idempotencyKey), actions: actions.map(lowerCase) }
}

function spellAddress(text: string, chainId: string, networkOf: NetworkOf): string {
  const network = networkOf(chainId)
  return network === undefined ? text : codecOf(network).spellAddress(text)
}

function spellDecimal(text: string): string {
  return text.replace(/^0+(?=[0-9])/, '')
}
