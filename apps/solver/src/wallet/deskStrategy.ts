import type { Hex } from '@causeway/core'
import type { DeskWork, Refusal, Subject } from './chainDesk.ts'
import type { Move, OfferKind } from './move.ts'
import type { Records } from './records.ts'
import type { KeptRecord } from './signedRecord.ts'

/**
 * The rules by which kinds of chains differ: what orders transactions, how they expire, how they are signed again. A
 * `PaymentDesk` has one of `NonceStrategy`, `ExpiringStrategy` and `LineStrategy`. @source docs/internals/payments.md
 */
export type DeskStrategy<Seen extends Sight> = {
  readonly chainId: number
  /** Address of the fill wallet, in canonical spelling. */
  readonly address: string
  /**
   * True on chains where transactions of the wallet are mined in a fixed order, by nonce or because each spends an output of
   * the one before. A record then holds up those behind it: they are looked at one after the other, and the budget of fills
   * pays a higher price where a record's own budget does not.
   */
  readonly isOrdered: boolean
  /**
   * True if a signed cancellation is all that stops a record. Otherwise the record is also kept as refused, because a
   * cancellation may be impossible, or not yet possible.
   */
  readonly cancelsByNonce: boolean
  chainTime(): Promise<number>
  /** Has the work tried on the chain. @returns what signs it, or why nothing does @throws as `ChainDesk.prepare` */
  plan(work: DeskWork): Promise<SignFirst | Refusal>
  /** Nonces below are used; `undefined` where a chain has none. @throws DomainError where too few endpoints answer */
  usedNonces(): Promise<number | undefined>
  /** Reads the chain and the open records. */
  look(): Promise<Seen>
  /** @returns the next move, and the hash of the record's transaction that a block has */
  judge(
    record: KeptRecord,
    sight: Seen,
  ): Promise<{ readonly move: Move; readonly minedHash: string | undefined }>
  /** Signs the content again, or a cancellation. @param sight absent: the strategy looks by itself where it has to */
  signAgain(record: KeptRecord, offerKind: OfferKind, sight?: Seen): Promise<SignedAgain>
  /** Sends bytes again and again at no harm. @throws NodeError, NeverTakenError, DomainError */
  broadcast(offer: Offer): Promise<void>
  /** Time since which the oldest unmined transaction waits, in Unix ms, by the last look. */
  waitingSinceMs?: () => number | undefined
  /** Next transaction of the wallet for itself, if any. */
  chore?(): Promise<Chore | undefined>
}

/** A signed transaction or cancellation of a record. */
export type Offer = { readonly raw: Hex; readonly hash: string }

/** A record before anything is signed for it. */
export type UnsignedRecord = Pick<
  KeptRecord,
  Exclude<keyof KeptRecord, 'transactions' | 'wallet' | 'toldHash' | 'tellingHash'>
>

/** Signs the first transaction of a record. `cost`: the most that it may take, in smallest units of the native coin. */
export type SignFirst = (
  record: UnsignedRecord,
) => Promise<{ readonly record: KeptRecord; readonly cost: bigint }>

/** Outcome of signing a record's content again, or a cancellation of it. */
export type SignedAgain = {
  /** Present if something was signed; absent where limits allow no higher price. */
  readonly signed?: {
    /** The record with the new transaction in it. */
    readonly record: KeptRecord
    readonly offer: Offer
    /** Cost beyond the reserved amount. */
    readonly extraCost: bigint
    readonly event: 'record_bumped' | 'record_renewed' | 'record_cancelling'
  }
  /** The newest transaction signed before: it is sent again if nothing new was signed, or the new one fits no budget. */
  readonly standing?: Offer | undefined
  /** True if another transaction has marked the record's id: the record is at its end. */
  readonly isLost?: boolean
}

/** State of a chain's records that are not at their end, from one look at the chain. Strategies add what they need. */
export type Sight = {
  /** As `openRecords` gives them, by number. */
  readonly open: readonly KeptRecord[]
  /** Nonces below are used; `undefined` where a chain has none. */
  readonly usedNonces: number | undefined
}

/** A transaction of the wallet for itself, ready to be signed. */
export type Chore = { readonly sign: SignFirst; readonly subject: Subject }

/**
 * Records of a wallet on a chain that are not at their end, or whose nonce a reorganization has freed again.
 * @param usedNonces nonces below are used. By default all are, so that on a chain without nonces a record at its end is not
 * taken for one whose nonce is free again
 */
export const openRecords = (
  records: Pick<Records, 'active'>,
  { address, chainId }: { readonly address: string; readonly chainId: number },
  usedNonces = Number.MAX_SAFE_INTEGER,
): Promise<readonly KeptRecord[]> => records.active(address, chainId, usedNonces)
