import { solanaCodec } from '@causeway/core/encodings'
import type { EmptiedAddress, PlannedPayment } from '../../shared/payingChain.ts'
import { readTokenMint, refusalOfHolder, type TokenMint } from '../quoting/tokenMint.ts'
import { exactLamportsMax, type ShownAccount } from '../reading/answers.ts'
import { type SolanaAddressProgram, solanaDepositAddress } from '../rules/depositAddress.ts'
import { solanaLibrary } from '../rules/library.ts'
import { associatedTokenAccount } from '../rules/programAddresses.ts'
import { systemProgram, token2022Program, tokenProgram } from '../rules/programs.ts'

/** Payments that can be made, with what the chain says about their tokens. */
export type PaymentLookup = {
  /** With the program and decimals of each token. */
  readonly payments: readonly PlannedPayment[]
  /** Bytes of each token account that the payments must create. */
  readonly stateBytes: readonly number[]
  /** As `payments`, for a deposit address that is emptied. */
  readonly emptied?: EmptiedAddress
}
/**
 * Reads accounts by address, by agreement of endpoints, also on whether an account could be counted with `added` lamports.
 */
export type ReadAccounts = (
  addresses: readonly string[],
  added?: ReadonlyMap<string, bigint>,
) => Promise<ReadonlyMap<string, ShownAccount | undefined>>

const amountMax = 2n ** 64n - 1n
const tokenPrograms: readonly string[] = [tokenProgram, token2022Program]

type Refused = { readonly refusal: string }

/** Checks recipients, mints and token accounts of payments. @returns why not, if one is refused */
export async function lookAtPayments(
  wallet: string,
  payments: readonly PlannedPayment[],
  read: ReadAccounts,
): Promise<PaymentLookup | Refused> {
  for (const { amount } of payments) {
    if (amount <= 0n || amount > amountMax) return { refusal: 'an amount is none of this chain' }
  }
  const recipients = [...new Set(payments.map(({ recipient }) => recipient))]
  const currencies = [...new Set(payments.map(({ currency }) => currency))].filter(isToken)
  const added = new Map(recipients.map((recipient) => [recipient, lamportsFor(recipient, payments)]))
  const accounts = await read([...recipients, ...currencies], added)
  for (const [recipient, lamports] of added) {
    const account = accounts.get(recipient)
    const refusal = refuseRecipient(wallet, recipient, account)
    if (refusal !== undefined) return { refusal }
    // A recipient of tokens alone may hold any amount of coin.
    if (lamports > 0n && !isCountable(account, lamports))
      return { refusal: 'the recipient holds more coin than can be counted' }
  }
  const mints = readMints(currencies, accounts)
  if ('refusal' in mints) return mints
  // The caller's word about a token is replaced by the chain's.
  const planned = payments.map(({ token: _callersToken, ...payment }): PlannedPayment => {
    const mint = mints.byCurrency.get(payment.currency)
    if (mint === undefined) return payment
    return { ...payment, token: { program: mint.program, decimals: mint.decimals } }
  })
  const stateBytes = await missingHolders(planned, mints.byCurrency, read)
  return 'refusal' in stateBytes ? stateBytes : { payments: planned, stateBytes }
}

/** Mints of currencies, by their accounts; why not, if payments in one are refused. */
function readMints(
  currencies: readonly string[],
  accounts: ReadonlyMap<string, ShownAccount | undefined>,
): { readonly byCurrency: ReadonlyMap<string, TokenMint> } | Refused {
  const byCurrency = new Map<string, TokenMint>()
  for (const currency of currencies) {
    const account = accounts.get(currency)
    const mint = account && readTokenMint(account.owner, account.data)
    if (mint === undefined) return { refusal: 'a currency is no mint' }
    if (mint.refusal !== undefined) return { refusal: `a currency ${mint.refusal}` }
    byCurrency.set(currency, mint)
  }
  return { byCurrency }
}

