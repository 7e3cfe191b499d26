import type { Hex } from '@causeway/core'
import { InvalidWithdrawalError } from '@causeway/core/encodings'
import {
  decodeLighterWithdrawal,
  type LighterWithdrawal,
  lighterWithdrawalId,
  lighterWithdrawalTransfer,
} from '../rules/withdrawal.ts'
import type { LighterNonce, LighterTransaction, LighterTransfer } from './answers.ts'

/** Contents of a request's withdrawal bytes. */
export type WithdrawalTerms = {
  readonly withdrawalId: Hex
  /** The account that pays. */
  readonly payer: string
  readonly currency: string
  readonly amount: bigint
  readonly recipient: string
  readonly nonce: LighterNonce
}

const memoWordCharacters = 66

/**
 * The chain id must be the network's: transfers do not carry it, so that under another one the same transfer
 * would execute a second withdrawal.
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
      ...{ account: decoded.fromAccountIndex, apiKeyIndex: decoded.apiKeyIndex, nonce: decoded.nonce },
    },
  }
}

/** The id of the withdrawal that a transfer executes. @source oracle-protocol.md 5.5 */
export function withdrawalIdOf(transfer: LighterTransfer, lighterChainId: bigint): Hex {
  const memo: LighterWithdrawal['memo'] = `0x${transfer.memo.slice(2).padEnd(memoWordCharacters - 2, '0')}`
  return lighterWithdrawalId({ ...transfer, lighterChainId, memo })
}

/**
 * True if another executed transaction took the nonce that a withdrawal needs: from then on the withdrawal's transfer
 * can never be sent. A transfer that failed or expired takes no nonce, and its text, which the key of the depository
 * signed, holds no expiry.
 * @source rule F-161
 */
export function takesNonce(transaction: LighterTransaction, wanted: LighterNonce): boolean {
  const { status, nonce: spent } = transaction
  if (status !== 'executed' || spent === undefined) return false
  const { account, apiKeyIndex, nonce } = wanted
  return spent.account === account && spent.apiKeyIndex === apiKeyIndex && spent.nonce === nonce
}
