import { createRequire } from 'node:module'
import { bytesToHex, type Hex } from '@causeway/core'
import { MalformedAnswerError } from '@causeway/rpc'

/** A transaction as it was decoded from the bytes whose hash is its id. */
export type TronTransaction = {
  /** The 20 bytes of the account that pays and calls; absent with `to`. */
  readonly from: Hex | undefined
  /** The 20 bytes of the account that gets TRX or is called; absent for every other kind of transaction. */
  readonly to: Hex | undefined
  /** Calldata; empty unless a contract is called. */
  readonly input: Hex
  /** In sun, millionths of a TRX. */
  readonly value: bigint
  readonly memo: Hex
}

/** A protobuf message class of tronweb. Decoding may throw anything. */
type Message<Fields> = { readonly deserializeBinary: (bytes: Uint8Array) => Fields }

/** Types of the messages that are read here, which tronweb lacks. */
type TronProtocol = {
  readonly Transaction: {
    readonly raw: Message<{
      getContractList(): readonly {
        /** Number of `Transaction.Contract.ContractType`. */
        getType(): number
        getParameter(): { getValue_asU8(): Uint8Array } | undefined
      }[]
      getData_asU8(): Uint8Array
    }>
  }
  readonly TransferContract: Message<{
    getOwnerAddress_asU8(): Uint8Array
    getToAddress_asU8(): Uint8Array
    /** An int64 as a number, which is not exact above 2^53. */
    getAmount(): number
  }>
  readonly TriggerSmartContract: Message<{
    getOwnerAddress_asU8(): Uint8Array
    getContractAddress_asU8(): Uint8Array
    getCallValue(): number
    getData_asU8(): Uint8Array
  }>
}

/** Global in which tronweb puts the classes of the protocol when it is loaded. */
declare global {
  var TronWebProto: TronProtocol | undefined
}

/**
 * tronweb's classes of the protocol, loaded when this is first called, so that a service that reads no
 * transaction of Tron never loads it: it takes a fifth of a second and 31 MiB. See decision 19.
 */
function tronProtocol(): TronProtocol {
  if (globalThis.TronWebProto === undefined) createRequire(import.meta.url)('tronweb')
  if (globalThis.TronWebProto === undefined) throw new Error('tronweb has no classes of the protocol')
  return globalThis.TronWebProto
}

/** Kinds of transactions that move TRX to an account or call a contract. */
const contractTypes = { transfer: 1, triggerSmartContract: 31 } as const

const addressBytes = 21
const addressPrefix = 0x41

/**
 * Decodes the bytes whose hash is the transaction's id, so no endpoint can change them. Other kinds, such as a TRC-10
 * transfer, which has the same shape as one of TRX, have no accounts and no value.
 * @param subject the request, for errors
 * @throws MalformedAnswerError, also for an amount above 2^53 sun: nine billion TRX
 * @source java-tron, protocol/src/main/protos/core/Tron.proto and core/contract/*.proto
 */
export function readRawTransaction(raw: Uint8Array, subject: string): TronTransaction {
  const { Transaction, TransferContract, TriggerSmartContract } = tronProtocol()
  const fields = unlessRefused(Transaction.raw, raw, subject)
  const [contract, ...more] = fields.getContractList()
  if (contract === undefined || more.length > 0) throw new MalformedAnswerError(subject)
  const memo = bytesToHex(fields.getData_asU8())
  const parameter = contract.getParameter()?.getValue_asU8() ?? new Uint8Array()
  switch (contract.getType()) {
    case contractTypes.transfer: {
      const transfer = unlessRefused(TransferContract, parameter, subject)
      return {
        from: accountAt(transfer.getOwnerAddress_asU8(), subject),
        to: accountAt(transfer.getToAddress_asU8(), subject),
        input: '0x',
        value: amountOf(transfer.getAmount(), subject),
        memo,
      }
    }
    case contractTypes.triggerSmartContract: {
      const call = unlessRefused(TriggerSmartContract, parameter, subject)
      return {
        from: accountAt(call.getOwnerAddress_asU8(), subject),
        to: accountAt(call.getContractAddress_asU8(), subject),
        input: bytesToHex(call.getData_asU8()),
        value: amountOf(call.getCallValue(), subject),
        memo,
      }
    }
    default:
      return { from: undefined, to: undefined, input: '0x', value: 0n, memo }
  }
}

/** Decodes a message. @throws MalformedAnswerError for bytes that the library refuses, whatever it throws */
function unlessRefused<Fields>(message: Message<Fields>, bytes: Uint8Array, subject: string): Fields {
  try {
    return message.deserializeBinary(bytes)
  } catch {
    throw new MalformedAnswerError(subject)
  }
}

/** The 20 bytes after the prefix byte, which is the same on all public networks. */
function accountAt(bytes: Uint8Array, subject: string): Hex {
  if (bytes.length !== addressBytes || bytes[0] !== addressPrefix) throw new MalformedAnswerError(subject)
  return bytesToHex(bytes.subarray(1))
}

function amountOf(value: number, subject: string): bigint {
  if (!Number.isSafeInteger(value) || value < 0) throw new MalformedAnswerError(subject)
  return BigInt(value)
}
