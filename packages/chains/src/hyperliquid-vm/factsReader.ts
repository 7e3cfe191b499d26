import {
  type DepositFact,
  type DepositFacts,
  decodeHyperliquidWithdrawal,
  type FactsReader,
  type Hex,
  hyperliquidNativeDecimals,
  hyperliquidWithdrawalCurrency,
  hyperliquidWithdrawalId,
  hyperliquidWithdrawalTransfer,
  mainNetwork,
  normaliseWithdrawRequest,
  type PaymentFacts,
  type PaymentQuestion,
  type ReadOptions,
  type TransferFact,
  type WithdrawalFacts,
  type WithdrawalQuestion,
} from '@causeway/core'
import { z } from 'zod'
import type { HubEntries } from '../family/hubEntries.ts'
import { TransactionMissingError } from '../rpc/chainErrors.ts'
import { OneFlight } from '../rpc/oneFlight.ts'
import type { AgreedFacts, QuorumClient } from '../rpc/quorumClient.ts'
import { defaultKeptLimits } from '../rpc/rememberedReadings.ts'
import { runAsOne } from '../rpc/runAsOne.ts'
import type { HyperliquidTransaction, SendAction } from './answers.ts'
import {
  createFinalTransactions,
  finalityRule,
  type HyperliquidReaderLimits,
  type KnownTransaction,
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

export interface HyperliquidFactsReader extends FactsReader {
  /** Drops what is remembered: for a chain that was halted and is followed again. */
  forget(): void
}

type Reading = {
  readonly chainId: string
  readonly depositories: readonly [string, ...string[]]
  readonly quorum: QuorumClient<HyperliquidView>
  readonly hubEntries: HubEntries
  readonly transactions: ReturnType<typeof createFinalTransactions>
  readonly withdrawals: OneFlight<AgreedFacts<SeenWithdrawal>>
  readonly nowMs: () => number
}

const noOrder: Hex = `0x${'0'.repeat(64)}`

/**
 * Facts of a `hyperliquid-vm` chain, read over the HTTP API of the exchange; which order a transfer is for
 * is read from the hub. Transactions are remembered, in bounded memory; what is missing or failed never is.
 * @throws InvalidAddressError for a depository that is no address
 * @source oracle-protocol.md 5.4; design.md 7.5
 */
export function createHyperliquidFactsReader(options: HyperliquidFactsReaderOptions): HyperliquidFactsReader {
  const { chain, quorum, hubEntries } = options
  const transactions = createFinalTransactions({
    quorum,
    limits: { ...defaultKeptLimits, ...options.limits },
  })
  const [primary, additional] = [chain.depository, chain.additionalDepositories ?? []]
  const reading: Reading = {
    chainId: chain.id,
    depositories: [
      hyperliquidCodec.canonicalAddress(primary),
      ...additional.map(hyperliquidCodec.canonicalAddress),
    ],
    ...{ quorum, hubEntries, transactions },
    withdrawals: new OneFlight(),
    nowMs: options.nowMs ?? (() => Date.now()),
  }
  return {
    chainId: chain.id,
    vmType: 'hyperliquid-vm',
    forget: transactions.forget,
    readDeposits: ({ transactionId }, reads) => readDeposits(reading, transactionId, reads),
    readPayment: (question, reads) => readPayment(reading, question, reads),
    readWithdrawal: (question, { signal }) => readWithdrawal(reading, question, signal),
    readWithdrawRequest: async (question) =>
      normaliseWithdrawRequest(mainNetwork('hyperliquid-vm'), question),
  }
}

async function readDeposits(reading: Reading, asked: string, options: ReadOptions): Promise<DepositFacts> {
  const transactionId = hyperliquidCodec.canonicalTransactionId(asked)
  const { transaction, evidence } = await reading.transactions.read(transactionId, undefined, options.signal)
  const deposit = await readDeposit(reading, transaction, options)
  return {
    kind: 'deposits',
    transactionId,
    blockTimestampSeconds: transaction.timeMs / 1_000n,
    deposits: deposit === undefined ? [] : [deposit],
    evidence,
  }
}

/** What a depository sends, also to itself or to another one, was the protocol's already. */
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
): Promise<PaymentFacts> {
  const transactionId = hyperliquidCodec.canonicalTransactionId(question.transactionId)
  const { transaction, evidence } = await readPaying(reading, transactionId, question.hints, options.signal)
  const { send } = transaction
  const found =
    send === undefined ? nothingPaid : await readSend(reading, { ...transaction, send }, question, options)
  const blockTimestampSeconds = transaction.timeMs / 1_000n
  return { kind: 'payment', transactionId, blockTimestampSeconds, ...found, evidence }
}

