import type { MaybePromise } from '@causeway/core'
import type { AccountLack } from '@causeway/families/rules'
import { type AnswersOf, defineQuestions, gather, type QuestionWords } from '../answers.ts'
import { QuoteError, type QuoteErrorCode } from '../errors.ts'
import type { QuotableChain, QuotableCurrency } from '../registry.ts'

/** True if an account has code; `undefined` if not known in time. Never rejects. */
export type CodeLookup = (question: {
  readonly chainId: number
  readonly account: string
}) => MaybePromise<boolean | undefined>

/**
 * Tells what an account lacks before it can be paid in a currency of its chain; `undefined` where that is not known
 * in time. Never rejects and never takes longer than its own budget.
 */
export type LackLookup = (question: {
  readonly chainId: number
  readonly account: string
  readonly currency: string
}) => MaybePromise<AccountLack | undefined>

/**
 * Tries a payment as the fill wallet would make it now; `undefined` where the outcome is not known in time. `refusal`:
 * why it fails, in words for a caller. `units`: gas or energy of the whole transaction; absent if neither code of the
 * account nor a list of accounts in the token can change it. Never rejects.
 * @source Q-48; rule P-46
 */
export type TryPayment = (
  payment: TriedPayment,
) => MaybePromise<{ readonly refusal: string | undefined; readonly units?: bigint } | undefined>

/** A payment that endpoints simulate. */
export type TriedPayment = {
  readonly chain: QuotableChain
  readonly account: string
  readonly currency: QuotableCurrency
  /** Smallest units. */
  readonly amount: bigint
}

/** Questions to chains about accounts that a request pays. */
export type PayeePorts = {
  readonly hasCode: CodeLookup
  readonly lackOf: LackLookup
  readonly tryPayment: TryPayment
}

/** Answers of chains about accounts that a request pays. */
export type PayeeAnswers = AnswersOf<PayeePorts>

/** Words that tell questions about payees apart. */
export const payeeWords: QuestionWords<PayeePorts> = {
  hasCode: ({ chainId, account }) => [chainId, account],
  lackOf: ({ chainId, account, currency }) => [chainId, account, currency],
  tryPayment: ({ chain, account, currency, amount }) => [chain.chainId, account, currency.address, amount],
}

/** An account with the payment that it is to get. */
export type Payee = TriedPayment & {
  /** Purpose of the payment. */
  readonly what: 'output' | 'topup' | 'refund' | 'claim'
  /** True if the charged fee covers new state, of the payment and of the account itself. */
  readonly makesState: boolean
  /** The request names the payee. Else no payment is simulated, so that an anonymous price stays cheap. */
  readonly isNamed: boolean
  /** True for a depositor who gets his own refund: he has the token account, but perhaps no coin left. */
  readonly isDepositor?: true
}

/** Reason that an account may not be paid; `why` completes a sentence about it. */
export type Refusal = { readonly code: QuoteErrorCode; readonly why: string }

/** A payee as its chain answers now. */
export type JudgedPayee = {
  /** Undefined where it may be paid; `silent` where the chain does not answer in time. */
  readonly refusal: Refusal | 'silent' | undefined
  /** Undefined where nothing was asked or answered. */
  readonly lack: AccountLack | undefined
  /** Units of the whole transaction in its trial; undefined without one, or where no code can change them. */
  readonly units: bigint | undefined
}

const unasked = { lack: undefined, units: undefined }
const untried: Awaited<ReturnType<TryPayment>> = { refusal: undefined }

/**
 * The rule "may be paid" for one payment: by the address alone, then by what its chain answers now. One answer that
 * refuses is enough, even if others are missing; to allow the payment, all must be there.
 * @source
 */
export function judgePayee(answers: PayeeAnswers, payee: Payee): JudgedPayee {
  const { chain, account, currency, amount } = payee
  const staticRefusal = neverPaid(chain, account)
  if (staticRefusal !== undefined) return { ...unasked, refusal: staticRefusal }
  // The placeholder for an account that is not chosen yet: pages price before a wallet is connected.
  if (chain.quoting.isNobody(account)) return { ...unasked, refusal: undefined }
  const question = { chainId: chain.chainId, account, currency: currency.address }
  const [hasCode, lack, trial] = gather<[...AnswersAboutPayee]>(
    () => (chain.quoting.paysTokensToCode ? false : answers.hasCode(question)),
    () => (payee.isDepositor === true && !currency.isNative ? {} : answers.lackOf(question)),
    () => (payee.isNamed && amount > 0n ? answers.tryPayment(payee) : untried),
  )
  return { refusal: refusalBy([hasCode, lack, trial], payee), lack, units: trial?.units }
}

