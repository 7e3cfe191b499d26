import {
  canonicalJson,
  depositsExecutionKey,
  encodeMintAction,
  hubAlias,
  hubTokenId,
  noFillOrRefundEntry,
  nonceMappingEntry,
  orderAddress,
  recoveryKey,
} from '@causeway/core'
import { canonicalId, chainOf, hex, type IsAbout, noOrder, type Request, text } from './requestMembers.ts'
import type {
  DepositsResponse,
  NoFillOrRefundResponse,
  NonceMappingResponse,
  RecoveryResponse,
} from './schemas.ts'

/**
 * True if a peer's normalised response is about the transaction that the request asks for. Valid signatures do not prove
 * that: a dishonest peer could replay what honest oracles signed for another request, or put other unsigned members
 * beside it. As every `isAbout…` function it may throw for an unknown chain or a malformed address, which
 * `AttestationKind.isAbout` takes for false.
 * @source rule P-91
 */
export const isAboutDeposits: IsAbout<DepositsResponse> = (
  { messages, execution, executionHeld },
  request,
  networkOf,
) => {
  const chain = chainOf(text(request['chainId']), networkOf)
  const { chainId } = chain
  const transactionId = canonicalId(chain, request['transactionId'])
  const isRequestedTransaction = messages.every(
    ({ data }) => data.chainId === chainId && data.transactionId === transactionId,
  )
  if (!isRequestedTransaction) return false
  const [isHeld, hasDeposits] = [executionHeld !== undefined, messages.length > 0]
  // Only a transaction without deposits has neither an execution nor a reason why it is held.
  if (execution === undefined) return isHeld === hasDeposits
  const { actions, metadata, idempotencyKey } = execution
  if (!hasDeposits || actions.length !== messages.length) return false
  if (metadata.length !== messages.length) return false
  if (idempotencyKey !== depositsExecutionKey({ chainId, transactionId })) return false
  return messages.every(({ result, extraData }, index) => {
    const { depositor, depositId, currency, amount } = result
    const timestampSeconds = BigInt(extraData.timestamp)
    // A deposit that names no order is credited to its depositor, any other to an address of its own.
    const hubTo =
      depositId === noOrder
        ? hubAlias(chain, depositor)
        : orderAddress(chain, { depositor, timestampSeconds, depositId })
    const token = hubTokenId(chain, currency)
    return (
      actions[index] === encodeMintAction({ hubTo, hubTokenId: token, amount: BigInt(amount) }) &&
      metadata[index]?.hubTokenId === token.toString() &&
      canonicalJson(metadata[index]?.origin) ===
        canonicalJson({ address: currency, chainId, family: chain.vmType })
    )
  })
}

/**
 * Checks the execution's key, which names the deposit; a held answer has none to check. The action's accounts follow
 * from the deposit: signers vouch for them.
 */
export function isAboutRecovery({ execution, executionHeld }: RecoveryResponse, request: Request): boolean {
  if (execution === undefined) return executionHeld !== undefined
  const { idempotencyKey, actions } = execution
  return actions.length === 1 && idempotencyKey === recoveryKey(hex(request['onchainId']))
}

export function isAboutNoFillOrRefund({ genericMapping }: NoFillOrRefundResponse, request: Request): boolean {
  const { signatures: _signatures, ...entry } = genericMapping
  const promise = {
    solverChainId: text(request['solverChainId']),
    solver: hex(request['solver']),
    orderId: hex(request['orderId']),
  }
  return canonicalJson(entry) === canonicalJson(noFillOrRefundEntry(promise))
}

/** The entry follows from the request alone, so it is compared as a whole. */
export const isAboutNonceMapping: IsAbout<NonceMappingResponse> = (
  { genericMapping },
  request,
  networkOf,
) => {
  const { signatures: _signatures, ...entry } = genericMapping
  const mapping = {
    walletChainId: text(request['walletChainId']),
    wallet: hex(request['wallet']),
    nonce: BigInt(text(request['nonce'])),
    id: hex(request['id']),
    depositor: hex(request['depositor']),
  }
  const expected = nonceMappingEntry(mapping, chainOf(mapping.walletChainId, networkOf))
  return canonicalJson(entry) === canonicalJson(expected)
}
