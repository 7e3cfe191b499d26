import { blockedWallet } from '@causeway/chains'
import { DomainError, depthBlocks, type SqlTx, usdValueDown } from '@causeway/core'
import { paceMs } from '@causeway/core/config'
import type { Run } from '../../../jobs/runJobs.ts'
import { QuoteError } from '../../../pricing/errors.ts'
import { refundCost, sweepCostIn } from '../../../pricing/fees/gas.ts'
import { findCurrency } from '../../../pricing/registry.ts'
import { depthRuleOf } from '../../settlement/chain/depth.ts'
import { readSettledRequest, refundTermsOf, type SettledRequest } from '../../settlement/settledRequest.ts'
import { nowSeconds } from '../../settlement/settlementContext.ts'
import { runConcurrently } from '../../work/followWork.ts'
import {
  lanesInOrder,
  listDueAddresses,
  lockAddress,
  markDeep,
  markDenied,
  markSenderUnknown,
  noteTransfer,
  paidLanes,
  readScanCursor,
  recheckAddressesAfter,
  type StoredAddress,
  setLeft,
} from '../addressStore.ts'
import { amountOf, type HeldBalances, heldAtBoth, isEmpty, othersOf } from '../balanceReading.ts'
import type { AddressChain, DepositAddressContext } from '../depositAddressContext.ts'
import { requote } from '../quotes/requote.ts'
import { askForSweep, type Sweep } from '../sweeps/sweepWork.ts'
import {
  type Arrival,
  type ArrivalStep,
  arrivalStep,
  judgedHeight,
  type NewestQuote,
  whenRefused,
} from './arrivalStep.ts'

const atOnce = 4
/** Time for which an address keeps the lane that a block gave it, so that its money can become final meanwhile. */
const keepsLaneMs = 86_400_000
/** Longest pause between looks: on a chain with slow blocks the next one may come at any moment. */
const pauseMaxMs = 30_000

/**
 * One pass of a chain's job for deposit addresses: reads the balances of the addresses that are due, and has their money
 * swept, quoted anew, sent back or left. The next looks are scheduled first, so that a failure does not repeat at once.
 */
export async function watchAddresses(
  context: DepositAddressContext,
  site: AddressChain,
  run: Run,
): Promise<void> {
  const { database } = context
  const { chain } = site
  const due = await listDueAddresses(database, chain.chainId, site.isSeenInBlocks ? paidLanes : lanesInOrder)
  if (due.length === 0) return
  const head = await site.head(run.signal)
  const height = await heightToJudge(context, site, head)
  const dueAddresses = due.map(({ address }) => address)
  const held = await site.balances(dueAddresses, height, run.signal)
  await database.transaction(async (tx) => {
    await run.fence(tx)
    const lookResults = dueAddresses.map((address, index) => ({
      address,
      isEmpty: isKnownEmpty(held[index]),
    }))
    const unansweredAddresses = dueAddresses.filter((_address, index) => held[index] === undefined)
    if (unansweredAddresses.length > 0)
      context.logger.warn(
        { chain: chain.key, addresses: unansweredAddresses },
        'what lies there is not answered for',
      )
    const keepsMs = site.isSeenInBlocks ? keepsLaneMs : 0
    const leastMs = Math.min(paceMs(chain.config), pauseMaxMs)
    await recheckAddressesAfter(tx, lookResults, { leastMs, keepsMs })
  })
  const paid = due.flatMap((address, index) => {
    const balances = held[index]
    return balances === undefined || isEmpty(balances) ? [] : [{ address, balances }]
  })
  await runConcurrently(paid, { atOnce, run }, ({ address, balances }) =>
    handleMoney(context, { site, address, balances, height, head, run }),
  )
}

/** False also while the balances are unknown. */
function isKnownEmpty(balances: HeldBalances | undefined): boolean {
  return balances !== undefined && isEmpty(balances)
}

/** Block at which balances are read; the head where payers are asked for by address. */
async function heightToJudge(
  { database }: Pick<DepositAddressContext, 'database'>,
  { chain, payers }: Pick<AddressChain, 'chain' | 'payers'>,
  head: bigint,
): Promise<bigint> {
  if (payers !== undefined) return head
  return judgedHeight(head, (await readScanCursor(database, chain.chainId))?.scannedTo)
}

/** One paid address within a pass. */
type Look = {
  readonly site: AddressChain
  readonly address: StoredAddress
  /** Balances at block `height`. */
  readonly balances: HeldBalances
  readonly height: bigint
  readonly head: bigint
  readonly run: Run
}

