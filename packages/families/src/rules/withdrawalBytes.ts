import type { Hex } from '@causeway/core'
import { AbiReader, bytesToHex, parseHexDigits } from '@causeway/core'
import { InvalidWithdrawalError } from '@causeway/core/encodings'

/** Money that a withdrawal moves out of the depository, in the family's canonical spelling. */
export type WithdrawalTransfer = {
  readonly currency: string
  /** Smallest unit of the currency. */
  readonly amount: bigint
  readonly recipient: string
}

/** Parses the hex of a withdrawal. @throws InvalidWithdrawalError */
export function withdrawalBytes(withdrawal: string): Uint8Array {
  const bytes = withdrawal.startsWith('0x') ? parseHexDigits(withdrawal, 2) : undefined
  if (bytes === undefined) throw new InvalidWithdrawalError('it is not 0x and whole bytes in hex')
  return bytes
}

/** Decoder and encoder of one family's withdrawals in ABI encoding. */
export type AbiForm<Withdrawal> = {
  /** Ends the sentence "it is not the canonical ABI encoding of". */
  readonly what: string
  /** `undefined` for data that `encode` does not accept. */
  readonly read: (reader: AbiReader) => Withdrawal | undefined
  readonly encode: (withdrawal: Withdrawal) => Hex
}

/**
 * Decodes exactly the bytes that the family's encoder writes, so that a request has one encoding: other offsets, dirty
 * padding or a tail are refused. Hex is returned in lower case.
 * @throws InvalidWithdrawalError
 */
export function decodeAbiWithdrawal<Withdrawal>(withdrawal: string, form: AbiForm<Withdrawal>): Withdrawal {
  const bytes = withdrawalBytes(withdrawal)
  const reader = new AbiReader(bytes)
  const decoded = form.read(reader)
  if (decoded === undefined || !reader.isDone || form.encode(decoded) !== bytesToHex(bytes)) {
    throw new InvalidWithdrawalError(`it is not the canonical ABI encoding of ${form.what}`)
  }
  return decoded
}
