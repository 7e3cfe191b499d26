import { createChainHasher, type HashedChain, type NetworkOf } from '../chain/protocolChain.ts'
import { ethereumCodec } from '../encodings/ethereum.ts'
import { getOrCompute } from '../encodings/remembered.ts'
import { encodeAddressField, encodeCurrencyField } from '../encodings/vmCodec.ts'
import { AbiWords } from '../hashing/abiWords.ts'
import { bytesToHex, hexToBytes } from '../hashing/hexBytes.ts'
import { keccak256 } from '../hashing/keccak.ts'
import { hashArray, hashText, typeHash } from '../hashing/typedData.ts'
import type { Hex } from '../hex.ts'
import type { Order, OrderFee, OrderInput, OrderOutput, OrderRefund } from './order.ts'
import {
  feeType,
  inputPaymentType,
  inputRefundType,
  inputType,
  orderType,
  outputPaymentType,
  outputType,
  typesInsideOrder,
} from './orderTypes.ts'

const orderTypeHash = typeHash(orderType, typesInsideOrder)
const inputTypeHash = typeHash(inputType, [inputPaymentType, inputRefundType])
const inputPaymentTypeHash = typeHash(inputPaymentType)
const inputRefundTypeHash = typeHash(inputRefundType)
const outputTypeHash = typeHash(outputType, [outputPaymentType])
const outputPaymentTypeHash = typeHash(outputPaymentType)
const feeTypeHash = typeHash(feeType)
/** Computed once, because `v1` is the only version so far. */
const versionHash = hashText('v1')
const noBytesHash = keccak256(new Uint8Array())

type Chains = (chainId: string) => HashedChain

/**
 * The order's id: the EIP-712 struct hash of `Order`, without a domain. The solver's chain is hashed
 * as text only and need not be configured.
 *
 * @throws UnknownChainError for a chain of a payment, refund or fee that `networkOf` does not know
 * @throws InvalidAddressError naming the field
 * @throws RangeError, SyntaxError for an order that `orderSchema` refuses: a caller's bug
 * @source rule P-128
 */
export function orderId(order: Order, networkOf: NetworkOf): Hex {
  return createOrderIdHasher(networkOf)(order)
}

/**
 * `orderId` for many orders: it caches chains and the hashes of currencies, recipients and extra data, which are half
 * of an order's hashing.
 */
export function createOrderIdHasher(networkOf: NetworkOf): (order: Order) => Hex {
  const chains = createChainHasher(networkOf)
  return (order) => bytesToHex(orderHash(order, chains))
}

/** Longer extra data is not cached. Strangers choose what is hashed, so the caches are bounded. */
const cachedTextMax = 256
/** Most cached hashes of each kind, per chain. */
const cachedMax = { recipients: 2_000, currencies: 500, data: 100 }

/** The bytes of `orderId`, for structures that hold an order. */
export function orderHash(order: Order, chains: Chains): Uint8Array {
  return keccak256(encodeOrder(order, chains))
}

/** The words of an order's struct after its type hash: with them a contract computes the id itself. */
export type OrderWords = Readonly<
  Record<'version' | 'solverChainId' | 'solver' | 'salt' | 'inputs' | 'output' | 'fees', Hex>
>

/** See `orderId` for what it throws. */
export function orderWords(order: Order, networkOf: NetworkOf): OrderWords {
  const bytes = encodeOrder(order, createChainHasher(networkOf))
  const word = (index: number) => bytesToHex(bytes.subarray(32 * index, 32 * (index + 1)))
  return {
    version: word(1),
    solverChainId: word(2),
    solver: word(3),
    salt: word(4),
    inputs: word(5),
    output: word(6),
    fees: word(7),
  }
}

function encodeOrder(order: Order, chains: Chains): Uint8Array {
  return new AbiWords(8)
    .word(orderTypeHash)
    .word(order.version === 'v1' ? versionHash : hashText(order.version))
    .word(hashText(order.solverChainId))
    .address(encodeAddressField(ethereumCodec, order.solver, 'solver'))
    .uint(BigInt(order.salt))
    .word(hashArray(order.inputs.map((input) => inputHash(input, chains))))
    .word(outputHash(order.output, chains))
    .word(hashArray(order.fees.map((fee) => feeHash(fee, chains))))
    .done()
}

