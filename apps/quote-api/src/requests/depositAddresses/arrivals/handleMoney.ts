import { blockedWallet } from '@causeway/chains'
import { DomainError, depthBlocks, type SqlTx, usdValueDown } from '@causeway/core'
import { QuoteError } from '../../../pricing/errors.ts'
import { refundCost, sweepCostIn } from '../../../pricing/fees/gas.ts'
import { findCurrency } from '../../../pricing/registry.ts'
import { depthRuleOf } from '../../settlement/chain/depth.ts'
import { readSettledRequest, refundTermsOf, type SettledRequest } from '../../settlement/settledRequest.ts'
import { nowSeconds } from '../../settlement/settlementContext.ts'
import { markDeep } from '../addressStore.ts'
import { amountOf, type HeldBalances, heldAtBoth, othersOf } from '../balanceReading.ts'
import type { AddressChain, DepositAddressContext } from '../depositAddressContext.ts'
import { type Arrival, type ArrivalStep, arrivalStep, type NewestQuote, whenRefused } from './arrivalStep.ts'
import { carryOut, type Look, leavePayment, quoteAnew } from './carryOutArrival.ts'
import { markDenied, markSenderUnknown, noteTransfer, readScanCursor } from './paidAddressStore.ts'

/**
 * Decides what becomes of the money at an address, and carries it out. In this order:
 * 1. Until the accounts that paid it were screened, nothing is decided. Accounts that cannot be known count
 *    as denied.
 * 2. While a denied account has no decision of an operator, the money is left.
 * 3. If the operator decided `refund`, money in the quoted currency goes back to its depositor.
 * 4. Else `arrivalStep` decides by the balances of sufficient depth: sweep for the newest quote, quote anew,
 *    or leave.
 * 5. If quoting anew is refused, `whenRefused` decides.
 */
export async function handleMoney(context: DepositAddressContext, look: Look): Promise<void> {
  if (!(await arePayersScreened(context, look))) return
  // The request is read after that, so its `isSenderDenied` tells of a denied or unknown payer.
  const request = await readSettledRequest(context.database, look.address.requestId)
  if (request === undefined) return
  const denied = context.screening?.deniedIn({ ...request, appFees: request.quoted.appFees })
  if (denied !== undefined) return leavePayment(context, look, blockedWallet)
  const held = await deepBalances(look, request)
  const arrival = arrivalOf(context, look, held)
  if (arrival.amount > 0n || arrival.others.length > 0)
    await store(context, look, (tx) => markDeep(tx, look.address.address))
  const quote = newestQuoteOf(look, request)
  // An operator decided that a denied account's payment goes back.
  const isGivenBack = request.released === 'refund' && arrival.amount > 0n
  const step: ArrivalStep = isGivenBack
    ? { action: 'withdraw' }
    : arrivalStep({ arrival, quote, nowSeconds: nowSeconds(context) })
  await storeTransfer(context, look, step)
  if (step.action !== 'requote') return carryOut(context, look, { request, held, step })
  const refusal = await quoteAnew(context, look, step.amount)
  if (refusal === undefined) return
  await carryOut(context, look, { request, held, step: whenRefused(arrival, quote), refusal })
}

/**
 * True once the payers of an address were screened, and the address is marked if one of them is denied or
 * cannot be known. A chain that names payers by address is asked here. For the others, the scan of blocks
 * marks the address, and must have read the block at which the balances are judged.
 */
async function arePayersScreened(context: DepositAddressContext, look: Look): Promise<boolean> {
  const { database, screening } = context
  if (screening === undefined) return true
  const { site, address, height, run } = look
  if (site.payers !== undefined) {
    const payers = await site.payers(address.address, height, run.signal)
    if (payers === 'reading') return false
    const payersByAddress = new Map([[address.address, new Set(payers)]])
    await store(context, look, (tx) =>
      payers === undefined
        ? markSenderUnknown(tx, address.address)
        : markDenied(tx, site.chain.chainId, payersByAddress, screening),
    )
    return true
  }
  const cursor = await readScanCursor(database, site.chain.chainId)
  return cursor !== undefined && cursor.scannedTo >= height
}

/**
 * Stores the transfer that brought the money, for the status of the request that the money goes to. Nothing
 * is stored for money that stays where it is. A chain that cannot tell the transfer delays nothing.
 */
async function storeTransfer(
  context: DepositAddressContext,
  look: Look,
  { action }: ArrivalStep,
): Promise<void> {
  const { site, height, run } = look
  const { address, currency } = look.address
  if (site.transfer === undefined || action === 'wait' || action === 'leave') return
  try {
    const transfer = await site.transfer(address, { currency, height }, run.signal)
    if (transfer !== undefined) await store(context, look, (tx) => noteTransfer(tx, address, transfer))
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    context.logger.warn({ address, error }, 'nobody says which transfer brought what lies there')
  }
}

/** Writes what a look found, unless another process leads the job by now. */
function store(
  { database }: DepositAddressContext,
  { run }: Look,
  write: (tx: SqlTx) => Promise<void>,
): Promise<void> {
  return database.transaction(async (tx) => {
    await run.fence(tx)
    await write(tx)
  })
}

/** Balances that have the pin depth of their worth: held that many blocks ago, at `height`, and still at the head. */
async function deepBalances(look: Look, { quoted }: SettledRequest): Promise<HeldBalances> {
  const { site, address, height, head, run } = look
  // An address that is not answered for counts as empty here, so that nothing is done with its money.
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
/** A worth above the limits of all pin depth rules, so that the deepest one applies. */
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

/** The newest quote of an address, as far as it decides about the money. */
function newestQuoteOf({ address, site }: Look, request: SettledRequest): NewestQuote {
  return {
    ...paymentTermsOf(request),
    isStrict: address.isStrict,
    failedSwaps: request.depositSwap && address.failedSwaps,
    isWaiting: request.status === 'waiting' && request.settlement === undefined,
    expiresAtSeconds: request.expiresAtSeconds,
    deadlineSeconds: request.deadlineSeconds,
    leadSeconds: site.chain.quoting.depositAddresses?.leadSeconds ?? 0,
  }
}

/** The quoted amount and the terms of its refund, in the currency that is paid to the address. */
function paymentTermsOf(request: SettledRequest): Pick<NewestQuote, 'amount' | 'refund'> {
  const refund = refundTermsOf(request)
  const { depositSwap } = request
  if (depositSwap === undefined) return { amount: refund.inputAmount, refund }
  // The refund minimum is in the swap's output: it is converted at the swap's worst price, and rounded down.
  const { amountIn: amount, amountOutMin } = depositSwap
  const refundMinimum = (amount * refund.refundMinimum) / amountOutMin
  return { amount, refund: { inputAmount: amount, refundMinimum } }
}