/** Decides what to do with the money at an address, and does it. */
async function handleMoney(context: DepositAddressContext, look: Look): Promise<void> {
  if (!(await areSendersKnown(context, look))) return
  const request = await readSettledRequest(context.database, look.address.requestId)
  if (request === undefined) return
  const denied = context.screening?.deniedIn({ ...request, appFees: request.quoted.appFees })
  if (denied !== undefined) return leavePayment(context, look, blockedWallet)
  const held = await deepBalances(look, request)
  const arrival = arrivalOf(context, look, held)
  if (arrival.amount > 0n || arrival.others.length > 0) await markDeep(context.database, look.address.address)
  const { isStrict, failedSwaps } = look.address
  const quote: NewestQuote = {
    isStrict,
    ...paymentTermsOf(request), // `amount` and `refund`
    failedSwaps: request.depositSwap && failedSwaps,
    isWaiting: request.status === 'waiting' && request.settlement === undefined,
    expiresAtSeconds: request.expiresAtSeconds,
    deadlineSeconds: request.deadlineSeconds,
    leadSeconds: look.site.chain.quoting.depositAddresses?.leadSeconds ?? 0,
  }
  // An operator decided that a denied account's payment goes back.
  const isGivenBack = request.released === 'refund' && arrival.amount > 0n
  const step = isGivenBack
    ? ({ action: 'withdraw' } as const)
    : arrivalStep({ arrival, quote, nowSeconds: nowSeconds(context) })
  await storeTransfer(context, look, step)
  if (step.action !== 'requote') return carryOut(context, look, { request, held, step })
  const refusal = await quoteAnew(context, look, step.amount)
  if (refusal === undefined) return
  await carryOut(context, look, { request, held, step: whenRefused(arrival, quote), refusal })
}

/** True once the payers of an address were screened, for which its chain's blocks or the chain itself must name them. */
async function areSendersKnown({ database, screening }: DepositAddressContext, look: Look): Promise<boolean> {
  if (screening === undefined) return true
  const { site, address, height, run } = look
  if (site.payers !== undefined) {
    const payers = await site.payers(address.address, height, run.signal)
    if (payers === 'reading') return false
    const payersByAddress = new Map([[address.address, new Set(payers)]])
    await database.transaction((tx) =>
      payers === undefined
        ? markSenderUnknown(tx, address.address)
        : markDenied(tx, site.chain.chainId, payersByAddress, screening),
    )
    return true
  }
  const cursor = await readScanCursor(database, look.site.chain.chainId)
  return cursor !== undefined && cursor.scannedTo >= look.height
}

/** Stores the transfer that brought the money, for the request's status. Money does not wait for a chain that cannot tell. */
async function storeTransfer(
  { database, logger }: DepositAddressContext,
  { site, address: { address, currency }, height, run }: Look,
  { action }: ArrivalStep,
): Promise<void> {
  if (site.transfer === undefined || action === 'wait' || action === 'leave') return
  try {
    const transfer = await site.transfer(address, { currency, height: height }, run.signal)
    if (transfer !== undefined) await noteTransfer(database, address, transfer)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    logger.warn({ address, error }, 'nobody says which transfer brought what lies there')
  }
}

/** The quoted amount and the terms of its refund, in the currency that is paid to the address. */
function paymentTermsOf(request: SettledRequest): Pick<NewestQuote, 'amount' | 'refund'> {
  const refund = refundTermsOf(request)
  const { depositSwap } = request
  if (depositSwap === undefined) return { amount: refund.inputAmount, refund }
  // The refund minimum, in the swap's output, is converted at the swap's worst price, which rounds down.
  const { amountIn: amount, amountOutMin } = depositSwap
  const refundMinimum = (amount * refund.refundMinimum) / amountOutMin
  return { amount, refund: { inputAmount: amount, refundMinimum } }
}

/** Balances that have the pin depth of their worth: held that many blocks ago, at `height`, and still at the head. */
async function deepBalances(look: Look, { quoted }: SettledRequest): Promise<HeldBalances> {
  const { site, address, height, head, run } = look
  const [heldAtHead = new Map()] =
    height === head ? [look.balances] : await site.balances([address.address], head, run.signal)
  const balances = heldAtBoth(look.balances, heldAtHead)
  const valueMicroUsd =
    usdValueDown(amountOf(balances, address.currency), quoted.units.in) / usdX18PerMicroUsd
  // Other currencies are not valued, so they need the deepest rule of all.
  const worthMicroUsd = othersOf(balances, address.currency).length > 0 ? anyValueMicroUsd : valueMicroUsd
  // Finality is not awaited here: the deposit that the sweep makes is on the same fork, and waits for the whole rule.
  const depth = depthBlocks(depthRuleOf(site.chain, worthMicroUsd), site.chain.config)
  if (depth <= 0n) return balances
  const [deep] = await site.balances([address.address], height > depth ? height - depth : 0n, run.signal)
  return deep === undefined ? new Map() : heldAtBoth(balances, deep)
}

const usdX18PerMicroUsd = 10n ** 12n
/** Above the limit of every pin depth rule. */
const anyValueMicroUsd = 2n ** 255n

function arrivalOf(context: DepositAddressContext, { site, address }: Look, held: HeldBalances): Arrival {
  return {
    amount: amountOf(held, address.currency),
    others: othersOf(held, address.currency).map(([currency, amount]) => ({
      currency,
      isWorthRefund: isWorthRefundNow(context, site, currency, amount),
    })),
  }
}

