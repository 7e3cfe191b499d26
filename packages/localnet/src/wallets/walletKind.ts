/** Money of a chain: its native currency, or a token. */
export type Money = 'coin' | 'token'

/** An account as people have them. `/quote` refuses by name what it cannot be paid, given back or pay with. */
export type WalletKind = {
  readonly cannotBePaid?: readonly Money[]
  /** Default: as `cannotBePaid`. A refund makes no state, because nobody was charged for it. */
  readonly cannotBeRefunded?: readonly Money[]
  readonly cannotPay?: readonly Money[]
}
