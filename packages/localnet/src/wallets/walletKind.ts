/** Money of a chain: its native currency, or a token. */
export type Money = 'coin' | 'token'

/** A kind of account, for tests: which money it cannot receive, get refunded or pay, so that `/quote` has to refuse. */
export type WalletKind = {
  readonly cannotBePaid?: readonly Money[]
  /** Default: as `cannotBePaid`. A refund cannot create an account, because nobody was charged for that. */
  readonly cannotBeRefunded?: readonly Money[]
  readonly cannotPay?: readonly Money[]
}
