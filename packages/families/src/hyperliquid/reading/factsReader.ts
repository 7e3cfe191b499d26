import type {
  DepositFact,
  Hex,
  PaymentFacts,
  PaymentQuestion,
  ReadOptions,
  TransferFact,
} from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import type { QuorumClient } from '@causeway/rpc'
import { defaultReadingCacheLimits, TransactionMissingError } from '@causeway/rpc'
import { z } from 'zod'
import {
  createFactsReader,
  type DescribedWithdrawal,
  type FamilyReader,
  type FoundDeposits,
  type FoundPayment,
  type WithdrawalReading,
} from '../../shared/createFactsReader.ts'
import type { HubEntries } from '../../shared/hubEntries.ts'
import { hyperliquidFamily } from '../rules/family.ts'
import { decodeHyperliquidWithdrawal, hyperliquidWithdrawalId } from '../rules/withdrawal.ts'
import {
  hyperliquidNativeDecimals,
  hyperliquidWithdrawalCurrency,
  hyperliquidWithdrawalTransfer,
} from '../rules/withdrawalTransfer.ts'
import type { HyperliquidTransaction, SendAction } from './answers.ts'
import {
  createHyperliquidTransactions,
  finalityRule,
  type HyperliquidReaderLimits,
  type HyperliquidTransactions,
} from './finalTransactions.ts'
import { HyperliquidCurrencyError } from './hyperliquidErrors.ts'
import type { HyperliquidView } from './hyperliquidView.ts'
import { readNonceMapping } from './nonceMapping.ts'
import { hyperliquidCodec, receivedCurrency, tokenIdOf, wholeUnits } from './transfers.ts'
import { type SeenWithdrawal, withdrawalQuestion } from './withdrawals.ts'

export type HyperliquidFactsReaderOptions = {
  readonly chain: {
    readonly id: string
    readonly depository: string
    readonly additionalDepositories?: readonly string[] | undefined
  }
  readonly quorum: QuorumClient<HyperliquidView>
  readonly hubEntries: HubEntries
  readonly limits?: Partial<HyperliquidReaderLimits>
  /** Milliseconds since 1970; default: the clock of this machine. */
  readonly nowMs?: () => number
}

export type HyperliquidFactsReader = FamilyReader

type Reading = {
  readonly chainId: string
  readonly depositories: readonly [string, ...string[]]
  readonly quorum: QuorumClient<HyperliquidView>
  readonly hubEntries: HubEntries
  readonly transactions: HyperliquidTransactions
  readonly nowMs: () => number
}

/** Deposit id of a transfer without an order. */
const noOrder: Hex = `0x${'0'.repeat(64)}`

/**
 * Reads the facts of a `hyperliquid-vm` chain that oracles attest, over the HTTP API of the exchange. The order of a
 * transfer is read from the hub. Executed transactions are cached; missing and failed ones are read again.
 * @throws InvalidAddressError for a depository that is no address
 * @source rules P-107, F-151, F-152, F-155
 */
export function createHyperliquidFactsReader(options: HyperliquidFactsReaderOptions): HyperliquidFactsReader {
  const { chain, quorum, hubEntries } = options
  const transactions = createHyperliquidTransactions({
    quorum,
    limits: { ...defaultReadingCacheLimits, ...options.limits },
  })
  const [primary, additional] = [chain.depository, chain.additionalDepositories ?? []]
  const reading: Reading = {
    chainId: chain.id,
    depositories: [
      hyperliquidCodec.canonicalAddress(primary),
      ...additional.map(hyperliquidCodec.canonicalAddress),
    ],
    quorum,
    hubEntries,
    transactions,
    nowMs: options.nowMs ?? (() => Date.now()),
  }
  return createFactsReader({
    chainId: chain.id,
    network: mainNetwork('hyperliquid-vm'),
    finalityRule,
    forget: transactions.forget,
    readDeposits: (transactionId, reads) => readDeposits(reading, transactionId, reads),
    readPayment: (question, reads) => readPayment(reading, question, reads),
    prepareWithdrawal: (withdrawal) => prepareWithdrawal(reading, withdrawal),
    withdrawRequest: hyperliquidFamily.withdrawRequest,
  })
}

