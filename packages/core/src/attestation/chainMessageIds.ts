import { createChainHasher, type NetworkOf } from '../chain/protocolChain.ts'
import { encodeAddressField, encodeCurrencyField } from '../encodings/vmCodec.ts'
import { AbiWords } from '../hashing/abiWords.ts'
import { bytesToHex, fixedHexToBytes, hexToBytes } from '../hashing/hexBytes.ts'
import { keccak256 } from '../hashing/keccak.ts'
import { typeHash } from '../hashing/typedData.ts'
import type { Hex } from '../hex.ts'
import type { DepositMessage, WithdrawalMessage } from './messages.ts'

const depositDataType = 'Data(string chainId,bytes transactionId)'
const depositResultType =
  'Result(bytes32 onchainId,bytes depository,bytes32 depositId,bytes depositor,bytes currency,uint256 amount)'
const depositDataTypeHash = typeHash(depositDataType)
const depositResultTypeHash = typeHash(depositResultType)
const depositTypeHash = typeHash('DepositoryDeposit(Data data,Result result)', [
  depositDataType,
  depositResultType,
])

const withdrawalDataType = 'Data(string chainId,bytes withdrawal)'
const withdrawalResultType = 'Result(bytes32 withdrawalId,bytes depository,uint8 status)'
const withdrawalDataTypeHash = typeHash(withdrawalDataType)
const withdrawalResultTypeHash = typeHash(withdrawalResultType)
const withdrawalTypeHash = typeHash('DepositoryWithdrawal(Data data,Result result)', [
  withdrawalDataType,
  withdrawalResultType,
])

/**
 * Id of a deposit message, which an oracle signs: the EIP-712 struct hash of `DepositoryDeposit`, without a domain.
 * @throws UnknownChainError, InvalidAddressError, InvalidTransactionIdError
 * @source rule P-128
 */
export function depositMessageId({ data, result }: DepositMessage, networkOf: NetworkOf): Hex {
  const { codec, idHash } = createChainHasher(networkOf)(data.chainId)
  const dataWords = new AbiWords(3)
    .word(depositDataTypeHash)
    .word(idHash)
    .word(keccak256(codec.encodeTransactionId(data.transactionId)))
  const resultWords = new AbiWords(7)
    .word(depositResultTypeHash)
    .word(fixedHexToBytes(result.onchainId, 32))
    .word(keccak256(encodeAddressField(codec, result.depository, 'result.depository')))
    .word(fixedHexToBytes(result.depositId, 32))
    .word(keccak256(encodeAddressField(codec, result.depositor, 'result.depositor')))
    .word(keccak256(encodeCurrencyField(codec, result.currency, 'result.currency')))
    .uint(BigInt(result.amount))
  return messageId(depositTypeHash, dataWords, resultWords)
}

/** Id of a withdrawal message; see `depositMessageId`. @throws UnknownChainError, InvalidAddressError */
export function withdrawalMessageId({ data, result }: WithdrawalMessage, networkOf: NetworkOf): Hex {
  const { codec, idHash } = createChainHasher(networkOf)(data.chainId)
  const dataWords = new AbiWords(3)
    .word(withdrawalDataTypeHash)
    .word(idHash)
    .word(keccak256(hexToBytes(data.withdrawal)))
  const resultWords = new AbiWords(4)
    .word(withdrawalResultTypeHash)
    .word(fixedHexToBytes(result.withdrawalId, 32))
    .word(keccak256(encodeAddressField(codec, result.depository, 'result.depository')))
    .number(result.status)
  return messageId(withdrawalTypeHash, dataWords, resultWords)
}

/** Struct hash of any message: a struct of its data and its result. */
export function messageId(messageTypeHash: Uint8Array, data: AbiWords, result: AbiWords): Hex {
  const words = new AbiWords(3)
    .word(messageTypeHash)
    .word(keccak256(data.done()))
    .word(keccak256(result.done()))
  return bytesToHex(keccak256(words.done()))
}
