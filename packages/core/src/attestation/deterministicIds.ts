import { sha256TextHex } from '../hashing/sha256.ts'
import type { Hex } from '../hex.ts'

/**
 * SHA-256 of the parts joined by colons and lower-cased after joining, base58 included. The hub runs an execution
 * once per such key. So transaction ids must be canonical: two spellings of one id would be two keys, and the hub
 * would mint the deposit twice. @source rule P-127
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
  const ascending = [...settlement.onchainIds].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
  return deterministicId(deterministicId(...ascending), settlement.orderId)
}

/**
 * Idempotency key of an issued withdrawal where the allocator gives each nonce one payload. Its burn (executed) and
 * its transfer back (expired) share the key, so that the hub runs only one of them. The two functions below serve
 * allocators without that property. @source rule P-118
 */
export function withdrawalKey({ hubId, payloadId }: { hubId: string; payloadId: Hex }): Hex {
  return deterministicId(hubId, 'withdrawal', payloadId)
}

/** Idempotency key of the burn for an executed withdrawal. `transactionId`: the one proven to have executed it. */
export function withdrawalExecutedKey(withdrawal: { withdrawalId: Hex; transactionId: string }): Hex {
  return deterministicId(withdrawal.withdrawalId, withdrawal.transactionId)
}

/**
 * Idempotency key of the transfer back for an expired withdrawal. No transaction executed it, so the key has an empty
 * id in its place, and behind it the status 2, expired. @source rule P-118
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

/** Idempotency key of a recovery: it returns one deposit of an order to its depositor. @source rule P-127 */
export function recoveryKey(depositOnchainId: Hex): Hex {
  return deterministicId(depositOnchainId, 'recover')
}