/** Bytes of each token account that a recipient lacks; why not, if an existing one can receive nothing. */
async function missingHolders(
  payments: readonly PlannedPayment[],
  mints: ReadonlyMap<string, TokenMint>,
  read: ReadAccounts,
): Promise<readonly number[] | Refused> {
  const holders = new Map(
    payments.flatMap(({ recipient, currency }) => {
      const mint = mints.get(currency)
      if (mint === undefined) return []
      const holder = associatedTokenAccount(recipient, { mint: currency, tokenProgram: mint.program })
      return [[holder, { ...mint, recipient }] as const]
    }),
  )
  const holderAccounts = holders.size === 0 ? new Map<string, undefined>() : await read([...holders.keys()])
  const stateBytes: number[] = []
  for (const [holder, { program, accountBytes, recipient }] of holders) {
    const account = holderAccounts.get(holder)
    // An address that merely holds lamports lacks its token account too.
    if (account?.owner !== program) stateBytes.push(accountBytes)
    else {
      const refusal = refusalOfHolder(account, recipient)
      if (refusal !== undefined) return { refusal: `the recipient ${refusal}` }
    }
  }
  return stateBytes
}

/**
 * Checks a deposit address that is to be emptied, and the mint of its currency. The on-chain program enforces where the
 * money goes; what is refused here would fail there.
 */
export async function lookAtAddress(
  wallet: string,
  question: { readonly emptied: EmptiedAddress; readonly addressProgram: SolanaAddressProgram | undefined },
  read: ReadAccounts,
): Promise<PaymentLookup | Refused> {
  const { emptied, addressProgram } = question
  if (addressProgram === undefined) return { refusal: 'the chain has no deposit addresses' }
  if (emptied.terms.sweeper !== wallet) return { refusal: 'another wallet empties the address' }
  if (solanaDepositAddress(emptied.terms, addressProgram).address !== emptied.address)
    return { refusal: 'the address has other terms' }
  const { token: _callersToken, ...withoutToken } = emptied
  // No state is made in either case: the token account that receives must exist already.
  if (!isToken(emptied.currency)) return { payments: [], stateBytes: [], emptied: withoutToken }
  const account = (await read([emptied.currency])).get(emptied.currency)
  const mint = account && readTokenMint(account.owner, account.data)
  // A mint that payments refuse is swept: what the depository gained counts, and else the money would lie there for ever.
  if (mint === undefined) return { refusal: 'a currency is no mint' }
  const token = { program: mint.program, decimals: mint.decimals }
  return { payments: [], stateBytes: [], emptied: { ...withoutToken, token } }
}

const isToken = (currency: string): boolean => currency !== solanaCodec.nativeCurrency

/** Lamports that the payments give a recipient. */
const lamportsFor = (recipient: string, payments: readonly PlannedPayment[]): bigint =>
  payments
    .filter((payment) => payment.recipient === recipient && !isToken(payment.currency))
    .reduce((sum, { amount }) => sum + amount, 0n)

/** True if JSON holds the account's lamports exactly after a payment: above that nobody can prove one. */
export const isCountable = (account: ShownAccount | undefined, added = 0n): boolean =>
  (account?.lamports ?? 0n) + added <= exactLamportsMax

/** Reason to refuse a recipient that can have no key, or that is the wallet itself. */
function refuseRecipient(
  wallet: string,
  recipient: string,
  account: ShownAccount | undefined,
): string | undefined {
  const { PublicKey } = solanaLibrary()
  if (recipient === wallet) return 'the recipient is the fill wallet'
  if (!PublicKey.isOnCurve(new PublicKey(recipient).toBytes())) return 'nobody has the key of the recipient'
  if (account === undefined) return undefined
  if (account.isExecutable) return 'the recipient is a program'
  if (tokenPrograms.includes(account.owner)) return 'the recipient is a token account'
  return account.owner === systemProgram ? undefined : 'the recipient belongs to a program'
}
