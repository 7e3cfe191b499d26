import { bytesToHex, type Hex } from '@causeway/core'
import { MalformedAnswerError } from '../rpc/malformedAnswer.ts'
import { bytesField, bytesFields, integerField, readFields } from './protobuf.ts'

/** What a transaction asked for, as its hashed bytes say it. */
export type TronTransaction = {
  /** The 20 bytes of the account that pays and calls; absent with `to`. */
  readonly from: Hex | undefined
  /** The 20 bytes of the account that gets TRX or is called; absent for every other kind of transaction. */
  readonly to: Hex | undefined
  /** Calldata; empty unless a contract is called. */
  readonly input: Hex
  /** In sun. */
  readonly value: bigint
  readonly memo: Hex
}

/** Numbers of `Transaction.Contract.ContractType`. Only these move TRX to an account or call a contract. */
const contractTypes = { transfer: 1n, triggerSmartContract: 31n } as const
/** Field numbers. */
const rawFields = { memo: 10, contract: 11 } as const
const contractFields = { type: 1, parameter: 2 } as const
const anyFields = { value: 2 } as const
const transferFields = { owner: 1, to: 2, amount: 3 } as const
const triggerFields = { owner: 1, contract: 2, callValue: 3, data: 4 } as const

const addressBytes = 21
const addressPrefix = 0x41

/**
 * Reads the bytes whose hash is the transaction's id: what they say cannot be another thing on another
 * endpoint. A transfer of a TRC-10 token has the same shape as one of TRX and is none.
 * @param what the request, for errors
 * @throws MalformedAnswerError
 * @source java-tron, protocol/src/main/protos/core/Tron.proto and core/contract/*.proto
 */
export function readRawTransaction(raw: Uint8Array, what: string): TronTransaction {
  const fields = readFields(raw, what)
  const contracts = bytesFields(fields, rawFields.contract)
  const [contract] = contracts
  if (contract === undefined || contracts.length > 1) throw new MalformedAnswerError(what)
  const memo = bytesToHex(bytesField(fields, rawFields.memo))
  const contractMembers = readFields(contract, what)
  const any = bytesField(contractMembers, contractFields.parameter)
  const parameter = readFields(bytesField(readFields(any, what), anyFields.value), what)
  switch (integerField(contractMembers, contractFields.type)) {
    case contractTypes.transfer:
      return {
        from: accountAt(bytesField(parameter, transferFields.owner), what),
        to: accountAt(bytesField(parameter, transferFields.to), what),
        input: '0x',
        value: amountOf(integerField(parameter, transferFields.amount), what),
        memo,
      }
    case contractTypes.triggerSmartContract:
      return {
        from: accountAt(bytesField(parameter, triggerFields.owner), what),
        to: accountAt(bytesField(parameter, triggerFields.contract), what),
        input: bytesToHex(bytesField(parameter, triggerFields.data)),
        value: amountOf(integerField(parameter, triggerFields.callValue), what),
        memo,
      }
    default:
      return { from: undefined, to: undefined, input: '0x', value: 0n, memo }
  }
}

/** The 20 bytes behind the prefix, which all public networks share. */
function accountAt(bytes: Uint8Array, what: string): Hex {
  if (bytes.length !== addressBytes || bytes[0] !== addressPrefix) throw new MalformedAnswerError(what)
  return bytesToHex(bytes.subarray(1))
}

/** An int64 that must not be negative. */
function amountOf(value: bigint, what: string): bigint {
  if (BigInt.asIntN(64, value) < 0n) throw new MalformedAnswerError(what)
  return value
}
