import type { Hex } from '@causeway/core'
import { InvalidWithdrawalError } from '@causeway/core/encodings'
import {
  decodeLighterWithdrawal,
  type LighterWithdrawal,
  lighterWithdrawalId,
  lighterWithdrawalTransfer,
} from '../rules/withdrawal.ts'
import type { LighterNonce, LighterTransaction, LighterTransfer } from './answers.ts'

/** Contents of the bytes of a withdrawal. */
export type WithdrawalTerms = {
  readonly withdrawalId: Hex
  /** The account that pays. */
  readonly payer: string
  readonly currency: string
  readonly amount: bigint
  readonly recipient: string
  readonly nonce: LighterNonce
}

/** Hex digits of the 32 bytes of a withdrawal's memo. */
const memoDigits = 64

/**
 * Reads the bytes of a withdrawal. Their chain id must be the network's: the API shows transfers without it, so under
 * another chain id the same transfer would execute a second withdrawal.
 * @throws InvalidWithdrawalError
 * @source rule F-161
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
    nonce: {
      account: decoded.fromAccountIndex,
      apiKeyIndex: decoded.apiKeyIndex,
      nonce: decoded.nonce,
    },
  }
}

/** The id of the withdrawal that a transfer executes. @source rule F-161 */
export function withdrawalIdOf(transfer: LighterTransfer, lighterChainId: bigint): Hex {
  const memo: LighterWithdrawal['memo'] = `0x${transfer.memo.slice(2).padEnd(memoDigits, '0')}`
  return lighterWithdrawalId({ ...transfer, lighterChainId, memo })
}

/**
 * True if a transaction was executed with the nonce that a withdrawal needs: then the withdrawal's transfer can never
 * be sent. A failed or expired transfer spends no nonce, and may be sent again: the text that the depository's key
 * signed has no expiry.
 * @source rule F-161
 */
export function takesNonce(transaction: LighterTransaction, wanted: LighterNonce): boolean {
  const { status, nonce: spent } = transaction
  if (status !== 'executed' || spent === undefined) return false
  const { account, apiKeyIndex, nonce } = wanted
  return spent.account === account && spent.apiKeyIndex === apiKeyIndex && spent.nonce === nonce
}
