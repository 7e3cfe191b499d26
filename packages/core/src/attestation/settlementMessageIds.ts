import { createChainHasher, type HashedChain, type NetworkOf } from '../chain/protocolChain.ts'
import { DomainError } from '../errors.ts'
import { AbiWords } from '../hashing/abiWords.ts'
import { fixedHexToBytes, hexToBytes } from '../hashing/hexBytes.ts'
import { keccak256 } from '../hashing/keccak.ts'
import { hashArray, typeHash } from '../hashing/typedData.ts'
import type { Hex } from '../hex.ts'
import type { Order } from '../order/order.ts'
import { orderHash } from '../order/orderId.ts'
import { orderType, typesInsideOrder } from '../order/orderTypes.ts'
import { messageId } from './chainMessageIds.ts'
import type {
  FillEntry,
  FillMessage,
  InputEntry,
  RefundEntry,
  RefundMessage,
  SettlementResult,
} from './messages.ts'

const resultType = 'Result(bytes32 orderId,uint8 status,int256 totalWeightedInputPaymentBpsDiff)'
const inputEntryType = 'InputEntry(bytes transactionId,bytes32 onchainId,uint32 inputIndex)'
const fillEntryType = 'FillEntry(bytes transactionId)'
const refundEntryType = 'RefundEntry(bytes transactionId,uint32 inputIndex,uint32 refundIndex)'
const fillDataType = 'Data(Order order,bytes orderSignature,InputEntry[] inputs,FillEntry fill)'
const refundDataType = 'Data(Order order,bytes orderSignature,InputEntry[] inputs,RefundEntry[] refunds)'
const typesInsideFillData = [inputEntryType, fillEntryType, orderType, ...typesInsideOrder]
const typesInsideRefundData = [inputEntryType, refundEntryType, orderType, ...typesInsideOrder]

const resultTypeHash = typeHash(resultType)
const inputEntryTypeHash = typeHash(inputEntryType)
const fillEntryTypeHash = typeHash(fillEntryType)
const refundEntryTypeHash = typeHash(refundEntryType)
const fillDataTypeHash = typeHash(fillDataType, typesInsideFillData)
const refundDataTypeHash = typeHash(refundDataType, typesInsideRefundData)
const fillTypeHash = typeHash('SolverFill(Data data,Result result)', [
  fillDataType,
  resultType,
  ...typesInsideFillData,
])
const refundTypeHash = typeHash('SolverRefund(Data data,Result result)', [
  refundDataType,
  resultType,
  ...typesInsideRefundData,
])

/** An entry of a fill or refund message names an input or a refund that its order does not have. */
export class UnknownOrderPartError extends DomainError {
  readonly code = 'UNKNOWN_ORDER_PART'
  readonly kind = 'invalid_request'

  constructor(part: { inputIndex: number; refundIndex?: number }) {
    const { inputIndex, refundIndex } = part
    const name =
      refundIndex === undefined ? `input ${inputIndex}` : `refund ${refundIndex} of input ${inputIndex}`
    super(`The order has no ${name}.`, { data: part })
  }
}

type Chains = (chainId: string) => HashedChain

/**
 * Id of a fill message, which an oracle signs: the EIP-712 struct hash of `SolverFill`, without a domain. Transaction
 * ids are encoded by the family of the chain that the order names for them.
 * @throws UnknownOrderPartError, InvalidTransactionIdError and what `orderId` throws
 * @source rule P-128
 */
export function fillMessageId({ data, result }: FillMessage, networkOf: NetworkOf): Hex {
  const chains = createChainHasher(networkOf)
  const words = new AbiWords(5)
    .word(fillDataTypeHash)
    .word(orderHash(data.order, chains))
    .word(keccak256(hexToBytes(data.orderSignature)))
    .word(inputsHash(data.inputs, data.order, chains))
    .word(fillEntryHash(data.fill, data.order, chains))
  return messageId(fillTypeHash, words, resultWords(result))
}

/** Id of a refund message, the struct hash of `SolverRefund`; throws what `fillMessageId` throws. */
export function refundMessageId({ data, result }: RefundMessage, networkOf: NetworkOf): Hex {
  const chains = createChainHasher(networkOf)
  const words = new AbiWords(5)
    .word(refundDataTypeHash)
    .word(orderHash(data.order, chains))
    .word(keccak256(hexToBytes(data.orderSignature)))
    .word(inputsHash(data.inputs, data.order, chains))
    .word(hashArray(data.refunds.map((entry) => refundEntryHash(entry, data.order, chains))))
  return messageId(refundTypeHash, words, resultWords(result))
}

function inputsHash(entries: readonly InputEntry[], order: Order, chains: Chains): Uint8Array {
  return hashArray(
    entries.map((entry) => {
      const input = order.inputs[entry.inputIndex]
      if (input === undefined) throw new UnknownOrderPartError({ inputIndex: entry.inputIndex })
      const words = new AbiWords(4)
        .word(inputEntryTypeHash)
        .word(transactionIdHash(chains(input.payment.chainId), entry.transactionId))
        .word(fixedHexToBytes(entry.onchainId, 32))
        .number(entry.inputIndex)
      return keccak256(words.done())
    }),
  )
}

function fillEntryHash(entry: FillEntry, order: Order, chains: Chains): Uint8Array {
  const words = new AbiWords(2)
    .word(fillEntryTypeHash)
    .word(transactionIdHash(chains(order.output.chainId), entry.transactionId))
  return keccak256(words.done())
}

function refundEntryHash(entry: RefundEntry, order: Order, chains: Chains): Uint8Array {
  const { inputIndex, refundIndex } = entry
  const refund = order.inputs[inputIndex]?.refunds[refundIndex]
  if (refund === undefined) throw new UnknownOrderPartError({ inputIndex, refundIndex })
  const words = new AbiWords(4)
    .word(refundEntryTypeHash)
    .word(transactionIdHash(chains(refund.chainId), entry.transactionId))
    .number(inputIndex)
    .number(refundIndex)
  return keccak256(words.done())
}

function transactionIdHash({ codec }: HashedChain, transactionId: string): Uint8Array {
  return keccak256(codec.encodeTransactionId(transactionId))
}

function resultWords(result: SettlementResult): AbiWords {
  return new AbiWords(4)
    .word(resultTypeHash)
    .word(fixedHexToBytes(result.orderId, 32))
    .number(result.status)
    .int(BigInt(result.totalWeightedInputPaymentBpsDiff))
}