const nothingPaid: Pick<PaymentFacts, 'referencesOrder' | 'transfers'> = {
  referencesOrder: false,
  transfers: [],
}

const hintSchema = z.object({
  user: z.string(),
  timestamp: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
})

/** A hint saves a question to the explorer, which limits them; a wrong one costs a round and changes nothing. */
async function readPaying(
  { transactions }: Reading,
  transactionId: string,
  hints: PaymentQuestion['hints'],
  signal: AbortSignal,
): Promise<KnownTransaction> {
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
    (payment) =>
      hyperliquidCodec.canonicalAddress(payment.recipient) === recipient &&
      hyperliquidCodec.canonicalAddress(payment.currency) === currency,
  )
  const [transfers, mapping] = await Promise.all([
    isWanted && currency !== undefined
      ? readTransfer(reading, transaction, { recipient, currency }, options)
      : [],
    readNonceMapping(reading.hubEntries, reading.chainId, transaction, options),
  ])
  return { referencesOrder: mapping?.orderId === orderId.toLowerCase(), transfers }
}

/** The exchange names who paid. A depository's payout pays no order, and nobody pays himself. */
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

async function readWithdrawal(
  reading: Reading,
  question: WithdrawalQuestion,
  signal: AbortSignal,
): Promise<WithdrawalFacts> {
  const { chainId, depositories, quorum, transactions } = reading
  const withdrawal = decodeHyperliquidWithdrawal(question.withdrawal)
  const tokenId = tokenIdOf(hyperliquidWithdrawalCurrency(withdrawal))
  const withdrawalId = hyperliquidWithdrawalId(withdrawal)
  const transactionId =
    question.transactionId === undefined
      ? undefined
      : hyperliquidCodec.canonicalTransactionId(question.transactionId)
  const nonce = withdrawal.type === 'UsdSend' ? withdrawal.time : withdrawal.nonce
  const nowMs = reading.nowMs()
  const rounds = withdrawalQuestion({ withdrawalId, depositories, transactionId, nonce, nowMs })
  const [decimals, { facts, agreeingEndpoints }] = await Promise.all([
    tokenId === undefined ? hyperliquidNativeDecimals : transactions.decimalsOf(tokenId, signal),
    runAsOne(
      reading.withdrawals,
      { key: `${withdrawalId} ${transactionId ?? ''}`, chainId, signal },
      (shared) => quorum.read({ ...rounds, transactionId, signal: shared }),
    ),
  ])
  const { status, shownBy, pendingReason } = facts
  const executing = status === 'executed' ? shownBy?.transactionId : undefined
  const blockNumber = shownBy?.blockNumber
  return {
    ...{ kind: 'withdrawal', withdrawalId, status, depository: shownBy?.depository ?? depositories[0] },
    ...hyperliquidWithdrawalTransfer(withdrawal, decimals),
    ...(executing !== undefined && { executingTransactionId: executing }),
    ...(pendingReason !== undefined && { pendingReason }),
    evidence: {
      ...{ chainId, finalityRule, agreeingEndpoints },
      ...(blockNumber !== undefined && { blockNumber }),
    },
  }
}
