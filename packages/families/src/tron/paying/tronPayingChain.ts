import {
  ConfigurationError,
  type Hex,
  maxBigint,
  minBigint,
  type Secret,
  UpstreamUnavailableError,
} from '@causeway/core'
import { createTronCodec, tronAddress } from '@causeway/core/encodings'
import type { ChainClient, RpcAnswer } from '@causeway/rpc'
import { NodeError, parseRecord, unlessUnreadable } from '@causeway/rpc'
import { agreedAnswer } from '../../shared/agreedAnswer.ts'
import {
  type PayingChain,
  type PayingChainFamily,
  type PayingChainOptions,
  type PayingFees,
  type PaymentPlan,
  type PaymentTerms,
  type PlannedPayment,
  type PlanRefusal,
  refuseAboveCeiling,
  type SentTransaction,
  type SignedPlan,
} from '../../shared/payingChain.ts'
import { askLanding, askPaymentVotes } from '../../shared/paymentVotes.ts'
import { accountCall, callOf, parseCoin, parseHead, parseWord, tryCall } from '../quoting/nodeCalls.ts'
import { allowedCall, balanceCall } from '../quoting/tokenCalls.ts'
import { solidHeadRequest } from '../reading/requests.ts'
import {
  type ContractCall,
  fillClosing,
  fillPayment,
  fillState,
  tokenAllowance,
} from '../rules/paying/fillCalls.ts'
import { TronFees } from '../rules/quoting/tronFees.ts'
import { coinMax } from '../rules/quoting/tronQuoting.ts'
import {
  decideHead,
  decideLanding,
  decideMark,
  decideRun,
  headCalls,
  landingCalls,
  markCalls,
} from './finalMarks.ts'
import { signCall, walletOf } from './signTransaction.ts'

const readTimeoutMs = 5_000
/** Seconds after the newest block's time until which a transaction can be mined; blocks come every three seconds. */
const lifetimeSeconds = 60

/** Payments of one wallet through the fill contract, which records each. See decision 30. */
export const tronPaying: PayingChainFamily = {
  // A file in its place is named by TRON_PRIVATE_KEY_FILE.
  keySetting: 'TRON_PRIVATE_KEY',
  open: openTronPaying,
  // The lifetime of a signed transaction, and a margin for late blocks.
  landsWithinSeconds: lifetimeSeconds + 15,
}

const { nativeCurrency } = createTronCodec()

/** Deadline of payments that have none; no block is ever so late. */
const never = 2n ** 40n
const tokenMax = 2n ** 256n - 1n

function openTronPaying({ client, key, fillContract }: PayingChainOptions): PayingChain {
  if (fillContract === undefined)
    throw new ConfigurationError(`quote: chains.${client.chainId}.fillContract is needed to pay there`)
  return new TronPayer(client, key, tronAddress(fillContract))
}

/**
 * Pays through the fill contract, which records each payment id once: of all transactions for one id at most
 * one acts. A transaction expires by the chain's own rule, `lifetimeSeconds` after the newest block that
 * enough endpoints have.
 */
class TronPayer implements PayingChain {
  readonly address: string
  readonly #client: ChainClient
  readonly #key: Secret
  /** Base58. */
  readonly #fillContract: string
  /** Number of transactions that were signed: it decides whose block is next. */
  #signed = 0

  constructor(client: ChainClient, key: Secret, fillContract: string) {
    this.address = walletOf(key)
    this.#client = client
    this.#key = key
    this.#fillContract = fillContract
  }

