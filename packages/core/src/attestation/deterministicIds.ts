import { sha256TextHex } from '../hashing/sha256.ts'
import type { Hex } from '../hex.ts'

/**
 * SHA-256 of the parts joined by colons and lower-cased after joining, base58 included. Transaction
 * ids must be canonical before they come here: another spelling of one id is another key, and so a
 * second mint. @source rule P-127
 */
export function deterministicId(...parts: readonly string[]): Hex {
  return sha256TextHex(parts.join(':').toLowerCase())
}

/** Names one deposit. `onchainIndex` tells the deposits of one transaction apart, per family. */
export function onchainId(deposit: { chainId: string; transactionId: string; onchainIndex: string }): Hex {
  return deterministicId(deposit.chainId, deposit.transactionId, deposit.onchainIndex)
}

/** Idempotency key of the execution that mints the deposits of one transaction. */
export function depositsExecutionKey(deposits: { chainId: string; transactionId: string }): Hex {
  return deterministicId(deposits.chainId, deposits.transactionId)
}

/**
 * Idempotency key of a fill and of a refund alike, so that an order and its deposits settle once.
 * The order of `onchainIds` does not matter: they enter ascending as integers.
 */
export function settlementExecutionKey(settlement: { onchainIds: readonly Hex[]; orderId: Hex }): Hex {
  const ascending = [...settlement.onchainIds].sort((a, b) => {
    const difference = BigInt(a) - BigInt(b)
    return difference < 0n ? -1 : difference > 0n ? 1 : 0
  })
  return deterministicId(deterministicId(...ascending), settlement.orderId)
}

/**
 * The one idempotency key of an issued withdrawal, of its burn and of its way back alike: whichever comes
 * first shuts the other out. @source rule P-118
 */
export function withdrawalKey({ hubId, payloadId }: { hubId: string; payloadId: Hex }): Hex {
  return deterministicId(hubId, 'withdrawal', payloadId)
}

/** Idempotency key of the burn for an executed withdrawal. `transactionId` is the proven executing one. */
export function withdrawalExecutedKey(withdrawal: { withdrawalId: Hex; transactionId: string }): Hex {
  return deterministicId(withdrawal.withdrawalId, withdrawal.transactionId)
}

/**
 * Idempotency key of the transfer back for an expired withdrawal. No transaction executed it, so none
 * enters: one withdrawal has one such key. @source rule P-118
 */
export function withdrawalExpiredKey(withdrawalId: Hex): Hex {
  return deterministicId(withdrawalId, '', '2')
}

/** Idempotency key of a withdrawal's start. `hubId` is the string id of the hub, e.g. `relay`. */
export function withdrawalInitiationKey(initiation: {
  hubId: string
  hubTokenId: bigint
  withdrawalAddress: Hex
}): Hex {
  const { hubId, hubTokenId, withdrawalAddress } = initiation
  return deterministicId(hubId, hubTokenId.toString(), withdrawalAddress)
}

/** Idempotency key of the way back of one deposit that was for an order. @source rule P-127 */
export function recoveryKey(depositOnchainId: Hex): Hex {
  return deterministicId(depositOnchainId, 'recover')
}