/** Answers of a chain about a payee; undefined where one did not come in time. */
type AnswersAboutPayee = readonly [
  hasCode: Awaited<ReturnType<CodeLookup>>,
  lack: Awaited<ReturnType<LackLookup>>,
  trial: Awaited<ReturnType<TryPayment>>,
]

function refusalBy([hasCode, lack, trial]: AnswersAboutPayee, payee: Payee): JudgedPayee['refusal'] {
  const { chain, currency } = payee
  if (hasCode === true)
    return {
      code: 'RECIPIENT_HAS_CODE',
      why: `is no wallet on chain ${chain.chainId}: ${currency.symbol} is paid to wallets only`,
    }
  const lackReason = lack && lackRefusal(lack, payee)
  if (lackReason !== undefined) return { code: 'INVALID_RECIPIENT', why: lackReason }
  if (trial?.refusal !== undefined) return { code: 'INVALID_RECIPIENT', why: trial.refusal }
  return hasCode === undefined || lack === undefined || trial === undefined ? 'silent' : undefined
}

/** Refusal by the address alone; no chain is asked. @source Q-60 */
export function neverPaid({ payees, chainId }: QuotableChain, account: string): Refusal | undefined {
  const accountKind = payees.neverPaid(account)
  return accountKind === undefined
    ? undefined
    : {
        code: 'INVALID_RECIPIENT',
        why: `is ${accountKind}, on chain ${chainId}: name an account that somebody holds`,
      }
}

/** Reason that an account's state refuses a payment in a currency of its chain; undefined: none. @source Q-61 */
export function lackRefusal(
  lack: AccountLack,
  {
    chain: { chainId },
    currency: { symbol },
    makesState,
  }: Pick<Payee, 'makesState'> & {
    readonly chain: Pick<QuotableChain, 'chainId'>
    readonly currency: Pick<QuotableCurrency, 'symbol'>
  },
): string | undefined {
  if (lack.isUnpayable === true)
    return `is no account of chain ${chainId}, and no payment makes it: open it there first`
  if (lack.isUncountable === true)
    return `holds more ${symbol} than can be counted exactly, so nobody can prove that it was paid: name another account`
  if (lack.refusal !== undefined) return `${lack.refusal}: name another account`
  if (makesState) return undefined
  if ((lack.accountFee ?? 0n) > 0n)
    return `has no account on chain ${chainId} yet, and its first payment takes a fee that nobody is charged here: open it first, or name one that is there`
  if ((lack.stateBytes ?? 0) > 0)
    return `has no account of ${symbol} on chain ${chainId}, and this payment makes none: make it first, or name one that has it`
  return undefined
}

/**
 * The error for a payee that may not be paid.
 * @param shown subject of the message, where it is not `field`
 */
export function refusedPayee(
  refusal: Refusal | 'silent',
  { chain: { chainId }, account, what }: Payee,
  {
    field,
    shown = field,
    data = {},
  }: { readonly field: string; readonly shown?: string; readonly data?: object },
): QuoteError {
  if (refusal === 'silent')
    return new QuoteError(
      'SERVICE_UNAVAILABLE',
      `Chain ${chainId} did not say in time whether ${account} can be paid (${field}).`,
      { data: { chainId, reason: 'recipient_unknown' } },
    )
  const { code, why } = refusal
  const payment = code === 'RECIPIENT_HAS_CODE' ? { payment: what } : {}
  return new QuoteError(code, `${shown} ${why}.`, {
    data: { field, chainId, recipient: account, ...payment, ...data },
  })
}

/** @throws QuoteError INVALID_RECIPIENT, RECIPIENT_HAS_CODE, SERVICE_UNAVAILABLE */
export function requirePayee(answers: PayeeAnswers, payee: Payee, field: string): JudgedPayee {
  const judged = judgePayee(answers, payee)
  if (judged.refusal !== undefined) throw refusedPayee(judged.refusal, payee, { field })
  return judged
}

export const withPayeeAnswers = defineQuestions(payeeWords)

/** Waits for what a chain answers about one payee. @throws as `requirePayee` */
export async function askPayee(ports: PayeePorts, payee: Payee, field: string): Promise<JudgedPayee> {
  return withPayeeAnswers(ports, (answers) => requirePayee(answers, payee, field))
}