async function readDeposits(
  reading: Reading,
  transactionId: string,
  options: ReadOptions,
): Promise<FoundDeposits> {
  const { final, evidence } = await reading.transactions.read(transactionId, undefined, options.signal)
  const deposit = await readDeposit(reading, final, options)
  const deposits = deposit === undefined ? [] : [deposit]
  return { blockTimestampSeconds: final.timeMs / 1_000n, deposits, evidence }
}

/**
 * Deposit in a transfer. A transfer from a depository, also to itself or to another one, is none: the protocol owned
 * the money already.
 * @throws NonceMappingMissingError while the hub may still get an entry that names the order
 */
async function readDeposit(
  reading: Reading,
  transaction: HyperliquidTransaction,
  options: ReadOptions,
): Promise<DepositFact | undefined> {
  const { user, send } = transaction
  const { depositories, hubEntries, chainId } = reading
  if (send === undefined || depositories.includes(user)) return undefined
  const destination = hyperliquidCodec.canonicalAddress(send.destination)
  const depository = depositories.find((one) => one === destination)
  if (depository === undefined) return undefined
  const currency = receivedCurrency(send)
  if (currency === undefined) throw new HyperliquidCurrencyError('PERPS_TOKEN_UNSUPPORTED')
  const [amount, mapping] = await Promise.all([
    unitsOf(reading, send, currency, options.signal),
    readNonceMapping(hubEntries, chainId, { ...transaction, send }, options),
  ])
  // The amount was rounded down from less than one unit.
  if (amount === 0n) return undefined
  const depositor = mapping?.depositor ?? user
  return {
    onchainIndex: '0',
    depository,
    depositId: mapping?.orderId ?? noOrder,
    depositor,
    currency,
    amount,
  }
}

/**
 * Amount of a transfer in smallest units of its currency. Only the native one, without a token id, needs no
 * lookup.
 */
async function unitsOf(
  { transactions }: Reading,
  { amount }: SendAction,
  currency: string,
  signal: AbortSignal,
): Promise<bigint> {
  const tokenId = tokenIdOf(currency)
  return wholeUnits(
    amount,
    tokenId === undefined ? undefined : await transactions.decimalsOf(tokenId, signal),
  )
}

async function readPayment(
  reading: Reading,
  question: PaymentQuestion,
  options: ReadOptions,
): Promise<FoundPayment> {
  const { final, evidence } = await readPaymentTransaction(reading, question, options.signal)
  const { send } = final
  const paymentFacts =
    send === undefined ? nothingPaid : await readSend(reading, { ...final, send }, question, options)
  return { blockTimestampSeconds: final.timeMs / 1_000n, ...paymentFacts, evidence }
}

const nothingPaid: Pick<PaymentFacts, 'referencesOrder' | 'transfers'> = {
  referencesOrder: false,
  transfers: [],
}

const hintSchema = z.object({
  user: z.string(),
  timestamp: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
})

/**
 * The transaction of a payment. With a caller's hint of sender and time it is read from the sender's ledger, because
 * the explorer limits questions. A wrong hint only costs a round.
 */
async function readPaymentTransaction(
  { transactions }: Reading,
  { transactionId, hints }: PaymentQuestion,
  signal: AbortSignal,
): ReturnType<HyperliquidTransactions['read']> {
  const hint = hintSchema.safeParse(hints?.['hyperliquid-vm'])
  if (hint.success) {
    const { user, timestamp: timestampMs } = hint.data
    const place = { user: hyperliquidCodec.canonicalAddress(user), timestampMs }
    try {
      return await transactions.read(transactionId, place, signal)
    } catch (error) {
      if (!(error instanceof TransactionMissingError)) throw error
    }
  }
  return transactions.read(transactionId, undefined, signal)
}

