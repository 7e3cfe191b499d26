import type { WalletKind } from './walletKind.ts'

/** State of a token account. `state`: 1 is open, 2 frozen. `extension`: one of Token-2022, by its number. */
export type HolderState = {
  readonly state?: number
  readonly extension?: readonly [type: number, content: Buffer]
}

/**
 * A kind of wallet. `holder`: its account for a token of Token-2022; absent: it has none; `hasOtherOwner`:
 * that account was handed on to another owner. `isProgram`: the address is program derived, so it has no key.
 */
export type SolanaWallet = WalletKind & {
  readonly holder?: HolderState & { readonly hasOtherOwner?: true }
  readonly isProgram?: true
}

/**
 * A token account that is set up for confidential transfers (extension 5). Two of its bytes say that it takes
 * these, and whether it takes open ones.
 * @source SPL Token-2022, ConfidentialTransferAccount: `allow_confidential_credits` and the member behind it
 */
function confidential(takesOpen: boolean): HolderState {
  const content = Buffer.alloc(295)
  content.writeUInt8(1, 261)
  content.writeUInt8(takesOpen ? 1 : 0, 262)
  return { extension: [5, content] }
}

const unusable = { cannotBePaid: ['token'], cannotPay: ['token'] } as const
const allMoney = ['coin', 'token'] as const

/** Kinds of wallets by the name that `npm run localnet -- wallet` takes. */
export const solanaWallets = {
  plain: { holder: {} },
  'without-account': { cannotBeRefunded: ['token'] },
  /** Requires a memo with each transfer to it. */
  memo: { holder: { extension: [8, Buffer.of(1)] } },
  'memo-off': { holder: { extension: [8, Buffer.of(0)] } },
  /** Programs may not move its tokens (CPI guard), and a deposit is made by a program. */
  guard: { holder: { extension: [11, Buffer.of(1)] }, cannotPay: ['token'] },
  'guard-off': { holder: { extension: [11, Buffer.of(0)] } },
  'confidential-and-open': { holder: confidential(true) },
  confidential: { holder: confidential(false), cannotBePaid: ['token'] },
  frozen: { holder: { state: 2 }, ...unusable },
  'handed-on': { holder: { hasOtherOwner: true }, ...unusable },
  'program-derived': { holder: {}, isProgram: true, cannotBePaid: allMoney, cannotPay: allMoney },
} as const satisfies Readonly<Record<string, SolanaWallet>>

export type SolanaWalletName = keyof typeof solanaWallets

export const isSolanaWalletName = (name: string): name is SolanaWalletName =>
  Object.hasOwn(solanaWallets, name)
