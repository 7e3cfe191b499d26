import { solanaCodec } from '@causeway/core/encodings'
import type { EmptiedAddress, PlannedPayment } from '../../shared/payingChain.ts'
import { readTokenMint, refusalOfHolder, type TokenMint } from '../quoting/tokenMint.ts'
import { exactLamportsMax, type ShownAccount } from '../reading/answers.ts'
import { type SolanaAddressProgram, solanaDepositAddress } from '../rules/depositAddress.ts'
import { solanaLibrary } from '../rules/library.ts'
import { associatedTokenAccount } from '../rules/programAddresses.ts'
import { systemProgram, token2022Program, tokenProgram } from '../rules/programs.ts'

/** Accounts that a payment depends on, and state that it creates. */
export type PaymentLookup = {
  readonly payments: readonly PlannedPayment[]
  readonly stateBytes: readonly number[]
  readonly emptied?: EmptiedAddress
}
export type Accounts = (
  addresses: readonly string[],
) => Promise<ReadonlyMap<string, ShownAccount | undefined>>

const amountMax = 2n ** 64n - 1n
const tokenPrograms: readonly string[] = [tokenProgram, token2022Program]

/**
 * Looks at whom and what is to be paid.
 * @param read accounts by address
 * @returns the payments with what keeps their tokens, and the bytes of each account that they make; or why not
 */
export async function lookAtPayments(
  wallet: string,
  payments: readonly PlannedPayment[],
  read: Accounts,
): Promise<PaymentLookup | { readonly refusal: string }> {
  for (const { amount } of payments) {
    if (amount <= 0n || amount > amountMax) return { refusal: 'an amount is none of this chain' }
  }
  const recipients = [...new Set(payments.map(({ recipient }) => recipient))]
  const mints = [...new Set(payments.map(({ currency }) => currency))].filter(isToken)
  const shown = await read([...recipients, ...mints])
  for (const recipient of recipients) {
    const refusal = refuseRecipient(wallet, recipient, shown.get(recipient))
    if (refusal !== undefined) return { refusal }
    if (coinBehind(payments, recipient, shown.get(recipient)) > exactLamportsMax)
      return { refusal: 'the recipient holds more coin than can be counted' }
  }
  const tokens = new Map<string, TokenMint>()
  for (const currency of mints) {
    const account = shown.get(currency)
    const mint = account && readTokenMint(account.owner, account.data)
    if (mint === undefined) return { refusal: 'a currency is no mint' }
    if (mint.refusal !== undefined) return { refusal: `a currency ${mint.refusal}` }
    tokens.set(currency, mint)
  }
  const planned = payments.map(({ token: _told, ...payment }): PlannedPayment => {
    const mint = tokens.get(payment.currency)
    return mint === undefined
      ? payment
      : { ...payment, token: { program: mint.program, decimals: mint.decimals } }
  })
  const holders = new Map(
    planned.flatMap(({ recipient, currency }) => {
      const mint = tokens.get(currency)
      if (mint === undefined) return []
      const holder = associatedTokenAccount(recipient, { mint: currency, tokenProgram: mint.program })
      return [[holder, { ...mint, recipient }] as const]
    }),
  )
  const held = holders.size === 0 ? new Map<string, undefined>() : await read([...holders.keys()])
  const stateBytes: number[] = []
  for (const [holder, { program, accountBytes, recipient }] of holders) {
    const account = held.get(holder)
    if (account?.owner !== program) stateBytes.push(accountBytes)
    else {
      const refusal = refusalOfHolder(account, recipient)
      if (refusal !== undefined) return { refusal: `the recipient ${refusal}` }
    }
  }
  return { payments: planned, stateBytes }
}

/**
 * Looks at an address that is to be emptied, and at what keeps its token. What becomes of it the program enforces; what
 * is refused here would fail there.
 */
export async function lookAtAddress(
  wallet: string,
  question: { readonly emptied: EmptiedAddress; readonly addressProgram: SolanaAddressProgram | undefined },
  read: Accounts,
): Promise<PaymentLookup | { readonly refusal: string }> {
  const { emptied, addressProgram } = question
  if (addressProgram === undefined) return { refusal: 'the chain has no deposit addresses' }
  if (emptied.terms.sweeper !== wallet) return { refusal: 'another wallet empties the address' }
  if (solanaDepositAddress(emptied.terms, addressProgram).address !== emptied.address)
    return { refusal: 'the address has other terms' }
  const { token: _told, ...rest } = emptied
  if (!isToken(emptied.currency)) return { payments: [], stateBytes: [], emptied: rest }
  const account = (await read([emptied.currency])).get(emptied.currency)
  const mint = account && readTokenMint(account.owner, account.data)
  if (mint === undefined) return { refusal: 'a currency is no mint' }
  const token = { program: mint.program, decimals: mint.decimals }
  return { payments: [], stateBytes: [], emptied: { ...rest, token } }
}

const isToken = (currency: string): boolean => currency !== solanaCodec.nativeCurrency

/**
 * Coin that a recipient would hold after the payments; 0 for a recipient of tokens alone. Above the exact range nobody
 * can prove a payment.
 */
function coinBehind(
  payments: readonly PlannedPayment[],
  recipient: string,
  account: ShownAccount | undefined,
): bigint {
  const coin = payments.filter((payment) => payment.recipient === recipient && !isToken(payment.currency))
  return coin.length === 0 ? 0n : coin.reduce((sum, { amount }) => sum + amount, account?.lamports ?? 0n)
}

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