  head() {
    return askPaymentVotes(this.#client, headCalls, decideHead)
  }

  readFinal(id: Hex) {
    const owner = this.address
    const state = fillState({ fillContract: this.#fillContract, id }, owner)
    return askPaymentVotes(
      this.#client,
      markCalls(tryCall({ owner, ...state }, 'walletsolidity')),
      decideMark,
    )
  }

  landingOf(transactions: readonly SentTransaction[]) {
    const hashes = transactions.map(({ hash }) => hash)
    return askLanding(this.#client, landingCalls(hashes), (votes, electorate) =>
      decideLanding(votes, hashes, electorate),
    )
  }

  /**
   * Plans the energy that enough nodes reach in a simulation, with a margin. `most` limits the margin, and
   * refuses a payment whose measured energy already costs more.
   */
  async plan(terms: PaymentTerms, bid: PayingFees, most?: bigint): Promise<PaymentPlan | PlanRefusal> {
    const refusal = refusePayments(this.address, terms.payments) ?? refusePrice(bid)
    if (refusal !== undefined) return { refusal }
    const trial = tryCall({ owner: this.address, ...contractCallOf(this.#fillContract, terms) })
    const energy = await askPaymentVotes(this.#client, [trial], (votes, electorate, isLast) =>
      isLast ? decideRun(votes, electorate) : undefined,
    )
    if (energy === 'fails') return { refusal: 'the transaction would revert' }
    const energyMax = most === undefined ? undefined : energyFor(most, feesOf(bid))
    if (energyMax !== undefined && energy > energyMax)
      return { refusal: `it takes ${energy} energy, more than ${energyMax}`, isDear: true }
    const units = withMargin(energy)
    // New state is paid for by energy, so there is no rent beside it.
    return { terms, units: energyMax === undefined ? units : minBigint(units, energyMax), rent: 0n }
  }

  async sign({ terms, units }: SignedPlan, bid: PayingFees) {
    const refusal = refusePrice(bid)
    if (refusal !== undefined) throw new UpstreamUnavailableError(refusal)
    const [{ timeSeconds }, blocks] = await Promise.all([this.head(), recentBlocks(this.#client)])
    // The chain refuses a transaction that names a block which it does not have. Endpoints take turns: one
    // that invents a block then costs only some transactions their lifetime.
    const block = blocks[this.#signed % Math.max(1, blocks.length)]
    this.#signed += 1
    if (block === undefined) throw new UpstreamUnavailableError('No endpoint names a recent block.')
    const { sunPerEnergy, sunPerByte } = feesOf(bid)
    const expiresMs = 1_000 * (timeSeconds + lifetimeSeconds)
    const feeLimitSun = units * sunPerEnergy
    const transaction = signCall(
      contractCallOf(this.#fillContract, terms),
      // The count makes transactions of one millisecond different.
      { block, createdMs: Date.now() + this.#signed, expiresMs, feeLimitSun },
      { wallet: this.address, key: this.#key },
    )
    return {
      raw: transaction.raw,
      hash: transaction.hash,
      // Milliseconds of final blocks stand for heights: see `finalMarks.ts`.
      lastValidHeight: BigInt(expiresMs),
      fee: feeLimitSun + transaction.countedBytes * sunPerByte,
    }
  }

  async broadcast({ raw }: { readonly raw: Hex }): Promise<void> {
    const call = callOf({ path: '/wallet/broadcasthex', body: { transaction: raw.slice(2) } })
    const answers = await this.#client.askEach([call], { timeoutMs: readTimeoutMs })
    const outcomes = answers.flatMap(({ answers: [answer] = [] }) =>
      answer === undefined ? [] : [outcomeOf(answer)],
    )
    if (outcomes.includes(accepted)) return
    const [message] = outcomes
    // Nodes name refusals by texts, so one number stands for all.
    if (message !== undefined) throw new NodeError({ code: -1, message })
    throw new UpstreamUnavailableError('No endpoint took the transaction.')
  }

  async balanceOf(currency: string): Promise<bigint> {
    const isCoin = currency === nativeCurrency
    const call = isCoin ? accountCall(this.address) : balanceCall(currency, this.address)
    const [answer] = await this.#client.batch([call], { timeoutMs: readTimeoutMs })
    return isCoin ? (parseCoin(answer) ?? 0n) : parseWord(answer)
  }

  async missingAllowance(currency: string, amount: bigint): Promise<PaymentTerms['allowance']> {
    if (currency === nativeCurrency) return undefined
    const call = allowedCall(currency, this.address, this.#fillContract)
    const allowed = await agreedAnswer(this.#client, call, parseWord, readTimeoutMs)
    if (allowed >= amount) return undefined
    // Some tokens refuse to change an allowance that is not zero, so it is set to zero first.
    return { currency, amount: allowed === 0n ? tokenMax : 0n }
  }
}

/** The call that pays or closes an id, or sets an allowance. */
function contractCallOf(fillContract: string, terms: PaymentTerms): ContractCall {
  // An order id is absent only where nothing is paid, and then unused.
  const { id, mark, orderId = id, deadlineSeconds = never, allowance, payments } = terms
  const through = { fillContract, id }
  if (mark === 'closed') return fillClosing(through)
  if (mark === 'paid')
    return fillPayment(through, { orderId, deadlineSeconds: BigInt(deadlineSeconds), payments })
  if (allowance === undefined) throw new Error('nothing is allowed')
  return tokenAllowance(allowance.currency, fillContract, allowance.amount)
}

/** @throws Error for fees of another family */
function feesOf({ fees }: PayingFees): TronFees {
  if (!(fees instanceof TronFees)) throw new Error('fees of another family')
  return fees
}

/** The price of energy is the same for everybody: above the operator's ceiling nothing is sent. */
function refusePrice(bid: PayingFees): string | undefined {
  return refuseAboveCeiling('energy costs', feesOf(bid).sunPerEnergy, bid)
}

function refusePayments(wallet: string, payments: readonly PlannedPayment[]): string | undefined {
  for (const { recipient, currency, amount } of payments) {
    const isCoin = currency === nativeCurrency
    if (amount <= 0n || amount > (isCoin ? coinMax : tokenMax)) return 'an amount is none of this chain'
    if (recipient === wallet) return 'the recipient is the fill wallet'
  }
  const coin = payments.filter(({ currency }) => currency === nativeCurrency)
  const sum = coin.reduce((total, { amount }) => total + amount, 0n)
  return sum > coinMax ? 'an amount is none of this chain' : undefined
}

/**
 * Energy with a margin: a transaction that runs out of energy fails and burns its whole limit, while unused energy
 * costs nothing.
 */
const withMargin = (energy: bigint): bigint => (energy * 3n) / 2n + 10_000n

/** Most bytes of a payment. */
const paymentBytes = 700n
/** Energy that a payment may use if all of it may cost `maxSun`; rounded down. */
const energyFor = (maxSun: bigint, { sunPerEnergy, sunPerByte }: TronFees): bigint =>
  // Energy that is free counts as 1 sun, since nothing can be divided by 0.
  maxBigint(0n, maxSun - paymentBytes * sunPerByte) / maxBigint(1n, sunPerEnergy)

type RecentBlock = { readonly number: bigint; readonly hash: Hex }

/** The newest solidified (irreversible) blocks, as each endpoint names its own. */
async function recentBlocks(client: ChainClient): Promise<readonly RecentBlock[]> {
  const answers = await client.askEach([callOf(solidHeadRequest)], { timeoutMs: readTimeoutMs })
  return answers.flatMap(({ answers: [answer] = [] }) => unlessUnreadable(() => parseHead(answer)) ?? [])
}

/** Outcome of a transaction that a node accepted. */
const accepted = 'taken'

/** Codes for a known transaction, an unknown reference block and an expired one: the landing decides about these. */
const harmless: ReadonlySet<unknown> = new Set([
  'DUP_TRANSACTION_ERROR',
  'TAPOS_ERROR',
  'TRANSACTION_EXPIRATION_ERROR',
])

/** `accepted`, or why a node refused the transaction. */
function outcomeOf(answer: RpcAnswer): string {
  if (!answer.ok) return answer.message
  const { result, code } = unlessUnreadable(() => parseRecord(answer.result, 'broadcasthex')) ?? {}
  if (result === true || harmless.has(code)) return accepted
  return typeof code === 'string' ? code : 'it was not taken'
}