/**
 * A transfer's part of the payments that are asked about, and whether it is for their order.
 * @throws NonceMappingMissingError while the hub may still get an entry that names the order
 */
async function readSend(
  reading: Reading,
  transaction: HyperliquidTransaction & { readonly send: SendAction },
  { orderId, payments }: PaymentQuestion,
  options: ReadOptions,
): Promise<Pick<PaymentFacts, 'referencesOrder' | 'transfers'>> {
  const { send } = transaction
  const recipient = hyperliquidCodec.canonicalAddress(send.destination)
  const currency = receivedCurrency(send)
  const isWanted = payments.some(
    (payment) => payment.recipient === recipient && payment.currency === currency,
  )
  const [transfers, mapping] = await Promise.all([
    isWanted && currency !== undefined
      ? readTransfer(reading, transaction, { recipient, currency }, options)
      : [],
    readNonceMapping(reading.hubEntries, reading.chainId, transaction, options),
  ])
  return { referencesOrder: mapping?.orderId === orderId.toLowerCase(), transfers }
}

/** A transfer as a payment. A depository's payout pays no order (`fromOthers`); one to oneself pays nothing. */
async function readTransfer(
  reading: Reading,
  { user, send }: HyperliquidTransaction & { readonly send: SendAction },
  { recipient, currency }: Pick<TransferFact, 'recipient' | 'currency'>,
  { signal }: ReadOptions,
): Promise<readonly TransferFact[]> {
  const moved = await unitsOf(reading, send, currency, signal)
  if (user === recipient) return [{ recipient, currency, amount: 0n }]
  const isPayout = reading.depositories.includes(user)
  return [{ recipient, currency, ...(isPayout ? { amount: 0n, fromOthers: moved } : { amount: moved }) }]
}

/** State of a withdrawal as endpoints show it, with the decimals of its currency. */
type ShownWithdrawal = SeenWithdrawal & { readonly decimals: number }

function prepareWithdrawal(reading: Reading, bytes: Hex): WithdrawalReading<ShownWithdrawal> {
  const { depositories, quorum, transactions } = reading
  const withdrawal = decodeHyperliquidWithdrawal(bytes)
  const tokenId = tokenIdOf(hyperliquidWithdrawalCurrency(withdrawal))
  const withdrawalId = hyperliquidWithdrawalId(withdrawal)
  const nonce = withdrawal.type === 'UsdSend' ? withdrawal.time : withdrawal.nonce
  return {
    withdrawalId,
    async read(transactionId, signal) {
      const nowMs = reading.nowMs()
      const question = withdrawalQuestion({ withdrawalId, depositories, transactionId, nonce, nowMs })
      const [decimals, { facts, agreeingEndpoints }] = await Promise.all([
        tokenId === undefined ? hyperliquidNativeDecimals : transactions.decimalsOf(tokenId, signal),
        quorum.read({ ...question, transactionId, signal }),
      ])
      return { facts: { ...facts, decimals }, agreeingEndpoints }
    },
    describe: (withdrawalFacts) => ({
      ...describeSeen(withdrawalFacts, depositories[0]),
      ...hyperliquidWithdrawalTransfer(withdrawal, withdrawalFacts.decimals),
    }),
  }
}

function describeSeen(
  { status, shownBy, pendingReason }: SeenWithdrawal,
  primary: string,
): Omit<DescribedWithdrawal, 'currency' | 'amount' | 'recipient'> {
  const executing = status === 'executed' ? shownBy?.transactionId : undefined
  const blockNumber = shownBy?.blockNumber
  return {
    status,
    depository: shownBy?.depository ?? primary,
    ...(executing !== undefined && { executingTransactionId: executing }),
    ...(pendingReason !== undefined && { pendingReason }),
    shownIn: blockNumber === undefined ? {} : { blockNumber },
  }
}
