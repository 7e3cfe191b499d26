import { bytesToHex, type Hex, hexToBytes, sha256, type WithdrawalStatus } from '@causeway/core'
import { MalformedAnswerError } from '@causeway/rpc'
import { executeTransferDiscriminator, systemProgram, usedRequestDiscriminator } from '../rules/programs.ts'
import { decodeSolanaWithdrawal, solanaWithdrawalId, solanaWithdrawalTransfer } from '../rules/withdrawal.ts'
import type { SolanaAccount } from './answers.ts'
import { InstructionData } from './instructionData.ts'
import type { SolanaTransaction } from './transaction.ts'

/** Contents of the bytes of a withdrawal. */
export type WithdrawalTerms = {
  readonly withdrawalId: Hex
  readonly expirationSeconds: bigint
  readonly currency: string
  readonly amount: bigint
  readonly recipient: string
}

/** @throws InvalidWithdrawalError */
export function readWithdrawalTerms(withdrawal: Hex): WithdrawalTerms {
  const request = decodeSolanaWithdrawal(withdrawal)
  return {
    withdrawalId: solanaWithdrawalId(request),
    expirationSeconds: request.expiration,
    ...solanaWithdrawalTransfer(request),
  }
}

/**
 * True if the used-request account shows that the withdrawal was executed. Anybody may send lamports to its address
 * before it exists: then it belongs to the System program and has no data.
 * @throws MalformedAnswerError when the account cannot be one of the depository
 * @source rule F-141
 */
export function isUsed(account: SolanaAccount | undefined, depository: string): boolean {
  if (account === undefined) return false
  const { owner, data } = account
  if (owner === systemProgram && data.length === 0) return false
  // The flag follows the discriminator of eight bytes.
  const flag = data[8]
  const isUsedRequest =
    owner === depository && bytesToHex(data.subarray(0, 8)) === `0x${usedRequestDiscriminator}`
  if (!isUsedRequest || flag === undefined || flag > 1) throw new MalformedAnswerError('getAccountInfo')
  return flag === 1
}

/**
 * State of a withdrawal. The depository refuses a request from its expiration on; it counts as expired one second
 * later, as in all families. The account was read at the block of `finalBlockSeconds` or later, and time never runs
 * backwards: an account that is unused then can no longer be used.
 * @source rule F-141
 */
export function withdrawalStatus(view: {
  readonly isUsed: boolean
  readonly expirationSeconds: bigint
  readonly finalBlockSeconds: bigint
}): WithdrawalStatus {
  if (view.isUsed) return 'executed'
  return view.finalBlockSeconds > view.expirationSeconds ? 'expired' : 'pending'
}

/**
 * True when the transaction ran the depository's transfer of exactly this request, directly or through
 * another program.
 * @source docs/internals/solana-reader.md
 */
export function provesExecution(
  { succeeded, instructions }: SolanaTransaction,
  withdrawalId: Hex,
  depository: string,
): boolean {
  return (
    succeeded &&
    instructions.some(({ program, data: bytes }) => {
      const data = new InstructionData(bytes)
      if (program !== depository || data.digits(0, 8) !== executeTransferDiscriminator) return false
      return bytesToHex(sha256(hexToBytes(data.from(8)))) === withdrawalId
    })
  )
}
