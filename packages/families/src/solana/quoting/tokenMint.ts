import { encodeBase58 } from '@causeway/core'
import { MalformedAnswerError } from '@causeway/rpc'
import type { InputLock } from '../../rules/inputLock.ts'
import type { SolanaAccount } from '../reading/answers.ts'
import { token2022Program, tokenProgram } from '../rules/programs.ts'

/** Facts of a mint that quotes and payments need. */
export type TokenMint = {
  /** The token program that owns it and its holders' accounts. */
  readonly program: string
  readonly decimals: number
  /** Bytes of an account that the associated token program makes for it. */
  readonly accountBytes: number
  /** Why what is sent is not what is received, or nothing may be received; undefined for plain tokens. */
  readonly refusal: string | undefined
}

/** Bytes and offsets of mints and accounts. @source SPL Token, Mint, Account */
const plainMintBytes = 82
const plainAccountBytes = 165
const decimalsAt = 44
/** Offset of the account type in Token-2022, behind which its extensions begin. */
const accountTypeAt = 165
const mintType = 1
const extensionsAt = 166
const extensionHeadBytes = 4

/** Types of mints' extensions. @source SPL Token-2022, ExtensionType */
const mintExtensions = {
  transferFee: 1,
  defaultAccountState: 6,
  nonTransferable: 9,
  transferHook: 14,
  pausable: 26,
} as const

/** By type of a mint's extension: bytes of the extension that it adds to each account, without its head. */
const accountParts: ReadonlyMap<number, number> = new Map([
  [mintExtensions.transferFee, 8],
  [mintExtensions.nonTransferable, 0],
  [mintExtensions.transferHook, 1],
  [mintExtensions.pausable, 0],
])

/** Extensions under which a payment does not simply arrive. */
const refusals: ReadonlyMap<number, string> = new Map([
  [mintExtensions.transferFee, 'keeps a part of each transfer'],
  [mintExtensions.defaultAccountState, 'gives new accounts a state of its own'],
  [mintExtensions.nonTransferable, 'cannot be transferred'],
  [mintExtensions.transferHook, 'runs code of its own at each transfer'],
  [mintExtensions.pausable, 'can be paused'],
])

/**
 * A mint as its account shows it. Pure.
 * @returns undefined for an account that is no mint of either token program
 * @throws MalformedAnswerError for one whose extensions cannot be read
 */
export function readTokenMint(program: string, data: Uint8Array): TokenMint | undefined {
  const bytes = Buffer.from(data)
  if (program === tokenProgram) {
    if (bytes.length !== plainMintBytes) return undefined
    return { program, decimals: bytes[decimalsAt] ?? 0, accountBytes: plainAccountBytes, refusal: undefined }
  }
  if (program !== token2022Program || bytes.length < plainMintBytes) return undefined
  if (bytes.length > plainMintBytes && bytes[accountTypeAt] !== mintType) return undefined
  const types = extensionsOf(bytes).map(({ type }) => type)
  // Every account of the associated token program has an extension without content: its owner is fixed.
  let accountBytes = extensionsAt + extensionHeadBytes
  for (const type of types) {
    const part = accountParts.get(type)
    if (part !== undefined) accountBytes += extensionHeadBytes + part
  }
  const refusedType = types.find((type) => refusals.has(type))
  return {
    program,
    decimals: bytes[decimalsAt] ?? 0,
    accountBytes,
    refusal: refusedType === undefined ? undefined : refusals.get(refusedType),
  }
}

const tokenPrograms: ReadonlySet<string> = new Set([tokenProgram, token2022Program])

/** Offsets in a token account of either program: its owner, and its amount. */
const holderAt = 32
const amountAt = 64
const amountBytes = 8

/** Amount in a token account in smallest units; 0 if the account is missing or is no token account. Pure. */
export function tokenAmountOf(account: SolanaAccount | undefined): bigint {
  if (account === undefined || !tokenPrograms.has(account.owner)) return 0n
  if (account.data.length < amountAt + amountBytes) return 0n
  return Buffer.from(account.data).readBigUInt64LE(amountAt)
}

