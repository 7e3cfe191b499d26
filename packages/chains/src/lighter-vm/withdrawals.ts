import {
  decodeLighterWithdrawal,
  type Hex,
  InvalidWithdrawalError,
  type LighterWithdrawal,
  lighterWithdrawalId,
  lighterWithdrawalTransfer,
  type WithdrawalStatus,
} from '@causeway/core'
import type { LighterTransaction, LighterTransfer } from './answers.ts'

/** What the withdrawal bytes of a request say. */
export type WithdrawalTerms = {
  readonly withdrawalId: Hex
  /** The account that pays. */
  readonly payer: string
  readonly currency: string
  readonly amount: bigint
  readonly recipient: string
}

/** How long after its expiry a transfer that still waits is given up, against clocks that differ. */
const expiryMarginMs = 60_000n
const memoWordCharacters = 66

/**
 * The chain id must be the network's: transfers do not carry it, so that under another one the same transfer
 * would execute a second withdrawal.
 * @throws InvalidWithdrawalError
 * @source oracle-protocol.md 1.7
 */
export function readWithdrawalTerms(withdrawal: Hex, lighterChainId: bigint): WithdrawalTerms {
  const decoded = decodeLighterWithdrawal(withdrawal)
  if (decoded.lighterChainId !== lighterChainId) {
    throw new InvalidWithdrawalError('it is for another Lighter network')
  }
  return {
    withdrawalId: lighterWithdrawalId(decoded),
    payer: decoded.fromAccountIndex.toString(),
    ...lighterWithdrawalTransfer(decoded),
  }
}

/** The id of the withdrawal that a transfer executes. @source oracle-protocol.md 5.5 */
export function withdrawalIdOf(transfer: LighterTransfer, lighterChainId: bigint): Hex {
  const { expiresAtMs: _unsigned, ...signed } = transfer
  const memo: LighterWithdrawal['memo'] = `0x${transfer.memo.slice(2).padEnd(memoWordCharacters - 2, '0')}`
  return lighterWithdrawalId({ ...signed, lighterChainId, memo })
}

/**
 * What became of one transfer.
 * @param nowMs the earlier of the clocks that are asked
 * @source oracle-protocol.md 5.5
 */
export function transferStatus(
  { status, transfer }: Pick<LighterTransaction, 'status' | 'transfer'>,
  nowMs: bigint,
): WithdrawalStatus {
  if (status === 'executed') return 'executed'
  if (status === 'failed') return 'expired'
  const expiresAtMs = transfer?.expiresAtMs ?? 0n
  return expiresAtMs !== 0n && nowMs > expiresAtMs + expiryMarginMs ? 'expired' : 'pending'
}
