import { AbiWords } from '../hashing/abiWords.ts'
import { fixedHexToBytes, utf8Bytes } from '../hashing/hexBytes.ts'
import { keccak256, keccak256Hex } from '../hashing/keccak.ts'
import type { Hex } from '../hex.ts'

/** The members of a deposit from which the id of its refund is made. */
export type RefundedDeposit = {
  /** Number of the deposit's chain, as `refundChainId` gives it. */
  readonly chainId: number | bigint
  /** Canonical, then in lower case, also where the family's spelling has capitals. */
  readonly transactionId: string
  /** In its family's canonical spelling. */
  readonly currency: string
  /** Smallest units. */
  readonly amount: bigint
  /**
   * Position among the order's equal deposits in that transaction, from 0; see `ordinalOf`. A position in the block or
   * among all deposits would not do: it can differ in another branch of the chain.
   */
  readonly ordinal: number
}

/** First word of every refund id, so that the hash is of no other structure. */
const refundDomain = keccak256(utf8Bytes('refund of a deposit'))

/**
 * Id that the fill contract records for a refund, so that one deposit of one order is refunded only once. It differs
 * from the order id, so that a fill and a refund never stand for each other.
 * @throws RangeError when the order id is not 32 bytes
 */
export function refundId(
  orderId: Hex,
  { chainId, transactionId, currency, amount, ordinal }: RefundedDeposit,
): Hex {
  const words = new AbiWords(7)
    .word(refundDomain)
    .word(fixedHexToBytes(orderId, 32))
    .uint(BigInt(chainId))
    .word(keccak256(utf8Bytes(transactionId)))
    .word(keccak256(utf8Bytes(currency)))
    .uint(amount)
    .number(ordinal)
  return keccak256Hex(words.done())
}