/** One extension of a mint or an account of Token-2022: two bytes type, two bytes length, then its content. */
type Extension = { readonly type: number; readonly content: Buffer }

function extensionsOf(bytes: Buffer): readonly Extension[] {
  const extensions: Extension[] = []
  let offset = extensionsAt
  while (offset + extensionHeadBytes <= bytes.length) {
    const type = bytes.readUInt16LE(offset)
    // Zeros follow the last extension.
    if (type === 0) break
    const contentAt = offset + extensionHeadBytes
    offset = contentAt + bytes.readUInt16LE(offset + 2)
    if (offset > bytes.length) throw new MalformedAnswerError('getMultipleAccounts')
    extensions.push({ type, content: bytes.subarray(contentAt, offset) })
  }
  return extensions
}

/** Offset of the state in a token account, and the state of a frozen one. @source SPL Token, Account, AccountState */
const stateAt = 108
const frozenState = 2
const frozen = 'has a frozen account of the token'
const handedOn = 'has handed its account of the token on to somebody else'
/** Extension that tells whether ordinary transfers may come in. @source SPL Token-2022, ConfidentialTransferAccount */
const confidentialAccount = { type: 5, takesOpenAt: 262 }

/**
 * Why an owner's account of a token can receive nothing, as the end of a sentence that begins with the owner. A guard
 * against calls does not matter here, because it concerns outgoing transfers; nor does a required memo, which our
 * payments have. Pure.
 * @returns undefined if it can receive
 * @throws MalformedAnswerError for one whose extensions cannot be read
 */
export function refusalOfHolder(account: SolanaAccount, owner: string): string | undefined {
  if (tokenHolderOf(account) !== owner) return handedOn
  const bytes = Buffer.from(account.data)
  if (bytes[stateAt] === frozenState) return frozen
  if (account.owner !== token2022Program || bytes.length <= plainAccountBytes) return undefined
  const { type, takesOpenAt } = confidentialAccount
  const isClosed = extensionsOf(bytes).some(
    (extension) => extension.type === type && extension.content[takesOpenAt] === 0,
  )
  return isClosed ? 'takes confidential transfers of the token alone' : undefined
}

/** Extension that forbids programs to move what the account holds. @source SPL Token-2022, CpiGuard */
const callGuard = { type: 11, isOnAt: 0 }

/**
 * Why a user's account of a token can pay nothing. The guard against calls still lets the user transfer
 * himself, as `isForCalls` says. Pure.
 * @returns undefined if it can, and if there is no account
 * @throws MalformedAnswerError for one whose extensions cannot be read
 */
export function lockOfHolder(account: SolanaAccount | undefined, user: string): InputLock | undefined {
  const holder = tokenHolderOf(account)
  if (account === undefined || holder === undefined) return undefined
  if (holder !== user) return { why: handedOn, isForCalls: false }
  const bytes = Buffer.from(account.data)
  if (bytes[stateAt] === frozenState) return { why: frozen, isForCalls: false }
  if (account.owner !== token2022Program || bytes.length <= plainAccountBytes) return undefined
  const { type, isOnAt } = callGuard
  const isGuarded = extensionsOf(bytes).some(
    (extension) => extension.type === type && extension.content[isOnAt] === 1,
  )
  return isGuarded ? { why: 'guards its account of the token against calls', isForCalls: true } : undefined
}

/** The owner of a token account, who may spend it; undefined if the account is missing or is no token account. Pure. */
export function tokenHolderOf(account: SolanaAccount | undefined): string | undefined {
  if (account === undefined || !tokenPrograms.has(account.owner)) return undefined
  const holder = account.data.subarray(holderAt, amountAt)
  return account.data.length < plainAccountBytes ? undefined : encodeBase58(holder)
}