function inputHash({ payment, refunds }: OrderInput, chains: Chains): Uint8Array {
  const chain = chains(payment.chainId)
  const paymentWords = new AbiWords(5)
    .word(inputPaymentTypeHash)
    .word(chain.idHash)
    .word(currencyHash(chain, payment.currency, 'inputs[].payment.currency'))
    .uint(BigInt(payment.amount))
    .uint(BigInt(payment.weight))
  const words = new AbiWords(3)
    .word(inputTypeHash)
    .word(keccak256(paymentWords.done()))
    .word(hashArray(refunds.map((refund) => refundHash(refund, chains))))
  return keccak256(words.done())
}

function refundHash(refund: OrderRefund, chains: Chains): Uint8Array {
  const chain = chains(refund.chainId)
  const words = new AbiWords(7)
    .word(inputRefundTypeHash)
    .word(chain.idHash)
    .word(recipientHash(chain, refund.recipient, 'inputs[].refunds[].recipient'))
    .word(currencyHash(chain, refund.currency, 'inputs[].refunds[].currency'))
    .uint(BigInt(refund.minimumAmount))
    .number(refund.deadline)
    .word(dataHash(chain, refund.extraData))
  return keccak256(words.done())
}

function outputHash(output: OrderOutput, chains: Chains): Uint8Array {
  const chain = chains(output.chainId)
  const payments = output.payments.map((payment) => outputPaymentHash(payment, chain))
  const words = new AbiWords(6)
    .word(outputTypeHash)
    .word(chain.idHash)
    .word(hashArray(payments))
    .number(output.deadline)
    .word(hashArray(output.calls.map(bytesHash)))
    .word(dataHash(chain, output.extraData))
  return keccak256(words.done())
}

function outputPaymentHash(payment: OrderOutput['payments'][number], chain: HashedChain): Uint8Array {
  const words = new AbiWords(5)
    .word(outputPaymentTypeHash)
    .word(recipientHash(chain, payment.recipient, 'output.payments[].recipient'))
    .word(currencyHash(chain, payment.currency, 'output.payments[].currency'))
    .uint(BigInt(payment.minimumAmount))
    .uint(BigInt(payment.expectedAmount))
  return keccak256(words.done())
}

function feeHash(fee: OrderFee, chains: Chains): Uint8Array {
  const recipientChain = chains(fee.recipientChainId)
  const currencyChain = chains(fee.currencyChainId)
  const words = new AbiWords(6)
    .word(feeTypeHash)
    .word(recipientChain.idHash)
    .word(recipientHash(recipientChain, fee.recipient, 'fees[].recipient'))
    .word(currencyChain.idHash)
    .word(currencyHash(currencyChain, fee.currency, 'fees[].currency'))
    .uint(BigInt(fee.amount))
  return keccak256(words.done())
}

function bytesHash(bytes: Hex): Uint8Array {
  return bytes === '0x' ? noBytesHash : keccak256(hexToBytes(bytes))
}

function dataHash({ hashes }: HashedChain, data: Hex): Uint8Array {
  if (data.length > cachedTextMax) return bytesHash(data)
  return getOrCompute(hashes.data, data, () => bytesHash(data), cachedMax.data)
}

function recipientHash({ codec, hashes }: HashedChain, recipient: string, field: string): Uint8Array {
  const hash = () => keccak256(encodeAddressField(codec, recipient, field))
  return getOrCompute(hashes.recipients, recipient, hash, cachedMax.recipients)
}

function currencyHash({ codec, hashes }: HashedChain, currency: string, field: string): Uint8Array {
  const hash = () => keccak256(encodeCurrencyField(codec, currency, field))
  return getOrCompute(hashes.currencies, currency, hash, cachedMax.currencies)
}