/** As `isWorthRefund`, but false while prices are missing, so that one unpriced currency does not stop the others. */
function isWorthRefundNow(...args: Parameters<typeof isWorthRefund>): boolean {
  try {
    return isWorthRefund(...args)
  } catch (error) {
    if (error instanceof QuoteError) return false
    throw error
  }
}

/** @throws QuoteError while the price of gas or of the currency is missing */
function isWorthRefund(
  { quoting }: DepositAddressContext,
  { chain }: AddressChain,
  address: string,
  amount: bigint,
): boolean {
  const currency = findCurrency(chain, address)
  if (currency === undefined) return false
  const snapshot = quoting.snapshot()
  // The costs of the sweep and of the refund are both deducted, and something must be left.
  return amount > sweepCostIn(snapshot, chain, currency) + refundCost(snapshot, chain, currency)
}

/** Quotes the amount that arrived and asks for its sweep, in one commit. @returns why it cannot be quoted, if so */
async function quoteAnew(
  context: DepositAddressContext,
  look: Look,
  amount: bigint,
): Promise<QuoteError | undefined> {
  const { address, site } = look
  // Orders for this address must be signed by the key that it was made with.
  if (context.quoting.signer.address.toLowerCase() !== address.terms.orderSigner) return signerReplaced()
  let locked: StoredAddress | undefined
  try {
    await requote(context, address, amount, {
      begin: async (tx) => {
        locked = await lockIfUnchanged(tx, look)
        if (locked === undefined) throw new AddressChangedError()
      },
      onStored: async (tx, { quote }) => {
        const { ordered, requestId, depositSwap } = quote
        if (ordered?.signature === undefined || locked === undefined)
          throw new Error('a bridge has an order, and what is paid is signed')
        const { order, orderId, signature: orderSignature } = ordered
        await askForSweep(
          tx,
          {
            address: locked,
            request: { requestId, order, orderId, orderSignature, depositSwap },
            origin: site.chain,
            currency: address.currency,
            amount,
            nowSeconds: nowSeconds(context),
            by: depositSwap === undefined ? 'deposit' : 'swap',
          },
          context.networkOf,
        )
        context.logger.info({ requestId, address: address.address }, 'a payment is quoted anew')
      },
    })
    return undefined
  } catch (error) {
    if (error instanceof AddressChangedError) return undefined
    if (!(error instanceof QuoteError) || error.kind === 'upstream_unavailable') throw error
    return error
  }
}

/** Another process has begun a sweep of the address or quoted its money since it was listed. */
class AddressChangedError extends Error {}

function signerReplaced(): QuoteError {
  return new QuoteError('UNSUPPORTED_ROUTE', 'The order signer of this deposit address was replaced.')
}

type ArrivalDecision = {
  readonly request: SettledRequest
  readonly held: HeldBalances
  readonly step: ArrivalStep
  readonly refusal?: DomainError
}

/** Asks for the sweep that a step needs, or leaves the money. */
async function carryOut(
  context: DepositAddressContext,
  look: Look,
  { request, held, step, refusal }: ArrivalDecision,
): Promise<void> {
  if (step.action === 'wait' || step.action === 'requote') return
  const {
    address: { address, currency: quotedCurrency },
    site,
  } = look
  if (step.action === 'leave') return leavePayment(context, look, step.reason, refusal)
  // A solver sweeps only for signed orders.
  const orderSignature = await context.signatures.of(request)
  await context.database.transaction(async (tx) => {
    const locked = await lockIfUnchanged(tx, look)
    if (locked === undefined) return
    const other = step.action === 'sweep' ? step.other : undefined
    const currency = other ?? quotedCurrency
    const amount = amountOf(held, currency)
    const isSwapped = other === undefined && request.depositSwap !== undefined
    const sweep: Sweep = {
      address: locked,
      request: { ...request, orderSignature },
      origin: site.chain,
      currency,
      amount,
      nowSeconds: nowSeconds(context),
      by: step.action === 'withdraw' ? 'withdrawal' : isSwapped ? 'swap' : 'deposit',
    }
    await askForSweep(tx, sweep, context.networkOf)
    const { requestId } = request
    context.logger.info(
      { requestId, address, currency, refusal: refusal?.code },
      'a deposit address is swept',
    )
  })
}

/** Leaves a payment at its address, for an operator or until more arrives. */
async function leavePayment(
  { database, logger }: DepositAddressContext,
  look: Look,
  reason: string,
  refusal?: DomainError,
): Promise<void> {
  await database.transaction(async (tx) => {
    const locked = await lockIfUnchanged(tx, look)
    if (locked === undefined) return
    const left = { address: locked.address, reason, refusal: refusal?.code }
    if (await setLeft(tx, left.address, reason)) logger.warn(left, 'a payment is left')
  })
}

/** Locks the address. @returns undefined where another process has begun a sweep or quoted anew since it was listed */
async function lockIfUnchanged(tx: SqlTx, { address, run }: Look): Promise<StoredAddress | undefined> {
  await run.fence(tx)
  const locked = await lockAddress(tx, address.address)
  const isSame = locked?.sweepId === undefined && locked?.requestId === address.requestId
  return isSame ? locked : undefined
}
