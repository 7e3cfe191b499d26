import type { WalletKind } from './walletKind.ts'

/** An account of a token. `state`: 1 is open, 2 frozen. */
export type HolderState = {
  readonly state?: number
  readonly extension?: readonly [type: number, content: Buffer]
}

/** `holder`: its account of a token of Token-2022; absent: it has none. `isProgram`: nobody has its key. */
export type SolanaWallet = WalletKind & {
  readonly holder?: HolderState & { readonly isHandedOn?: true }
  readonly isProgram?: true
}

/** Data of an account that takes confidential transfers, and open ones where it says so. */
function confidential(takesOpen: boolean): HolderState {
  const content = Buffer.alloc(295)
  content.writeUInt8(1, 261)
  content.writeUInt8(takesOpen ? 1 : 0, 262)
  return { extension: [5, content] }
}

const never = { cannotBePaid: ['token'], cannotPay: ['token'] } as const
const neither = ['coin', 'token'] as const

/** Wallets by the name that `npm run localnet -- wallet` takes, each with its account of a token. */
export const solanaWallets = {
  plain: { holder: {} },
  'without-account': { cannotBeRefunded: ['token'] },
  memo: { holder: { extension: [8, Buffer.of(1)] } },
  'memo-off': { holder: { extension: [8, Buffer.of(0)] } },
  /** Programs move nothing of it, and a deposit is made by one. */
  guard: { holder: { extension: [11, Buffer.of(1)] }, cannotPay: ['token'] },
  'guard-off': { holder: { extension: [11, Buffer.of(0)] } },
  'confidential-and-open': { holder: confidential(true) },
  confidential: { holder: confidential(false), cannotBePaid: ['token'] },
  frozen: { holder: { state: 2 }, ...never },
  'handed-on': { holder: { isHandedOn: true }, ...never },
  'program-derived': { holder: {}, isProgram: true, cannotBePaid: neither, cannotPay: neither },
} as const satisfies Readonly<Record<string, SolanaWallet>>

export type SolanaWalletName = keyof typeof solanaWallets

export const isSolanaWalletName = (name: string): name is SolanaWalletName =>
  Object.hasOwn(solanaWallets, name)
